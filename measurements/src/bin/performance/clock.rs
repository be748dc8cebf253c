//! CPU time, medians and rates.

use crate::players::Play;
use documents::number::significant;
use rustix::time::{ClockId, clock_gettime};
use std::time::Duration;

/// Rounds per second of CPU time.
pub(crate) fn rate(play: &Play, rounds: u64) -> f64 {
    rounds as f64 / seconds(play, rounds)
}

/// Seconds of CPU time that rounds take, from the first one on.
pub(crate) fn seconds(play: &Play, rounds: u64) -> f64 {
    let before = now();
    play(rounds, 0);
    now().saturating_sub(before).as_secs_f64()
}

/// The CPU time of this thread.
fn now() -> Duration {
    Duration::try_from(clock_gettime(ClockId::ThreadCPUTime)).expect("a time that is not negative")
}

/// The CPU time of this thread in seconds.
pub(crate) fn cpu_seconds() -> f64 {
    now().as_secs_f64()
}

/// The middle value.
pub(crate) fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// A rate with three digits, the others zero.
pub(crate) fn rounded(rate: f64) -> String {
    let unit = libm::pow(10.0, (libm::log10(rate).floor() - 2.0).max(0.0));
    significant((rate / unit).round() * unit, 3)
}
