//! The time by which decisions are closed and leave, and the clock of the machine.

use crate::metrics::log;
use serde_json::json;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Milliseconds since 1970 by the clock of the machine; nothing else reads it.
pub fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

/// The longest time between two ticks that is believed. There are four a second, unless the thread
/// was stopped, or the steady clock is not steady.
const LONGEST: Duration = Duration::from_secs(30);
/// By how much the machine may differ from the steady clock between two turns, in seconds.
const JUMP: f64 = 60.0;

/// The time of the service: that of the database if several servers share one, or else that of the
/// machine at the start and a steady clock since then.
#[derive(Debug)]
pub struct Clock {
    start: u64,
    tick: Instant,
    since: Duration,
    /// By how much the machine was ahead at the last turn, in seconds.
    ahead: f64,
    latest: u64,
}

impl Clock {
    /// Starts after the last event; the time since then is believed.
    pub fn start(tick: Instant, machine: u64, database: Option<u64>, last_event: u64) -> Self {
        let time = database.unwrap_or(machine);
        let seconds = (time as f64 - last_event as f64) / 1e3;
        log("info", "clock", json!({ "seconds_since_last_event": (last_event > 0).then_some(seconds) }));
        let start = time.max(last_event);
        let ahead = (machine as f64 - start as f64) / 1e3;
        Self { start, tick, since: Duration::ZERO, ahead, latest: start }
    }

    /// Notes that time passes.
    pub fn tick(&mut self, tick: Instant) {
        self.since += tick.saturating_duration_since(self.tick).min(LONGEST);
        self.tick = tick;
    }

    /// The time of a turn, in milliseconds since 1970, which never goes back. A jump of the
    /// machine's clock is logged.
    pub fn turn(&mut self, tick: Instant, machine: u64, database: Option<u64>, last_event: u64) -> u64 {
        self.tick(tick);
        let steady = self.start.saturating_add(u64::try_from(self.since.as_millis()).unwrap_or(u64::MAX));
        let ahead = (machine as f64 - steady as f64) / 1e3;
        let jump = ahead - std::mem::replace(&mut self.ahead, ahead);
        if jump.abs() > JUMP {
            log("error", "clock-jumped", json!({ "seconds": jump }));
        }
        self.latest = self.latest.max(database.unwrap_or(steady)).max(last_event);
        self.latest
    }
}
