//! What the comparisons of an estimated preference matrix tell, and how surely.
//!
//! Of a pair, `n` comparisons were made, `m` of them without a tie, and the first ranker won a share `s` of those. With `q` the
//! probability that it wins if there is no tie, and `u` that of no tie,
//!
//! ```text
//! p_ij = 1/2 + u (q - 1/2),
//! q in [kl_ucb_lower(s, m, l), kl_ucb_upper(s, m, l)],   u in the same of m/n after n,   l = ln(4 P / miss)
//! ```
//!
//! and `p_ij` is between the extremes of that product. Each of the four bounds fails with probability at most `exp(-l)`, so all
//! intervals of the P pairs hold at once with probability `1 - miss`. A pair is *told apart* if its interval leaves out 1/2, which is
//! the case if that of `q` does. What follows from the intervals holds with them: how many others a ranker beats, who may have
//! beaten most of them, which circles of three there are.
//!
//! **The Condorcet winner** asks for less. To call ranker i the winner, it has to be better than each of the others with evidence
//! `m d(s, 1/2) >= ln(K / miss)`, K rankers. A ranker that is not the winner does not beat some other one, and passes the test
//! against that one with probability at most `miss / K`; so any wrong one is called with probability at most `miss`. The least
//! such `miss` is reported, [`Winner::miss`].
//!
//! **The Borda score** of a ranker is the mean of its `(K - 1) n` comparisons, ties as halves, and lies in their KL interval with
//! `l = ln(2 K / miss)`, for all rankers at once.
//!
//! Reference: the Chernoff bound for means of variables in `[0, 1]`, which need not have the same mean (Hoeffding, *Probability
//! inequalities for sums of bounded random variables*, 1963, Theorem 1), as an interval in
//! Garivier and Cappé, COLT 2011; [`confidence::kl_ucb_upper`]. Deviations: none. The number of comparisons is fixed before they are
//! made; where one stops at a result, [`PairTest`](crate::PairTest) is the tool.
//!
//! What it is about is who wins *comparisons*. With probabilistic and balanced interleaving two rankers may win unequally often
//! though clicks do not depend on documents ([`interleave`](crate::interleave)): with enough comparisons that is told apart, too.
//!
//! | here | formula | shape | unit |
//! |---|---|---|---|
//! | `miss` | `miss` | number in (0, 1) | probability |
//! | [`Certainty::interval`] | of `p_ij` | one per pair | probability |
//! | [`Certainty::borda_score`] | of the mean of `p_ij` over `j != i` | one per ranker | probability |
//!
//! Numerics: as of [`confidence::kl_ucb_upper`], on the safe side. Complexity: four indices a pair.
//!
//! # Examples
//!
//! Of two rankers the first wins `w` comparisons and the second none, the rest ties: `m d(1, 1/2) = w ln 2`, and `miss = 2 / 2^w`.
//!
//! ```
//! use interleaving::{Estimation, RankedCollection, RankedDocuments, RankedQuery, ScanningUser, Settings, Method};
//!
//! let rankings = vec![RankedDocuments::new(vec![1, 0])?, RankedDocuments::new(vec![0, 1])?];
//! let rankers = RankedCollection::new(vec![RankedQuery::new(vec![0, 1], rankings)?])?;
//! // Team draft shows the first ranker's document in half of the lists, which then is clicked; the others are ties.
//! let settings = Settings {
//!     method: Method::TeamDraft, user: ScanningUser::perfect(), list_length: 1, comparisons_per_pair: 100, ..Settings::default()
//! };
//! let estimation = Estimation::new(&rankers, settings)?;
//! let mut progress = estimation.start();
//! estimation.advance(&mut progress, 1)?;
//! let preferences = progress.preferences().expect("all pairs are done");
//!
//! let certainty = preferences.certainty(0.05)?;
//! let winner = certainty.condorcet_winner().expect("one is told");
//! let won = i32::try_from(preferences.tally(0, 1).first)?;
//! assert_eq!(winner.ranker, 0);
//! assert!((winner.miss * 0.5_f64.powi(1 - won) - 1.0).abs() < 1e-9);
//! let interval = certainty.interval(0, 1);
//! assert!(0.5 < interval.lower && interval.lower < 0.75 && 0.75 < interval.upper);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use crate::{Preferences, Tally};
use confidence::math::ln;
use confidence::sequence::Interval;
use confidence::{ErrorProbability, bernoulli_kl, kl_ucb_lower, kl_ucb_upper};

/// What an estimate tells when all its intervals are to hold at once.
#[derive(Debug, Clone, PartialEq)]
pub struct Certainty {
    miss: f64,
    n_rankers: usize,
    /// Of `p_ij`, row by row, the diagonal included.
    intervals: Vec<Interval>,
    /// Of the Borda score, one per ranker.
    borda: Vec<Interval>,
    winner: Option<Winner>,
}

/// A Condorcet winner that the comparisons tell.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Winner {
    /// Which ranker.
    pub ranker: usize,
    /// With at most this probability comparisons call anybody a winner so clearly who is none.
    pub miss: f64,
}

impl Preferences {
    /// What these comparisons tell. Each statement is wrong with probability at most `miss`: that all intervals of pairs hold, that
    /// those of Borda scores do, and that the Condorcet winner is one.
    ///
    /// # Errors
    ///
    /// [`confidence::Error::NotAnErrorProbability`] unless `0 < miss < 1`.
    pub fn certainty(&self, miss: f64) -> Result<Certainty, confidence::Error> {
        let miss = ErrorProbability::new(miss)?.get();
        let n_rankers = self.n_rankers();
        let n_pairs = n_rankers * (n_rankers - 1) / 2;
        let level = ln(4.0 * n_pairs as f64 / miss);
        let mut intervals = vec![Interval { lower: 0.5, upper: 0.5 }; n_rankers * n_rankers];
        for first in 0..n_rankers {
            for second in first + 1..n_rankers {
                let Interval { lower, upper } = interval(self.tally(first, second), level);
                intervals[first * n_rankers + second] = Interval { lower, upper };
                intervals[second * n_rankers + first] = Interval { lower: 1.0 - upper, upper: 1.0 - lower };
            }
        }
        let borda_level = ln(2.0 * n_rankers as f64 / miss);
        let borda = (0..n_rankers).map(|ranker| self.borda(ranker, borda_level)).collect();
        let winner = self.winner().filter(|winner| winner.miss <= miss);
        Ok(Certainty { miss, n_rankers, intervals, borda, winner })
    }

    /// The interval of a Borda score.
    fn borda(&self, ranker: usize, level: f64) -> Interval {
        let (mut won, mut all) = (0.0, 0.0);
        for other in (0..self.n_rankers()).filter(|&other| other != ranker) {
            let tally = self.tally(ranker, other);
            won += tally.first as f64 + 0.5 * tally.ties as f64;
            all += total(tally);
        }
        kl_interval(won, all, level)
    }

    /// The ranker that won more comparisons than it lost against each other one, and how surely that makes it the winner.
    fn winner(&self) -> Option<Winner> {
        let rankers = 0..self.n_rankers();
        let evidence = |ranker: usize| {
            let others = rankers.clone().filter(|&other| other != ranker);
            others.map(|other| evidence(self.tally(ranker, other))).fold(f64::INFINITY, f64::min)
        };
        let of_all = rankers.clone().map(|ranker| (ranker, evidence(ranker)));
        let (ranker, least) = of_all.max_by(|one, other| one.1.total_cmp(&other.1))?;
        let miss = self.n_rankers() as f64 * libm::exp(-least);
        (least > 0.0).then_some(Winner { ranker, miss: miss.min(1.0) })
    }
}

impl Certainty {
    /// With which probability a statement may be wrong.
    pub fn miss(&self) -> f64 {
        self.miss
    }

    /// Where the probability that `first` beats `second` lies; 1/2 against itself.
    ///
    /// # Panics
    ///
    /// When there is no such ranker.
    pub fn interval(&self, first: usize, second: usize) -> Interval {
        assert!(first < self.n_rankers && second < self.n_rankers, "there is no such ranker");
        self.intervals[first * self.n_rankers + second]
    }

    /// Where a ranker's mean probability of beating another one lies.
    ///
    /// # Panics
    ///
    /// When there is no such ranker.
    pub fn borda_score(&self, ranker: usize) -> Interval {
        self.borda[ranker]
    }

    /// Whether the comparisons tell that `first` beats `second`.
    ///
    /// # Panics
    ///
    /// When there is no such ranker.
    pub fn beats(&self, first: usize, second: usize) -> bool {
        self.interval(first, second).lower > 0.5
    }

    /// How many pairs are told apart.
    pub fn n_told_apart(&self) -> usize {
        self.intervals.iter().filter(|interval| interval.lower > 0.5).count()
    }

    /// The Condorcet winner, if the comparisons tell.
    pub fn condorcet_winner(&self) -> Option<Winner> {
        self.winner
    }

    /// Rankers of which it is not told that another one beats more: all of the Copeland winners are among them.
    pub fn copeland_winners(&self) -> Vec<usize> {
        let rankers = 0..self.n_rankers;
        let n_beaten = |ranker| rankers.clone().filter(|&other| self.beats(ranker, other)).count();
        let n_lost = |ranker| rankers.clone().filter(|&other| self.beats(other, ranker)).count();
        let most = rankers.clone().map(n_beaten).max().unwrap_or(0);
        rankers.clone().filter(|&ranker| self.n_rankers - 1 - n_lost(ranker) >= most).collect()
    }

    /// Rankers of which it is not told that another one has a larger Borda score: all of the Borda winners are among them.
    pub fn borda_winners(&self) -> Vec<usize> {
        let largest = self.borda.iter().map(|score| score.lower).fold(0.0, f64::max);
        (0..self.n_rankers).filter(|&ranker| self.borda[ranker].upper >= largest).collect()
    }
}

fn total(tally: Tally) -> f64 {
    tally.first as f64 + tally.second as f64 + tally.ties as f64
}

/// Where the mean of `n` variables in `[0, 1]` lies, on the safe side.
fn kl_interval(sum: f64, n: f64, level: f64) -> Interval {
    let mean = if n > 0.0 { sum / n } else { 0.5 };
    Interval { lower: kl_ucb_lower(mean, n, level), upper: kl_ucb_upper(mean, n, level) }
}

/// Where the probability of the first ranker lies, ties as halves, if each of four bounds may fail with probability `exp(-level)`.
fn interval(tally: Tally, level: f64) -> Interval {
    let (won, lost) = (tally.first as f64, tally.second as f64);
    let share = kl_interval(won, won + lost, level);
    let decided = kl_interval(won + lost, total(tally), level);
    let extreme = |share: f64, if_above: f64, if_below: f64| {
        let excess = share - 0.5;
        0.5 + excess * if excess > 0.0 { if_above } else { if_below }
    };
    Interval {
        lower: extreme(share.lower, decided.lower, decided.upper).max(0.0),
        upper: extreme(share.upper, decided.upper, decided.lower).min(1.0),
    }
}

/// For the first ranker against the second, in nats; 0 if it did not win more often.
fn evidence(tally: Tally) -> f64 {
    if tally.first <= tally.second {
        return 0.0;
    }
    let decided = tally.first as f64 + tally.second as f64;
    decided * bernoulli_kl(tally.first as f64 / decided, 0.5)
}
