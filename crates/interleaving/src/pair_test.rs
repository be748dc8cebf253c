//! A sequential test whether one ranker is better than another. It may be checked after every
//! comparison and stopped at any time.
//!
//! Users see interleaved lists of two rankers. Ties are ignored; the null hypothesis is that each
//! other comparison is a fair coin. With [`TeamDraft`](crate::TeamDraft) this holds for identical
//! rankers, and for any two rankers if clicks do not depend on documents. With the other
//! interleavings identical rankers always tie, but for two different rankers, clicks that do not
//! depend on documents may favour one of them, and the test detects that. If the first ranker wins
//! `S` of `n` comparisons, the evidence against the hypothesis is
//!
//! ```text
//! E = mean over a = 1, 10, 100, 1000 of B(a + S, a + n - S) / B(a, a) 2^n      (B: the beta function),
//! ```
//!
//! which starts at 1 and is a martingale under the hypothesis. By Ville's inequality it ever
//! reaches `1 / miss` with probability at most `miss`, for any schedule of checks and any stopping
//! rule. By contrast, a test for a fixed number of comparisons that is checked after each one finds
//! a difference with probability 1 in the end.
//!
//! Reference: Robbins, *Statistical methods related to the law of the iterated logarithm*, 1970;
//! Howard, Ramdas, `McAuliffe`, Sekhon, *Time-uniform, nonparametric, nonasymptotic confidence
//! sequences*, Annals of Statistics 2021, Proposition 7; [`confidence::sequence::CoinMixture`].
//!
//! Deviations: ties are ignored rather than shared. Whether a comparison ends in a tie may depend
//! on the entire past; the hypothesis concerns only the other comparisons.
//!
//! | here | paper | shape | unit |
//! |---|---|---|---|
//! | `miss` | alpha | number in (0, 1) | probability |
//! | `first`, `second` | `S`, `n - S` | counts | comparisons won |
//! | [`PairTest::first_share`] | q | interval | probability, of comparisons that are not ties |
//!
//! Numerics: as [`CoinMixture`]. Complexity: constant memory; twelve logarithms of the gamma
//! function per comparison that is not a tie.
//!
//! # Examples
//!
//! The first ranker wins all: `E` is 14.3 at `n = 9`, and reaches 20 at `n = 10`, where it is 25.0.
//!
//! ```
//! use interleaving::{Outcome, PairTest, Verdict};
//!
//! let mut test = PairTest::new(0.05)?;
//! for _ in 0..9 {
//!     test.observe(Outcome::First);
//!     test.observe(Outcome::Tie);
//! }
//! assert_eq!(test.verdict(), Verdict::Undecided);
//! assert_eq!(test.observe(Outcome::First), Verdict::First);
//! assert_eq!(test.decided_after(), Some(19));
//! # Ok::<(), confidence::Error>(())
//! ```

use crate::{Outcome, Tally};
use confidence::ErrorProbability;
use confidence::sequence::{CoinMixture, ConfidenceSequence, Interval};
use serde::{Deserialize, Serialize};

/// A sequential test of two rankers, valid under continuous monitoring.
///
/// Saved as its counts, and checked again when it is loaded.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, fieldwork::Fieldwork)]
#[serde(try_from = "SavedTest")]
#[fieldwork(opt_in, get(doc_template = "{}"))]
pub struct PairTest {
    miss: f64,
    /// The comparisons so far.
    #[field(copy)]
    tally: Tally,
    decided: Option<DatedVerdict>,
}

/// A verdict, and when it was reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct DatedVerdict {
    first_is_better: bool,
    after: u64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SavedTest {
    miss: f64,
    tally: Tally,
    decided: Option<DatedVerdict>,
}

/// The verdict of a test so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// No difference found yet.
    Undecided,
    /// The first ranker is better.
    First,
    /// The second ranker is better.
    Second,
}

impl PairTest {
    /// A test whose false-alarm probability is at most `miss`.
    ///
    /// # Errors
    ///
    /// [`confidence::Error::NotAnErrorProbability`] unless `0 < miss < 1`.
    pub fn new(miss: f64) -> Result<Self, confidence::Error> {
        let miss = ErrorProbability::new(miss)?.get();
        Ok(Self { miss, tally: Tally::default(), decided: None })
    }

    /// Adds one comparison and returns the verdict.
    pub fn observe(&mut self, outcome: Outcome) -> Verdict {
        self.tally.add(outcome);
        if outcome != Outcome::Tie && self.decided.is_none() && !self.wins().contains(0.5) {
            let Tally { first, second, ties } = self.tally;
            self.decided =
                Some(DatedVerdict { first_is_better: first > second, after: first + second + ties });
        }
        self.verdict()
    }

    /// The verdict, reached now or earlier; later comparisons do not revoke it.
    pub fn verdict(&self) -> Verdict {
        match self.decided {
            None => Verdict::Undecided,
            Some(DatedVerdict { first_is_better: true, .. }) => Verdict::First,
            Some(DatedVerdict { first_is_better: false, .. }) => Verdict::Second,
        }
    }

    /// The number of comparisons, including ties, after which the verdict was reached; `None` while
    /// undecided.
    pub fn decided_after(&self) -> Option<u64> {
        self.decided.map(|decided| decided.after)
    }

    /// A confidence interval for the probability that the first ranker wins a comparison that is
    /// not a tie; it holds at all times simultaneously with probability `1 - miss`.
    pub fn first_share(&self) -> Interval {
        self.wins().interval()
    }

    fn wins(&self) -> CoinMixture {
        let Tally { first, second, .. } = self.tally;
        CoinMixture::with_counts(self.miss, first, second).expect("the error probability was checked")
    }
}

impl TryFrom<SavedTest> for PairTest {
    type Error = String;

    fn try_from(SavedTest { miss, tally, decided }: SavedTest) -> Result<Self, String> {
        let total = u128::from(tally.first) + u128::from(tally.second) + u128::from(tally.ties);
        if total > 1 << 53 {
            return Err("more comparisons than can be counted exactly".to_owned());
        }
        if decided.is_some_and(|decided| u128::from(decided.after) > total) {
            return Err("decided after more comparisons than there were".to_owned());
        }
        let wins_of =
            |first, second| CoinMixture::with_counts(miss, first, second).map_err(|error| error.to_string());
        // An uninterrupted series of wins is the easiest case to decide.
        let clearest = match decided {
            None => wins_of(tally.first, tally.second)?,
            Some(DatedVerdict { first_is_better: true, after }) => wins_of(tally.first.min(after), 0)?,
            Some(DatedVerdict { first_is_better: false, after }) => wins_of(0, tally.second.min(after))?,
        };
        if clearest.contains(0.5) == decided.is_some() {
            return Err("decided though the comparisons say nothing, or not though they do".to_owned());
        }
        Ok(Self { miss, tally, decided })
    }
}
