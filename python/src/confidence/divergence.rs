//! Kullback-Leibler divergences of one-parameter families, their derivatives, and the KL-UCB
//! indices of the families other than Bernoulli.

use crate::elementwise::elementwise;
use confidence::{self as scalar, Divergence, Exponential, Gaussian, Poisson};

/// A number of the Gaussian family; the domain of `variance` has been checked.
fn gaussian(variance: f64, compute: impl Fn(Gaussian) -> f64) -> f64 {
    Gaussian::with_variance(variance).map_or(f64::NAN, compute)
}

elementwise! {
    /// Kullback-Leibler divergence d(p, q) of two Bernoulli distributions, in nats; may be
    /// infinite.
    ///
    /// Args:
    ///     p: probabilities, any shape.
    ///     q: probabilities; shapes broadcast.
    ///
    /// Examples:
    ///     >>> bernoulli_kl([0.5, 0.0], [0.25, 1.0]).round(4).tolist()
    ///     [0.1438, inf]
    bernoulli_kl(p: Probability, q: Probability) = scalar::bernoulli_kl;

    /// The derivative of `bernoulli_kl` in q, (q - p) / (q (1 - q)), in nats; 0 for p = q. Shapes
    /// broadcast.
    ///
    /// Examples:
    ///     >>> round(bernoulli_kl_derivative(0.5, 0.25), 4)
    ///     -1.3333
    bernoulli_kl_derivative(p: Probability, q: Probability) = scalar::bernoulli_kl_derivative;

    /// Kullback-Leibler divergence (p - q)^2 / (2 variance) of two Gaussian distributions of the
    /// same variance, in nats: Garivier and Cappe 2011, section 6, as for the other families.
    ///
    /// Args:
    ///     p: means, any shape, finite.
    ///     q: means, finite.
    ///     variance: the variance; shapes broadcast.
    ///
    /// Examples:
    ///     >>> gaussian_kl(2.0, 1.0, 0.25)
    ///     2.0
    gaussian_kl(p: Finite, q: Finite, variance: FiniteNonNegative) = |p, q, variance| gaussian(variance, |law| law.divergence(p, q));

    /// The derivative of `gaussian_kl` in q, (q - p) / variance. Arguments as there.
    ///
    /// Examples:
    ///     >>> gaussian_kl_derivative(2.0, 1.0, 0.25)
    ///     -4.0
    gaussian_kl_derivative(p: Finite, q: Finite, variance: FiniteNonNegative) =
        |p, q, variance| gaussian(variance, |law| law.derivative(p, q));

    /// The upper KL-UCB index of Gaussian variables, mean + sqrt(2 variance level / n); infinite
    /// for n = 0. Never below the true root. With variance s^2 it holds for sub-Gaussian variables
    /// with parameter s.
    ///
    /// Args:
    ///     mean: observed means, any shape, finite.
    ///     n: numbers of observations.
    ///     level: exploration level, in nats.
    ///     variance: the known variance; shapes broadcast.
    ///
    /// Returns:
    ///     float64 array of the common shape, or a float, in the unit of the rewards.
    ///
    /// Examples:
    ///     >>> round(gaussian_kl_ucb_upper(2.0, 50, 3.0, 0.25), 4)
    ///     2.1732
    gaussian_kl_ucb_upper(mean: Finite, n: NonNegative, level: NonNegative, variance: FiniteNonNegative) =
        |mean, n, level, variance| gaussian(variance, |law| law.upper(mean, n, level));

    /// The lower KL-UCB index of Gaussian variables, mean - sqrt(2 variance level / n). Arguments
    /// as of `gaussian_kl_ucb_upper`.
    ///
    /// Examples:
    ///     >>> round(gaussian_kl_ucb_lower(2.0, 50, 3.0, 0.25), 4)
    ///     1.8268
    gaussian_kl_ucb_lower(mean: Finite, n: NonNegative, level: NonNegative, variance: FiniteNonNegative) =
        |mean, n, level, variance| gaussian(variance, |law| law.lower(mean, n, level));

    /// Kullback-Leibler divergence q - p + p ln(p / q) of two Poisson distributions with means p
    /// and q, at least 0, in nats; may be infinite. Shapes broadcast.
    ///
    /// Examples:
    ///     >>> round(poisson_kl(2.0, 1.0), 4)
    ///     0.3863
    poisson_kl(p: FiniteNonNegative, q: FiniteNonNegative) = |p, q| Poisson.divergence(p, q);

    /// The derivative of `poisson_kl` in q, (q - p) / q. Shapes broadcast.
    ///
    /// Examples:
    ///     >>> round(poisson_kl_derivative(2.0, 1.0), 4)
    ///     -1.0
    poisson_kl_derivative(p: FiniteNonNegative, q: FiniteNonNegative) = |p, q| Poisson.derivative(p, q);

    /// The upper KL-UCB index of Poisson variables: the largest q from mean up with n (q - mean +
    /// mean ln(mean / q)) <= level; infinite for n = 0. Never below the true root. mean is at least
    /// 0; level in nats. Shapes broadcast.
    ///
    /// Examples:
    ///     >>> round(poisson_kl_ucb_upper(2.0, 50, 3.0), 4)
    ///     2.5307
    poisson_kl_ucb_upper(mean: FiniteNonNegative, n: NonNegative, level: NonNegative) = |mean, n, level| Poisson.upper(mean, n, level);

    /// The lower KL-UCB index of Poisson variables, from 0 to mean; 0 for n = 0. Arguments as of
    /// `poisson_kl_ucb_upper`.
    ///
    /// Examples:
    ///     >>> round(poisson_kl_ucb_lower(2.0, 50, 3.0), 4)
    ///     1.5493
    poisson_kl_ucb_lower(mean: FiniteNonNegative, n: NonNegative, level: NonNegative) = |mean, n, level| Poisson.lower(mean, n, level);

    /// Kullback-Leibler divergence p / q - 1 - ln(p / q) of two exponential distributions with
    /// means p and q, at least 0, in nats; may be infinite. Shapes broadcast.
    ///
    /// Examples:
    ///     >>> round(exponential_kl(2.0, 1.0), 4)
    ///     0.3069
    exponential_kl(p: FiniteNonNegative, q: FiniteNonNegative) = |p, q| Exponential.divergence(p, q);

    /// The derivative of `exponential_kl` in q, (q - p) / q^2. Shapes broadcast.
    ///
    /// Examples:
    ///     >>> round(exponential_kl_derivative(2.0, 1.0), 4)
    ///     -1.0
    exponential_kl_derivative(p: FiniteNonNegative, q: FiniteNonNegative) = |p, q| Exponential.derivative(p, q);

    /// The upper KL-UCB index of exponential variables, such as waiting times: the largest q from
    /// mean up with n (mean / q - 1 - ln(mean / q)) <= level; infinite for n = 0. Never below the
    /// true root. mean is at least 0; level in nats. Shapes broadcast.
    ///
    /// Examples:
    ///     >>> round(exponential_kl_ucb_upper(2.0, 50, 3.0), 4)
    ///     2.8886
    exponential_kl_ucb_upper(mean: FiniteNonNegative, n: NonNegative, level: NonNegative) =
        |mean, n, level| Exponential.upper(mean, n, level);

    /// The lower KL-UCB index of exponential variables, from 0 to mean; 0 for n = 0. Arguments as
    /// of `exponential_kl_ucb_upper`.
    ///
    /// Examples:
    ///     >>> round(exponential_kl_ucb_lower(2.0, 50, 3.0), 4)
    ///     1.4414
    exponential_kl_ucb_lower(mean: FiniteNonNegative, n: NonNegative, level: NonNegative) =
        |mean, n, level| Exponential.lower(mean, n, level);
}
