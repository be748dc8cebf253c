//! What figures show, in words, for readers who do not see them.

use crate::svg::{ABOVE, Curve, CurveStyle};
use experiment::number;
use itertools::Itertools as _;
use std::fmt::Write as _;

/// The largest number of names in a row.
const MOST_NAMES: usize = 4;
/// The largest number of references, and of columns of a table, that are described one by one.
const MOST_PARTS: usize = 12;

/// Which values are good.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Best {
    /// Low ones, as of regret.
    Lowest,
    /// High ones, as of clicks.
    Highest,
}

/// What is said of curves besides their points.
#[derive(Debug, Clone, Copy)]
pub(super) struct Described<'a> {
    /// The quantity.
    pub(super) what: &'a str,
    /// Which curves lead.
    pub(super) best: Best,
    /// Whether bands are confidence intervals.
    pub(super) has_intervals: bool,
    /// Whether references are for all curves.
    pub(super) shares_references: bool,
    /// Labels of curves of the policy `oracle`, which knows the users and does not compete.
    pub(super) oracles: &'a [String],
}

/// A value with the name of what has it.
type Named<'a> = (&'a str, f64);

/// Who leads at the end and by how much, who is last, and where the leader is beside the references.
pub(super) fn of_curves(curves: &[Curve], described: Described<'_>) -> String {
    let Described { what, best, has_intervals, shares_references, oracles } = described;
    let end = |curve: &Curve| curve.points.last().copied();
    let is_oracle = |curve: &&Curve| oracles.iter().any(|label| label == name(curve));
    let drawn = curves.iter().filter(|curve| !curve.style.is_dashed() && !curve.points.is_empty());
    let (knowing, mut policies): (Vec<&Curve>, Vec<&Curve>) = drawn.partition(is_oracle);
    if policies.is_empty() {
        policies.clone_from(&knowing);
    }
    let value = |curve: &Curve| end(curve).map_or(f64::NAN, |point| point.1);
    policies.sort_by(|a, b| match best {
        Best::Lowest => value(a).total_cmp(&value(b)),
        Best::Highest => value(b).total_cmp(&value(a)),
    });
    let (Some(leader), Some(last)) = (policies.first(), policies.last()) else { return String::new() };
    let rounds = policies.iter().filter_map(|curve| end(curve)).map(|point| point.0).fold(0.0, f64::max);
    let mut text = capitalised(what);
    let _ = write!(text, " at the end (round {}): ", number::fixed(rounds, 0));
    let (first_word, last_word, side) = match best {
        Best::Lowest => ("lowest", "highest", "below"),
        Best::Highest => ("highest", "lowest", "above"),
    };
    let level = four(value(leader));
    let tied: Vec<&str> =
        policies.iter().take_while(|curve| four(value(curve)) == level).map(|curve| name(curve)).collect();
    match policies.get(tied.len()) {
        None if policies.len() == 1 => {
            let _ = write!(text, "{} is at {level}. ", name(leader));
        }
        None => {
            let _ = write!(text, "{} are all at {level}. ", listed(&tied));
        }
        Some(next) => {
            let verb = if tied.len() == 1 { "is" } else { "are" };
            let ahead = number::significant((value(next) - value(leader)).abs(), 2);
            let _ = write!(
                text,
                "{} {verb} {first_word} with {level}, {ahead} {side} {} ({})",
                listed(&tied),
                name(next),
                four(value(next))
            );
            if has_intervals && overlap(leader, next) {
                text.push_str(", and their confidence intervals overlap");
            }
            if policies.len() > tied.len() + 1 {
                let _ = write!(text, "; {} is {last_word} with {}", name(last), four(value(last)));
            }
            text.push_str(". ");
        }
    }
    for curve in knowing.iter().filter(|curve| !policies.iter().any(|policy| std::ptr::eq(*policy, **curve)))
    {
        let _ = write!(text, "{} knows the users and is at {}. ", name(curve), four(value(curve)));
    }
    for reference in curves.iter().filter(|curve| curve.style.is_dashed()).take(MOST_PARTS) {
        let Some((_, level)) = end(reference) else { continue };
        let beside = match reference.style {
            CurveStyle::ReferenceOf(number, _) => {
                policies.iter().find(|curve| curve.style == CurveStyle::Policy(number))
            }
            _ if shares_references => Some(leader),
            _ => None,
        };
        let _ = write!(text, "At the end {} is at {}", name(reference), four(level));
        if let Some(policy) = beside.filter(|policy| level > 0.0 && value(policy).is_finite()) {
            let ratio = number::significant(value(policy) / level, 3);
            let _ = write!(text, "; {} is at {ratio} times that", name(policy));
        }
        text.push_str(". ");
    }
    text
}

/// The lowest and highest value of a table, and the lowest of each of its columns. Without a name, a column has one value of each row.
pub(super) fn of_table(columns: &[(&str, Vec<Named<'_>>)]) -> String {
    let all = || {
        columns.iter().flat_map(|(column, rows)| rows.iter().map(move |&(row, value)| (*column, row, value)))
    };
    let lowest = all().min_by(|a, b| a.2.total_cmp(&b.2));
    let highest = all().max_by(|a, b| a.2.total_cmp(&b.2));
    let (Some(lowest), Some(highest)) = (lowest, highest) else { return "No values".to_owned() };
    let three = |value: f64| number::significant(value, 3);
    if all().count() > 1 && three(lowest.2) == three(highest.2) {
        return format!("All values are {}. ", three(lowest.2));
    }
    // All that have the value as it is printed.
    let each = |value: f64| {
        let names: Vec<String> = all()
            .filter(|part| three(part.2) == three(value))
            .map(
                |(column, row, _)| {
                    if column.is_empty() { row.to_owned() } else { format!("{row} in {column}") }
                },
            )
            .collect();
        let verb = if names.len() == 1 { "is" } else { "are" };
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        format!("{verb} {} with {}", listed(&names), three(value))
    };
    let mut text = format!("Lowest {}; highest {}. ", each(lowest.2), each(highest.2));
    if columns.len() > 1 {
        let least = |(column, rows): &(&str, Vec<Named<'_>>)| {
            let (_, value) = rows.iter().min_by(|a, b| a.1.total_cmp(&b.1))?;
            let least: Vec<&str> =
                rows.iter().filter(|row| three(row.1) == three(*value)).map(|row| row.0).collect();
            Some(format!("{column}: {}, {}", listed(&least), three(*value)))
        };
        let each = columns.iter().filter_map(least).take(MOST_PARTS).join("; ");
        let _ = write!(text, "Lowest of each: {each}");
        if columns.len() > MOST_PARTS {
            let _ = write!(text, "; {} more in the picture", columns.len() - MOST_PARTS);
        }
        text.push_str(". ");
    }
    text
}

/// The name of a curve without the note that it leaves the frame, which a listener does not need.
fn name(curve: &Curve) -> &str {
    curve.label.trim_end_matches(ABOVE)
}

/// Names with commas, and "and" before the last; only the first of many.
fn listed(names: &[&str]) -> String {
    match names {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [rest @ .., last] if names.len() <= MOST_NAMES => format!("{} and {last}", rest.join(", ")),
        _ => format!("{} and {} more", names[..MOST_NAMES].join(", "), names.len() - MOST_NAMES),
    }
}

fn four(value: f64) -> String {
    number::significant(value, 4)
}

fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// Whether the bands of two curves overlap where they end.
fn overlap(one: &Curve, other: &Curve) -> bool {
    match (one.band.last(), other.band.last()) {
        (Some((_, low, high)), Some((_, other_low, other_high))) => low <= other_high && other_low <= high,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn curve(label: &str, style: CurveStyle, end: f64, half: f64) -> Curve {
        let band = if half > 0.0 { vec![(1000.0, end - half, end + half)] } else { Vec::new() };
        Curve {
            label: label.to_owned(),
            style,
            points: vec![(1.0, 0.0), (1000.0, end)],
            band,
            dots: Vec::new(),
        }
    }

    const REGRET: Described<'static> = Described {
        what: "regret (clicks)",
        best: Best::Lowest,
        has_intervals: true,
        shares_references: true,
        oracles: &[],
    };

    #[test]
    fn curves_are_described_by_who_leads_who_is_last_and_the_bound() {
        let mut curves = vec![
            curve("lower bound (theorem 6) (above)", CurveStyle::Reference(0), 93.0, 0.0),
            curve("b", CurveStyle::Policy(1), 150.0, 10.0),
            curve("PBM-TS", CurveStyle::Policy(0), 121.0, 10.0),
            curve("c", CurveStyle::Policy(2), 902.0, 10.0),
        ];
        assert_eq!(
            of_curves(&curves, REGRET),
            "Regret (clicks) at the end (round 1,000): PBM-TS is lowest with 121.0, 29 below b (150.0); c is highest with 902.0. \
             At the end lower bound (theorem 6) is at 93.00; PBM-TS is at 1.30 times that. "
        );
        // Overlapping intervals are mentioned where bands are intervals.
        curves[1].band = vec![(1000.0, 130.0, 170.0)];
        let has = |described| {
            of_curves(&curves, described).contains("150.0), and their confidence intervals overlap")
        };
        assert!(has(REGRET) && !has(Described { has_intervals: false, ..REGRET }));
        let high = of_curves(&curves, Described { best: Best::Highest, shares_references: false, ..REGRET });
        assert!(
            high.contains("c is highest with 902.0, 752 above b (150.0); PBM-TS is lowest with 121.0"),
            "{high}"
        );
        assert!(high.ends_with("is at 93.00. "));
    }

    #[test]
    fn ties_and_few_curves_are_described() {
        let at = |label: &str, end: f64| curve(label, CurveStyle::Policy(0), end, 0.0);
        let text = |curves: &[Curve]| {
            of_curves(curves, REGRET).replace("Regret (clicks) at the end (round 1,000): ", "")
        };
        assert_eq!(text(&[]), "");
        assert_eq!(text(&[at("a", 1.0)]), "a is at 1.000. ");
        assert_eq!(text(&[at("a", 1.0), at("b", 1.0)]), "a and b are all at 1.000. ");
        assert_eq!(
            text(&[at("a", 0.0), at("b", 0.0), at("c", 2.0)]),
            "a and b are lowest with 0, 2.0 below c (2.000). "
        );
        let six: Vec<Curve> = ["a", "b", "c", "d", "e", "f"].map(|label| at(label, 1.0)).into();
        assert_eq!(text(&six), "a, b, c, d and 2 more are all at 1.000. ");
    }

    #[test]
    fn an_oracle_does_not_lead() {
        let at = |label: &str, end: f64| curve(label, CurveStyle::Policy(0), end, 0.0);
        let described = Described { oracles: &["oracle".to_owned()], ..REGRET };
        assert_eq!(
            of_curves(&[at("oracle", 0.0), at("a", 1.0), at("b", 2.0)], described),
            "Regret (clicks) at the end (round 1,000): a is lowest with 1.000, 1.0 below b (2.000). oracle knows the users and is at 0. "
        );
        assert_eq!(
            of_curves(&[at("oracle", 0.0)], described),
            "Regret (clicks) at the end (round 1,000): oracle is at 0. "
        );
    }

    #[test]
    fn tables_are_described_by_their_lowest_and_highest_values() {
        let table = [("x", vec![("a", 50.0), ("b", 100.0)]), ("y", vec![("b", 20.0)])];
        assert_eq!(
            of_table(&table),
            "Lowest is b in y with 20.0; highest is b in x with 100. Lowest of each: x: a, 50.0; y: b, 20.0. "
        );
        assert_eq!(
            of_table(&[("", vec![("a", 1.0), ("b", 2.0)])]),
            "Lowest is a with 1.00; highest is b with 2.00. "
        );
        assert_eq!(of_table(&[("x", Vec::new())]), "No values");
        let many: Vec<(&str, Vec<Named<'_>>)> =
            (0..14).map(|_| ("x", vec![("a", 1.0), ("b", 2.0)])).collect();
        assert!(of_table(&many).ends_with("x: a, 1.00; 2 more in the picture. "));
        assert_eq!(
            of_table(&[("", vec![("a", 1.0), ("b", 1.0), ("c", 2.0)])]),
            "Lowest are a and b with 1.00; highest is c with 2.00. "
        );
        assert_eq!(of_table(&[("", vec![("a", 1.0), ("b", 1.0)])]), "All values are 1.00. ");
    }
}
