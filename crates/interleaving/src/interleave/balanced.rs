//! Balanced interleaving: at every depth of the list the tops of both rankings, of equal or nearly equal length, are in it.
//!
//! A coin says which ranking leads. Each has a pointer to its next document; the one whose pointer is behind moves, the leader
//! if neither is, and its document is appended unless it is there already. With `c` the lowest clicked document and
//! `k = min(rank of c by the first, by the second)`, the winner is who has more of the clicked documents among its top `k`.
//!
//! Reference: Joachims 2003; Radlinski, Kurup, Joachims, CIKM 2008, Algorithm 1.
//!
//! Deviations: none. The bias is the method's own, and described there: of the rankings 0 1 2 and 1 2 0 the second wins more
//! often when clicks are random, because it has all documents but one higher up.
//!
//! | here | paper | shape | unit |
//! |---|---|---|---|
//! | `pair` | A, B | two rankings | documents |
//! | `next` | `k_a`, `k_b` | 2 | 0-based ranks |
//! | `ranks` | positions of `i` in A and B | 2 a shown document | 0-based ranks |
//!
//! Numerics: integers only. Complexity: O(length) per list, since a document is in it when the other pointer has passed it.
//!
//! # Examples
//!
//! The coin aside, rankings 0 1 2 and 1 2 0 give the lists 0 1 2 and 1 0 2. Of a click on document 1 the second has more:
//!
//! ```
//! use click_models::Clicks;
//! use interleaving::{Balanced, Interleaving, Outcome, RankedDocuments, RankedPair, Shown};
//! use rand::SeedableRng;
//! use rand_xoshiro::Xoshiro256PlusPlus;
//!
//! let (first, second) = (RankedDocuments::new(vec![0, 1, 2])?, RankedDocuments::new(vec![1, 2, 0])?);
//! let mut shown = Shown::default();
//! let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
//! Balanced.interleave(RankedPair::new(&first, &second)?, 3, &mut rng, &mut shown);
//! let position = shown.documents.iter().position(|&document| document == 1).unwrap();
//! assert_eq!(Balanced.outcome(&shown, Clicks::new(3).with(position)), Outcome::Second);
//! # Ok::<(), interleaving::Error>(())
//! ```

use super::{Interleaving, Outcome, RankedPair, Shown, clicked, heads};
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
        shown: &mut Shown<Self::Note>,
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
            // What the other pointer has passed is in the list.
            if ranks[1 - mover] as usize >= next[1 - mover] {
                shown.documents.push(document);
                shown.note.push(ranks);
            }
            next[mover] += 1;
        }
    }

    fn outcome(&self, shown: &Shown<Self::Note>, clicks: Clicks) -> Outcome {
        let ranks = || clicked(clicks).filter_map(|position| shown.note.get(position));
        let Some(lowest) = ranks().last() else { return Outcome::Tie };
        let depth = lowest[0].min(lowest[1]);
        let [first, second] = ranks().fold([0, 0], |[first, second], &[by_first, by_second]| {
            [first + u32::from(by_first <= depth), second + u32::from(by_second <= depth)]
        });
        Outcome::of_counts(first, second)
    }
}
