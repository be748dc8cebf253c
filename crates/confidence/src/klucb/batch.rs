//! KL-UCB indices of many arms at one level.

use super::solver::{EDGE, Place, TINY, edge_guess, middle_guess, round_down, round_up};
use super::{kl_ucb_lower, kl_ucb_upper};

/// [`kl_ucb_upper`] of many arms at one level: `out[i]` is the index of the arm with mean
/// `means[i]` and `n[i]` observations.
///
/// The results have the same bits as one call per arm, in less time: the function computes eight
/// arms together, stage by stage, so that their dependent operations overlap and share vector
/// registers. It works on the common length of the slices and does not touch the rest of `out`.
///
/// ```
/// use confidence::{kl_ucb_upper, kl_ucb_upper_batch};
///
/// let (means, n) = ([0.1, 0.5, 0.9], [10.0, 100.0, 0.0]);
/// let mut out = [0.0; 3];
/// kl_ucb_upper_batch(&means, &n, 2.0, &mut out);
/// assert_eq!(out, [0, 1, 2].map(|arm| kl_ucb_upper(means[arm], n[arm], 2.0)));
/// ```
pub fn kl_ucb_upper_batch(means: &[f64], n: &[f64], level: f64, out: &mut [f64]) {
    batch::<true>(means, n, level, out);
}

/// [`kl_ucb_lower`] of many arms at one level, the mirror image of [`kl_ucb_upper_batch`].
pub fn kl_ucb_lower_batch(means: &[f64], n: &[f64], level: f64, out: &mut [f64]) {
    batch::<false>(means, n, level, out);
}

/// Number of arms computed together.
const LANES: usize = 8;

fn batch<const UPPER: bool>(means: &[f64], n: &[f64], level: f64, out: &mut [f64]) {
    let arms = means.len().min(n.len()).min(out.len());
    let (means, n, out) = (&means[..arms], &n[..arms], &mut out[..arms]);
    let (mean_blocks, means) = means.as_chunks::<LANES>();
    let (n_blocks, n) = n.as_chunks::<LANES>();
    let (out_blocks, out) = out.as_chunks_mut::<LANES>();
    for ((means, n), out) in mean_blocks.iter().zip(n_blocks).zip(out_blocks) {
        block::<UPPER>(means, n, level, out);
    }
    for ((&mean, &n), out) in means.iter().zip(n).zip(out) {
        *out = if UPPER { kl_ucb_upper(mean, n, level) } else { kl_ucb_lower(mean, n, level) };
    }
}

/// One block: the stages of [`displacement`] for all lanes, and the scalar function for lanes that
/// are not ordinary.
fn block<const UPPER: bool>(means: &[f64; LANES], n: &[f64; LANES], level: f64, out: &mut [f64; LANES]) {
    let mut ordinary = [false; LANES];
    let (mut a, mut b, mut c, mut x) = ([0.5; LANES], [0.5; LANES], [1.0; LANES], [0.0; LANES]);
    for lane in 0..LANES {
        let (mean, per_show) = (means[lane], level / n[lane]);
        // Also false for NaN.
        ordinary[lane] =
            (TINY..1.0).contains(&mean) && (TINY..f64::INFINITY).contains(&per_show) && n[lane] > 0.0;
        if ordinary[lane] {
            (a[lane], b[lane]) = if UPPER { (mean, 1.0 - mean) } else { (1.0 - mean, mean) };
            c[lane] = per_show;
        }
    }
    for lane in 0..LANES {
        x[lane] = middle_guess(a[lane], b[lane], c[lane]);
    }
    for lane in 0..LANES {
        if x[lane] > EDGE * b[lane] {
            x[lane] = edge_guess(a[lane], b[lane], c[lane]);
            ordinary[lane] &= x[lane] < b[lane];
            x[lane] = if ordinary[lane] { x[lane] } else { 0.5 * b[lane] };
        }
    }
    for lane in 0..LANES {
        let place = Place::at::<true>(a[lane], b[lane], x[lane]);
        x[lane] = place.onwards_nearby(c[lane]);
        ordinary[lane] &= place.is_near(c[lane]) && 0.0 < x[lane] && x[lane] < b[lane];
        x[lane] = if ordinary[lane] { x[lane] } else { 0.5 * b[lane] };
    }
    let mut end = [0.0; LANES];
    for lane in 0..LANES {
        let place = Place::at::<false>(a[lane], b[lane], x[lane]);
        let (last, there) = place.newton(c[lane]);
        ordinary[lane] &= last;
        end[lane] = there;
    }
    for lane in 0..LANES {
        out[lane] = match (ordinary[lane], UPPER) {
            (true, true) => round_up(means[lane] + end[lane]).min(1.0),
            (true, false) => round_down(means[lane] - end[lane]).max(0.0),
            (false, true) => kl_ucb_upper(means[lane], n[lane], level),
            (false, false) => kl_ucb_lower(means[lane], n[lane], level),
        };
    }
}
