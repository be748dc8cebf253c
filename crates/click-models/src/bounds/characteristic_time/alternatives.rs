//! The information against an alternative: a best item and another one are equally attractive.

use confidence::math::relative_entropy;

/// `min over x of o_i d(w_i, x) + o_j d(w_j, x)`, a concave function of `(o_i, o_j)`, with its
/// derivatives.
#[derive(Debug, Clone, Copy)]
pub(super) struct Information {
    /// The minimum.
    pub(super) nats: f64,
    /// `d(w_i, x)` and `d(w_j, x)` at the minimum. This is the gradient, since `x` is optimal.
    pub(super) gradient: [f64; 2],
    /// `z`, where the Hessian is `-z z^T`.
    pub(super) bend: [f64; 2],
}

impl Information {
    /// No observations of one of the two: the alternative that changes only this one costs nothing.
    pub(super) const NONE: Self = Self { nats: 0.0, gradient: [0.0; 2], bend: [0.0; 2] };

    /// The information of `(o_i, o_j)` observations of two items with weights `best > other`;
    /// `unit` nats count as one.
    ///
    /// The minimum is at the common mean `x = (o_i w_i + o_j w_j) / (o_i + o_j)`. Its distances to
    /// the weights are products, not differences of nearly equal numbers.
    pub(super) fn new([best, other]: [f64; 2], [of_best, of_other]: [f64; 2], unit: f64) -> Self {
        if of_best <= 0.0 || of_other <= 0.0 {
            return Self::NONE;
        }
        let all = of_best + of_other;
        let gap = best - other;
        let (below, above) = (gap * (of_other / all), gap * (of_best / all));
        let (x, not_x) = (other + above, (1.0 - best) + below);
        // `difference` is `x - weight`.
        let divergence = |weight: f64, difference: f64| {
            let attracted = relative_entropy(weight, x, difference);
            (attracted + relative_entropy(1.0 - weight, not_x, -difference)) / unit
        };
        let gradient = [divergence(best, -below), divergence(other, above)];
        // The product of all four may be too small for a double.
        let scale = (x * not_x * all).sqrt() * unit.sqrt();
        Self {
            nats: of_best * gradient[0] + of_other * gradient[1],
            gradient,
            bend: [below / scale, -above / scale],
        }
    }
}
