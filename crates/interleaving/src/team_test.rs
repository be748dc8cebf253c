//! A sequential test whether one ranker is better than another, on interleaved lists. Its unit is
//! the user. It may be looked at after every click and stopped at any time.
//!
//! A user's lists are not independent, above all if every list keeps its teams. So the outcome of a
//! user is the sign of the clicks credited to the second ranker minus those credited to the first,
//! and ties do not count. The null hypothesis is that each other user is a fair coin. With
//! [`TeamDraft`](crate::TeamDraft) this holds for identical rankers, and for any two rankers if
//! clicks do not depend on documents. With the other interleavings identical rankers always tie,
//! but for two different rankers, clicks that do not depend on documents may favour one of them,
//! and the test detects that. If the first ranker wins `S` of `n` users, the evidence against the
//! hypothesis is
//!
//! ```text
//! E = mean over a = 1, 10, 100, 1000 of B(a + S, a + n - S) / B(a, a) 2^n      (B: the beta function),
//! ```
//!
//! which starts at 1 and is a martingale under the hypothesis. By Ville's inequality it ever
//! reaches `1 / miss` with probability at most `miss`, for any schedule of checks and any stopping
//! rule. By contrast, a test for a fixed number of users that is checked after each one finds a
//! difference with probability 1 in the end.
//!
//! Reference: Robbins, *Statistical methods related to the law of the iterated logarithm*, 1970;
//! Howard, Ramdas, `McAuliffe`, Sekhon, *Time-uniform, nonparametric, nonasymptotic confidence
//! sequences*, Annals of Statistics 2021, Proposition 7; [`CoinMixture`].
//!
//! Deviations: ties are ignored rather than shared. Whether a user ends in a tie may depend on the
//! entire past; the hypothesis concerns only the others.
//!
//! | here | paper | shape | unit |
//! |---|---|---|---|
//! | `miss` | alpha | number in (0, 1) | probability |
//! | `first`, `second` | `S`, `n - S` | counts | users won |
//! | [`TeamTest::first_share`] | q | interval | probability, of users who are not ties |
//!
//! Numerics: as [`CoinMixture`]. Complexity: memory for every user; twelve logarithms of the gamma
//! function for a verdict.
//!
//! # Examples
//!
//! The first ranker wins all: `E` is 14.3 at `n = 9`, and reaches 20 at `n = 10`, where it is 25.0.
//! More clicks of a user do not count more.
//!
//! ```
//! use interleaving::{Outcome, TeamTest, Verdict};
//!
//! let mut test = TeamTest::new(0.05)?;
//! for user in 0..9 {
//!     test.observe(user, false);
//!     test.observe(user, false);
//!     test.compare(100 + user, Outcome::Tie);
//! }
//! assert_eq!(test.verdict(), Verdict::Undecided);
//! assert_eq!(test.compare(9, Outcome::First), Verdict::First);
//! # Ok::<(), confidence::Error>(())
//! ```

use crate::{Outcome, Tally};
use confidence::ErrorProbability;
use confidence::sequence::{CoinMixture, ConfidenceSequence, Interval};
use hashbrown::HashMap;
use serde::{Deserialize, Serialize};
use std::cmp::Ordering;
use std::hash::{BuildHasherDefault, DefaultHasher};

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

/// Credited clicks of an interleaved comparison, by user.
///
/// Saved as its users, and counted again when it is loaded.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(try_from = "SavedTest", into = "SavedTest")]
pub struct TeamTest {
    miss: f64,
    /// Clicks credited to the first ranker and to the second.
    users: HashMap<u64, [u32; 2], BuildHasherDefault<DefaultHasher>>,
    tally: Tally,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SavedTest {
    miss: f64,
    /// User, and clicks credited to the first ranker and to the second.
    users: Vec<(u64, u32, u32)>,
}

impl TeamTest {
    /// A test without clicks, whose false-alarm probability is at most `miss`.
    ///
    /// # Errors
    ///
    /// [`confidence::Error::NotAnErrorProbability`] unless `0 < miss < 1`.
    pub fn new(miss: f64) -> Result<Self, confidence::Error> {
        let miss = ErrorProbability::new(miss)?.get();
        Ok(Self { miss, users: HashMap::default(), tally: Tally::default() })
    }

    /// Adds a user's click, credited to the second ranker or to the first.
    pub fn observe(&mut self, user: u64, second: bool) {
        self.credit(user, if second { [0, 1] } else { [1, 0] });
    }

    /// Adds the outcome of a user's list, which counts as one click, and returns the verdict now.
    pub fn compare(&mut self, user: u64, outcome: Outcome) -> Verdict {
        self.credit(
            user,
            match outcome {
                Outcome::First => [1, 0],
                Outcome::Second => [0, 1],
                Outcome::Tie => [0, 0],
            },
        );
        self.verdict()
    }

    fn credit(&mut self, user: u64, more: [u32; 2]) {
        let clicks = self.users.entry(user).or_insert_with(|| {
            self.tally.ties += 1;
            [0, 0]
        });
        *count_of(&mut self.tally, *clicks) -= 1;
        *clicks = [0, 1].map(|ranker| clicks[ranker].saturating_add(more[ranker]));
        *count_of(&mut self.tally, *clicks) += 1;
    }

    /// Clicks credited to the first ranker and to the second, and the most clicks of a user.
    pub fn clicks(&self) -> ([u64; 2], u64) {
        self.users.values().fold(([0, 0], 0), |([first, second], most), &[a, b]| {
            let [a, b] = [a, b].map(u64::from);
            ([first + a, second + b], most.max(a + b))
        })
    }

    /// Users won by either ranker, and ties.
    pub fn tally(&self) -> Tally {
        self.tally
    }

    /// The evidence of a difference: 1 at first; 1 / miss decides.
    pub fn evidence(&self) -> f64 {
        self.wins().evidence()
    }

    /// The verdict now: that of the interval of [`first_share`](Self::first_share).
    pub fn verdict(&self) -> Verdict {
        if self.wins().contains(0.5) {
            Verdict::Undecided
        } else if self.tally.first > self.tally.second {
            Verdict::First
        } else {
            Verdict::Second
        }
    }

    /// An interval for the share of users won by the first ranker, of those who are not ties.
    pub fn first_share(&self) -> Interval {
        self.wins().interval()
    }

    fn wins(&self) -> CoinMixture {
        CoinMixture::with_counts(self.miss, self.tally.first, self.tally.second)
            .expect("the error probability was checked")
    }
}

/// The count of users with an outcome as that of these clicks.
fn count_of(tally: &mut Tally, [first, second]: [u32; 2]) -> &mut u64 {
    match first.cmp(&second) {
        Ordering::Greater => &mut tally.first,
        Ordering::Equal => &mut tally.ties,
        Ordering::Less => &mut tally.second,
    }
}

impl TryFrom<SavedTest> for TeamTest {
    type Error = String;

    fn try_from(SavedTest { miss, users }: SavedTest) -> Result<Self, String> {
        let mut test = Self::new(miss).map_err(|error| error.to_string())?;
        for (user, first, second) in users {
            if test.users.insert(user, [first, second]).is_some() {
                return Err(format!("user {user} is saved twice"));
            }
            *count_of(&mut test.tally, [first, second]) += 1;
        }
        Ok(test)
    }
}

impl From<TeamTest> for SavedTest {
    fn from(test: TeamTest) -> Self {
        let mut users: Vec<_> =
            test.users.iter().map(|(user, &[first, second])| (*user, first, second)).collect();
        users.sort_unstable();
        Self { miss: test.miss, users }
    }
}
