//! The transfer of the models on a terminal, on a page and in `comparison.json`.

use click_logs::fit::{Model, Transfer, Transfers, Verdict};
use documents::number::{counted, fixed};
use serde::Serialize;

/// The heads of [`rows_of`].
pub(super) const HEADS: [&str; 5] = ["model", "happens", "95 %", "squared error", "verdict"];

/// A row for each model.
pub(super) fn rows_of(transfers: &Transfers) -> impl Iterator<Item = [String; 5]> {
    let interval = |(low, high)| format!("[{}, {}]", fixed(low, 2), fixed(high, 2));
    transfers.models.iter().map(move |transfer| {
        [
            transfer.model.name().to_owned(),
            transfer.slope.map_or_else(|| "?".to_owned(), |slope| fixed(slope, 2)),
            transfer.interval().map_or_else(|| "?".to_owned(), interval),
            fixed(transfer.squared_error, 4),
            verdict(transfers, transfer),
        ]
    })
}

/// The verdict, with the data that would allow one.
fn verdict(transfers: &Transfers, transfer: &Transfer) -> String {
    let Some(times) = transfer.needed() else { return transfer.verdict().name().to_owned() };
    let needed = |number: u64| fixed((times * number as f64).ceil(), 0);
    format!(
        "{}: it would take {} sessions of {} lists of {} queries",
        Verdict::CannotTest.name(),
        needed(transfers.sessions),
        needed(transfers.lists as u64),
        needed(transfers.queries as u64),
    )
}

/// The heading of the rows.
pub(super) fn heading(transfers: &Transfers) -> String {
    format!(
        "The part of the predicted differences between lists that happens on lists left out of the fit, 1 for all of them; squared \
         error of a session's clicks, less that of predicting no differences. On {} of {} of {}:",
        counted(transfers.sessions, "session"),
        counted(transfers.lists as u64, "list"),
        counted(transfers.queries as u64, "query"),
    )
}

/// The key `transfer` of `comparison.json`.
#[derive(Debug, Serialize)]
pub(super) struct TransferRecord {
    queries: usize,
    lists: usize,
    sessions: u64,
    /// Observed clicks of a session.
    observed: f64,
    /// The models that are not told apart from that of the least squared error, the first one.
    alike: Vec<Model>,
    models: Vec<ModelRecord>,
}

#[derive(Debug, Serialize)]
struct ModelRecord {
    model: Model,
    slope: Option<f64>,
    slope_se: Option<f64>,
    lower: Option<f64>,
    upper: Option<f64>,
    verdict: &'static str,
    /// How many times the data would allow a verdict.
    #[serde(skip_serializing_if = "Option::is_none")]
    needed: Option<f64>,
    squared_error: f64,
    /// Predicted clicks of a session.
    predicted: f64,
}

impl TransferRecord {
    pub(super) fn new(transfers: &Transfers) -> Self {
        let record = |transfer: &Transfer| ModelRecord {
            model: transfer.model,
            slope: transfer.slope,
            slope_se: transfer.standard_error,
            lower: transfer.interval().map(|ends| ends.0),
            upper: transfer.interval().map(|ends| ends.1),
            verdict: transfer.verdict().name(),
            needed: transfer.needed(),
            squared_error: transfer.squared_error,
            predicted: transfer.predicted,
        };
        Self {
            queries: transfers.queries,
            lists: transfers.lists,
            sessions: transfers.sessions,
            observed: transfers.observed,
            alike: transfers.alike(&|_| true),
            models: transfers.models.iter().map(record).collect(),
        }
    }
}
