//! All integration tests of the crate in one binary: linking is what a further binary costs.

mod alarm;
mod chain;
mod checks;
mod compare;
mod fit;
mod intervals;
mod judgments;
mod lists;
#[path = "../../log-reader/tests/support/log_generator.rs"]
mod log_generator;
mod order;
mod parameters;
#[cfg(feature = "parquet")]
mod parameters_parquet;
mod ranked;
mod transfer;
mod users;

use log_reader::{Log, Part, Sessions};

/// The log without one session in `one_in`, or one impression if it has no sessions, and these.
fn without_one_in(log: &Log, one_in: u64, seed: u64) -> (Log, Part) {
    let parts = if log.sessions.is_empty() {
        let counts = log.counts.split(one_in, seed);
        counts.map(|counts| Part { counts, sessions: Sessions::default() })
    } else {
        log.sessions.without_one_in(one_in, seed).unwrap().map(Part::from)
    };
    let [Part { counts, sessions }, held_out] = parts;
    (Log { counts, sessions, report: log.report.clone() }, held_out)
}
