//! Functions of the crate `confidence` over arrays.

mod coverage_bound;
mod divergence;
mod kl_ucb;
mod multi_position;
mod radius;
mod rate;
mod sequence;

use pyo3::prelude::*;

/// Confidence bounds and sequences, as the module `click_bandits.confidence`.
#[pymodule]
pub(crate) mod confidence {
    #[pymodule_export]
    use super::coverage_bound::lil_scale;
    #[pymodule_export]
    use super::kl_ucb::{kl_ucb_lower, kl_ucb_upper};
    #[pymodule_export]
    use super::multi_position::{
        multi_position_divergence, multi_position_lower, multi_position_minimum, multi_position_upper,
    };
    #[pymodule_export]
    use super::rate::exploration_level;
    #[pymodule_export]
    use super::sequence::{
        beta_mixture_sequence, betting_rejections, empirical_bernstein_sequence, hedged_betting_sequence,
        kl_mixture_sequence,
    };

    /// Adds the functions that a macro makes.
    #[pymodule_init]
    fn init(module: &pyo3::Bound<'_, pyo3::types::PyModule>) -> pyo3::PyResult<()> {
        use super::{coverage_bound, divergence, radius, sequence};
        coverage_bound::add_elementwise(module)?;
        divergence::add_elementwise(module)?;
        radius::add_elementwise(module)?;
        sequence::add_elementwise(module)
    }
}
