//! What the standard library has for Unix alone: the CPU time of a thread, which file a name means, and what a device is.

use std::fs::Metadata;
use std::time::Duration;

/// The number of names of a file, and what tells it from every other file.
#[cfg(all(unix, not(feature = "portable")))]
pub(crate) fn names_and_identity(file: &Metadata) -> (u64, (u64, u64)) {
    use std::os::unix::fs::MetadataExt as _;

    (file.nlink(), (file.dev(), file.ino()))
}

/// One name, and files that are not told apart.
#[cfg(any(not(unix), feature = "portable"))]
pub(crate) fn names_and_identity(_: &Metadata) -> (u64, (u64, u64)) {
    (1, (0, 0))
}

/// Whether a file is a device, which may never end.
#[cfg(all(unix, not(feature = "portable")))]
pub fn is_device(file: &Metadata) -> bool {
    use std::os::unix::fs::FileTypeExt as _;

    file.file_type().is_char_device() || file.file_type().is_block_device()
}

/// No file is known to be a device.
#[cfg(any(not(unix), feature = "portable"))]
pub fn is_device(_: &Metadata) -> bool {
    false
}

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
    /// Now.
    pub(crate) fn now() -> Self {
        #[expect(
            clippy::disallowed_methods,
            reason = "timing.json says how long a run took; no result depends on it"
        )]
        let now = std::time::Instant::now();
        Self(now)
    }

    /// The time since this moment.
    pub(crate) fn elapsed(self) -> Duration {
        self.0.elapsed()
    }
}
