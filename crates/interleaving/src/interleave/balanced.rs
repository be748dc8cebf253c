//! Balanced interleaving: every prefix of the list consists of top documents of both rankings, of
//! equal or nearly equal number.
//!
//! A coin decides which ranking leads. Each has a pointer to its next document. The ranking whose
//! pointer is behind moves (the leader, if neither is behind), and its document is appended unless
//! the list already contains it. Let `c` be the lowest clicked document and
//! `k = min(rank of c by the first, rank of c by the second)`. The winner is the ranker with more
//! of the clicked documents among its top `k`.
//!
//! Reference: Joachims 2003; Radlinski, Kurup, Joachims, CIKM 2008, Algorithm 1.
//!
//! Deviations: none. The method is biased, as the papers describe: of the rankings 0 1 2 and 1 2 0,
//! the second wins more often under random clicks, because it ranks all documents but one higher.
//!
//! | here | paper | shape | unit |
//! |---|---|---|---|
//! | `pair` | A, B | two rankings | documents |
//! | `next` | `k_a`, `k_b` | 2 | 0-based ranks |
//! | `ranks` | positions of `i` in A and B | 2 per shown document | 0-based ranks |
//!
//! Numerics: integers only. Complexity: O(length) per list, since a document is in the list if and
//! only if the other pointer has passed it.
//!
//! # Examples
//!
//! Depending on the coin, the rankings 0 1 2 and 1 2 0 give the list 0 1 2 or 1 0 2. A click on
//! document 1 is credited to the second:
//!
//! ```
//! use click_models::Clicks;
//! use interleaving::{Balanced, Interleaving, Outcome, RankedDocuments, RankedPair, InterleavedList};
//! use rand::SeedableRng;
//! use rand_xoshiro::Xoshiro256PlusPlus;
//!
//! let (first, second) = (RankedDocuments::new(vec![0, 1, 2])?, RankedDocuments::new(vec![1, 2, 0])?);
//! let mut shown = InterleavedList::default();
//! let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
//! Balanced.interleave(RankedPair::new(&first, &second)?, 3, &mut rng, &mut shown);
//! let position = shown.documents.iter().position(|&document| document == 1).unwrap();
//! assert_eq!(Balanced.outcome(&shown, Clicks::new(3).with(position)), Outcome::Second);
//! # Ok::<(), interleaving::Error>(())
//! ```

use super::{InterleavedList, Interleaving, Outcome, RankedPair, clicked, heads};
use click_models::Clicks;
use rand::Rng;

/// Balanced interleaving.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Balanced;

impl Interleaving for Balanced {
    /// 0-based ranks of every shown document by the first and by the second.
    type Note = Vec<[u32; 2]>;

    fn interleave<R: Rng + ?Sized>(
        &mut self,
        pair: RankedPair<'_>,
        length: usize,
        rng: &mut R,
        shown: &mut InterleavedList<Self::Note>,
    ) {
        let first_leads = heads(rng);
        let length = pair.length(length);
        let mut next = [0_usize; 2];
        shown.documents.clear();
        shown.note.clear();
        while shown.documents.len() < length {
            let first_moves = next[0] < next[1] || (next[0] == next[1] && first_leads);
            let (mover, ranking) = if first_moves { (0, pair.first) } else { (1, pair.second) };
            // Pointers stay within one step, and a full pass of both shows every document.
            let document = ranking.order()[next[mover]];
            let ranks = [pair.first, pair.second].map(|ranking| ranking.rank()[document as usize]);
            // Documents that the other pointer has passed are in the list.
            if ranks[1 - mover] as usize >= next[1 - mover] {
                shown.documents.push(document);
                shown.note.push(ranks);
            }
            next[mover] += 1;
        }
    }

    fn outcome(&self, shown: &InterleavedList<Self::Note>, clicks: Clicks) -> Outcome {
        let ranks = || clicked(clicks).filter_map(|position| shown.note.get(position));
        let Some(lowest) = ranks().last() else { return Outcome::Tie };
        let depth = lowest[0].min(lowest[1]);
        let [first, second] = ranks().fold([0, 0], |[first, second], &[by_first, by_second]| {
            [first + u32::from(by_first <= depth), second + u32::from(by_second <= depth)]
        });
        Outcome::of_counts(first, second)
    }
}
