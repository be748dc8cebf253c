//! The CPU time of a thread. This is the only file of the crate with code for Unix.

use std::time::Duration;

/// The CPU time that this thread has used since it began.
#[cfg(all(unix, not(feature = "portable")))]
pub(crate) fn thread_cpu_time() -> Duration {
    use rustix::time::{ClockId, clock_gettime};

    Duration::try_from(clock_gettime(ClockId::ThreadCPUTime)).unwrap_or_default()
}

/// The wall-clock time since the first call: the standard library has no CPU time.
#[cfg(any(not(unix), feature = "portable"))]
pub(crate) fn thread_cpu_time() -> Duration {
    use std::sync::OnceLock;
    use std::time::Instant;

    static START: OnceLock<Instant> = OnceLock::new();
    #[expect(
        clippy::disallowed_methods,
        reason = "timing.json says how long a run took; no result depends on it"
    )]
    let now = Instant::now();
    now.duration_since(*START.get_or_init(|| now))
}
