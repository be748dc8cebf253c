//! Interleaved comparison: two rankings are merged into one list, and its clicks decide which of
//! them is better.
//!
//! | interleaving | list | credit | identical rankers | caveat |
//! |---|---|---|---|---|
//! | [`Balanced`] | alternates between the rankings | clicks in the top k of each | always a tie | random clicks favour one ranking |
//! | [`TeamDraft`] | rounds of two picks in random order | clicks on own picks | fair coin | cannot detect some differences |
//! | [`Probabilistic`] | random, good ranks more often | expected clicks over assignments | always a tie | biased outcomes; shows low ranks at times |
//!
//! With [`Balanced`], `k` is the better of the two ranks of the lowest clicked document, and random
//! clicks favour a ranking that moves one document far down.
//!
//! With [`Probabilistic`], clicks that do not depend on the document have expected credit 0 at
//! every position, for any two rankings. But [`Interleaving::outcome`] reports only the sign of the
//! credit, which is biased: a ranker may win rarely and by much. For the rankings 0 1 2 3 and 1 2 3
//! 0, one random click is credited to the first in 29 % of the lists and to the second in 46 %.
//! Only [`TeamDraft`] is even under random clicks. Over many queries the bias partly cancels,
//! because it favours different rankings on different queries. The preference matrices of the
//! literature were made with [`Probabilistic`]. Search engines run [`TeamDraft`], and a test of two
//! rankers should use it.
//!
//! Both rankings have the same documents. If a service interleaves lists of different lengths, the
//! longer one fills the rest alone and wins more often under random clicks (.556 with 10 and 4
//! documents): credit must end where one ranker has no document left.
//!
//! References: balanced, Joachims, *Evaluating retrieval performance using clickthrough data*,
//! 2003; team draft, Radlinski, Kurup, Joachims, *How does clickthrough data reflect retrieval
//! quality?*, CIKM 2008, which states both as algorithms; probabilistic, Hofmann, Whiteson, de
//! Rijke, *A probabilistic method for inferring preferences from clicks*, CIKM 2011.
//!
//! # Examples
//!
//! ```
//! use click_models::Clicks;
//! use interleaving::{Interleaving, Outcome, RankedDocuments, RankedPair, InterleavedList, TeamDraft};
//! use rand::SeedableRng;
//! use rand_xoshiro::Xoshiro256PlusPlus;
//!
//! let first = RankedDocuments::new(vec![0, 1, 2, 3])?;
//! let second = RankedDocuments::new(vec![3, 1, 0, 2])?;
//! let pair = RankedPair::new(&first, &second)?;
//! let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
//! let mut shown = InterleavedList::default();
//! TeamDraft.interleave(pair, 2, &mut rng, &mut shown);
//! // Each ranker has picked its best document. The ranker that picked the clicked document wins.
//! let clicked = shown.documents[0];
//! let winner = TeamDraft.outcome(&shown, Clicks::new(2).with(0));
//! assert_eq!(winner, if clicked == 0 { Outcome::First } else { Outcome::Second });
//! # Ok::<(), interleaving::Error>(())
//! ```

mod balanced;
mod probabilistic;
mod team_draft;

pub use balanced::Balanced;
pub use probabilistic::Probabilistic;
pub use team_draft::TeamDraft;

use crate::{Error, RankedDocuments};
use click_models::{Clicks, ListShape};
use rand::Rng;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::fmt::Debug;

/// Which ranker won a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// The first.
    First,
    /// The second.
    Second,
    /// Neither: both have equally many clicks, often none.
    Tie,
}

impl Outcome {
    /// The ranker with the larger number.
    #[inline]
    fn of_counts(first: u32, second: u32) -> Self {
        match first.cmp(&second) {
            std::cmp::Ordering::Greater => Self::First,
            std::cmp::Ordering::Less => Self::Second,
            std::cmp::Ordering::Equal => Self::Tie,
        }
    }

    /// The outcome with first and second ranker exchanged.
    #[must_use]
    pub fn swapped(self) -> Self {
        match self {
            Self::First => Self::Second,
            Self::Second => Self::First,
            Self::Tie => Self::Tie,
        }
    }
}

/// Two rankings of the same documents.
#[derive(Debug, Clone, Copy)]
pub struct RankedPair<'a> {
    first: &'a RankedDocuments,
    second: &'a RankedDocuments,
}

impl<'a> RankedPair<'a> {
    /// The pair of two rankings.
    ///
    /// # Errors
    ///
    /// [`Error::DifferentDocuments`] when one ranks more documents than the other.
    pub fn new(first: &'a RankedDocuments, second: &'a RankedDocuments) -> Result<Self, Error> {
        let (n_first, n_second) = (first.order().len(), second.order().len());
        if n_first == n_second {
            Ok(Self { first, second })
        } else {
            Err(Error::DifferentDocuments { first: n_first, second: n_second })
        }
    }

    /// Number of documents in a list of `length` positions: at most as many as there are, and at
    /// most 64, the size of a set of clicks.
    fn length(self, length: usize) -> usize {
        length.min(self.first.order().len()).min(ListShape::MAX_POSITIONS)
    }
}

/// An interleaved list, with the note that its credit requires. Keep it until the clicks are known.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct InterleavedList<N> {
    /// Documents from the top down.
    pub documents: Vec<u32>,
    /// The method's note, which determines the credit of a click.
    pub note: N,
}

/// A method to interleave two rankings, and to decide from clicks which is better.
pub trait Interleaving {
    /// The information about a list that the outcome requires besides clicks.
    type Note: Clone + Default + Debug + Send + Serialize + DeserializeOwned;

    /// Fills `shown` with a list of `length` documents, or of all documents if there are fewer; at
    /// most 64. Allocates only if a buffer was never this long before.
    fn interleave<R: Rng + ?Sized>(
        &mut self,
        pair: RankedPair<'_>,
        length: usize,
        rng: &mut R,
        shown: &mut InterleavedList<Self::Note>,
    );

    /// The outcome for the clicks on a list. Clicks below its end are ignored.
    fn outcome(&self, shown: &InterleavedList<Self::Note>, clicks: Clicks) -> Outcome;
}

/// Heads or tails.
#[inline]
fn heads<R: Rng + ?Sized>(rng: &mut R) -> bool {
    rng.next_u64() >> 63 == 1
}

/// The 0-based clicked positions, in increasing order.
#[inline]
fn clicked(clicks: Clicks) -> impl Iterator<Item = usize> {
    let mut left = clicks.bits();
    std::iter::from_fn(move || {
        let position = left.trailing_zeros() as usize;
        left &= left.wrapping_sub(1);
        (position < ListShape::MAX_POSITIONS).then_some(position)
    })
}
