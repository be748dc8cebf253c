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
//! threads or on the order of pairs. This module does not access files.
//!
//! Numerics: a standard error of `p_ij` is at most `1 / (2 sqrt n)`, .008 for 4,000. Complexity:
//! `n` interleaved lists per pair.
//!
//! # Examples
//!
//! ```
//! use interleaving::{Estimation, RankedCollection, RankedDocuments, RankedQuery, Settings};
//!
//! let good = RankedDocuments::new(vec![1, 0])?;
//! let bad = RankedDocuments::new(vec![0, 1])?;
//! let query = RankedQuery::new(vec![0, 1], vec![good, bad])?;
//! let rankers = RankedCollection::new(vec![query])?;
//! let settings = Settings { list_length: 1, ..Settings::default() };
//! let estimation = Estimation::new(&rankers, settings)?;
//!
//! let preferences = estimation.preferences(|| ());
//! // The one document shown is the relevant one with probability 8/9 or 1/9, by either ranker, and then clicked with
//! // probability .95, else .05. A click is credit for the good ranker if it is on the relevant one: p = 1/2 + (.95 - .05) / 4.
//! assert!((preferences.probability(0, 1) - 0.725).abs() < 0.04);
//! # Ok::<(), interleaving::Error>(())
//! ```

use crate::interleave::{
    Balanced, InterleavedList, Interleaving, Outcome, Probabilistic, RankedPair, TeamDraft,
};
use crate::streams::{Role, stream};
use crate::{Error, RankedCollection, ScanningUser};
use click_models::ListShape;
use rand::RngExt;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// The interleaving method.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
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
#[derive(Debug, Clone, PartialEq)]
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

    /// Share of the first ranker, ties halved; 1/2 without a comparison.
    pub fn share(self) -> f64 {
        let total = self.first as f64 + self.second as f64 + self.ties as f64;
        if total > 0.0 { (self.first as f64 + 0.5 * self.ties as f64) / total } else { 0.5 }
    }
}

/// An estimation: rankers and settings.
#[derive(Debug, Clone)]
pub struct Estimation<'a> {
    rankers: &'a RankedCollection,
    settings: Settings,
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
        Ok(Self { rankers, settings })
    }

    /// The number of pairs.
    pub fn n_pairs(&self) -> usize {
        let n_rankers = self.rankers.n_rankers();
        n_rankers * (n_rankers - 1) / 2
    }

    /// Compares all pairs, on the current rayon thread pool. `compared` is called after each.
    pub fn preferences(&self, compared: impl Fn() + Sync) -> Preferences {
        let n_rankers = self.rankers.n_rankers();
        let pairs: Vec<_> = pairs(n_rankers).collect();
        let tallies = pairs.into_par_iter().with_max_len(1).map(|(first, second)| {
            let tally = self.compare(first, second);
            compared();
            tally
        });
        Preferences { n_rankers, tallies: tallies.collect() }
    }

    /// Makes all comparisons of one pair, `first < second`.
    ///
    /// # Panics
    ///
    /// If `first < second` are not two of the rankers.
    pub fn compare(&self, first: usize, second: usize) -> Tally {
        let n_rankers = self.rankers.n_rankers();
        assert!(first < second && second < n_rankers, "expected a pair of rankers");
        let number = pair_number(n_rankers, first, second) as u64;
        match self.settings.method {
            Method::Balanced => self.compare_by(Balanced, first, second, number),
            Method::TeamDraft => self.compare_by(TeamDraft, first, second, number),
            Method::Probabilistic => self.compare_by(Probabilistic::default(), first, second, number),
        }
    }

    fn compare_by<I: Interleaving>(&self, mut method: I, first: usize, second: usize, number: u64) -> Tally {
        let mut rng = stream(self.settings.seed, Role::Pair, number);
        let queries = self.rankers.queries();
        let mut shown = InterleavedList::default();
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

/// An estimated preference matrix, with the tallies of all pairs.
#[derive(Debug, Clone, PartialEq, Eq, fieldwork::Fieldwork)]
#[fieldwork(opt_in, get(doc_template = "{}"))]
pub struct Preferences {
    /// Number of rankers.
    #[field]
    n_rankers: usize,
    /// One tally per pair, in the order of [`pairs`].
    tallies: Vec<Tally>,
}

impl Preferences {
    /// The preferences with these counts, one for each pair `first < second`, in lexicographic
    /// order.
    ///
    /// # Errors
    ///
    /// If there are fewer than two rankers, or the number of counts is another than that of pairs.
    pub fn new(n_rankers: usize, tallies: Vec<Tally>) -> Result<Self, Error> {
        if n_rankers < 2 || n_rankers > usize::from(u16::MAX) {
            return Err(Error::Rankers(n_rankers));
        }
        let expected = n_rankers * (n_rankers - 1) / 2;
        if tallies.len() != expected {
            return Err(Error::Tallies { found: tallies.len(), expected });
        }
        Ok(Self { n_rankers, tallies })
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

/// All pairs of rankers, `first < second`, in lexicographic order.
fn pairs(n_rankers: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..n_rankers).flat_map(move |first| (first + 1..n_rankers).map(move |second| (first, second)))
}

/// Index of a pair in [`pairs`].
fn pair_number(n_rankers: usize, first: usize, second: usize) -> usize {
    first * n_rankers - first * (first + 1) / 2 + second - first - 1
}

#[cfg(test)]
mod tests;
