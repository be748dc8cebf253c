//! Helpers of this crate's tests: exact binomial limits, small rankings, predetermined coins.

use interleaving::RankedDocuments;
use statrs::distribution::{Binomial, DiscreteCDF};
use std::convert::Infallible;

/// Probability that a check fails for a correct implementation.
pub(crate) const FALSE_ALARM: f64 = 1e-6;

/// Whether so extreme a number of successes has probability below [`FALSE_ALARM`] divided by
/// `n_checks`.
pub(crate) fn is_rare(successes: u64, trials: u64, probability: f64, n_checks: usize) -> bool {
    let law = Binomial::new(probability.clamp(0.0, 1.0), trials).unwrap();
    let limit = FALSE_ALARM / (2.0 * n_checks as f64);
    let at_most = law.cdf(successes);
    let at_least = if successes == 0 { 1.0 } else { law.sf(successes - 1) };
    at_most < limit || at_least < limit
}

pub(crate) fn ranking(order: &[u32]) -> RankedDocuments {
    RankedDocuments::new(order.to_vec()).unwrap()
}

/// All orders of the numbers below `n`.
pub(crate) fn permutations(n: u32) -> Vec<Vec<u32>> {
    let mut lists = vec![vec![]];
    for _ in 0..n {
        lists = lists
            .into_iter()
            .flat_map(|list: Vec<u32>| {
                (0..n)
                    .filter(|item| !list.contains(item))
                    .map(|item| [&list[..], &[item]].concat())
                    .collect::<Vec<_>>()
            })
            .collect();
    }
    lists
}

/// A generator whose numbers start with predetermined coins, and which counts the draws.
pub(crate) struct Coins {
    pub tape: u32,
    pub(crate) used: u32,
}

impl rand::TryRng for Coins {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        unreachable!("a coin is the first bit of 64")
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        let coin = u64::from(self.tape >> self.used & 1);
        self.used += 1;
        Ok(coin << 63)
    }

    fn try_fill_bytes(&mut self, _: &mut [u8]) -> Result<(), Infallible> {
        unreachable!("a coin is the first bit of 64")
    }
}
