//! The information of a suboptimal choice, per click that it costs.

use confidence::math::relative_entropy;

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
pub(super) fn nats_per_click(examined: f64, worse: f64, better: f64) -> f64 {
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
