//! Estimates how often each ranker beats each other one, from interleaved comparisons with
//! simulated users.
//!
//! Every pair of rankers is compared `n` times: a query is drawn uniformly, the pair's rankings are
//! interleaved, a user scans the list, and the clicks decide who wins.
//! `p_ij = (wins of i + ties / 2) / n`.
//!
//! Reference: Zoghi, Whiteson, Munos, de Rijke, *Relative upper confidence bound for the K-armed
//! dueling bandit problem*, ICML 2014, section 6: probabilistic interleaving, `n` = 4,000, a user
//! of Hofmann, Whiteson, de Rijke, CIKM 2011.
//!
//! Deviations: ties are halved instead of decided by a coin, which has the same expectation and
//! less variance. The paper states neither the user nor the length of lists; [`Settings::default`]
//! uses the navigational user and ten documents.
//!
//! | here | paper | shape | unit |
//! |---|---|---|---|
//! | `comparisons_per_pair` | 4,000 | number | comparisons |
//! | [`Tally`] | - | one per pair `i < j` | comparisons |
//! | [`Preferences::matrix`] | `p_ij` | `n_rankers` squared | probability |
//!
//! Each pair has its own random stream, keyed by (seed, pair), so the tallies do not depend on
//! threads, on the order of pairs, or on interruptions. [`Progress`] is the state to save between
//! interruptions: the tallies of the finished pairs, with a fingerprint of settings and rankings.
//! This module does not access files.
//!
//! Numerics: a standard error of `p_ij` is at most `1 / (2 sqrt n)`, .008 for 4,000. Complexity:
//! `n` interleaved lists per pair.
//!
//! # Examples
//!
//! ```
//! use interleaving::{Estimation, Progress, RankedCollection, RankedDocuments, RankedQuery, Settings};
//!
//! let good = RankedDocuments::new(vec![1, 0])?;
//! let bad = RankedDocuments::new(vec![0, 1])?;
//! let query = RankedQuery::new(vec![0, 1], vec![good, bad])?;
//! let rankers = RankedCollection::new(vec![query])?;
//! let settings = Settings { list_length: 1, ..Settings::default() };
//! let estimation = Estimation::new(&rankers, settings)?;
//!
//! let mut progress = estimation.start();
//! while estimation.advance(&mut progress, 64)? > 0 {
//!     // Here a caller can save `progress` and resume later.
//! }
//! let preferences = progress.preferences().expect("all pairs are done");
//! // The one document shown is the relevant one with probability 8/9 or 1/9, by either ranker, and then clicked with
//! // probability .95, else .05. A click is credit for the good ranker if it is on the relevant one: p = 1/2 + (.95 - .05) / 4.
//! assert!((preferences.probability(0, 1) - 0.725).abs() < 0.04);
//! # Ok::<(), interleaving::Error>(())
//! ```

use crate::interleave::{Balanced, Interleaving, Outcome, Probabilistic, RankedPair, Shown, TeamDraft};
use crate::streams::{Role, stream};
use crate::{Error, RankedCollection, ScanningUser};
use click_models::ListShape;
use rand::RngExt;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// The interleaving method.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Method {
    /// [`Balanced`].
    Balanced,
    /// [`TeamDraft`].
    TeamDraft,
    /// [`Probabilistic`].
    #[default]
    Probabilistic,
}

/// Settings of an estimation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Settings {
    /// The interleaving method.
    pub method: Method,
    /// The user who clicks.
    pub user: ScanningUser,
    /// Number of comparisons of every pair.
    pub comparisons_per_pair: u64,
    /// Number of documents of a list; fewer if a query has fewer.
    pub list_length: usize,
    /// Master seed.
    pub seed: u64,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            method: Method::default(),
            user: ScanningUser::navigational(),
            comparisons_per_pair: 4000,
            list_length: 10,
            seed: 1,
        }
    }
}

/// Counts of the outcomes of a pair's comparisons.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tally {
    /// Won by the first ranker.
    pub first: u64,
    /// Won by the second.
    pub second: u64,
    /// Won by neither.
    pub ties: u64,
}

impl Tally {
    /// Counts one comparison.
    pub fn add(&mut self, outcome: Outcome) {
        match outcome {
            Outcome::First => self.first += 1,
            Outcome::Second => self.second += 1,
            Outcome::Tie => self.ties += 1,
        }
    }

    /// The number of all comparisons; `None` on overflow, which no estimation reaches.
    fn checked_total(self) -> Option<u64> {
        self.first.checked_add(self.second)?.checked_add(self.ties)
    }

    /// Share of the first ranker, ties halved; 1/2 without a comparison.
    pub fn share(self) -> f64 {
        let total = self.first as f64 + self.second as f64 + self.ties as f64;
        if total > 0.0 { (self.first as f64 + 0.5 * self.ties as f64) / total } else { 0.5 }
    }
}

/// An estimation: rankers and settings, from which [`Progress`] is made.
#[derive(Debug, Clone)]
pub struct Estimation<'a> {
    rankers: &'a RankedCollection,
    settings: Settings,
    fingerprint: String,
}

impl<'a> Estimation<'a> {
    /// An estimation of the preferences between `rankers` with these settings.
    ///
    /// # Errors
    ///
    /// If there are no comparisons, or the list length is outside 1 to 64.
    pub fn new(rankers: &'a RankedCollection, settings: Settings) -> Result<Self, Error> {
        if settings.list_length == 0 || settings.list_length > ListShape::MAX_POSITIONS {
            return Err(Error::ListLength(settings.list_length));
        }
        if settings.comparisons_per_pair == 0 {
            return Err(Error::NoComparisons);
        }
        let fingerprint = fingerprint(rankers, &settings);
        Ok(Self { rankers, settings, fingerprint })
    }

    /// A hash of settings and rankings; progress can be resumed only with the same fingerprint.
    pub fn fingerprint(&self) -> &str {
        &self.fingerprint
    }

    /// Progress with no finished pair.
    pub fn start(&self) -> Progress {
        let n_rankers = self.rankers.n_rankers();
        let tallies = vec![None; n_pairs(n_rankers)];
        Progress { fingerprint: self.fingerprint.clone(), n_rankers, tallies }
    }

    /// Checks that `progress`, for example read from a file, belongs to this estimation.
    ///
    /// # Errors
    ///
    /// If the fingerprint differs, or tallies do not add up.
    pub fn check(&self, progress: &Progress) -> Result<(), Error> {
        if progress.fingerprint != self.fingerprint {
            let (found, expected) = (progress.fingerprint.clone(), self.fingerprint.clone());
            return Err(Error::Fingerprint { found, expected });
        }
        if progress.n_rankers != self.rankers.n_rankers() {
            return Err(Error::NotAState("another number of rankers"));
        }
        let total = Some(self.settings.comparisons_per_pair);
        if progress.tallies.iter().flatten().any(|tally| tally.checked_total() != total) {
            return Err(Error::NotAState("a pair with another number of comparisons"));
        }
        Ok(())
    }

    /// Compares the next pairs, at most `at_most`, on the current rayon thread pool, and returns
    /// the number of pairs left.
    ///
    /// # Errors
    ///
    /// As [`Estimation::check`].
    pub fn advance(&self, progress: &mut Progress, at_most: usize) -> Result<usize, Error> {
        self.check(progress)?;
        let open = pairs(progress.n_rankers).zip(0..).zip(&mut progress.tallies);
        let next: Vec<_> = open.filter(|(_, tally)| tally.is_none()).take(at_most).collect();
        // Every tally has its own slot, so results do not depend on the order of execution.
        next.into_par_iter().with_max_len(1).for_each(|(((first, second), number), tally)| {
            *tally = Some(self.compare(first, second, number));
        });
        Ok(progress.remaining())
    }

    /// Makes all comparisons of one pair.
    fn compare(&self, first: usize, second: usize, number: u64) -> Tally {
        match self.settings.method {
            Method::Balanced => self.compare_by(Balanced, first, second, number),
            Method::TeamDraft => self.compare_by(TeamDraft, first, second, number),
            Method::Probabilistic => self.compare_by(Probabilistic::default(), first, second, number),
        }
    }

    fn compare_by<I: Interleaving>(&self, mut method: I, first: usize, second: usize, number: u64) -> Tally {
        let mut rng = stream(self.settings.seed, Role::Pair, number);
        let queries = self.rankers.queries();
        let mut shown = Shown::default();
        let mut tally = Tally::default();
        for _ in 0..self.settings.comparisons_per_pair {
            let query = &queries[rng.random_range(0..queries.len())];
            let pair = RankedPair::new(&query.rankings()[first], &query.rankings()[second])
                .expect("a query's rankings are of the same documents");
            method.interleave(pair, self.settings.list_length, &mut rng, &mut shown);
            let labels = shown.documents.iter().map(|&document| query.labels()[document as usize]);
            let clicks = self.settings.user.scan(labels, &mut rng);
            tally.add(method.outcome(&shown, clicks));
        }
        tally
    }
}

/// The finished pairs: the state that is saved and restored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "SavedProgress")]
pub struct Progress {
    fingerprint: String,
    n_rankers: usize,
    /// One tally per pair; `None` if the pair is not finished.
    tallies: Vec<Option<Tally>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SavedProgress {
    fingerprint: String,
    n_rankers: usize,
    tallies: Vec<Option<Tally>>,
}

impl TryFrom<SavedProgress> for Progress {
    type Error = Error;

    fn try_from(saved: SavedProgress) -> Result<Self, Error> {
        let SavedProgress { fingerprint, n_rankers, tallies } = saved;
        if n_rankers < 2 || n_rankers > usize::from(u16::MAX) {
            return Err(Error::Rankers(n_rankers));
        }
        if tallies.len() != n_pairs(n_rankers) {
            return Err(Error::NotAState("another number of pairs than its number of rankers has"));
        }
        if tallies.iter().flatten().any(|tally| tally.checked_total().is_none()) {
            return Err(Error::NotAState("more comparisons of a pair than can be counted"));
        }
        Ok(Self { fingerprint, n_rankers, tallies })
    }
}

impl Progress {
    /// Number of unfinished pairs.
    pub fn remaining(&self) -> usize {
        self.tallies.iter().filter(|tally| tally.is_none()).count()
    }

    /// Number of all pairs.
    pub fn n_pairs(&self) -> usize {
        self.tallies.len()
    }

    /// The estimate; `None` until all pairs are finished.
    pub fn preferences(&self) -> Option<Preferences> {
        let tallies = self.tallies.iter().copied().collect::<Option<_>>()?;
        Some(Preferences { n_rankers: self.n_rankers, tallies })
    }
}

/// An estimated preference matrix, with the tallies of all pairs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Preferences {
    n_rankers: usize,
    /// One tally per pair, in the order of [`pairs`].
    tallies: Vec<Tally>,
}

impl Preferences {
    /// Number of rankers.
    pub fn n_rankers(&self) -> usize {
        self.n_rankers
    }

    /// The tally of the comparisons of two rankers, with `first` as the first; empty for a ranker
    /// with itself.
    ///
    /// # Panics
    ///
    /// If there is no such ranker.
    pub fn tally(&self, first: usize, second: usize) -> Tally {
        assert!(first < self.n_rankers && second < self.n_rankers, "there is no such ranker");
        match first.cmp(&second) {
            std::cmp::Ordering::Less => self.tallies[pair_number(self.n_rankers, first, second)],
            std::cmp::Ordering::Equal => Tally::default(),
            std::cmp::Ordering::Greater => {
                let Tally { first: lost, second: won, ties } =
                    self.tallies[pair_number(self.n_rankers, second, first)];
                Tally { first: won, second: lost, ties }
            }
        }
    }

    /// Estimated probability that `first` beats `second`; 1/2 for a ranker against itself.
    ///
    /// # Panics
    ///
    /// If there is no such ranker.
    pub fn probability(&self, first: usize, second: usize) -> f64 {
        self.tally(first, second).share()
    }

    /// All probabilities, one row per ranker. The diagonal is 1/2, and `p_ij + p_ji` is 1 to within
    /// rounding.
    pub fn matrix(&self) -> Vec<Vec<f64>> {
        let rankers = 0..self.n_rankers;
        let row = |first| rankers.clone().map(|second| self.probability(first, second)).collect();
        rankers.clone().map(row).collect()
    }
}

/// Number of pairs of rankers.
fn n_pairs(n_rankers: usize) -> usize {
    n_rankers * (n_rankers - 1) / 2
}

/// All pairs of rankers, `first < second`, in lexicographic order.
fn pairs(n_rankers: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..n_rankers).flat_map(move |first| (first + 1..n_rankers).map(move |second| (first, second)))
}

/// Index of a pair in [`pairs`].
fn pair_number(n_rankers: usize, first: usize, second: usize) -> usize {
    first * n_rankers - first * (first + 1) / 2 + second - first - 1
}

/// SHA-256 of all inputs of the tallies.
fn fingerprint(rankers: &RankedCollection, settings: &Settings) -> String {
    // Numbers take eight bytes and lists start with their length, so different estimations give
    // different bytes.
    let mut hash = Sha256::new();
    hash.update(b"interleaved comparisons 1");
    let method: u64 = match settings.method {
        Method::Balanced => 0,
        Method::TeamDraft => 1,
        Method::Probabilistic => 2,
    };
    let grades = settings.user.grades();
    let queries = rankers.queries();
    let sizes = [grades.len(), settings.list_length, rankers.n_rankers(), queries.len()];
    let numbers = [method, settings.comparisons_per_pair, settings.seed];
    for number in numbers.into_iter().chain(sizes.map(|size| size as u64)) {
        hash.update(number.to_le_bytes());
    }
    for (click, stop) in grades {
        hash.update(click.get().to_bits().to_le_bytes());
        hash.update(stop.get().to_bits().to_le_bytes());
    }
    for query in queries {
        hash.update((query.labels().len() as u64).to_le_bytes());
        hash.update(query.labels());
        let mut bytes = Vec::new();
        for ranking in query.rankings() {
            bytes.extend(ranking.order().iter().flat_map(|document| document.to_le_bytes()));
        }
        hash.update(bytes);
    }
    hash.finalize().iter().fold(String::new(), |text, byte| text + &format!("{byte:02x}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pair_has_a_place() {
        for n_rankers in 2..9 {
            let all: Vec<_> = pairs(n_rankers).collect();
            assert_eq!(all.len(), n_pairs(n_rankers));
            for (number, (first, second)) in all.into_iter().enumerate() {
                assert_eq!(pair_number(n_rankers, first, second), number);
            }
        }
    }
}
