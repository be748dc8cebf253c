//! Radii: half widths of confidence intervals in closed form.

use crate::elementwise::{elementwise, whole};
use confidence as scalar;

elementwise! {
    /// Hoeffding's radius sqrt(level / (2 n)); infinite for n = 0: Hoeffding 1963, Theorem 1; PBM
    /// paper, section 4.
    ///
    /// With level = ln(1 / alpha) and a fixed n, mean + radius misses the true mean with
    /// probability at most alpha.
    ///
    /// Args:
    ///     n: numbers of observations, any shape.
    ///     level: exploration level, in nats; shapes broadcast.
    ///
    /// Returns:
    ///     float64 array of the common shape, or a float, in the unit of the rewards.
    ///
    /// Examples:
    ///     >>> hoeffding_radius([50, 200], 1.0).tolist()
    ///     [0.1, 0.05]
    hoeffding_radius(n: NonNegative, level: NonNegative) = scalar::hoeffding_radius;

    /// UCB1's radius sqrt(2 level / n); infinite for n = 0: Auer, Cesa-Bianchi and Fischer 2002,
    /// figure 1. Shapes broadcast, see `hoeffding_radius`.
    ///
    /// Examples:
    ///     >>> round(ucb1_radius(100, 3.0), 4)
    ///     0.2449
    ucb1_radius(n: NonNegative, level: NonNegative) = scalar::ucb1_radius;

    /// RSF-UCB's radius sqrt(2 level / (3 n)), where n counts observed displays; infinite for n =
    /// 0: RSF paper, section 4. Shapes broadcast, see `hoeffding_radius`.
    ///
    /// Examples:
    ///     >>> round(rsf_ucb_radius(6, 1.0), 4)
    ///     0.3333
    rsf_ucb_radius(n: NonNegative, level: NonNegative) = scalar::rsf_ucb_radius;

    /// The radius sqrt(factor level / n); infinite for n = 0. RUCB's factor is its alpha, that of
    /// CascadeUCB1 3/2. Shapes broadcast, see `hoeffding_radius`.
    ///
    /// Examples:
    ///     >>> round(scaled_radius(100, 3.0, 1.5), 4)
    ///     0.2121
    scaled_radius(n: NonNegative, level: NonNegative, factor: NonNegative) = scalar::scaled_radius;

    /// The empirical Bernstein radius sqrt(2 variance level / n) + 3 level / n of UCB-V, with the
    /// variance of divisor n; infinite for n = 0: Audibert, Munos and Szepesvari 2009, Theorem 1.
    /// Shapes broadcast, see `hoeffding_radius`.
    ///
    /// Examples:
    ///     >>> round(bernstein_radius(100, 0.25, 3.0), 4)
    ///     0.2125
    bernstein_radius(n: NonNegative, variance: NonNegative, level: NonNegative) = scalar::bernstein_radius;

    /// The Bernstein radius sqrt(2 variance level / n) + 7 level / (3 (n - 1)), with the variance
    /// of divisor n - 1; infinite for n at most 1: Maurer and Pontil 2009, Theorem 4. Shapes
    /// broadcast, see `hoeffding_radius`.
    ///
    /// Examples:
    ///     >>> round(sample_bernstein_radius(100, 0.25, 3.0), 4)
    ///     0.1932
    sample_bernstein_radius(n: NonNegative, variance: NonNegative, level: NonNegative) = scalar::sample_bernstein_radius;

    /// PBM-UCB's radius sqrt(n / m) sqrt(level / (2 m)) with m = weighted_shows, the examination
    /// probabilities summed over the n displays of an item; infinite for m = 0: PBM paper, section
    /// 4 and Proposition 8. Shapes broadcast, see `hoeffding_radius`.
    ///
    /// Examples:
    ///     >>> round(pbm_ucb_radius(100, 50.0, 2.0), 4)
    ///     0.2
    pbm_ucb_radius(n: NonNegative, weighted_shows: NonNegative, level: NonNegative) = scalar::pbm_ucb_radius;

    /// The radius 4 sqrt(ln(log2(2 n) / rho) / n) of CascadeBAI's Algorithm 1; infinite for n = 0.
    /// n is a whole number. Shapes broadcast, see `hoeffding_radius`.
    ///
    /// Examples:
    ///     >>> round(lil_radius(100, 0.1), 4)
    ///     0.833
    lil_radius(n: Count, rho: NonNegative) = |n, rho| scalar::lil_radius(whole(n), rho);

    /// The radius scale sqrt(ln(log2(2 n) / rho) / n); infinite for n = 0. n is a whole number.
    /// `lil_scale` has the scale, `lil_rho` the rho. Shapes broadcast, see `hoeffding_radius`.
    ///
    /// Examples:
    ///     >>> round(lil_radius_scaled(100, 0.1, 2.0), 4)
    ///     0.4165
    lil_radius_scaled(n: Count, rho: NonNegative, scale: NonNegative) = |n, rho, scale| scalar::lil_radius_scaled(whole(n), rho, scale);
}
