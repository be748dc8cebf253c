//! Sums that do not depend on the order of their terms: exact, in whole numbers.
//!
//! A term is a whole number of at most 53 bits times a power of two. Terms are summed in 64 bins of
//! 32 exponents each, as whole numbers of 128 bits, which hold 2^44 terms. So every number of
//! threads, and every order of a log, gives the same bits. Most sums use two or three bins, and a
//! bin has memory when a term falls into it.
//!
//! Reference: ours, after the superaccumulators of Neal, *Fast exact summation using small and
//! large superaccumulators*, 2015. Numerics: only [`get`](ExactSums::get) rounds. Complexity:
//! constant for each term.

use libm::scalbn;

/// Exponents of a bin.
const WIDTH: usize = 32;
/// Bins of all exponents of finite numbers.
const BINS: usize = 2048 / WIDTH;
/// Bits of the fraction of a number, and the exponent of its last bit at the first exponent.
const FRACTION: u32 = 52;
const LAST_BIT: i32 = -1075;

/// Sums of numbers that are not negative.
#[derive(Debug, Clone)]
pub(crate) struct ExactSums {
    len: usize,
    bins: Vec<Vec<u128>>,
}

impl ExactSums {
    /// This number of sums without terms.
    pub(crate) fn new(len: usize) -> Self {
        Self { len, bins: vec![Vec::new(); BINS] }
    }

    /// Adds a finite number, not negative, to a sum; an infinite one counts as the largest finite.
    #[inline]
    pub(crate) fn add(&mut self, place: usize, term: f64) {
        let bits = term.min(f64::MAX).to_bits();
        let (exponent, fraction) = ((bits >> FRACTION) as usize, bits & ((1 << FRACTION) - 1));
        let (exponent, mantissa) =
            if exponent == 0 { (1, fraction) } else { (exponent, fraction | 1 << FRACTION) };
        let bin = &mut self.bins[exponent / WIDTH % BINS];
        if bin.is_empty() {
            bin.resize(self.len, 0);
        }
        bin[place] += u128::from(mantissa) << (exponent % WIDTH);
    }

    /// Adds the sums of another thread.
    pub(crate) fn merge(&mut self, other: &Self) {
        for (bin, more) in self.bins.iter_mut().zip(&other.bins) {
            if bin.is_empty() {
                bin.clone_from(more);
            } else {
                bin.iter_mut().zip(more).for_each(|(sum, more)| *sum += more);
            }
        }
    }

    /// A sum, rounded.
    pub(crate) fn get(&self, place: usize) -> f64 {
        let of_bin = |(exponent, bin): (i32, &Vec<u128>)| {
            let sum = bin.get(place).copied().unwrap_or(0);
            if sum == 0 { 0.0 } else { scalbn(sum as f64, exponent + LAST_BIT) }
        };
        (0..).step_by(WIDTH).zip(&self.bins).map(of_bin).sum()
    }
}

#[cfg(test)]
#[path = "exact/tests.rs"]
mod tests;
