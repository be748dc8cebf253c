//! The extension module `click_bandits._native` of the Python package.
//!
//! Policies and users are the library's own; this crate converts arguments, results and errors.
//! `play` puts all protocols behind one trait object, `clicks` reads users' answers, and `policy`,
//! `decision`, `batch` and `live` are the classes that Python sees.

mod arrays;
mod batch;
mod bounds;
mod catalogue;
mod clicks;
mod confidence;
mod context;
mod decision;
mod elementwise;
mod fit;
mod interrupt;
mod json;
mod live;
mod message;
mod models;
mod name;
mod names;
mod options;
mod play;
mod policy;
mod prior;
mod reduced;
mod sequence;
mod simulate;
mod table;
mod task;
mod watch;

use pyo3::prelude::*;

/// The extension module of the package `click_bandits`.
#[pymodule]
mod _native {
    #[pymodule_export]
    use crate::batch::Batch;
    #[pymodule_export]
    use crate::bounds::cascade_bai::{
        cascade_bai_gaps, cascade_bai_lower_bound, cascade_bai_lower_bound_unrounded, cascade_bai_n1_bound,
        cascade_bai_observations, cascade_bai_observations_corrected, cascade_bai_tolerant_upper_terms,
        cascade_bai_two_level_lower_bound, cascade_bai_two_level_rates, cascade_bai_two_level_upper_bound,
        cascade_bai_upper_terms, cascade_characteristic_time, cascade_fewest_observations,
        cascade_most_observations, cascade_observations_deviation, cascade_optimal_mixture,
        expected_observations,
    };
    #[pymodule_export]
    use crate::bounds::dueling::{
        copeland_lower_bound, dueling_lower_bound, rucb_duels, rucb_expected_bound,
        rucb_high_probability_bound, rucb_log_coefficient, rucb_settled_after,
    };
    #[pymodule_export]
    use crate::bounds::lists::{
        cascade_lower_bound, dcm_lower_bound, multiple_play_lower_bound, semi_bandit_lower_bound,
        weighted_cascade_lower_bound,
    };
    #[pymodule_export]
    use crate::bounds::pbm::{
        pbm_last_position_cost, pbm_lower_bound, pbm_lower_bound_terms, pbm_pie_upper_bound,
        pbm_relaxed_lower_bound, pbm_ucb_examination_factor, pbm_ucb_upper_bound, smallest_permutation_gap,
    };
    #[pymodule_export]
    use crate::bounds::rank_one::{
        rank_one_hardness, rank_one_lower_bound, rank_one_upper_bound, rank_one_upper_bound_corrected,
    };
    #[pymodule_export]
    use crate::catalogue::entries;
    #[pymodule_export]
    use crate::confidence::coverage_bound::{
        kl_ucb_coverage_bound, lil_coverage_bound, lil_rho, lil_scale, multi_position_coverage_bound,
        pbm_ucb_coverage_bound, rucb_burn_in, rucb_coverage_bound,
    };
    #[pymodule_export]
    use crate::confidence::divergence::{
        bernoulli_kl, bernoulli_kl_derivative, exponential_kl, exponential_kl_derivative,
        exponential_kl_ucb_lower, exponential_kl_ucb_upper, gaussian_kl, gaussian_kl_derivative,
        gaussian_kl_ucb_lower, gaussian_kl_ucb_upper, poisson_kl, poisson_kl_derivative,
        poisson_kl_ucb_lower, poisson_kl_ucb_upper,
    };
    #[pymodule_export]
    use crate::confidence::kl_ucb::{kl_ucb_lower, kl_ucb_upper};
    #[pymodule_export]
    use crate::confidence::multi_position::{
        multi_position_divergence, multi_position_lower, multi_position_minimum, multi_position_upper,
    };
    #[pymodule_export]
    use crate::confidence::radius::{
        bernstein_radius, hoeffding_radius, lil_radius, lil_radius_scaled, pbm_ucb_radius, rsf_ucb_radius,
        sample_bernstein_radius, scaled_radius, ucb1_radius,
    };
    #[pymodule_export]
    use crate::confidence::rate::exploration_level;
    #[pymodule_export]
    use crate::confidence::sequence::{
        beta_mixture_interval, beta_mixture_level, beta_mixture_sequence, betting_rejections,
        empirical_bernstein_sequence, hedged_betting_sequence, kl_mixture_interval, kl_mixture_level,
        kl_mixture_sequence, mixture_threshold,
    };
    #[pymodule_export]
    use crate::decision::Decision;
    #[pymodule_export]
    use crate::fit::{
        ContextFit, Evaluation, Fitted, ab_test, evaluate, fit, interleaving_test, judgments, test_plan,
    };

    /// Adds the classes of the models.
    #[pymodule_init]
    fn init(module: &pyo3::Bound<'_, pyo3::types::PyModule>) -> pyo3::PyResult<()> {
        crate::models::add_classes(module)
    }
    #[pymodule_export]
    use crate::live::LivePolicy;
    #[pymodule_export]
    use crate::options::_options;
    #[pymodule_export]
    use crate::policy::Policy;
    #[pymodule_export]
    use crate::simulate::{Simulation, check_out, merge, program_of_results, simulate, spec_files};
    #[pymodule_export]
    use crate::table::Table;
}
