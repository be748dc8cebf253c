//! Interleaved comparison: two rankings become one list, and its clicks say which of them is better.
//!
//! | interleaving | list | credit | identical rankers | trap |
//! |---|---|---|---|---|
//! | [`Balanced`] | alternates between the rankings' next documents | clicks above the lowest click's better rank | tie, always | biased: random clicks prefer a ranking that moves a document down |
//! | [`TeamDraft`] | rounds of two, a coin says who picks first | clicks on documents that a ranker picked | fair, with noise | blind to some differences |
//! | [`Probabilistic`] | draws, good ranks more often | expected clicks over all assignments that make the list | tie, always | outcomes are biased, though credit is not; shows documents from far down now and then |
//!
//! With [`Probabilistic`] clicks that do not depend on the document have expected credit 0 at every position, for any two
//! rankings. Who has the credit's sign, which is what [`Interleaving::outcome`] says, is another matter: a ranker may win seldom and by
//! much. Of the rankings 0 1 2 3 and 1 2 3 0 one random click is for the first in 29 % of the lists, for the second in 46 %. Only
//! [`TeamDraft`] is even under random clicks. Over many queries, on which now the one ranking has the advantage and now the other,
//! less of it remains. [`Probabilistic`] is what the preference matrices of the literature were made with; [`TeamDraft`] is what
//! search engines run, and what a test of two rankers should.
//!
//! References: balanced, Joachims, *Evaluating retrieval performance using clickthrough data*, 2003; team draft, Radlinski,
//! Kurup, Joachims, *How does clickthrough data reflect retrieval quality?*, CIKM 2008, which states both as algorithms;
//! probabilistic, Hofmann, Whiteson, de Rijke, *A probabilistic method for inferring preferences from clicks*, CIKM 2011.
//!
//! # Examples
//!
//! ```
//! use click_models::Clicks;
//! use interleaving::{Interleaving, Outcome, RankedDocuments, RankedPair, Shown, TeamDraft};
//! use rand::SeedableRng;
//! use rand_xoshiro::Xoshiro256PlusPlus;
//!
//! let first = RankedDocuments::new(vec![0, 1, 2, 3])?;
//! let second = RankedDocuments::new(vec![3, 1, 0, 2])?;
//! let pair = RankedPair::new(&first, &second)?;
//! let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
//! let mut shown = Shown::default();
//! TeamDraft.interleave(pair, 2, &mut rng, &mut shown);
//! // Each ranker has picked its best one. The one that picked what is clicked wins.
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
    /// Neither: as many clicks for the one as for the other, often none at all.
    Tie,
}

impl Outcome {
    /// The ranker that has more.
    #[inline]
    fn of_counts(first: u32, second: u32) -> Self {
        match first.cmp(&second) {
            std::cmp::Ordering::Greater => Self::First,
            std::cmp::Ordering::Less => Self::Second,
            std::cmp::Ordering::Equal => Self::Tie,
        }
    }

    /// The same, the rankers having changed places.
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
    /// These two.
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

    /// Documents that a list of `length` positions can hold: no more than there are, and no more than a set of clicks has.
    fn length(self, length: usize) -> usize {
        length.min(self.first.order().len()).min(ListShape::MAX_POSITIONS)
    }
}

/// An interleaved list, and what has to be remembered until its clicks are known.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Shown<N> {
    /// Documents from the top down.
    pub documents: Vec<u32>,
    /// What the credit of a click depends on.
    pub note: N,
}

/// A way to interleave two rankings, and to say from clicks who is better.
pub trait Interleaving {
    /// What has to be remembered until the clicks are known.
    type Note: Clone + Default + Debug + Send + Serialize + DeserializeOwned;

    /// Fills `shown` with a list of `length` documents, or all there are, at most 64. Allocates only where a buffer has never
    /// been as long.
    fn interleave<R: Rng + ?Sized>(
        &mut self,
        pair: RankedPair<'_>,
        length: usize,
        rng: &mut R,
        shown: &mut Shown<Self::Note>,
    );

    /// Who won, by the clicks on a list. Clicks below its end count for nobody.
    fn outcome(&self, shown: &Shown<Self::Note>, clicks: Clicks) -> Outcome;
}

/// Heads or tails.
#[inline]
fn heads<R: Rng + ?Sized>(rng: &mut R) -> bool {
    rng.next_u64() >> 63 == 1
}

/// 0-based positions that were clicked, rising.
#[inline]
fn clicked(clicks: Clicks) -> impl Iterator<Item = usize> {
    let mut left = clicks.bits();
    std::iter::from_fn(move || {
        let position = left.trailing_zeros() as usize;
        left &= left.wrapping_sub(1);
        (position < ListShape::MAX_POSITIONS).then_some(position)
    })
}
