use super::*;
use click_models::{DuelOutcome, DuelShape, ItemId, Pair};
use rand::{SeedableRng, TryRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use statrs::distribution::{Beta, ContinuousCDF};
use statrs::function::beta::beta_reg;
use std::convert::Infallible;

const UNIT: f64 = 1.0 / 18_446_744_073_709_551_616.0;

fn probability(wins: u64, losses: u64) -> f64 {
    above_half(wins, losses) as f64 * UNIT
}

#[test]
fn chances_are_those_of_coins() {
    // At most w of n + 1 tosses: 1/16, (1 + 4)/16, 1/2, (1 + 5 + 10 + 10)/32.
    assert_eq!(probability(0, 3), 1.0 / 16.0);
    assert!((probability(1, 2) - 5.0 / 16.0).abs() < 1e-15);
    assert_eq!(probability(7, 7), 0.5);
    assert!((probability(3, 1) - 26.0 / 32.0).abs() < 1e-15);
    assert_eq!(probability(0, 5000), 0.0);
}

#[test]
fn chances_are_incomplete_beta_functions() {
    for wins in [0, 1, 2, 15, 16, 17, 40, 300, 5000, 49_800] {
        for losses in [0, 1, 3, 16, 17, 45, 350, 5100, 50_000] {
            let expected = beta_reg(losses as f64 + 1.0, wins as f64 + 1.0, 0.5);
            let found = probability(wins, losses);
            let tolerance = 1e-9 * expected.min(1.0 - expected) + 1e-15;
            assert!((found - expected).abs() < tolerance, "{wins}, {losses}: {found}, {expected}");
        }
    }
}

/// Always returns the same draw.
struct Fixed(u64);

impl TryRng for Fixed {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        unimplemented!("coins take 64 bits")
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        Ok(self.0)
    }

    fn try_fill_bytes(&mut self, _: &mut [u8]) -> Result<(), Infallible> {
        unimplemented!("coins take 64 bits")
    }
}

fn counted(wins: u64, losses: u64) -> DuelCounts {
    let mut counts = DuelCounts::new(DuelShape::new(2).expect("valid"));
    for (n, outcome) in [(wins, DuelOutcome::FirstWon), (losses, DuelOutcome::SecondWon)] {
        for _ in 0..n {
            counts.record(Pair::new(ItemId::new(0), ItemId::new(1)), outcome);
        }
    }
    counts
}

/// Estimates stay within a hundredth of the margin of the sums, for any numbers of wins. In a
/// recursion with the term of one toss less they do not.
#[test]
fn estimates_are_sums() {
    for (seed, chance) in (0..).zip([0.0, 0.02, 0.3, 0.48, 0.499, 0.5, 0.501, 0.7, 1.0]) {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut counts = counted(0, 0);
        let mut coins = Coins::new(&counts);
        let mut wrong = above_half(0, 0);
        let mut largest = (0, 0);
        for duel in 0..60_000 {
            let outcome =
                if rng.random_bool(chance) { DuelOutcome::FirstWon } else { DuelOutcome::SecondWon };
            let pair = Pair::new(ItemId::new(0), ItemId::new(1));
            let (winner, loser) = counts.record(pair, outcome).expect("two items");
            coins.set(&counts, winner, loser);
            let (wins, losses) = (counts.wins(0, 1), counts.wins(1, 0));
            assert_eq!(coins.estimates[2], !coins.estimates[1]);
            let (few, many) = (wins.min(losses), wins.max(losses) - 1);
            let change = units(0.5 * even_binomial(few.min(many), few.max(many)));
            wrong = if winner == 0 { wrong.saturating_add(change) } else { wrong.saturating_sub(change) };
            // The exact sum is slow. An error in the estimate stays, so every fourth duel shows it.
            if duel % 4 == 0 {
                let exact = above_half(wins, losses);
                largest.0 = coins.estimates[1].abs_diff(exact).max(largest.0);
                largest.1 = wrong.abs_diff(exact).max(largest.1);
            }
        }
        assert!(largest.0 < MARGIN / 100 && largest.1 > MARGIN, "{chance}: {largest:?}");
    }
}

/// Draws around the chance of a pair, with a wrong estimate.
#[test]
fn near_draws_are_settled_by_the_sum() {
    let counts = counted(40, 60);
    let exact = above_half(40, 60);
    let mut coins = Coins::new(&counts);
    for off in [0, 1, MARGIN / 2, MARGIN] {
        for estimate in [exact - off, exact + off] {
            coins.estimates[1] = estimate;
            let tossed = |draw| coins.toss(&counts, 0, 1, &mut Fixed(draw));
            assert!(tossed(exact - 1) && !tossed(exact), "{off}");
            assert!(tossed(0) && !tossed(u64::MAX));
        }
    }
    coins.estimates[1] = exact + 2 * MARGIN;
    assert!(coins.toss(&counts, 0, 1, &mut Fixed(exact)), "further off than allowed is noticed");
}

/// As many of 200,000 draws are returned as exceed 1/2, with the same distribution. For each of 9
/// posteriors the binomial deviation is within 5.5 standard deviations and Kolmogorov's distance
/// within `sqrt(ln(2e8) / 2 n)`, except with probability 1e-6 for all together.
#[test]
fn upsets_have_the_law_of_beta_draws_above_half() {
    const DRAWS: u32 = 200_000;
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(8);
    let mut proposed = 0;
    for (wins, losses) in
        [(0, 0), (3, 1), (5, 5), (0, 4), (1, 12), (9, 24), (40, 60), (200, 245), (2000, 2140)]
    {
        let counts = counted(wins, losses);
        let upsets = Upsets::new(&counts);
        proposed += u32::from(upsets.limits[2] > 0);
        let mut above = vec![];
        for _ in 0..DRAWS {
            upsets.draw_all(&counts, 1, &mut rng, |other| other == 0, |_, sample| above.push(sample));
        }
        above.sort_by(f64::total_cmp);
        let chance = probability(wins, losses);
        let mean = f64::from(DRAWS) * chance;
        let n = above.len() as f64;
        assert!(
            (n - mean).abs() < 5.5 * (mean * (1.0 - chance)).sqrt() + 12.0,
            "{wins}, {losses}: {n}, {mean}"
        );
        let beta = Beta::new(wins as f64 + 1.0, losses as f64 + 1.0).expect("valid");
        let at_half = beta.cdf(0.5);
        // At every thousandth part of the draws: distribution functions are costly.
        let step = above.len().div_ceil(1000);
        let distance = above.iter().enumerate().step_by(step).map(|(place, &x)| {
            let expected = (beta.cdf(x) - at_half) / (1.0 - at_half);
            (expected - place as f64 / n).abs()
        });
        let bound = (ln(2e8) / (2.0 * n)).sqrt();
        let distance = distance.fold(0.0, f64::max);
        assert!(distance < bound, "{wins}, {losses}: {distance}, {bound}");
        // The test has power: proposals that are all accepted are too frequent.
        if wins == 40 {
            let limit = upsets.limits[2] as f64 * UNIT * f64::from(DRAWS);
            assert!((n - limit).abs() > 5.5 * limit.sqrt() + 12.0, "{n}, {limit}");
        }
    }
    assert!(proposed >= 4, "{proposed} of them by proposals");
}
