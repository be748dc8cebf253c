//! Policies for position-based users whose examination nobody knows: GRAB and PB-MHB.
//!
//! GRAB tries every list for its leader. PB-MHB adds up every cell that a proposal changes, and has
//! the program's normal distribution function. These references share with the policies
//! the sampler of normal variates and the order of the draws: the key of GRAB's preferences in the
//! first round; for PB-MHB a key for ties, in the first round the start, and then for every factor
//! a proposal and a uniform draw.

use super::position_based::PbmHistory;
use super::*;
use crate::{Grab, PbMhb, PrefixKnown};
use std::collections::BTreeMap;
use std::num::NonZeroU32;

fn fresh(model: &PositionBased) -> PbmHistory {
    PbmHistory::new(model.shape().n_items(), &vec![0.0; model.shape().n_positions()])
}

// --- GRAB
// -------------------------------------------------------------------------------------------------

#[derive(Debug)]
struct GrabHistory {
    cells: PbmHistory,
    key: u64,
    led: BTreeMap<Vec<usize>, u64>,
    /// All of them.
    lists: Vec<Vec<usize>>,
}

impl GrabHistory {
    fn new(model: &PositionBased) -> Self {
        let cells = fresh(model);
        let mut lists = vec![vec![]];
        for _ in &cells.examination {
            let longer = |list: Vec<usize>| {
                let items: Vec<usize> = (0..cells.shows.len()).filter(|item| !list.contains(item)).collect();
                items.into_iter().map(move |item| [list.clone(), vec![item]].concat())
            };
            lists = lists.into_iter().flat_map(longer).collect();
        }
        Self { cells, key: 0, led: BTreeMap::new(), lists }
    }

    fn n_positions(&self) -> usize {
        self.cells.examination.len()
    }

    fn mean(&self, item: usize, position: usize) -> f64 {
        match self.cells.shows[item][position] {
            0 => 0.0,
            shows => self.cells.clicks[item][position] as f64 / shows as f64,
        }
    }

    fn upper(&self, item: usize, position: usize, level: f64) -> f64 {
        match self.cells.shows[item][position] {
            0 => 1.0,
            shows => kl_ucb_upper(self.mean(item, position), shows as f64, level),
        }
    }

    fn preference(&self, item: usize, position: usize) -> u64 {
        tie_rank(self.key, item * self.n_positions() + position).0 >> 24
    }

    /// The list with the largest sum of means, and of several the one with the largest sum of
    /// preferences.
    fn leader(&self) -> Vec<usize> {
        let n_positions = self.n_positions();
        #[expect(clippy::cast_possible_truncation, reason = "below 2^61")]
        let cell = |i: usize, k: usize| ((self.mean(i, k) * 2.0_f64.powi(60)) as i128, self.preference(i, k));
        let items = 0..self.cells.shows.len();
        let cells: Vec<(i128, u64)> = items.flat_map(|i| (0..n_positions).map(move |k| cell(i, k))).collect();
        let sum = |list: &&Vec<usize>| -> (i128, u64) {
            let cells = || list.iter().enumerate().map(|(k, &i)| cells[i * n_positions + k]);
            (cells().map(|(mean, _)| mean).sum(), cells().map(|(_, preference)| preference).sum())
        };
        self.lists.iter().max_by_key(sum).expect("there is a list").clone()
    }

    fn choose(&mut self, t: u64, rng: &mut Generator, gamma: u64, level: f64) -> Vec<usize> {
        if t == 1 {
            self.key = rng.next_u64();
        }
        let lead = self.leader();
        let led = self.led.entry(lead.clone()).or_insert(0);
        *led += 1;
        if (*led - 1).is_multiple_of(gamma) {
            return lead;
        }
        let mut order: Vec<usize> = (0..lead.len()).collect();
        sort_by_score(&mut order, &|position| self.mean(lead[position], position));
        let b = |item, position| self.upper(item, position, level);
        // Gains, preferences, and the lists. Among the first ones there are no preferences: the
        // first of equals wins.
        let mut neighbours: Vec<(f64, u64, Vec<usize>)> = vec![];
        for pair in order.windows(2) {
            let (k, l) = (pair[0], pair[1]);
            let mut list = lead.clone();
            list.swap(k, l);
            let gain = (b(lead[l], k) - b(lead[k], k)) + (b(lead[k], l) - b(lead[l], l));
            neighbours.push((gain, u64::MAX, list));
        }
        let last = order[lead.len() - 1];
        for item in (0..self.cells.shows.len()).filter(|item| !lead.contains(item)) {
            let mut list = lead.clone();
            list[last] = item;
            neighbours.push((b(item, last) - b(lead[last], last), self.preference(item, last), list));
        }
        let largest = neighbours.iter().map(|(gain, ..)| *gain).fold(0.0, f64::max);
        if largest == 0.0 {
            return lead;
        }
        neighbours.retain(|(gain, ..)| *gain == largest);
        let preferred = neighbours.iter().map(|&(_, preference, _)| preference).max();
        let first = neighbours.into_iter().find(|&(_, preference, _)| Some(preference) == preferred);
        first.expect("one of them").2
    }
}

/// The policy with `gamma`, against the plain one with `naive_gamma` and this horizon.
fn compare_grab(
    model: &PositionBased,
    gamma: Option<u32>,
    naive_gamma: u64,
    horizon: u64,
    delay: usize,
    rounds: u64,
) {
    let policy = Grab::new(model.shape(), gamma.and_then(NonZeroU32::new), ROUNDS);
    let history = GrabHistory::new(model);
    let level = log(horizon);
    let choose = |history: &mut GrabHistory, t, rng: &mut _| history.choose(t, rng, naive_gamma, level);
    let learn = |history: &mut GrabHistory, decision: &Decision<Ranking>, feedback: &PbmFeedback| {
        history.cells.learn(&list_of(&decision.action), *feedback);
    };
    assert_same_choices(model, policy, history, delay, rounds, choose, learn);
}

#[test]
fn grab_is_the_naive_one() {
    for (number, model) in position_based_instances().iter().enumerate() {
        // Lists of eleven items are tried for fewer rounds.
        let n_items = model.shape().n_items();
        let rounds = match number {
            0 | 1 => ROUNDS,
            2 => 3000,
            _ => ROUNDS / 5,
        };
        for &delay in if number < 2 { &[0, 17][..] } else { &[0] } {
            compare_grab(model, None, n_items as u64, ROUNDS, delay, rounds);
        }
        if number < 2 {
            compare_grab(model, Some(2), 2, ROUNDS, 0, rounds);
        }
    }
}

/// The test itself: another period, or another level.
#[test]
#[should_panic(expected = "round")]
fn another_period_is_caught() {
    compare_grab(&position_based_instances()[0], Some(4), 5, ROUNDS, 0, ROUNDS);
}

#[test]
#[should_panic(expected = "round")]
fn another_horizon_is_caught() {
    compare_grab(&position_based_instances()[0], None, 5, ROUNDS + 100, 0, ROUNDS);
}

// --- PB-MHB
// -------------------------------------------------------------------------------------------------

#[derive(Debug)]
struct MhbHistory {
    cells: PbmHistory,
    anchor: usize,
    /// Attraction, then examination.
    factors: Vec<f64>,
}

fn uniform(rng: &mut Generator) -> f64 {
    ((rng.next_u64() >> 12) as f64 + 0.5) / 2.0_f64.powi(52)
}

/// The normal distribution function.
fn phi(z: f64) -> f64 {
    0.5 * libm::erfc(-z / std::f64::consts::SQRT_2)
}

fn proposal(x: f64, sigma: f64, rng: &mut Generator) -> f64 {
    loop {
        if sigma < 0.5 {
            let proposed = x + sigma * Sampler::new().normal(rng);
            if (0.0..1.0).contains(&proposed) && proposed != 0.0 {
                return proposed;
            }
        } else {
            let proposed = uniform(rng);
            if uniform(rng) < libm::exp(-0.5 * ((proposed - x) / sigma).powi(2)) {
                return proposed;
            }
        }
    }
}

impl MhbHistory {
    fn new(model: &PositionBased, anchor: usize) -> Self {
        Self { cells: fresh(model), anchor, factors: vec![] }
    }

    /// Log density of the target, as far as it depends on a factor.
    fn density(&self, factors: &[f64], changed: usize) -> f64 {
        let (n_items, n_positions) = (self.cells.shows.len(), self.cells.examination.len());
        let cells = (0..n_items).flat_map(|i| (0..n_positions).map(move |k| (i, k)));
        let ln = confidence::math::ln;
        cells
            .filter(|&(i, k)| i == changed || n_items + k == changed)
            .map(|(i, k)| {
                let (shows, clicks) = (self.cells.shows[i][k] as f64, self.cells.clicks[i][k] as f64);
                let p = factors[i] * factors[n_items + k];
                (0.5 + clicks) * ln(p) + (0.5 + shows - clicks) * ln(1.0 - p)
            })
            .sum()
    }

    /// With a Hastings term to this power: 1 is right.
    fn choose(&mut self, t: u64, rng: &mut Generator, c: f64, m: u32, hastings: f64) -> Vec<usize> {
        let (n_items, n_positions) = (self.cells.shows.len(), self.cells.examination.len());
        let key = rng.next_u64();
        let fixed = n_items + self.anchor;
        if t == 1 {
            let start = |factor| if factor == fixed { 1.0 } else { uniform(rng) };
            self.factors = (0..n_items + n_positions).map(start).collect();
        }
        let sigma = c / (t as f64).sqrt();
        let mass = |x: f64| phi((1.0 - x) / sigma) - phi(-x / sigma);
        for _ in 0..m {
            for factor in (0..n_items + n_positions).filter(|&factor| factor != fixed) {
                let x = self.factors[factor];
                let proposed = proposal(x, sigma, rng);
                let u = uniform(rng);
                let mut factors = self.factors.clone();
                factors[factor] = proposed;
                let ln = confidence::math::ln;
                let ratio = self.density(&factors, factor) - self.density(&self.factors, factor);
                if ln(u) < (ratio + hastings * (ln(mass(x)) - ln(mass(proposed)))).min(0.0) {
                    self.factors = factors;
                }
            }
        }
        let items = ranked(&self.factors[..n_items], key);
        placed(&items[..n_positions], &self.factors[n_items..])
    }
}

fn compare_mhb(
    model: &PositionBased,
    places: &[usize],
    [c, m]: [u32; 2],
    hastings: f64,
    delay: usize,
    rounds: u64,
) {
    let known = PrefixKnown::with_places(model.shape(), places).expect("positions");
    let sweeps = NonZeroU32::new(m).expect("not 0");
    let policy = PbMhb::new(known, NonNegative::from_count(c), sweeps);
    let history = MhbHistory::new(model, places.first().copied().unwrap_or(0));
    let choose = |history: &mut MhbHistory, t, rng: &mut _| history.choose(t, rng, c.into(), m, hastings);
    let learn = |history: &mut MhbHistory, decision: &Decision<Ranking>, feedback: &PbmFeedback| {
        history.cells.learn(&list_of(&decision.action), *feedback);
    };
    assert_same_choices(model, policy, history, delay, rounds, choose, learn);
}

#[test]
fn pb_mhb_is_the_naive_one() {
    for (number, model) in position_based_instances().iter().enumerate() {
        let rounds = if number < 4 { ROUNDS / 4 } else { ROUNDS / 10 };
        for &delay in if number < 2 { &[0, 17][..] } else { &[0] } {
            compare_mhb(model, &[], [1000, 1], 1.0, delay, rounds);
        }
        let n_positions = model.shape().n_positions();
        let backwards: Vec<usize> = (0..n_positions).rev().collect();
        // From uniform proposals to narrow ones.
        compare_mhb(model, &backwards, [10, 2], 1.0, 0, rounds);
    }
}

/// The test itself: a chain without the Hastings term.
#[test]
#[should_panic(expected = "round")]
fn a_chain_without_hastings_term_is_caught() {
    compare_mhb(&position_based_instances()[0], &[], [10, 1], 0.0, 0, ROUNDS / 4);
}
