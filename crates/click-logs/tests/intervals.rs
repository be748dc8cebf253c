//! How often intervals contain the truth.

use click_logs::fit::Estimate;
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

/// `P(X <= at)` for X of Binomial(`n`, `p`), as a sum of probabilities.
pub(crate) fn binomial_cdf(n: u64, p: f64, at: u64) -> f64 {
    let ln_choose = |k: u64| {
        libm::lgamma(n as f64 + 1.0) - libm::lgamma(k as f64 + 1.0) - libm::lgamma((n - k) as f64 + 1.0)
    };
    let mass = |k: u64| libm::exp(ln_choose(k) + k as f64 * libm::log(p) + (n - k) as f64 * libm::log1p(-p));
    (0..=at).map(mass).sum()
}

/// Whether this number of hits of `n` intervals agrees with a coverage between .94 and .96, as
/// expected of asymptotic intervals of 95%. A coverage in this range fails with probability below
/// 1e-7, so ten parameters fail with probability below 1e-6.
pub(crate) fn covers(hits: u64, n: u64) -> bool {
    binomial_cdf(n, 0.94, hits) > 1e-7 && 1.0 - binomial_cdf(n, 0.96, hits.saturating_sub(1)) > 1e-7
}

/// The number of `n` logs whose intervals contain the truth, by estimator and parameter.
pub(crate) fn hits<const N: usize>(
    n: u64,
    seed: u64,
    truths: [&[f64]; N],
    mut estimates: impl FnMut(&mut Xoshiro256PlusPlus) -> [Vec<Estimate>; N],
) -> [Vec<u64>; N] {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut hits = truths.map(|truth| vec![0; truth.len()]);
    for _ in 0..n {
        for ((hits, truth), estimates) in hits.iter_mut().zip(truths).zip(estimates(&mut rng)) {
            for ((hits, truth), estimate) in hits.iter_mut().zip(truth).zip(estimates) {
                *hits += u64::from(estimate.covers(*truth));
            }
        }
    }
    hits
}
