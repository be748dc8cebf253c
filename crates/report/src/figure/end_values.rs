//! Values at the end of runs, which several kinds of figures show.

use super::unit_of;
use crate::sample::ratio_of_means;
use crate::series::Simulated;
use experiment::result::{EndValue, Quantity, ResultFile};

/// The value that a figure shows.
pub(super) fn compared<'a>(
    value: Option<EndValue>,
    mut results: impl Iterator<Item = &'a ResultFile>,
) -> EndValue {
    let of_the_task = || results.next().map_or(EndValue::Regret, ResultFile::outcome);
    value.unwrap_or_else(of_the_task)
}

/// The name of the value with its unit.
pub(super) fn in_words<'a>(compared: EndValue, results: impl Iterator<Item = &'a ResultFile>) -> String {
    match compared {
        EndValue::Regret => format!("expected regret at the end ({})", unit_of(results)),
        EndValue::Answer(Quantity::StoppingTime) => "stopping time (rounds)".to_owned(),
        EndValue::Accuracy | EndValue::Answer(_) => compared.words().to_owned(),
    }
}

/// The name of the value without its unit, for shares.
pub(super) fn in_words_without_unit(compared: EndValue) -> &'static str {
    match compared {
        EndValue::Regret => "regret at the end",
        EndValue::Accuracy | EndValue::Answer(_) => compared.words(),
    }
}

/// The value of a policy at the end of a variant and its standard error. With a `reference` policy, as a share in per cent of that policy's
/// value. `None` if the variant lacks one of the policies, or if the number is not finite.
pub(super) fn value(
    variant: &Simulated,
    label: &str,
    reference: Option<&str>,
    compared: EndValue,
) -> Option<(f64, f64)> {
    let measured = &variant.measured;
    let (mean, se) = match reference {
        None => measured.result.at_the_end(label, compared)?,
        Some(reference) => {
            let (policy, reference) = (measured.policy(label)?, measured.policy(reference)?);
            let values = |policy| measured.values(policy, compared);
            let (above, below) = (values(policy).ok()?, values(reference).ok()?);
            let (ratio, se) =
                ratio_of_means(&measured.result.observed(&above), &measured.result.observed(&below));
            (100.0 * ratio, 100.0 * se)
        }
    };
    (mean.is_finite() && !se.is_infinite()).then_some((mean, se))
}
