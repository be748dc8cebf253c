//! What a chart shows, in words, for readers who do not see it.

use super::{Chart, Curve};
use crate::text::drawable;
use experiment::number;

/// The largest number of curves that are described one by one.
const MOST: usize = 12;

/// The small print of a chart, and what is seen.
pub(super) fn description(chart: &Chart) -> String {
    let mut sentences = vec![chart.subtitle.clone()];
    if chart.is_empty() {
        sentences.push("Nothing to show".to_owned());
    } else if chart.summary.is_empty() {
        sentences.extend(chart.curves.iter().filter_map(|curve| ends_of(chart, curve)).take(MOST));
        let n_left = chart.curves.len().saturating_sub(MOST);
        if n_left > 0 {
            sentences.push(format!("{} more", number::counted(n_left as u64, "curve")));
        }
    } else {
        sentences.push(chart.summary.clone());
    }
    let sentences = sentences.iter().map(|one| drawable(one).trim().trim_end_matches('.').to_owned());
    sentences.filter(|one| !one.is_empty()).map(|one| one + ". ").collect::<String>().trim_end().to_owned()
}

/// Where a curve begins and ends.
fn ends_of(chart: &Chart, curve: &Curve) -> Option<String> {
    let points = if curve.dots.is_empty() { &curve.points } else { &curve.dots };
    let (first, last) = (points.first()?, points.last()?);
    let at = |&(x, y): &(f64, f64)| {
        let place =
            num_traits::ToPrimitive::to_usize(&libm::round(x)).and_then(|at| chart.categories.get(at));
        let place = place.map_or_else(|| written(x), String::clone);
        format!("{} at {place}", number::significant(y, 4))
    };
    if first == last {
        return Some(format!("{}: {}", curve.label, at(first)));
    }
    Some(format!("{}: from {} to {}", curve.label, at(first), at(last)))
}

/// A whole number, such as a round, or another one with four digits.
fn written(x: f64) -> String {
    if x.fract() == 0.0 { number::fixed(x, 0) } else { number::significant(x, 4) }
}

#[cfg(test)]
mod tests {
    use super::super::CurveStyle;
    use super::super::tests::{chart, curve};
    use super::*;

    #[test]
    fn a_chart_without_a_summary_says_where_its_curves_begin_and_end() {
        let both = |summary: &str| Chart {
            summary: summary.to_owned(),
            ..chart(vec![
                curve("a", CurveStyle::Policy(0), vec![(1.0, 0.0), (1000.0, 9.25)]),
                curve("b", CurveStyle::Policy(1), vec![(1.0, 3.0)]),
            ])
        };
        assert_eq!(
            description(&both("")),
            "mean of 3 runs. a: from 0 at 1 to 9.250 at 1,000. b: 3.000 at 1."
        );
        assert_eq!(description(&both("All is well.")), "mean of 3 runs. All is well.");
        assert_eq!(description(&chart(Vec::new())), "mean of 3 runs. Nothing to show.");
        let many: Vec<Curve> =
            (0..14).map(|index| curve("c", CurveStyle::Policy(index), vec![(1.0, 1.0)])).collect();
        assert!(description(&chart(many)).ends_with("c: 1.000 at 1. 2 curves more."));
    }
}
