//! The distribution of the number of clicks, against the probability of every click pattern.

use super::*;
use crate::fit::{Options, fit};
use log_reader::{Format, Reader};
use std::fmt::Write as _;

#[test]
fn numbers_of_clicks_are_those_of_all_patterns() {
    let mut log = "query\turls\tclicked_mask\n".to_owned();
    for number in 0..400_u64 {
        let bits = (number + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let (first, clicks) = (bits >> 60 & 3, bits >> 20 & bits >> 30);
        let items: Vec<String> = (0..4).map(|place| ((first + place) % 6).to_string()).collect();
        let marks: String = (0..4).map(|place| if clicks >> place & 1 == 1 { '1' } else { '0' }).collect();
        writeln!(log, "5\t{}\t{marks}", items.join(",")).unwrap();
    }
    let log = Reader::new(Format::Sessions).keep_sessions().read("log", log.as_bytes()).unwrap();
    let query = log.sessions.queries().next().unwrap();
    for model in Model::ALL {
        let fit = fit(model, &log.counts, &log.sessions, &Options::default()).unwrap();
        for list in query.lists() {
            let mut expected = [0.0; 5];
            let mut prediction = Prediction::default();
            for bits in 0..16 {
                let clicks = Clicks::from_bits(bits, 4).unwrap();
                fit.predict(query.id(), list.items, clicks, &mut prediction);
                let of_all = (0..4).map(|position| {
                    let click = prediction.conditional[position];
                    if clicks.get(position) { click } else { 1.0 - click }
                });
                expected[clicks.count() as usize] += of_all.product::<f64>();
            }
            let found = numbers_of_clicks(&fit, query.id(), list);
            for (found, expected) in found.iter().zip(expected) {
                assert!((found - expected).abs() < 1e-9, "{model}: {found} {expected}");
            }
            // Clicks that depend on nothing above have another distribution.
            if model == Model::Dbn {
                let skips: f64 = prediction.marginal.iter().map(|click| 1.0 - click).product();
                assert!((skips - expected[0]).abs() > 1e-3, "{skips} {expected:?}");
            }
        }
    }
}
