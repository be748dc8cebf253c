//! The part of a log that is held out from fits: one session, or one impression, in `one_in`, each
//! drawn independently.
//!
//! Each draw has its own stream of random bits, keyed by the seed and by the place of a line or
//! session in the log, or by names and position of a cell. So draws depend neither on threads nor
//! on the rest of the log.
//!
//! From a line or cell a binomial number of clicks is held out, and one of skips. Each impression
//! has a uniform number, read bit by bit until it differs from `1 / one_in`. Among the impressions
//! that have not differed so far, those with a 0 as next bit are a number of zeros among fair bits.
//! The number among many bits is drawn by rejection from a hat with the inverse distribution
//! function in closed form.
//!
//! Reference: Steele, Lea, Flood, *Fast splittable pseudorandom number generators*, OOPSLA 2014
//! (`SplitMix64`); Hörmann, *The generation of binomial random variates*, Journal of Statistical
//! Computation and Simulation 46, 1993, algorithm BTRS. Deviations: the logarithm of a probability
//! is that of Loader's expansion, which has no cancellation. Numerics: integers, no rounding, up to
//! [`MANY`] bits; above, logarithms of probabilities to about 1e-12. Complexity: O(1) a session,
//! O(log impressions) a line or cell, of at most 1,024 words each.

#[cfg(test)]
#[path = "hold_out/tests.rs"]
mod tests;

use confidence::math::{ln, relative_entropy, sqrt, stirling_error};
use num_traits::ToPrimitive as _;
use rand::{Rng, SeedableRng};
use rand_xoshiro::SplitMix64;

/// More bits than this are not read one by one.
const MANY: u64 = 1 << 16;

/// Holds out one observation in `one_in`, drawn with a seed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct HoldOut {
    one_in: u64,
    key: u64,
}

impl HoldOut {
    /// `one_in` is at least 2, so that something is left.
    pub(crate) fn new(one_in: u64, seed: u64) -> Self {
        Self { one_in: one_in.max(2), key: finalised(seed) }
    }

    /// Draws for the line or session at this place in the log.
    pub(crate) fn at(self, place: u64) -> Draws {
        self.draws(self.key ^ place)
    }

    pub(crate) fn of_cell(self, query: &str, item: &str, position: u8) -> Draws {
        let key = [query, item].into_iter().fold(self.key, |key, name| absorb(key, name.as_bytes()));
        self.draws(key ^ u64::from(position))
    }

    fn draws(self, key: u64) -> Draws {
        Draws { one_in: self.one_in, bits: SplitMix64::seed_from_u64(finalised(key)) }
    }
}

/// The draws of a line, session or cell.
#[derive(Debug)]
pub(crate) struct Draws {
    one_in: u64,
    bits: SplitMix64,
}

impl Draws {
    /// Returns whether a session, or a single impression, is held out.
    pub(crate) fn takes_one(mut self) -> bool {
        self.binomial(1) == 1
    }

    /// Splits clicks and impressions into those kept and those held out.
    pub(crate) fn cut(mut self, [clicks, impressions]: [u64; 2]) -> [[u64; 2]; 2] {
        let held_out = self.binomial(clicks);
        let of_all = held_out + self.binomial(impressions - clicks);
        [[clicks - held_out, impressions - of_all], [held_out, of_all]]
    }

    /// The number of `trials` that are held out.
    #[inline]
    fn binomial(&mut self, trials: u64) -> u64 {
        let mut below = 0;
        let mut equal = trials;
        // The remainder of 1 / one_in after the digits read, in units of 1 / one_in at the last
        // digit.
        let mut remainder = 1;
        while equal > 0 && remainder > 0 {
            let zeros = self.zeros(equal);
            let missing = self.one_in - remainder;
            if remainder >= missing {
                // The next digit is 1: numbers with a 0 are below.
                remainder -= missing;
                below += zeros;
                equal -= zeros;
            } else {
                remainder *= 2;
                equal = zeros;
            }
        }
        below
    }

    /// The number of zeros among this number of fair bits.
    #[inline]
    fn zeros(&mut self, n_bits: u64) -> u64 {
        if n_bits > MANY {
            return self.zeros_of_many(n_bits);
        }
        let words = (0..n_bits / 64).map(|_| u64::from(self.bits.next_u64().count_zeros())).sum::<u64>();
        match n_bits % 64 {
            0 => words,
            rest => words + u64::from((self.bits.next_u64() | u64::MAX << rest).count_zeros()),
        }
    }

    /// The number of zeros among many fair bits. The hat is above the distribution from 20 bits on;
    /// near its middle, most draws are taken without looking.
    fn zeros_of_many(&mut self, n_bits: u64) -> u64 {
        let n = n_bits as f64;
        let deviation = sqrt(n / 4.0);
        let b = 1.15 + 2.53 * deviation;
        let a = -0.0873 + 0.0248 * b + 0.005;
        let height = (2.83 + 5.1 / b) * deviation;
        let log_probability = |k: f64| {
            let off = (2.0 * k - n) / (2.0 * n);
            let rest = -stirling_error(k) - stirling_error(n - k) - 0.5 * ln(k * (n - k));
            rest - n * (relative_entropy(k / n, 0.5, -off) + relative_entropy((n - k) / n, 0.5, off))
        };
        let middle = (n / 2.0).floor();
        loop {
            let [u, v] = [0; 2].map(|_| (self.bits.next_u64() >> 11) as f64 / (1_u64 << 53) as f64);
            let u = u - 0.5;
            let from_edge = 0.5 - u.abs();
            let k = ((2.0 * a / from_edge + b) * u + n / 2.0 + 0.5).floor();
            let is_inside = from_edge >= 0.07 && v <= 0.92 - 4.2 / b;
            // All bits alike: more seldom than any draw.
            if !(is_inside || k > 0.0 && k < n) {
                continue;
            }
            let taken = || {
                let hat = ln(v * height / (a / (from_edge * from_edge) + b));
                hat <= log_probability(k) - log_probability(middle)
            };
            if is_inside || taken() {
                // From 1 to `n_bits`, which is below 2^40.
                return k.to_u64().unwrap_or(n_bits / 2);
            }
        }
    }
}

/// Every bit of the result depends on every bit of the word.
pub(crate) fn finalised(word: u64) -> u64 {
    SplitMix64::seed_from_u64(word).next_u64()
}

/// Hashes the key, the bytes and their number.
fn absorb(key: u64, bytes: &[u8]) -> u64 {
    bytes.chunks(8).fold(finalised(key ^ bytes.len() as u64), |key, chunk| {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        finalised(key ^ u64::from_le_bytes(word))
    })
}
