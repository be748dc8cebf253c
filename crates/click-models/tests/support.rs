//! Helpers of this crate's tests: reading vectors, enumerating lists, exact binomial bounds, a
//! simplex solver.

pub(crate) mod simplex;

use click_models::{ClickModel, Clicks, Interaction, ItemId, ListShape, Ranking};
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use serde_json::Value;
use std::ops::RangeInclusive;
use std::path::Path;

/// Probability that a check fails for a correct implementation.
pub(crate) const FALSE_ALARM: f64 = 1e-6;

/// The cases of a golden vector file.
pub(crate) fn cases(file: &str) -> Vec<Value> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(file);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let cases: Vec<Value> = serde_json::from_str(&text).unwrap();
    assert!(!cases.is_empty());
    cases
}

/// A number; infinity is written as a word.
pub(crate) fn number(value: &Value) -> f64 {
    if value == "inf" {
        f64::INFINITY
    } else {
        value.as_f64().unwrap_or_else(|| panic!("{value} is not a number"))
    }
}

pub(crate) fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(number).collect()
}

pub(crate) fn counts(value: &Value) -> Vec<u64> {
    value.as_array().unwrap().iter().map(|count| count.as_u64().unwrap()).collect()
}

/// A list of items from numbers.
pub(crate) fn list(value: &Value) -> Ranking {
    counts(value).iter().map(|&item| ItemId::new(u32::try_from(item).unwrap())).collect()
}

/// Asserts that two numbers agree to a relative tolerance (infinities: exactly).
pub(crate) fn assert_close(got: f64, want: f64, relative: f64, what: &str) {
    let close = got == want || (got - want).abs() <= relative * want.abs();
    assert!(close, "{what}: {got} instead of {want}, off by {:e}", (got / want - 1.0).abs());
}

/// All lists of `n_positions` distinct items.
pub(crate) fn all_lists(n_items: usize, n_positions: usize) -> Vec<Ranking> {
    let mut lists = vec![Ranking::default()];
    for _ in 0..n_positions {
        lists = lists
            .iter()
            .flat_map(|list| {
                (0..n_items).map(ItemId::from_index).filter(|&item| !list.contains(item)).map(|item| {
                    let mut longer = list.clone();
                    longer.push(item);
                    longer
                })
            })
            .collect();
    }
    lists
}

/// A binomial distribution.
pub(crate) struct Binomial {
    mass: Vec<f64>,
}

impl Binomial {
    pub(crate) fn new(trials: u64, success: f64) -> Self {
        let n = usize::try_from(trials).unwrap();
        let mut mass = vec![0.0; n + 1];
        if success <= 0.0 || success >= 1.0 {
            mass[if success <= 0.0 { 0 } else { n }] = 1.0;
            return Self { mass };
        }
        // From the mode outwards, where every factor is at most 1, and scaled to a sum of 1 at the
        // end.
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 0 and n")]
        let mode = (((n + 1) as f64 * success) as usize).min(n);
        let odds = success / (1.0 - success);
        mass[mode] = 1.0;
        for k in mode..n {
            mass[k + 1] = mass[k] * odds * (n - k) as f64 / (k + 1) as f64;
        }
        for k in (0..mode).rev() {
            mass[k] = mass[k + 1] / odds * (k + 1) as f64 / (n - k) as f64;
        }
        let total: f64 = mass.iter().sum();
        for mass in &mut mass {
            *mass /= total;
        }
        Self { mass }
    }

    /// Probability of one count.
    pub(crate) fn probability(&self, count: u64) -> f64 {
        usize::try_from(count).ok().and_then(|count| self.mass.get(count)).copied().unwrap_or(0.0)
    }

    /// The range that a binomial variable leaves with probability at most `alpha`, half on either
    /// side.
    pub(crate) fn acceptance(&self, alpha: f64) -> RangeInclusive<u64> {
        let outside = |mass: &mut dyn Iterator<Item = &f64>| {
            let mut tail = 0.0;
            mass.take_while(|mass| {
                tail += **mass;
                tail <= alpha / 2.0
            })
            .count() as u64
        };
        let (low, high) = (outside(&mut self.mass.iter()), outside(&mut self.mass.iter().rev()));
        low..=self.mass.len() as u64 - 1 - high
    }

    /// Probability of a count outside `range`.
    pub(crate) fn outside(&self, range: &RangeInclusive<u64>) -> f64 {
        self.mass.iter().zip(0..).filter(|(_, count)| !range.contains(count)).map(|(mass, _)| mass).sum()
    }
}

/// Checks `count` successes in `trials` against the success probability; returns an error message
/// if the check fails.
pub(crate) fn binomial_check(what: &str, count: u64, trials: u64, success: f64) -> Option<String> {
    let range = Binomial::new(trials, success).acceptance(FALSE_ALARM);
    (!range.contains(&count)).then(|| format!("{what}: {count} of {trials} at {success}, expected {range:?}"))
}

/// Probability that [`binomial_check`] against `claimed` fails if the success probability is
/// `actual`.
pub(crate) fn power(trials: u64, claimed: f64, actual: f64) -> f64 {
    Binomial::new(trials, actual).outside(&Binomial::new(trials, claimed).acceptance(FALSE_ALARM))
}

#[test]
fn binomial_of_four_coins_is_exact() {
    // Four fair coins: 1, 4, 6, 4, 1 sixteenths.
    let coins = Binomial::new(4, 0.5);
    assert_eq!(coins.mass, [1.0, 4.0, 6.0, 4.0, 1.0].map(|mass| mass / 16.0));
    assert_eq!(coins.acceptance(0.124), 0..=4);
    assert_eq!(coins.acceptance(0.126), 1..=3);
    assert_eq!(coins.outside(&(1..=3)), 0.125);
    assert_eq!(Binomial::new(5, 1.0).acceptance(0.5), 5..=5);
}

#[test]
fn all_lists_are_enumerated_once() {
    assert_eq!(all_lists(5, 3).len(), 60);
    assert!(all_lists(3, 3).iter().all(|list| (0..3).all(|item| list.contains(ItemId::new(item)))));
}

/// Simulated users of a check of frequencies.
pub(crate) const ROUNDS: u64 = 200_000;

/// Checks the frequency of every set of clicked positions; returns the alarms.
pub(crate) fn check_patterns(
    laws: &[f64],
    seed: u64,
    mut respond: impl FnMut(&mut Xoshiro256PlusPlus) -> Clicks,
) -> Vec<String> {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut counts = vec![0; laws.len()];
    for _ in 0..ROUNDS {
        counts[usize::try_from(respond(&mut rng).bits()).unwrap()] += 1;
    }
    let checks = counts.iter().zip(laws).enumerate();
    checks
        .filter_map(|(set, (&count, &law))| binomial_check(&format!("clicks {set:03b}"), count, ROUNDS, law))
        .collect()
}

/// Checks the best list of a model against all lists.
pub(crate) fn assert_optimum_over_all_lists<M>(model: &M, shape: ListShape)
where
    M: ClickModel<Interaction: Interaction<Action = Ranking>>,
{
    let best = model.optimal_action();
    assert!(best.fits(shape) && model.admits(&best));
    assert_eq!(model.expected_reward(&best), model.optimal_reward());
    let rewards = all_lists(shape.n_items(), shape.n_positions()).into_iter().map(|list| {
        assert!(model.gap(&list) > -1e-13, "{list:?}");
        model.expected_reward(&list)
    });
    let most = rewards.fold(0.0, f64::max);
    assert!((most - model.optimal_reward()).abs() < 1e-13);
}
