//! Statistical inference from an estimated preference matrix: intervals, significant preferences
//! and winners.
//!
//! A pair was compared `n` times, `m` of them without a tie, and the first ranker won a share `s`
//! of these `m`. Let `u` be the probability of no tie, and `q` the probability that the first
//! ranker wins if there is no tie. Then
//!
//! ```text
//! p_ij = 1/2 + u (q - 1/2),
//! q in [kl_ucb_lower(s, m, l), kl_ucb_upper(s, m, l)],   u in [kl_ucb_lower(m/n, n, l), kl_ucb_upper(m/n, n, l)],   l = ln(4 P / miss)
//! ```
//!
//! and `p_ij` is between the extremes of that product. Each of the four bounds fails with
//! probability at most `exp(-l)`, so all intervals of the P pairs hold simultaneously with
//! probability `1 - miss`. A pair is *distinguished* if its interval excludes 1/2, which is the
//! case if the interval of `q` does. Conclusions from the intervals hold with the same probability:
//! how many others a ranker beats, which rankers may beat the most others, and which cycles of
//! three exist.
//!
//! **The Condorcet winner** requires less evidence. Ranker i is declared the winner if it is better
//! than each of the others with evidence `m d(s, 1/2) >= ln(K / miss)`, for K rankers. A ranker
//! that is not the winner fails to beat some other ranker, and passes the test against that one
//! with probability at most `miss / K`. So a wrong winner is declared with probability at most
//! `miss`. [`Winner::miss`] reports the smallest such `miss`.
//!
//! **The Borda score** of a ranker is the mean of its `(K - 1) n` comparisons, ties as halves, and
//! lies in their KL interval with `l = ln(2 K / miss)`, simultaneously for all rankers.
//!
//! Reference: the Chernoff bound for means of variables in `[0, 1]`, which need not have the same
//! mean (Hoeffding, *Probability inequalities for sums of bounded random variables*, 1963, Theorem
//! 1), as an interval in Garivier and Cappé, COLT 2011; [`confidence::kl_ucb_upper`]. Deviations:
//! none. The number of comparisons must be fixed in advance; to stop at a result, use
//! [`PairTest`](crate::PairTest).
//!
//! All statements are about who wins *comparisons*. With probabilistic and balanced interleaving,
//! two rankers may win unequally often although clicks do not depend on documents
//! ([`interleave`](crate::interleave)). With enough comparisons, such rankers are also
//! distinguished.
//!
//! | here | formula | shape | unit |
//! |---|---|---|---|
//! | `miss` | `miss` | number in (0, 1) | probability |
//! | [`Certainty::interval`] | of `p_ij` | one per pair | probability |
//! | [`Certainty::borda_score`] | of the mean of `p_ij` over `j != i` | one per ranker | probability |
//!
//! Numerics: as [`confidence::kl_ucb_upper`], on the safe side. Complexity: four indices per pair.
//!
//! # Examples
//!
//! The first of two rankers wins `w` comparisons, the second none, and the rest are ties:
//! `m d(1, 1/2) = w ln 2`, and `miss = 2 / 2^w`.
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
//! let preferences = estimation.preferences(|| ());
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

/// Simultaneous confidence intervals for an estimated preference matrix, and conclusions from them.
#[derive(Debug, Clone, PartialEq, fieldwork::Fieldwork)]
#[fieldwork(opt_in, get(doc_template = "{}"))]
pub struct Certainty {
    /// The error probability of each statement.
    #[field]
    miss: f64,
    n_rankers: usize,
    /// Intervals of `p_ij`, row by row, including the diagonal.
    intervals: Vec<Interval>,
    /// Intervals of the Borda scores, one per ranker.
    borda: Vec<Interval>,
    /// The Condorcet winner, if the comparisons establish one.
    #[field(name = condorcet_winner, copy)]
    winner: Option<Winner>,
}

/// A Condorcet winner that the comparisons establish.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Winner {
    /// The ranker.
    pub ranker: usize,
    /// Upper bound on the probability that a wrong winner is declared with this much evidence.
    pub miss: f64,
}

impl Preferences {
    /// Intervals and winners at error probability `miss`. It bounds the error of each of three
    /// statements: that all intervals of pairs hold, that all intervals of Borda scores hold, and
    /// that the Condorcet winner is right.
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

    /// The ranker that won more comparisons than it lost against each other ranker, with the error
    /// probability of declaring it the winner.
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
    /// The interval of the probability that `first` beats `second`; 1/2 for a ranker against
    /// itself.
    ///
    /// # Panics
    ///
    /// If there is no such ranker.
    pub fn interval(&self, first: usize, second: usize) -> Interval {
        assert!(first < self.n_rankers && second < self.n_rankers, "there is no such ranker");
        self.intervals[first * self.n_rankers + second]
    }

    /// The interval of a ranker's mean probability of beating another one.
    ///
    /// # Panics
    ///
    /// If there is no such ranker.
    pub fn borda_score(&self, ranker: usize) -> Interval {
        self.borda[ranker]
    }

    /// Returns whether the comparisons establish that `first` beats `second`.
    ///
    /// # Panics
    ///
    /// If there is no such ranker.
    pub fn beats(&self, first: usize, second: usize) -> bool {
        self.interval(first, second).lower > 0.5
    }

    /// The number of distinguished pairs.
    pub fn n_told_apart(&self) -> usize {
        self.intervals.iter().filter(|interval| interval.lower > 0.5).count()
    }

    /// The rankers that may be Copeland winners: those for which no other ranker provably beats
    /// more. All Copeland winners are among them.
    pub fn copeland_winners(&self) -> Vec<usize> {
        let rankers = 0..self.n_rankers;
        let n_beaten = |ranker| rankers.clone().filter(|&other| self.beats(ranker, other)).count();
        let n_lost = |ranker| rankers.clone().filter(|&other| self.beats(other, ranker)).count();
        let most = rankers.clone().map(n_beaten).max().unwrap_or(0);
        rankers.clone().filter(|&ranker| self.n_rankers - 1 - n_lost(ranker) >= most).collect()
    }

    /// The rankers that may be Borda winners: those for which no other ranker provably has a larger
    /// Borda score. All Borda winners are among them.
    pub fn borda_winners(&self) -> Vec<usize> {
        let largest = self.borda.iter().map(|score| score.lower).fold(0.0, f64::max);
        (0..self.n_rankers).filter(|&ranker| self.borda[ranker].upper >= largest).collect()
    }
}

fn total(tally: Tally) -> f64 {
    tally.first as f64 + tally.second as f64 + tally.ties as f64
}

/// A confidence interval for the mean of `n` variables in `[0, 1]`, rounded to the safe side.
fn kl_interval(sum: f64, n: f64, level: f64) -> Interval {
    let mean = if n > 0.0 { sum / n } else { 0.5 };
    Interval { lower: kl_ucb_lower(mean, n, level), upper: kl_ucb_upper(mean, n, level) }
}

/// The interval of the first ranker's probability, with ties as halves, if each of four bounds may
/// fail with probability `exp(-level)`.
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

/// The evidence that the first ranker beats the second, in nats; 0 if it did not win more often.
fn evidence(tally: Tally) -> f64 {
    if tally.first <= tally.second {
        return 0.0;
    }
    let decided = tally.first as f64 + tally.second as f64;
    decided * bernoulli_kl(tally.first as f64 / decided, 0.5)
}
