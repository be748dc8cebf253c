//! The CPU time of a thread, which the standard library does not have.

use std::time::Duration;

/// A moment in the CPU time of this thread.
#[cfg(all(unix, not(feature = "portable")))]
#[derive(Debug, Clone, Copy)]
pub(crate) struct CpuInstant(Duration);

#[cfg(all(unix, not(feature = "portable")))]
impl CpuInstant {
    /// The CPU time that this thread has used since it began.
    pub(crate) fn now() -> Self {
        use rustix::time::{ClockId, clock_gettime};

        Self(Duration::try_from(clock_gettime(ClockId::ThreadCPUTime)).unwrap_or_default())
    }

    /// The CPU time since this moment.
    pub(crate) fn elapsed(self) -> Duration {
        Self::now().0.saturating_sub(self.0)
    }
}

/// A moment by the clock on the wall: the standard library has no CPU time.
#[cfg(any(not(unix), feature = "portable"))]
#[derive(Debug, Clone, Copy)]
pub(crate) struct CpuInstant(std::time::Instant);

#[cfg(any(not(unix), feature = "portable"))]
impl CpuInstant {
    pub(crate) fn now() -> Self {
        #[expect(
            clippy::disallowed_methods,
            reason = "timing.json records how long a run took; no result depends on it"
        )]
        let now = std::time::Instant::now();
        Self(now)
    }

    /// The time since this moment.
    pub(crate) fn elapsed(self) -> Duration {
        self.0.elapsed()
    }
}
