//! The end of every curve of a chart, in words, for readers who do not see it.

use super::{ABOVE, Chart, Curve};
use crate::text::drawable;
use documents::number;

/// The largest number of curves that are described one by one.
const MOST: usize = 12;

/// The small print of a chart, and where its curves begin and end.
pub(super) fn description(chart: &Chart) -> String {
    let mut sentences = vec![chart.subtitle.clone()];
    if chart.is_empty() {
        sentences.push("Nothing to show".to_owned());
    } else {
        sentences.extend(chart.curves.iter().filter_map(|curve| ends_of(chart, curve)).take(MOST));
        let n_left = chart.curves.len().saturating_sub(MOST);
        if n_left > 0 {
            sentences.push(format!("{} more", number::counted(n_left as u64, "curve")));
        }
    }
    sentences
        .iter()
        .map(|one| drawable(one).trim().to_owned() + ". ")
        .collect::<String>()
        .trim_end()
        .to_owned()
}

/// Where a curve begins and ends.
fn ends_of(chart: &Chart, curve: &Curve) -> Option<String> {
    let points = if curve.dots.is_empty() { &curve.points } else { &curve.dots };
    let (first, last) = (points.first()?, points.last()?);
    let name = curve.label.trim_end_matches(ABOVE);
    let point = |&(x, y): &(f64, f64)| {
        let place =
            num_traits::ToPrimitive::to_usize(&libm::round(x)).and_then(|at| chart.categories.get(at));
        let place = place.map_or_else(|| written(x), String::clone);
        format!("{} at {place}", number::significant(y, 4))
    };
    if first == last {
        return Some(format!("{name}: {}", point(first)));
    }
    Some(format!("{name}: from {} to {}", point(first), point(last)))
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
    fn a_description_has_the_ends_of_the_curves() {
        let both = chart(vec![
            curve("a", CurveStyle::Policy(0), vec![(1.0, 0.0), (1000.0, 9.25)]),
            curve("b (above)", CurveStyle::Policy(1), vec![(1.0, 3.0)]),
        ]);
        let expected = "mean of 3 runs. a: from 0 at 1 to 9.250 at 1,000. b: 3.000 at 1.";
        assert_eq!(description(&both), expected);
        assert_eq!(description(&chart(Vec::new())), "mean of 3 runs. Nothing to show.");
        let many: Vec<Curve> =
            (0..14).map(|index| curve("c", CurveStyle::Policy(index), vec![(1.0, 1.0)])).collect();
        assert!(description(&chart(many)).ends_with("c: 1.000 at 1. 2 curves more."));
    }
}
