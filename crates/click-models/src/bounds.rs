//! Regret bounds for an instance: lower bounds for any policy, and the papers' upper bounds for
//! their policies.
//!
//! Every function takes the parameters as plain slices **in any order** and sorts them itself:
//! attraction decreasing, so that the best `n_positions` items come first, and examination
//! decreasing, so that positions are in the order in which the best list fills them. Only weights
//! and leave probabilities keep their order, since these users scan from the top down. Unless
//! stated otherwise, a result is the constant before `ln T` in the limit of a long horizon, in
//! clicks.
//!
//! The front page of the crate lists them with their sources.
//!
//! # Odd input
//!
//! The functions never panic and always return. *Malformed* input gives NaN ([`None`] from
//! [`pbm_lower_bound_terms`]): a number that is not a probability, no item, no position, more
//! positions than items. The papers do not cover some well-formed input:
//!
//! - An item as attractive as the last of the best list is not suboptimal and costs nothing in a
//!   lower bound. The upper bound of Theorem 9 is then `+inf`, by its formula.
//! - A position that is never examined gives no information and is ignored in the minimum of
//!   Theorem 6. The threshold remains the `n_positions`-th largest attraction, as printed. To get
//!   the bound for the list that users examine, remove such positions from the slice, as
//!   [`PositionBased::lower_bound`](crate::PositionBased::lower_bound) does. If no position is ever
//!   examined, every list is optimal and the constant is 0.
//! - Rank-one upper bounds are clicks in `horizon` rounds, not constants before `ln T`. Each
//!   function documents its result if the paper leaves it undefined.
//! - Bounds on identification are rounds, not regret. Each function documents its result if the
//!   paper leaves it undefined.
//! - An item that one display can rule out (the threshold is 1 and its position always examined)
//!   costs nothing.
//!
//! # Numerics
//!
//! The difficulty is the divergence of nearly equal probabilities. A bound is a sum of regrets per
//! unit of information. Both are computed per lost click (see `nats_per_click` in the source). So
//! the gap between two items enters by one subtraction, which is exact if the items are close, and
//! no divergence underflows. The relative error is at most 3e-15 on 3,000 random instances,
//! compared with 60 digits, including near ties and near-certain clicks; evaluated as printed,
//! equation (6) is wrong by up to 4 % there. Complexity: a sort, and O(1) for each pair of a
//! suboptimal item and a position.

mod cascade;
mod cascade_bai;
mod characteristic_time;
mod copeland;
mod dcm;
mod dueling;
mod pbm;
mod rank_one;
mod semi_bandit;

pub use cascade::{cascade_lower_bound, weighted_cascade_lower_bound};
pub use cascade_bai::{
    CascadeBaiGaps, CascadeBaiUpperTerms, cascade_bai_gaps, cascade_bai_lower_bound,
    cascade_bai_lower_bound_unrounded, cascade_bai_n1_bound, cascade_bai_observations,
    cascade_bai_observations_corrected, cascade_bai_tolerant_upper_terms, cascade_bai_two_level_lower_bound,
    cascade_bai_two_level_rates, cascade_bai_two_level_upper_bound, cascade_bai_upper_terms,
    cascade_fewest_observations, cascade_most_observations, cascade_observations_deviation,
    expected_observations,
};
pub use characteristic_time::{cascade_characteristic_time, cascade_optimal_mixture};
pub use copeland::{COPELAND_LOWER_BOUND_MOST_ITEMS, copeland_lower_bound};
pub use dcm::dcm_lower_bound;
pub use dueling::{
    dueling_lower_bound, rucb_duels, rucb_expected_bound, rucb_high_probability_bound, rucb_log_coefficient,
    rucb_settled_after,
};
pub use pbm::{
    PbmBoundTerm, pbm_last_position_cost, pbm_lower_bound, pbm_lower_bound_terms, pbm_pie_upper_bound,
    pbm_relaxed_lower_bound, pbm_ucb_examination_factor, pbm_ucb_upper_bound, smallest_permutation_gap,
};
pub use rank_one::{
    RankOneHardness, rank_one_hardness, rank_one_lower_bound, rank_one_upper_bound,
    rank_one_upper_bound_corrected,
};
pub use semi_bandit::{multiple_play_lower_bound, semi_bandit_lower_bound};

use crate::Error;
use crate::linear_list::decreasing;
use confidence::math::relative_entropy;

/// Probabilities in decreasing order, with their indices in the caller's slice.
#[derive(Debug)]
struct Decreasing {
    values: Vec<f64>,
    places: Vec<usize>,
}

impl Decreasing {
    /// `None` if one of the numbers is not a probability.
    fn new(values: &[f64]) -> Option<Self> {
        let values = Error::probabilities("", values).ok()?;
        let places = decreasing(&values);
        Some(Self { values: places.iter().map(|&place| values[place].get()).collect(), places })
    }

    /// The attraction of the last item of the best list (the paper's `theta_L`), and the items
    /// below the list.
    ///
    /// `None` if there are fewer items than positions, or no position.
    fn threshold_and_rest(&self, n_positions: usize) -> Option<(f64, &[f64])> {
        let last = n_positions.checked_sub(1)?;
        Some((*self.values.get(last)?, &self.values[n_positions..]))
    }
}

/// Information per lost click: `d(c p, c q) / (c (q - p))` for `0 <= p < q <= 1` and `0 < c <= 1`,
/// in nats per click.
///
/// `c` is the examination of a position, `q` the attraction of the optimal item for it, and `p` the
/// attraction of a suboptimal item. Showing the suboptimal item costs `c (q - p)` clicks and gives
/// `d(c p, c q)` nats of information to distinguish `p` from `q`.
///
/// With `e(p, q) = p ln(p/q) - p + q`, which is homogeneous,
/// `d(c p, c q) = e(c p, c q) + e(1 - c p, 1 - c q)`. The first part divided by the clicks does not
/// depend on `c`; scaling it by `q` keeps it away from underflow.
fn nats_per_click(examined: f64, worse: f64, better: f64) -> f64 {
    let gap = better - worse;
    let relative_gap = gap / better;
    let from_clicks = relative_entropy(worse / better, 1.0, relative_gap) / relative_gap;
    let clicks = examined * gap;
    // Below this the second part is less than 1e-80 of the first, and its own parts underflow.
    if clicks < 1e-100 {
        return from_clicks;
    }
    // 1 - c p as a sum of non-negative numbers.
    let no_click = |attraction: f64| (1.0 - examined) + examined * (1.0 - attraction);
    from_clicks + relative_entropy(no_click(worse), no_click(better), -clicks) / clicks
}

#[cfg(test)]
mod tests {
    use super::nats_per_click;
    use confidence::bernoulli_kl;
    use quickcheck::quickcheck;

    fn unit(number: u32) -> f64 {
        f64::from(number) / f64::from(u32::MAX)
    }

    quickcheck! {
        fn is_the_divergence_per_click(c: u32, p: u32, q: u32) -> bool {
            let (c, p, q) = (unit(c.max(1)), unit(p.min(q)), unit(p.max(q)));
            if q - p <= 1e-3 * q {
                return true;
            }
            // The products round, and a relative gap of 1e-3 magnifies that a thousandfold, twice.
            let direct = bernoulli_kl(c * p, c * q) / (c * (q - p));
            let nats = nats_per_click(c, p, q);
            nats == direct || (nats / direct - 1.0).abs() < 1e-11
        }
    }

    #[test]
    fn edges() {
        // d(0, q) = -ln(1 - q)
        assert!((nats_per_click(1.0, 0.0, 0.5) - 2.0 * std::f64::consts::LN_2).abs() < 1e-15);
        assert_eq!(nats_per_click(1.0, 0.5, 1.0), f64::INFINITY);
        assert_eq!(nats_per_click(1.0, 0.0, 1.0), f64::INFINITY);
        // The limit of rare clicks: (q - p) / (2 q), here 2^-53 / 2 with subnormal everything.
        let q = 1e-300_f64;
        let limit = (q - q.next_down()) / (2.0 * q);
        for c in [1.0, 1e-200, 5e-324] {
            assert!((nats_per_click(c, q.next_down(), q) / limit - 1.0).abs() < 1e-15);
        }
        // Neighbours: (q - p) / (2 p (1 - p)) to first order.
        let p = 0.25_f64;
        let gap = p.next_up() - p;
        assert!((nats_per_click(1.0, p, p.next_up()) / (gap / (2.0 * p * (1.0 - p))) - 1.0).abs() < 1e-14);
        // Nearly certain clicks: 1 - c q = 3/2^30 - 1/2^59, of which a rounded product keeps 26
        // bits.
        let below_one = |exponent: i32| 1.0 - 2.0_f64.powi(-exponent);
        let nats = nats_per_click(below_one(30), below_one(28), below_one(29));
        assert!((nats / 0.277_064_060_273_730_15 - 1.0).abs() < 1e-14);
        // The next number below certainty: 1 - c q = 2^-53 exactly, d = 1/2 ln(1/2) + 1/2 ln(1/2 /
        // 2^-53) to 1e-14.
        let almost = 1.0_f64.next_down();
        let divergence = 51.0 / 2.0 * std::f64::consts::LN_2;
        assert!((nats_per_click(1.0, 0.5, almost) / (2.0 * divergence) - 1.0).abs() < 1e-14);
    }
}
