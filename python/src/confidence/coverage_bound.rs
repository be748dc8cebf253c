//! Upper bounds, proved in the papers, on the probability that a confidence bound misses.

use crate::elementwise::{elementwise, size, whole};
use crate::message::one_of;
use confidence::coverage_bound::{self as scalar, Constants};
use pyo3::prelude::*;

/// Which version of a statement's constants was asked for.
fn constants_of(name: &str, given: &str) -> PyResult<Constants> {
    one_of(name, given, &[("corrected", Constants::Corrected), ("printed", Constants::Printed)])
}

elementwise! {
    /// Upper bound e ceil(level ln t) exp(-level) on the probability that the KL-UCB index of round
    /// t is below the mean: Bernoulli rank-1 bandits (2017), appendix, Theorem 2. The number of
    /// observations may depend on the past. 1 for a level of at most 1.
    ///
    /// Args:
    ///     t: rounds, whole numbers, any shape; 0 counts as 1.
    ///     level: exploration level, in nats; shapes broadcast.
    ///
    /// Returns:
    ///     float64 array of the common shape, or a float: probabilities, at most 1.
    ///
    /// Examples:
    ///     >>> round(kl_ucb_coverage_bound(1000, 10.0), 4)
    ///     0.0086
    kl_ucb_coverage_bound(t: Count, level: NonNegative) = |t, level| scalar::kl_ucb(whole(t), level);

    /// Upper bound e ceil(level ln t) exp(-level) on the probability that the PBM-UCB index of
    /// round t is below the attraction probability: PBM paper, Proposition 8. Shapes broadcast, see
    /// `kl_ucb_coverage_bound`.
    ///
    /// Args:
    ///     t: rounds, whole numbers.
    ///     level: exploration level, in nats.
    ///     constants: "corrected", as the proof gives them, or "printed", without rounding up.
    ///
    /// Examples:
    ///     >>> round(pbm_ucb_coverage_bound(1000, 10.0), 4)
    ///     0.0086
    pbm_ucb_coverage_bound(t: Count, level: NonNegative; constants = "corrected", constants_of) =
        |t, level, constants| scalar::pbm_ucb(whole(t), level, constants);

    /// Upper bound e^(L + 1) (ceil(level ln t) level / L)^L exp(-level), with L = n_positions, on
    /// the probability that the multi-position index of round t is below the attraction
    /// probability: PBM paper, Proposition 10. 1 for a level below L + 1. n_positions is a whole
    /// number, 0 counts as 1. Shapes broadcast, see `kl_ucb_coverage_bound`.
    ///
    /// Examples:
    ///     >>> round(multi_position_coverage_bound(1000, 20.0, 2), 4)
    ///     0.08
    multi_position_coverage_bound(t: Count, level: NonNegative, n_positions: Count) =
        |t, level, n_positions| scalar::multi_position(whole(t), level, size(n_positions));

    /// Upper bound 6 rho^2 on the probability that `lil_radius_scaled` ever fails, two-sided, for
    /// all numbers of observations simultaneously: CascadeBAI paper, Theorem B.2. 1 for rho from
    /// sqrt(1/6) on. rho: probabilities, any shape.
    ///
    /// Examples:
    ///     >>> round(lil_coverage_bound(0.1), 4)
    ///     0.06
    lil_coverage_bound(rho: NonNegative) = scalar::lil;

    /// The rho of `lil_radius_scaled`, sqrt(delta / (12 n_items)), at which the probability that
    /// any of the items fails is at most delta / 2: CascadeBAI paper, Theorem B.2.
    ///
    /// Args:
    ///     delta: probabilities of error, any shape, above 0 and below 1.
    ///     n_items: numbers of items, whole numbers; shapes broadcast; 0 counts as 1.
    ///     constants: "corrected", or "printed" for delta / (12 n_items), as in two places of the
    ///         paper.
    ///
    /// Examples:
    ///     >>> round(lil_rho(0.12, 100), 4)
    ///     0.01
    lil_rho(delta: ErrorProbability, n_items: Count; constants = "corrected", constants_of) =
        |delta, n_items, constants| scalar::lil_rho(delta, size(n_items), constants);

    /// Upper bound (4 alpha - 1) K^2 / ((2 alpha - 1) t^(2 alpha - 1)), with K = n_arms, on the
    /// probability that any of RUCB's intervals fails at a round after t: RUCB paper, Lemma 1. 1
    /// for alpha of at most 1/2. t and n_arms are whole numbers. Shapes broadcast, see
    /// `kl_ucb_coverage_bound`. Its inverse is `bounds.rucb_settled_after`.
    ///
    /// Examples:
    ///     >>> rucb_coverage_bound(1000, 5, 1.0)
    ///     0.075
    rucb_coverage_bound(t: Count, n_arms: Count, alpha: FiniteNonNegative) =
        |t, n_arms, alpha| scalar::rucb(whole(t), size(n_arms), alpha);
}

/// The scale of `lil_radius_scaled` for variables from 0 to 1.
///
/// Args:
///     constants: "corrected", 2, as Theorem B.2 of the CascadeBAI paper needs it, or "printed", 4,
///         as the paper prints it.
///
/// Examples:
///     >>> lil_scale(), lil_scale(constants="printed")
///     (2.0, 4.0)
#[pyfunction]
#[pyo3(signature = (*, constants="corrected"))]
pub(crate) fn lil_scale(constants: &str) -> PyResult<f64> {
    constants_of("constants", constants).map(scalar::lil_scale)
}
