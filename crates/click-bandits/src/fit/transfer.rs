//! The transfer of the models on a terminal, on a page and in `comparison.json`.

use click_logs::fit::{Transfer, Transfers, Verdict};
use documents::number::{counted, fixed};
use serde_json::{Value, json};

/// The heads of [`rows_of`].
pub(super) const HEADS: [&str; 5] = ["model", "happens", "95 %", "squared error", "verdict"];

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

pub(super) fn heading(transfers: &Transfers) -> String {
    format!(
        "The part of the predicted differences between lists that happens on lists left out of the fit, 1 for all of them; squared \
         error of a session's clicks, less that of predicting no differences. On {} of {} of {}:",
        counted(transfers.sessions, "session"),
        counted(transfers.lists as u64, "list"),
        counted(transfers.queries as u64, "query"),
    )
}

/// The key `transfer` of `comparison.json`. The first of `alike` has the least squared error, and
/// the others are not told apart from it; `needed` says how many times the data would allow a
/// verdict; clicks are those of a session.
pub(super) fn record(transfers: &Transfers) -> Value {
    let of_model = |of: &Transfer| {
        let (lower, upper) = of.interval().unzip();
        json!({
            "model": of.model,
            "slope": of.slope,
            "slope_se": of.standard_error,
            "lower": lower,
            "upper": upper,
            "verdict": of.verdict().name(),
            "needed": of.needed(),
            "squared_error": of.squared_error,
            "predicted": of.predicted,
        })
    };
    let Transfers { models, queries, lists, sessions, observed, .. } = transfers;
    let models: Vec<Value> = models.iter().map(of_model).collect();
    json!({
        "queries": queries,
        "lists": lists,
        "sessions": sessions,
        "observed": observed,
        "alike": transfers.alike(&|_| true),
        "models": models,
    })
}
