//! The extension module `click_bandits._native` of the Python package.
//!
//! Policies and users are the library's own; this crate converts arguments, results and errors. `play` puts all protocols behind one
//! trait object, `clicks` reads users' answers, and `policy`, `decision` and `batch` are the classes that Python sees.

mod arrays;
mod batch;
mod bounds;
mod catalogue;
mod clicks;
mod confidence;
mod decision;
mod fit;
mod message;
mod models;
mod play;
mod policy;
mod table;
mod task;

use pyo3::prelude::*;

/// The extension module of the package `click_bandits`.
#[pymodule]
mod _native {
    #[pymodule_export]
    use crate::batch::Batch;
    #[pymodule_export]
    use crate::bounds::{
        cascade_bai_lower_bound, cascade_lower_bound, dcm_lower_bound, dueling_lower_bound,
        multiple_play_lower_bound, pbm_lower_bound, pbm_relaxed_lower_bound, rank_one_upper_bound,
        semi_bandit_lower_bound,
    };
    #[pymodule_export]
    use crate::catalogue::entries;
    #[pymodule_export]
    use crate::confidence::{
        bernoulli_kl, bernstein_radius, hoeffding_radius, kl_ucb_lower, kl_ucb_upper, lil_radius,
        lil_radius_scaled, multi_position_lower, multi_position_upper, pbm_ucb_radius, rsf_ucb_radius,
        sample_bernstein_radius, scaled_radius, ucb1_radius,
    };
    #[pymodule_export]
    use crate::decision::Decision;
    #[pymodule_export]
    use crate::fit::{Fitted, fit};
    #[pymodule_export]
    use crate::models::{
        Cascade, ClickChain, DependentClick, Dueling, DynamicBayesian, PositionBased, RandomSemiBandit,
        RankOne, UserBrowsing,
    };
    #[pymodule_export]
    use crate::policy::Policy;
    #[pymodule_export]
    use crate::table::Table;
}
