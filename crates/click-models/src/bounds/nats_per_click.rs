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
