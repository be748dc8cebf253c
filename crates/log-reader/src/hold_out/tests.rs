//! Checks that reject correct draws with probability below 1e-6 each: sums of thousands of events,
//! within six standard deviations.

use super::*;
use crate::names::{MIX_B, mix};

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
            let overlap = |(a, b): (usize, usize)| count(draws[a].iter().zip(&draws[b]).map(|(a, b)| a & b));
            pairs.map(|pair| ((overlap(pair) - n * p) / (n * p * (1.0 - p)).sqrt()).abs()).fold(0.0, f64::max)
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
            let cuts = [
                HoldOut::new(one_in, 3).at(75 * cell).cut([30, 100]),
                HoldOut::new(one_in, 3).of_cell("q", &cell.to_string(), 1).cut([30, 100]),
            ];
            for [rest, held_out] in cuts {
                assert_eq!((rest[0] + held_out[0], rest[1] + held_out[1]), (30, 100));
                assert!(rest[0] <= rest[1] && held_out[0] <= held_out[1]);
            }
            cuts[usize::from(cell % 2 == 0)][1][1]
        });
        assert!(found.abs() < 6.0, "one in {one_in}: {found}");
        // The earlier, wrong version's draws for a cell of counts.
        let found = excess(one_in, |cell| {
            let key = mix(mix(3, cell), MIX_B);
            (0..100).filter(|impression| mix(key ^ impression, MIX_B).is_multiple_of(one_in)).count() as u64
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
