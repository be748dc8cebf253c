//! Values at the end of runs, which several kinds of figures show.

use super::unit_of;
use experiment::result::{EndValue, Quantity, ResultFile};

/// The value that a figure shows: by default the main one of the task.
pub(super) fn compared<'a>(
    value: Option<EndValue>,
    mut results: impl Iterator<Item = &'a ResultFile>,
) -> EndValue {
    value.unwrap_or_else(|| results.next().map_or(EndValue::Regret, ResultFile::outcome))
}

/// The name of the value with its unit.
pub(super) fn in_words<'a>(compared: EndValue, results: impl Iterator<Item = &'a ResultFile>) -> String {
    match compared {
        EndValue::Regret => format!("expected regret at the end ({})", unit_of(results)),
        EndValue::Answer(Quantity::StoppingTime) => "stopping time (rounds)".to_owned(),
        EndValue::Accuracy | EndValue::Answer(_) => compared.words().to_owned(),
    }
}

/// The mean of a value of a policy and its standard error, if they can be drawn.
pub(super) fn finite(result: &ResultFile, label: &str, compared: EndValue) -> Option<(f64, f64)> {
    result.at_the_end(label, compared).filter(|(mean, se)| mean.is_finite() && !se.is_infinite())
}
