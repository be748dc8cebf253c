//! `timing.json`: the time that each policy took.
//!
//! The CPU seconds of a policy are added up over the threads that played it. So rounds per
//! CPU-second do not depend on the number of threads, as long as each has a core. The wall seconds
//! of a policy are added up over threads too. Only the wall seconds of the total are the time that
//! a user waits.

use crate::output;
use crate::unix::CpuInstant;
use serde::{Deserialize, Serialize};
use std::marker::PhantomData;
use std::ops::Add;
use std::time::{Duration, Instant};

/// The content of `timing.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Timing {
    /// Number of threads that simulated.
    pub threads: usize,
    /// One entry for each policy, in the order of the spec.
    pub policies: Vec<PolicyTiming>,
    /// All policies together.
    pub total: Speed,
}

/// The time that one policy took.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PolicyTiming {
    /// Its name in this experiment.
    pub label: String,
    /// Time and rounds.
    #[serde(flatten)]
    pub speed: Speed,
}

/// Time, rounds, and their ratio.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Speed {
    /// CPU time.
    pub cpu_seconds: f64,
    /// Elapsed real time.
    pub wall_seconds: f64,
    /// Rounds played.
    pub rounds: u64,
    /// Rounds per second of CPU time; absent if the clock did not advance.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rounds_per_cpu_second: Option<f64>,
}

impl Timing {
    /// The timing of policies (label, time, rounds) that ran on `threads` threads. `wall` is the
    /// time that the user waited.
    pub fn new(threads: usize, wall: Duration, policies: &[(&str, Span, u64)]) -> Self {
        let cpu = policies.iter().map(|(_, elapsed, _)| elapsed.cpu).sum();
        let rounds = policies.iter().map(|(_, _, rounds)| rounds).sum();
        let policy = |&(label, elapsed, rounds): &(&str, Span, u64)| PolicyTiming {
            label: label.to_owned(),
            speed: Speed::new(elapsed, rounds),
        };
        Self {
            threads,
            policies: policies.iter().map(policy).collect(),
            total: Speed::new(Span { cpu, wall }, rounds),
        }
    }

    /// The file's content.
    pub fn to_json(&self) -> Vec<u8> {
        output::to_json(self)
    }
}

impl Speed {
    /// The speed of `rounds` played in the time `elapsed`.
    pub fn new(elapsed: Span, rounds: u64) -> Self {
        let cpu_seconds = elapsed.cpu.as_secs_f64();
        Self {
            cpu_seconds,
            wall_seconds: elapsed.wall.as_secs_f64(),
            rounds,
            rounds_per_cpu_second: (cpu_seconds > 0.0).then(|| rounds as f64 / cpu_seconds),
        }
    }
}

/// A span of time, measured by two clocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Span {
    /// CPU time of the thread.
    pub cpu: Duration,
    /// Elapsed real time.
    pub wall: Duration,
}

impl Add for Span {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self { cpu: self.cpu + other.cpu, wall: self.wall + other.wall }
    }
}

/// Measures the time since its start on one thread; not `Send`, since CPU time is per thread.
#[derive(Debug)]
pub struct Stopwatch {
    cpu: CpuInstant,
    wall: Instant,
    same_thread: PhantomData<*const ()>,
}

impl Stopwatch {
    /// Starts now.
    pub fn start() -> Self {
        #[expect(
            clippy::disallowed_methods,
            reason = "timing.json records how long a run took; no result depends on it"
        )]
        let wall = Instant::now();
        Self { cpu: CpuInstant::now(), wall, same_thread: PhantomData }
    }

    /// The time on the wall since the start, which costs less to ask for.
    pub(crate) fn wall(&self) -> Duration {
        self.wall.elapsed()
    }

    /// The time since the start.
    pub fn elapsed(&self) -> Span {
        Span { cpu: self.cpu.elapsed(), wall: self.wall.elapsed() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stopwatch_counts_work_and_sleep_only_without_cpu_time() {
        let watch = Stopwatch::start();
        std::thread::sleep(Duration::from_millis(30));
        let asleep = watch.elapsed();
        let has_cpu_time = cfg!(all(unix, not(feature = "portable")));
        assert!(asleep.wall >= Duration::from_millis(30));
        assert_eq!(asleep.cpu < Duration::from_millis(30), has_cpu_time);
        let mut sum = 0_u64;
        while watch.elapsed().cpu <= asleep.cpu + Duration::from_millis(5) {
            sum = std::hint::black_box(sum + 1);
        }
        assert!(watch.elapsed().wall > asleep.wall);
    }

    #[test]
    fn the_total_is_the_sum_over_policies() {
        let span = |cpu, wall| Span { cpu: Duration::from_secs(cpu), wall: Duration::from_secs(wall) };
        assert_eq!(span(1, 2) + span(3, 4), span(4, 6));
        let timing = Timing::new(2, Duration::from_secs(3), &[("a", span(4, 4), 800), ("b", span(0, 0), 0)]);
        assert_eq!(timing.policies[0].speed.rounds_per_cpu_second, Some(200.0));
        assert_eq!(timing.policies[1].speed.rounds_per_cpu_second, None);
        assert_eq!(
            (timing.total.cpu_seconds, timing.total.wall_seconds, timing.total.rounds),
            (4.0, 3.0, 800)
        );
        assert_eq!(serde_json::from_slice::<Timing>(&timing.to_json()).unwrap(), timing);
    }
}
