//! Keys of lists whose lines name their session: 128 bits of hash.

use crate::names::TextHash;

/// The hash of a list's session and query.
pub(crate) type ListKey = [u64; 2];

/// The hash functions of names of sessions.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct KeyHash([TextHash; 2]);

impl KeyHash {
    pub(crate) fn of_text(self, text: &[u8]) -> ListKey {
        self.0.map(|hash| hash.of(text))
    }

    /// The first half of the key of a text.
    pub(crate) fn half_of_text(self, text: &[u8]) -> u64 {
        self.0[0].of(text)
    }

    pub(crate) fn of_numbers(self, a: u64, b: u64) -> ListKey {
        self.0.map(|hash| hash.of_numbers(a, b))
    }

    /// The key of two parts, in their order.
    pub(crate) fn of_both(self, a: ListKey, b: ListKey) -> ListKey {
        [0, 1].map(|half| self.0[half].of_numbers(a[half], b[half]))
    }
}
