//! An interleaved comparison of two rankers, whose unit is the user.
//!
//! A user's lists are not independent, above all if every list keeps its teams. So the outcome of a
//! user is the sign of the clicks credited to the second ranker minus those credited to the first,
//! and ties do not count. Evidence and interval are those of [`PairTest`](crate::PairTest).
//!
//! # Examples
//!
//! ```
//! use interleaving::{TeamTest, Verdict};
//!
//! let mut test = TeamTest::new(0.05)?;
//! for user in 0..40 {
//!     test.observe(user, true);
//!     test.observe(user, true);
//!     test.observe(user, user % 8 == 0);
//! }
//! // More clicks of a user do not count more.
//! assert_eq!((test.tally().second, test.verdict()), (40, Verdict::Second));
//! # Ok::<(), confidence::Error>(())
//! ```

use crate::{Tally, Verdict};
use confidence::ErrorProbability;
use confidence::sequence::{CoinMixture, ConfidenceSequence, Interval};
use hashbrown::HashMap;
use serde::{Deserialize, Serialize};
use std::cmp::Ordering;
use std::hash::{BuildHasherDefault, DefaultHasher};

/// Credited clicks of an interleaved comparison, by user.
///
/// Saved as its users, and counted again when it is loaded.
#[derive(Debug, Clone, Serialize, Deserialize, fieldwork::Fieldwork)]
#[serde(try_from = "SavedTest", into = "SavedTest")]
#[fieldwork(opt_in, get(doc_template = "{}"))]
pub struct TeamTest {
    miss: f64,
    /// Clicks credited to the first ranker and to the second.
    users: HashMap<u64, [u32; 2], BuildHasherDefault<DefaultHasher>>,
    /// Users won by either ranker, and ties. Users without clicks are not counted.
    #[field(copy)]
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
        let clicks = self.users.entry(user).or_insert_with(|| {
            self.tally.ties += 1;
            [0, 0]
        });
        *count_of(&mut self.tally, *clicks) -= 1;
        let credited = &mut clicks[usize::from(second)];
        *credited = credited.saturating_add(1);
        *count_of(&mut self.tally, *clicks) += 1;
    }

    /// Clicks credited to the first ranker and to the second, and the most clicks of a user.
    pub fn clicks(&self) -> ([u64; 2], u64) {
        self.users.values().fold(([0, 0], 0), |([first, second], most), &[a, b]| {
            let [a, b] = [a, b].map(u64::from);
            ([first + a, second + b], most.max(a + b))
        })
    }

    /// Users with several clicks: of the first ranker alone, of the second alone, and of both.
    pub fn users_of_several(&self) -> [u64; 3] {
        let mut users = [0; 3];
        let several = self.users.values().filter(|[first, second]| first.saturating_add(*second) > 1);
        several
            .for_each(|&[first, second]| users[usize::from(second > 0) * (1 + usize::from(first > 0))] += 1);
        users
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
