//! Team-draft interleaving: like two captains who pick their teams, the rankers in turn pick their
//! best remaining document.
//!
//! In every round a coin decides which ranker picks first; then the other picks. A click counts for
//! the ranker that picked the document, and the ranker with more clicks wins.
//!
//! Reference: Radlinski, Kurup, Joachims, CIKM 2008, Algorithm 2.
//!
//! Deviations: none. Documents at the start of both rankings are picked like all others, so their
//! clicks cancel only on average.
//!
//! | here | paper | shape | unit |
//! |---|---|---|---|
//! | `pair` | A, B | two rankings | documents |
//! | `note` | `TeamA` | bit set over positions | - |
//! | `picked` | size of `TeamA`, `TeamB` | 2 | documents |
//!
//! Numerics: integers only. Complexity: O(length^2) per list; the quadratic part compares numbers
//! in one cache line.
//!
//! # Examples
//!
//! ```
//! use click_models::Clicks;
//! use interleaving::{Interleaving, Outcome, InterleavedList, TeamDraft};
//!
//! // The first ranker picked positions 0 and 3.
//! let shown = InterleavedList { documents: vec![7, 2, 0, 5], note: 0b1001 };
//! let clicks = |bits| Clicks::from_bits(bits, 4).unwrap();
//! assert_eq!(TeamDraft.outcome(&shown, clicks(0b1011)), Outcome::First);
//! assert_eq!(TeamDraft.outcome(&shown, clicks(0b0101)), Outcome::Tie);
//! ```

use super::{InterleavedList, Interleaving, Outcome, RankedPair, heads};
use click_models::Clicks;
use rand::Rng;

/// Team-draft interleaving.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TeamDraft;

impl Interleaving for TeamDraft {
    /// Positions that the first ranker picked, position 0 in the lowest bit.
    type Note = u64;

    fn interleave<R: Rng + ?Sized>(
        &mut self,
        pair: RankedPair<'_>,
        length: usize,
        rng: &mut R,
        shown: &mut InterleavedList<Self::Note>,
    ) {
        let length = pair.length(length);
        let mut next = [0_usize; 2];
        let mut first_picks = false;
        shown.documents.clear();
        shown.note = 0;
        for position in 0..length {
            // Teams are of the same size at even positions; at odd ones the other picks.
            first_picks = if position % 2 == 0 { heads(rng) } else { !first_picks };
            let (picker, ranking) = if first_picks { (0, pair.first) } else { (1, pair.second) };
            // A document always remains: the list is no longer than the ranking.
            while shown.documents.contains(&ranking.order()[next[picker]]) {
                next[picker] += 1;
            }
            shown.documents.push(ranking.order()[next[picker]]);
            shown.note |= u64::from(first_picks) << position;
        }
    }

    fn outcome(&self, shown: &InterleavedList<Self::Note>, clicks: Clicks) -> Outcome {
        let length = shown.documents.len();
        let inside = if length < 64 { (1 << length) - 1 } else { u64::MAX };
        let clicks = clicks.bits() & inside;
        Outcome::of_counts((clicks & shown.note).count_ones(), (clicks & !shown.note).count_ones())
    }
}
