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

use crate::table::Shown;
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
    /// `one_in` is at least 2.
    pub(crate) fn new(one_in: u64, seed: u64) -> Self {
        Self { one_in, key: finalised(seed) }
    }

    /// Draws for the line or session at this place in the log.
    #[inline]
    pub(crate) fn at(self, place: u64) -> Draws {
        self.draws(self.key ^ place)
    }

    /// Draws for the cell of this query, item and position.
    pub(crate) fn of_cell(self, query: &str, item: &str, position: u8) -> Draws {
        let key = [query, item].into_iter().fold(self.key, |key, name| absorb(key, name.as_bytes()));
        self.draws(key ^ u64::from(position))
    }

    #[inline]
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
    /// Whether a session, or a single impression, is held out.
    #[inline]
    pub(crate) fn takes_one(mut self) -> bool {
        self.binomial(1) == 1
    }

    /// Splits impressions into the number kept and the number held out.
    #[inline]
    pub(crate) fn cut(mut self, shown: &Shown) -> [Shown; 2] {
        let clicks = self.binomial(shown.clicks);
        let impressions = clicks + self.binomial(shown.impressions - shown.clicks);
        let rest = (shown.clicks - clicks, shown.impressions - impressions);
        [rest, (clicks, impressions)].map(|(clicks, impressions)| Shown { clicks, impressions, ..*shown })
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
}

impl Draws {
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
#[inline]
fn finalised(word: u64) -> u64 {
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

/// Checks that reject correct draws with probability below 1e-6 each: sums of thousands of events,
/// within six standard deviations.
#[cfg(test)]
mod tests {
    use super::*;
    use crate::names::{Id, MIX_B, mix};

    const N: u64 = 1 << 16;
    const SHARES: [u64; 4] = [2, 4, 10, 20];
    const LINES: [u64; 10] = [1, 7, 12, 18, 32, 33, 64, 75, 100, 257];

    /// An earlier, wrong version of this library: a folded product, with the seed in one factor and
    /// the place in the other.
    fn folded(one_in: u64, seed: u64, place: u64) -> bool {
        mix(place, seed ^ MIX_B).is_multiple_of(one_in)
    }

    fn takes(one_in: u64, seed: u64, place: u64) -> bool {
        HoldOut::new(one_in, seed).at(place).takes_one()
    }

    /// Draws for `N` lines of this length, 64 per word.
    fn lines(takes: fn(u64, u64, u64) -> bool, one_in: u64, seed: u64, len: u64) -> Vec<u64> {
        let bit = |line: u64| u64::from(takes(one_in, seed, line * len)) << (line % 64);
        (0..N / 64).map(|word| (word * 64..(word + 1) * 64).map(bit).sum()).collect()
    }

    fn count(words: impl Iterator<Item = u64>) -> f64 {
        f64::from(words.map(u64::count_ones).sum::<u32>())
    }

    /// Deviations from independent draws, in standard deviations: of the number taken, and of the
    /// pairs taken `lag` lines apart.
    fn deviations(draws: &[u64], one_in: u64, lag: usize) -> [f64; 2] {
        let (n, p) = (N as f64, 1.0 / one_in as f64);
        let alone = (count(draws.iter().copied()) - n * p) / (n * p * (1.0 - p)).sqrt();
        let later = |word: usize| {
            let [this, next] = [0, 1].map(|more| draws.get(word + lag / 64 + more).copied().unwrap_or(0));
            if lag.is_multiple_of(64) { this } else { this >> (lag % 64) | next << (64 - lag % 64) }
        };
        let pairs = count((0..draws.len()).map(|word| draws[word] & later(word)));
        // Two pairs that share a draw are both taken with probability p^3.
        let variance = p * p * (1.0 - p * p) + 2.0 * (p * p * p - p * p * p * p);
        let n = n - lag as f64;
        [alone, (pairs - n * p * p) / (n * variance).sqrt()]
    }

    /// The largest deviation over lags of 1 to 64 lines.
    fn largest(takes: fn(u64, u64, u64) -> bool, one_in: u64, len: u64) -> f64 {
        let draws = lines(takes, one_in, 1, len);
        (1..=64).flat_map(|lag| deviations(&draws, one_in, lag)).map(f64::abs).fold(0.0, f64::max)
    }

    #[test]
    fn lines_near_each_other_are_drawn_independently() {
        for one_in in SHARES {
            for len in LINES {
                let found = largest(takes, one_in, len);
                assert!(found < 6.0, "one in {one_in}, lines of {len} bytes: {found}");
                // The covariance of neighbours is a tenth: 12 standard deviations and more at one
                // in 20.
                let found = largest(folded, one_in, len);
                assert!(len == 1 || found > 6.0, "one in {one_in}, lines of {len} bytes: {found}");
            }
        }
    }

    #[test]
    fn seeds_draw_independently() {
        for one_in in SHARES {
            let p = 1.0 / one_in as f64;
            let (n, p) = (N as f64, p * p);
            let overlaps = |takes| {
                let draws: Vec<_> = (0..12).map(|seed| lines(takes, one_in, seed, 75)).collect();
                let pairs = (0..12).flat_map(|b| (0..b).map(move |a| (a, b)));
                let overlap =
                    |(a, b): (usize, usize)| count(draws[a].iter().zip(&draws[b]).map(|(a, b)| a & b));
                pairs
                    .map(|pair| ((overlap(pair) - n * p) / (n * p * (1.0 - p)).sqrt()).abs())
                    .fold(0.0, f64::max)
            };
            assert!(overlaps(takes) < 6.0, "one in {one_in}: {}", overlaps(takes));
            assert!(overlaps(folded) > 6.0, "one in {one_in}: {}", overlaps(folded));
        }
    }

    /// Deviation of the variance of the number held out of 100 impressions from the binomial
    /// variance, in standard deviations.
    fn excess(one_in: u64, held_out: impl Fn(u64) -> u64) -> f64 {
        let (cells, p) = (20_000, 1.0 / one_in as f64);
        let squares: f64 = (0..cells).map(|cell| (held_out(cell) as f64 - 100.0 * p).powi(2)).sum();
        let variance = 100.0 * p * (1.0 - p);
        // The fourth central moment of a binomial number, minus the square of the variance.
        let of_squares = variance * (1.0 + 3.0 * (100.0 - 2.0) * p * (1.0 - p)) - variance * variance;
        (squares - cells as f64 * variance) / (cells as f64 * of_squares).sqrt()
    }

    #[test]
    fn impressions_of_a_cell_are_held_out_with_the_variance_of_independent_draws() {
        for one_in in SHARES {
            let found = excess(one_in, |cell| {
                let shown = Shown { query: Id(1), item: Id(2), clicks: 30, impressions: 100, position: 0 };
                let cuts = [
                    HoldOut::new(one_in, 3).at(75 * cell).cut(&shown),
                    HoldOut::new(one_in, 3).of_cell("q", &cell.to_string(), 1).cut(&shown),
                ];
                for [rest, held_out] in cuts {
                    assert_eq!(
                        (rest.clicks + held_out.clicks, rest.impressions + held_out.impressions),
                        (30, 100)
                    );
                    assert!(rest.clicks <= rest.impressions && held_out.clicks <= held_out.impressions);
                }
                cuts[usize::from(cell % 2 == 0)][1].impressions
            });
            assert!(found.abs() < 6.0, "one in {one_in}: {found}");
            // The earlier, wrong version's draws for a cell of counts.
            let found = excess(one_in, |cell| {
                let key = mix(mix(3, cell), MIX_B);
                (0..100).filter(|impression| mix(key ^ impression, MIX_B).is_multiple_of(one_in)).count()
                    as u64
            });
            assert!(found.abs() > 6.0, "one in {one_in}: {found}");
        }
    }

    /// Numbers of zeros within half a standard deviation, one, ... four have the frequencies of the
    /// binomial distribution, each within six standard deviations of a count. A distribution with a
    /// standard deviation that is 3 % larger is told apart in more than 99 of 100 cases, by the one
    /// within 1.
    #[test]
    fn zeros_of_many_bits_are_binomial() {
        let (draws, n_bits) = (100_000, MANY + 4_464);
        let n = n_bits as f64;
        // Probabilities, in proportion, from the middle out.
        let mut mass = vec![1.0];
        for k in n_bits / 2..n_bits / 2 + 1_500 {
            mass.push(mass[mass.len() - 1] * (n_bits - k) as f64 / (k + 1) as f64);
        }
        let all = 2.0 * mass.iter().sum::<f64>() - 1.0;
        let mut stream = HoldOut::new(2, 8).at(1);
        let zeros: Vec<f64> = (0..draws).map(|_| stream.zeros(n_bits) as f64 - n / 2.0).collect();
        let deviations = |times: f64| {
            let of_width = |halves: usize| {
                // Half a standard deviation is 66.1.
                let n_widths = 66 * halves;
                let width = n_widths as f64;
                let p = (2.0 * mass.iter().take(1 + n_widths).sum::<f64>() - 1.0) / all;
                let found = zeros.iter().filter(|zeros| (**zeros * times).abs() <= width).count() as f64;
                let above = zeros.iter().filter(|zeros| **zeros > 0.0 && **zeros <= width).count() as f64;
                let below = zeros.iter().filter(|zeros| **zeros < 0.0 && -**zeros <= width).count() as f64;
                assert!((above - below).abs() < 6.0 * (above + below).sqrt(), "{above} {below}");
                (found - f64::from(draws) * p) / (f64::from(draws) * p * (1.0 - p)).sqrt().max(1.0)
            };
            (1..=8).map(of_width).map(f64::abs).fold(0.0, f64::max)
        };
        assert!(deviations(1.0) < 6.0, "{}", deviations(1.0));
        assert!(deviations(1.03) > 6.0, "{}", deviations(1.03));
    }

    /// Every number from 0 to 5 is as frequent as the binomial distribution requires; odd shares
    /// and long lines are right on average.
    #[test]
    fn numbers_held_out_are_binomial() {
        let draws = 200_000;
        for (one_in, masses) in [
            (2, [1.0, 5.0, 10.0, 10.0, 5.0, 1.0].map(|ways| ways / 32.0)),
            (3, [32.0, 80.0, 80.0, 40.0, 10.0, 1.0].map(|ways| ways / 243.0)),
        ] {
            let mut counts = [0_u32; 6];
            for place in 0..draws {
                let held_out = HoldOut::new(one_in, 8).at(place).binomial(5);
                counts[usize::try_from(held_out).unwrap()] += 1;
            }
            for (count, mass) in counts.into_iter().zip(masses) {
                let n = draws as f64;
                let deviation = (f64::from(count) - n * mass) / (n * mass * (1.0 - mass)).sqrt();
                assert!(deviation.abs() < 6.0, "one in {one_in}: {counts:?}");
            }
        }
        // In no time: 10^12 impressions took hours.
        for one_in in [2, 3, 10, 1000] {
            let (p, n) = (1.0 / one_in as f64, 1e12);
            let held_out = HoldOut::new(one_in, 8).at(one_in).binomial(1_000_000_000_000) as f64;
            assert!((held_out - n * p).abs() < 6.0 * (n * p * (1.0 - p)).sqrt(), "{held_out}");
        }
        for one_in in [2, 3, 7, 64, 1000] {
            let (p, n) = (1.0 / one_in as f64, 1e9);
            let held_out = HoldOut::new(one_in, 8).at(one_in).binomial(1_000_000_000) as f64;
            assert!((held_out - n * p).abs() < 6.0 * (n * p * (1.0 - p)).sqrt(), "{held_out}");
        }
        assert_eq!(HoldOut::new(u64::MAX, 8).at(1).binomial(1000), 0);
        assert_eq!(HoldOut::new(2, 8).at(1).binomial(0), 0);
    }
}
