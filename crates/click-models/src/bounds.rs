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
mod nats_per_click;
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
