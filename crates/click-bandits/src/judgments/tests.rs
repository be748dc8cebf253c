//! The checks of a table of parameters.

use super::*;

/// Every number of the table is checked for what it must satisfy.
#[test]
fn numbers_that_cannot_be_are_refused() {
    let text = |text: &'static str| Value::Text(text.as_bytes());
    let numbers = |estimate: f64, clicks: u64, shown: u64, lower: f64, upper: f64, model| {
        let mut found =
            Attractions { best: 2, wanted: vec![Model::Cascade, Model::Pbm], least: 1, judgments: vec![] };
        let values = [text(model), text("attraction"), text("q"), text("a"), estimate.into(), clicks.into()];
        found
            .row(&values.map(Some), &[shown.into(), lower.into(), upper.into()])
            .map(|()| found.judgments.len())
    };
    let cascade =
        |estimate, clicks, shown, lower, upper| numbers(estimate, clicks, shown, lower, upper, "cascade");
    assert_eq!(cascade(0.4, 2, 5, 0.1, 1.0), Ok(1));
    assert_eq!(cascade(0.4, 6, 5, 0.1, 0.9), Err((5, Fault::ClicksAboveImpressions { impressions: 5 })));
    assert_eq!(cascade(1.1, 2, 5, 0.1, 0.9), Err((4, Fault::OutOfRange)));
    assert_eq!(cascade(0.4, 2, 5, -0.1, 0.9), Err((7, Fault::OutOfRange)));
    assert_eq!(cascade(0.4, 2, 5, 0.1, 1.5), Err((8, Fault::OutOfRange)));
    assert_eq!(cascade(0.4, 2, 5, 0.9, 0.1), Err((7, Fault::AboveUpperEnd)));
    assert_eq!(cascade(f64::NAN, 2, 5, 0.1, 0.9), Err((4, Fault::NotFinite)));
    assert_eq!(cascade(0.4, 2, 5, 0.1, f64::INFINITY), Err((8, Fault::NotFinite)));
    assert_eq!(numbers(1.4, 2, 5, 0.1, f64::INFINITY, "pbm"), Ok(1));
}
