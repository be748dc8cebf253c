//! How many rounds a policy has decided.

use serde::{Deserialize, Serialize};

/// Rounds decided so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct Rounds(u64);

impl Rounds {
    pub(crate) fn get(self) -> u64 {
        self.0
    }

    /// Counts a new round and returns its 1-based number.
    #[inline]
    pub(crate) fn next(&mut self) -> u64 {
        self.0 += 1;
        self.0
    }

    /// The 1-based number of the next round.
    pub(crate) fn coming(self) -> u64 {
        self.0 + 1
    }

    /// The next round is the current one again.
    #[inline]
    pub(crate) fn repeat(&mut self) -> bool {
        self.0 = self.0.saturating_sub(1);
        true
    }
}
