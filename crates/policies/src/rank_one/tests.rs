//! Every policy a second time, straight from the papers: nothing is remembered but counts, every
//! index is worked out every round, and the eliminations are the pseudocode's nested loops with its
//! K x L tables. Both make the same choices on the same streams.
//!
//! They share the samplers and the documented order of random draws.

use super::*;
use crate::sampling::{BetaShape, GammaShape, Sampler};
use crate::tests::{ranked, tie_rank};
use crate::{Decision, Select, Update};
use click_models::{Cell, CellClick, ClickModel, RankOneModel, TableShape};
use confidence::{Rate, kl_ucb_lower, kl_ucb_upper};
use rand::{Rng, RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

type Generator = Xoshiro256PlusPlus;

/// One answer after the other, counted per cell.
struct History<'a> {
    model: &'a RankOneModel,
    users: Generator,
    plays: Vec<u64>,
    clicks: Vec<u64>,
    cells: Vec<Cell>,
}

impl<'a> History<'a> {
    fn new(model: &'a RankOneModel) -> Self {
        let none = vec![0; model.shape().n_cells()];
        let users = Generator::seed_from_u64(2);
        Self { model, users, plays: none.clone(), clicks: none, cells: vec![] }
    }

    fn play(&mut self, cell: Cell) -> bool {
        let clicked = self.model.respond(&cell, &mut self.users).clicked;
        let number = cell.row as usize * self.model.shape().n_columns() + cell.column as usize;
        self.plays[number] += 1;
        self.clicks[number] += u64::from(clicked);
        self.cells.push(cell);
        clicked
    }

    fn play_number(&mut self, number: usize) {
        self.play(self.model.shape().cell(number));
    }

    fn mean(&self, number: usize) -> f64 {
        self.clicks[number] as f64 / self.plays[number] as f64
    }

    /// The cells of largest score, by number; those never played come first.
    fn best(&self, score: impl Fn(usize) -> f64) -> Vec<usize> {
        if self.plays.contains(&0) {
            return (0..self.plays.len()).filter(|&number| self.plays[number] == 0).collect();
        }
        let scores: Vec<f64> = (0..self.plays.len()).map(score).collect();
        let largest = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        (0..scores.len()).filter(|&cell| scores[cell] == largest).collect()
    }
}

/// The tied cell of largest hash.
fn by_hash(tied: &[usize], key: u64) -> usize {
    tied.iter().copied().max_by_key(|&cell| tie_rank(key, cell)).expect("a table has a cell")
}

/// The so-manieth of the tied cells: the draw as a share of 2^64.
fn by_share(tied: &[usize], draw: u64) -> usize {
    let place = (u128::from(draw) * tied.len() as u128) >> 64;
    tied[usize::try_from(place).expect("small")]
}

/// The cell that `policy` plays.
fn choices<P: Update<Cell, CellClick>>(mut policy: P, model: &RankOneModel, rounds: usize) -> Vec<Cell> {
    let mut rng = Generator::seed_from_u64(1);
    let mut history = History::new(model);
    let mut decision = Decision::default();
    for _ in 0..rounds {
        Select::select(&mut policy, &mut rng, &mut decision);
        let clicked = history.play(decision.action);
        policy.update(&decision, &CellClick { clicked });
    }
    history.cells
}

fn assert_same(policy: &[Cell], naive: &[Cell], what: &str) {
    let first = policy.iter().zip(naive).position(|(policy, naive)| policy != naive);
    assert!(first.is_none() && policy.len() == naive.len(), "{what}: another choice at round {first:?}");
}

/// Needles, random tables, a row, a column, a cell, ties, and nothing to find.
fn instances() -> Vec<RankOneModel> {
    let shape = |rows, columns| TableShape::new(rows, columns).expect("valid");
    let plain = |rows: &[f64], columns: &[f64]| RankOneModel::from_values(rows, columns).expect("valid");
    vec![
        RankOneModel::needle(shape(6, 6), (0.25, 0.5), (0.25, 0.5)).expect("valid"),
        RankOneModel::random(shape(5, 9), &mut Generator::seed_from_u64(3)),
        plain(&[0.5], &[0.2, 0.9, 0.4]),
        plain(&[0.1, 0.8, 0.3, 0.8], &[0.7]),
        plain(&[0.4], &[0.6]),
        plain(&[0.3, 0.9, 0.9], &[0.8, 0.2, 0.8]),
        plain(&[0.0, 0.0, 0.0], &[0.5, 0.9]),
        plain(&[1.0, 0.0], &[0.0, 1.0, 1.0]),
    ]
}

const ROUNDS: usize = 40_000;

fn log(number: u64) -> f64 {
    confidence::math::ln(number as f64)
}

// --- Indices
// -------------------------------------------------------------------------------------------------

fn naive_ucb1(model: &RankOneModel, rounds: usize) -> Vec<Cell> {
    let mut rng = Generator::seed_from_u64(1);
    let mut history = History::new(model);
    for t in 1..=rounds as u64 {
        let root = log(t).sqrt();
        let index = |cell: usize| history.mean(cell) + (2.0 / history.plays[cell] as f64).sqrt() * root;
        let best = by_share(&history.best(index), rng.next_u64());
        history.play_number(best);
    }
    history.cells
}

fn naive_kl_ucb(model: &RankOneModel, rounds: usize) -> Vec<Cell> {
    let mut rng = Generator::seed_from_u64(1);
    let mut history = History::new(model);
    for t in 1..=rounds as u64 {
        let level = log(t);
        let index = |cell: usize| kl_ucb_upper(history.mean(cell), history.plays[cell] as f64, level);
        let best = by_hash(&history.best(index), rng.next_u64());
        history.play_number(best);
    }
    history.cells
}

#[test]
fn ucb1_is_the_naive_one() {
    for model in instances() {
        let naive = naive_ucb1(&model, ROUNDS);
        assert_same(&choices(Ucb1::new(model.shape()), &model, ROUNDS), &naive, &format!("{model:?}"));
    }
}

#[test]
fn kl_ucb_is_the_naive_one() {
    for model in instances() {
        let naive = naive_kl_ucb(&model, ROUNDS / 4);
        let policy = CellKlUcb::new(model.shape(), Rate::LOG);
        assert_same(&choices(policy, &model, ROUNDS / 4), &naive, &format!("{model:?}"));
    }
}

/// A large table, where a list is made of the cells that can win: its first plays, and 200 of each
/// of 100 cells.
#[test]
fn indices_of_large_tables_are_the_naive_ones() {
    let needle = |n: usize| {
        let shape = TableShape::new(n, n).expect("valid");
        RankOneModel::needle(shape, (0.25, 0.5), (0.25, 0.5)).expect("valid")
    };
    for (n, rounds) in [(64, 5200), (10, 20_000)] {
        let model = needle(n);
        let naive = naive_ucb1(&model, rounds);
        assert_same(&choices(Ucb1::new(model.shape()), &model, rounds), &naive, &format!("UCB1, {n}"));
    }
    for (n, rounds) in [(40, 1800), (12, 2500)] {
        let model = needle(n);
        let naive = naive_kl_ucb(&model, rounds);
        let policy = CellKlUcb::new(model.shape(), Rate::LOG);
        assert_same(&choices(policy, &model, rounds), &naive, &format!("KL-UCB, {n}"));
    }
}

/// The comparison must notice a list that is not rebuilt when the logarithm has grown.
#[test]
fn an_index_without_its_logarithm_is_caught() {
    let model = &instances()[1];
    let mut rng = Generator::seed_from_u64(1);
    let mut history = History::new(model);
    for _ in 0..1000 {
        let index =
            |cell: usize| history.mean(cell) + (2.0 / history.plays[cell] as f64).sqrt() * log(500).sqrt();
        let best = by_share(&history.best(index), rng.next_u64());
        history.play_number(best);
    }
    assert_ne!(choices(Ucb1::new(model.shape()), model, 1000), history.cells);
}

// --- Samples
// -------------------------------------------------------------------------------------------------

fn naive_uts(model: &RankOneModel, every: u64, rounds: usize) -> Vec<Cell> {
    let mut rng = Generator::seed_from_u64(1);
    let mut history = History::new(model);
    let shape = model.shape();
    let mut leads = vec![0; shape.n_cells()];
    for _ in 0..rounds {
        let key = rng.next_u64();
        let mean = |cell: usize| if history.plays[cell] == 0 { 0.0 } else { history.mean(cell) };
        let leader = ranked(&(0..shape.n_cells()).map(mean).collect::<Vec<f64>>(), key)[0];
        leads[leader] += 1;
        let mut played = leader;
        if !u64::is_multiple_of(leads[leader], every) {
            let Cell { row, column } = shape.cell(leader);
            let row = (0..shape.n_columns()).map(|j| row as usize * shape.n_columns() + j);
            let column = (0..shape.n_rows()).map(|i| i * shape.n_columns() + column as usize);
            let cells: Vec<usize> = row.chain(column.filter(|&cell| cell != leader)).collect();
            let mut best = -1.0;
            for cell in cells {
                let (clicks, plays) = (history.clicks[cell] as f64, history.plays[cell] as f64);
                let draw = Sampler::new().beta(BetaShape::after(clicks, plays - clicks), &mut rng);
                if draw > best {
                    (best, played) = (draw, cell);
                }
            }
        }
        history.play_number(played);
    }
    history.cells
}

#[test]
fn uts_is_the_naive_one() {
    for model in instances() {
        let naive = naive_uts(&model, 2, ROUNDS / 4);
        assert_same(&choices(Uts::new(model.shape()), &model, ROUNDS / 4), &naive, &format!("{model:?}"));
        let naive = naive_uts(&model, 7, ROUNDS / 10);
        let policy = Uts::leading_every(model.shape(), 7);
        assert_same(&choices(policy, &model, ROUNDS / 10), &naive, &format!("{model:?}"));
    }
}

fn naive_gibbs(model: &RankOneModel, rounds: usize) -> Vec<Cell> {
    let mut rng = Generator::seed_from_u64(1);
    let mut history = History::new(model);
    let (n_rows, n_columns) = (model.shape().n_rows(), model.shape().n_columns());
    let (mut u, mut v) = (vec![1.0; n_rows], vec![1.0; n_columns]);
    for _ in 0..rounds {
        let draw = |plays: u64, clicks: u64, expected: f64, rng: &mut Generator| {
            let b = 1.0 - clicks as f64 / (plays + 1) as f64;
            b / (expected + 1.0) * Sampler::new().gamma(GammaShape::new((clicks + 1) as f64 / b), rng)
        };
        let at = |i: usize, j: usize| i * n_columns + j;
        for (i, u) in u.iter_mut().enumerate() {
            let of = |table: &[u64]| (0..n_columns).map(|j| table[at(i, j)]).sum::<u64>();
            let expected: f64 = (0..n_columns).map(|j| v[j] * history.plays[at(i, j)] as f64).sum();
            *u = draw(of(&history.plays), of(&history.clicks), expected, &mut rng);
        }
        for (j, v) in v.iter_mut().enumerate() {
            let of = |table: &[u64]| (0..n_rows).map(|i| table[at(i, j)]).sum::<u64>();
            let expected: f64 = (0..n_rows).map(|i| u[i] * history.plays[at(i, j)] as f64).sum();
            *v = draw(of(&history.plays), of(&history.clicks), expected, &mut rng);
        }
        let largest = v.iter().copied().fold(0.0, f64::max);
        for v in &mut v {
            *v /= largest;
        }
        let first_largest = |side: &[f64]| ranked(side, 0)[0];
        history.play_number(at(first_largest(&u), first_largest(&v)));
    }
    history.cells
}

/// Sums are taken in another order, and a choice among continuous draws does not depend on the last
/// bit.
#[test]
fn rank1_gibbs_is_the_naive_one() {
    for model in instances() {
        let naive = naive_gibbs(&model, ROUNDS / 4);
        let policy = Rank1Gibbs::new(model.shape());
        assert_same(&choices(policy, &model, ROUNDS / 4), &naive, &format!("{model:?}"));
    }
}

// --- Eliminations
// -------------------------------------------------------------------------------------------------

/// Algorithm 1, line by line, to round `rounds`. `kl` or Hoeffding's intervals.
fn naive_elimination(model: &RankOneModel, horizon: u64, kl: bool, rounds: usize) -> Vec<Cell> {
    let mut rng = Generator::seed_from_u64(1);
    let mut history = History::new(model);
    let (n_rows, n_columns) = (model.shape().n_rows(), model.shape().n_columns());
    let mut c_u = vec![vec![0_u64; n_columns]; n_rows];
    let mut c_v = vec![vec![0_u64; n_columns]; n_rows];
    let mut h_u: Vec<usize> = (0..n_rows).collect();
    let mut h_v: Vec<usize> = (0..n_columns).collect();
    let cell =
        |i: usize, j: usize| Cell::new(u32::try_from(i).expect("small"), u32::try_from(j).expect("small"));
    let mut n_before = 0;
    for stage in 0.. {
        let factor = if kl { 16.0 } else { 4.0 };
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count")]
        let n = (factor * 4.0_f64.powi(stage) * log(horizon)).ceil() as u64;
        let members = |h: &[usize]| (0..h.len()).filter(|&i| h.contains(&i)).collect::<Vec<_>>();
        let (rows, columns) = (members(&h_u), members(&h_v));
        for _ in n_before..n {
            let j = h_v[rng.random_range(0..n_columns)];
            for &i in &rows {
                if history.cells.len() == rounds {
                    return history.cells;
                }
                c_u[i][j] += u64::from(history.play(cell(i, j)));
            }
            let i = h_u[rng.random_range(0..n_rows)];
            for &j in &columns {
                if history.cells.len() == rounds {
                    return history.cells;
                }
                c_v[i][j] += u64::from(history.play(cell(i, j)));
            }
        }
        let delta = log(horizon) + 3.0 * confidence::math::ln(log(horizon));
        let interval = |clicks: u64| {
            let mean = clicks as f64 / n as f64;
            if kl {
                (kl_ucb_lower(mean, n as f64, delta.max(0.0)), kl_ucb_upper(mean, n as f64, delta.max(0.0)))
            } else {
                let radius = (log(horizon) / n as f64).sqrt();
                (mean - radius, mean + radius)
            }
        };
        let of_row = |i: usize| interval(c_u[i].iter().sum());
        let of_column = |j: usize| interval(c_v.iter().map(|row| row[j]).sum());
        // Those that are out score nothing.
        let lower = |bounds: &dyn Fn(usize) -> (f64, f64), members: &[usize], n: usize| -> Vec<f64> {
            (0..n).map(|i| if members.contains(&i) { bounds(i).0 } else { f64::NEG_INFINITY }).collect()
        };
        let best_row = ranked(&lower(&of_row, &rows, n_rows), rng.next_u64())[0];
        for h in &mut h_u {
            if of_row(*h).1 <= of_row(best_row).0 {
                *h = best_row;
            }
        }
        let best_column = ranked(&lower(&of_column, &columns, n_columns), rng.next_u64())[0];
        for h in &mut h_v {
            if of_column(*h).1 <= of_column(best_column).0 {
                *h = best_column;
            }
        }
        n_before = n;
    }
    history.cells
}

#[test]
fn rank1_elim_is_the_naive_one() {
    for model in instances() {
        for horizon in [2, 7, 300, 20_000, 1_000_000] {
            let what = format!("{model:?} for {horizon} rounds");
            let naive = naive_elimination(&model, horizon, true, ROUNDS);
            assert_same(&choices(Rank1Elim::kl(model.shape(), horizon), &model, ROUNDS), &naive, &what);
            let naive = naive_elimination(&model, horizon, false, ROUNDS);
            assert_same(
                &choices(Rank1Elim::hoeffding(model.shape(), horizon), &model, ROUNDS),
                &naive,
                &what,
            );
        }
    }
}

fn naive_ucb1_elim(model: &RankOneModel, horizon: u64, rounds: usize) -> Vec<Cell> {
    let mut history = History::new(model);
    let mut left: Vec<usize> = (0..model.shape().n_cells()).collect();
    let n = horizon as f64;
    let mut d = 1.0_f64;
    let mut played = 0;
    let mut stage = 0.0;
    while stage <= ((confidence::math::ln(n) - 1.0) / (2.0 * std::f64::consts::LN_2)).floor() {
        let log = confidence::math::ln(n * (d * d));
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count")]
        let plays = (2.0 * log / (d * d)).ceil() as u64;
        while played < plays {
            for &cell in &left {
                if history.cells.len() == rounds {
                    return history.cells;
                }
                history.play_number(cell);
            }
            played += 1;
        }
        let radius = (log / (2.0 * plays as f64)).sqrt();
        let bar = left.iter().map(|&cell| history.mean(cell) - radius).fold(f64::MIN, f64::max);
        left.retain(|&cell| history.mean(cell) + radius >= bar);
        d /= 2.0;
        stage += 1.0;
    }
    while history.cells.len() < rounds {
        let turn = left.len();
        for &cell in left.iter().take((rounds - history.cells.len()).min(turn)) {
            history.play_number(cell);
        }
    }
    history.cells
}

#[test]
fn ucb1_elim_is_the_naive_one() {
    for model in instances() {
        for horizon in [1, 2, 3, 50, 3000, 100_000] {
            let naive = naive_ucb1_elim(&model, horizon, ROUNDS);
            let policy = Ucb1Elim::new(model.shape(), horizon);
            assert_same(&choices(policy, &model, ROUNDS), &naive, &format!("{model:?} for {horizon} rounds"));
        }
    }
}

/// Counts of 32 bits are full after 4,294,967,295 plays: none is added then, neither plays nor
/// clicks.
#[test]
fn full_counts_stay_what_they_are() {
    let mut policy = Ucb1Elim::new(TableShape::new(1, 2).expect("valid"), 100_000_000_000_000);
    let mut sweeps = 0;
    while sweeps < 20_000_000_000 {
        let more = policy.whole_sweeps();
        assert!(sweeps >= u64::from(u32::MAX) || u32::try_from(sweeps + more).is_ok());
        policy.add_sweeps(more, &[more / 2, more / 2]);
        sweeps += more;
    }
    let saved = serde_json::to_value(&policy).expect("saved");
    assert_eq!(saved["plays"], serde_json::json!([u32::MAX, u32::MAX]));
    let clicks = saved["clicks"][0].as_u64().expect("a count");
    assert!(clicks.abs_diff(u64::from(u32::MAX) / 2) < 100, "{clicks}");
}

/// Sweeps can be added between two of them only: else the one at hand would be counted twice, and a
/// stage would not end where it has to.
#[test]
fn nothing_is_added_in_the_middle_of_a_sweep() {
    let shape = TableShape::new(2, 2).expect("valid");
    let mut rng = Generator::seed_from_u64(1);
    let (mut elimination, mut ucb1_elim) = (Rank1Elim::kl(shape, 1000), Ucb1Elim::new(shape, 1000));
    for _ in 0..100 {
        let mut decision = Decision::default();
        elimination.select(&mut rng, &mut decision);
        let saved = serde_json::to_value(&elimination).expect("saved");
        if elimination.whole_sweeps(&mut rng) == 0 {
            elimination.add_sweeps(u64::MAX, &[1, 1], &[1, 1]);
            assert_eq!(serde_json::to_value(&elimination).expect("saved"), saved);
        }
        let mut decision = Decision::default();
        ucb1_elim.select(&mut rng, &mut decision);
        let saved = serde_json::to_value(&ucb1_elim).expect("saved");
        if ucb1_elim.whole_sweeps() == 0 {
            ucb1_elim.add_sweeps(u64::MAX, &[1; 4]);
            assert_eq!(serde_json::to_value(&ucb1_elim).expect("saved"), saved);
        }
    }
}

#[test]
fn a_leader_that_is_hardly_ever_played_is_saved_too() {
    let policy = Uts::leading_every(TableShape::new(2, 2).expect("valid"), u64::MAX);
    let saved = serde_json::to_string(&policy).expect("saved");
    serde_json::from_str::<Uts>(&saved).expect("what was saved is read");
}

// --- Schedules
// -------------------------------------------------------------------------------------------------

/// Values with at least 60 digits: the sweeps of a fresh policy before its first stage ends, and so
/// on.
#[test]
fn stages_are_as_long_as_the_papers() {
    let text = include_str!("../../tests/data/rank1_schedule.json");
    let cases: serde_json::Value = serde_json::from_str(text).expect("a list of cases");
    let numbers = |value: &serde_json::Value| -> Vec<u64> {
        value.as_array().expect("a list").iter().map(|number| number.as_u64().expect("a count")).collect()
    };
    for case in cases.as_array().expect("a list") {
        let horizon = case["inputs"]["n"].as_u64().expect("a count");
        let shape = TableShape::new(1, 1).expect("valid");
        let both = [
            (Rank1Elim::kl(shape, horizon), "n_l_rank1elimkl"),
            (Rank1Elim::hoeffding(shape, horizon), "n_l_rank1elim"),
        ];
        let mut rng = Generator::seed_from_u64(1);
        for (mut policy, key) in both {
            let mut sweeps = 0;
            for wanted in numbers(&case["output"][key]) {
                let more = policy.whole_sweeps(&mut rng);
                sweeps += more;
                assert_eq!(sweeps, wanted, "{key} for {horizon} rounds");
                policy.add_sweeps(more, &[0], &[0]);
            }
        }
        let level = case["output"]["delta_l"].as_f64().expect("a number");
        let ours = Rate::LOG_PLUS_3_LOG_LOG.level(horizon);
        assert!((ours / level - 1.0).abs() < 1e-14);
        let radii = case["output"]["rank1elim_radius"].as_array().expect("a list");
        for (plays, radius) in numbers(&case["output"]["n_l_rank1elim"]).into_iter().zip(radii) {
            let [low, high] = elimination::Bounds::Hoeffding.interval(plays, plays / 2, horizon);
            let wanted = 2.0 * radius.as_f64().expect("a number");
            assert!(((high - low) / wanted - 1.0).abs() < 1e-12);
        }
    }
}
