//! Whole sweeps and the round loop give the same distributions of regret, clicks and times of
//! elimination.
//!
//! The tests compare two samples of [`RUNS`] runs each. By the inequality of Dvoretzky, Kiefer,
//! Wolfowitz and Massart, an empirical distribution function is within
//! `sqrt(ln(4 / alpha) / (2 RUNS))` of the true one, except with probability `alpha / 2`. So two
//! samples of the same distribution are within twice that distance, except with probability
//! `alpha`, 1e-6 per check. The wrong simulations below fail.

use super::*;
use crate::Streams;
use crate::play;
use policies::Decision;
use policies::Select;
use rand::Rng;

const RUNS: u64 = 2000;
const HORIZON: u64 = 60_000;

/// The compared quantities, one sample each.
#[derive(Debug, Default)]
struct Samples {
    names: Vec<String>,
    values: Vec<Vec<f64>>,
}

impl Samples {
    fn push(&mut self, run: &[(String, f64)]) {
        if self.names.is_empty() {
            self.names = run.iter().map(|(name, _)| name.clone()).collect();
            self.values = vec![vec![]; run.len()];
        }
        for (values, (_, value)) in self.values.iter_mut().zip(run) {
            values.push(*value);
        }
    }

    /// The names of the quantities whose distributions differ.
    fn differences(&self, other: &Self) -> Vec<String> {
        let allowed = 2.0 * (libm::log(4.0 / 1e-6) / (2.0 * RUNS as f64)).sqrt();
        let pairs = self.values.iter().zip(&other.values);
        let differs = |(a, b): (&Vec<f64>, &Vec<f64>)| distance(a, b) > allowed;
        self.names
            .iter()
            .zip(pairs.map(differs))
            .filter(|(_, differs)| *differs)
            .map(|(name, _)| name.clone())
            .collect()
    }
}

/// The largest distance between two empirical distribution functions. Values within rounding are
/// the same.
fn distance(a: &[f64], b: &[f64]) -> f64 {
    let sorted = |sample: &[f64]| {
        let mut sorted: Vec<f64> = sample.iter().map(|value| (value * 1e6).round()).collect();
        sorted.sort_by(f64::total_cmp);
        sorted
    };
    let (a, b) = (sorted(a), sorted(b));
    let below = |sample: &[f64], value: f64| {
        sample.partition_point(|&other| other <= value) as f64 / sample.len() as f64
    };
    a.iter().chain(&b).map(|&value| (below(&a, value) - below(&b, value)).abs()).fold(0.0, f64::max)
}

/// Plays to one checkpoint after another, and records which rows and columns remain at each.
fn samples<P: InSweeps>(
    model: &RankOneModel,
    seed: u64,
    fresh: impl Fn() -> P,
    left: impl Fn(&P) -> Vec<usize>,
    at_once: bool,
) -> Samples {
    let mut samples = Samples::default();
    let stops = [500, 1500, 3000, 5000, 9000, 14_000, 20_000, 30_000, 45_000, HORIZON];
    for run in 0..RUNS {
        let streams = Streams::new(seed);
        let (mut users, mut randomness) = (streams.environment(run), streams.policy("x", run));
        let mut policy = fresh();
        let (mut now, mut regret, mut clicks) = (0, 0.0, 0.0);
        let mut seen = vec![];
        for stop in stops {
            let schedule = Schedule::new(vec![stop - now]).expect("later");
            let curve = if at_once {
                play_in_stages(model, &mut policy, &schedule, &mut users, &mut randomness)
            } else {
                play(model, &mut policy, &schedule, &mut users, &mut randomness)
            };
            now = stop;
            regret += curve.regret[0];
            clicks += curve.clicks[0];
            seen.push((format!("regret at {stop}"), regret));
            seen.push((format!("clicks at {stop}"), clicks));
            for (side, left) in left(&policy).into_iter().enumerate() {
                seen.push((format!("left of side {side} at {stop}"), left as f64));
            }
        }
        samples.push(&seen);
    }
    samples
}

/// Rows and columns some of which tie, some are eliminated early, and some late.
fn users() -> RankOneModel {
    RankOneModel::from_values(&[0.3, 0.8, 0.65, 0.3, 0.8], &[0.9, 0.45, 0.7, 0.45]).expect("valid")
}

fn sides(policy: &Rank1Elim) -> Vec<usize> {
    vec![policy.remaining_rows().len(), policy.remaining_columns().len()]
}

#[test]
fn rank1_elim_in_stages_has_the_law_of_the_round_loop() {
    let model = users();
    for fresh in [Rank1Elim::kl, Rank1Elim::hoeffding] {
        let fresh = || fresh(model.shape(), HORIZON);
        let (rounds, stages) =
            (samples(&model, 1, fresh, sides, false), samples(&model, 2, fresh, sides, true));
        assert_eq!(rounds.differences(&stages), Vec::<String>::new());
        // The sample is not degenerate: rows are eliminated early and late, and regret varies.
        let lost = |sample: &Vec<f64>| sample.iter().any(|&left| left != sample[0]);
        assert!(
            rounds
                .names
                .iter()
                .zip(&rounds.values)
                .filter(|(name, _)| name.starts_with("left"))
                .any(|(_, values)| lost(values))
        );
    }
}

#[test]
fn ucb1_elim_in_stages_has_the_law_of_the_round_loop() {
    let model = users();
    let fresh = || Ucb1Elim::new(model.shape(), HORIZON);
    let left = |policy: &Ucb1Elim| vec![policy.remaining_cells().len()];
    let (rounds, stages) = (samples(&model, 1, fresh, left, false), samples(&model, 2, fresh, left, true));
    assert_eq!(rounds.differences(&stages), Vec::<String>::new());
}

/// `Rank1ElimKL` whose sweeps at once are wrong.
#[derive(Debug)]
struct Wrong {
    policy: Rank1Elim,
    fault: Fault,
}

#[derive(Debug, Clone, Copy)]
enum Fault {
    /// Wrong: partners are drawn among the remaining ones, not among all indices that they
    /// represent.
    Unweighted,
    /// Wrong: every row has its own partners.
    OwnPartners,
    /// Wrong: clicks equal their expectation, without variance.
    NoSpread,
}

impl Select<Cell> for Wrong {
    type Note = policies::rank_one::Side;

    fn select<R: Rng + ?Sized>(&mut self, rng: &mut R, out: &mut Decision<Cell, Self::Note>) {
        self.policy.select(rng, out);
    }
}

impl Update<Cell, CellClick> for Wrong {
    fn update(&mut self, decision: &Decision<Cell, Self::Note>, feedback: &CellClick) {
        self.policy.update(decision, feedback);
    }
}

impl InSweeps for Wrong {
    fn play_sweeps(
        &mut self,
        model: &RankOneModel,
        most_rounds: u64,
        environment: &mut SimRng,
        randomness: &mut SimRng,
    ) -> Stretch {
        let before_the_end = self.policy.whole_sweeps(randomness);
        let (rows, columns) = (self.policy.remaining_rows(), self.policy.remaining_columns());
        let length = (rows.len() + columns.len()) as u64;
        let sweeps = before_the_end.min(most_rounds / length);
        if sweeps < FEWEST_SWEEPS {
            return Stretch::default();
        }
        let ones = vec![1; rows.len().max(columns.len())];
        let is_unweighted = matches!(self.fault, Fault::Unweighted);
        let weights = |side: &[u32], weights: &[u32]| {
            if is_unweighted { ones[..side.len()].to_vec() } else { weights.to_vec() }
        };
        let row_partners = Partners::new(rows, &weights(rows, self.policy.row_weights()), |row| {
            model.rows()[row as usize].get()
        });
        let column_partners =
            Partners::new(columns, &weights(columns, self.policy.column_weights()), |column| {
                model.columns()[column as usize].get()
            });
        let fault = self.fault;
        let mut both = |left: &[u32], partners: &Partners, cell: &dyn Fn(u32, u32) -> Cell| match fault {
            Fault::Unweighted => side(sweeps, left, partners, model, cell, environment, randomness),
            Fault::OwnPartners => {
                let one =
                    |member: &u32| side(sweeps, &[*member], partners, model, cell, environment, randomness);
                let (clicks, regrets): (Vec<_>, Vec<_>) = left.iter().map(one).unzip();
                (clicks.concat(), regrets.iter().sum())
            }
            Fault::NoSpread => {
                let (clicks, regret) = side(sweeps, left, partners, model, cell, environment, randomness);
                let total: u64 = partners.weights.iter().sum();
                let mean = |member: &u32| {
                    let of = |(partner, weight): (&u32, &u64)| {
                        *weight as f64 / total as f64 * model.expected_reward(&cell(*member, *partner))
                    };
                    partners.examples.iter().zip(&partners.weights).map(of).sum::<f64>()
                };
                #[expect(
                    clippy::cast_possible_truncation,
                    clippy::cast_sign_loss,
                    reason = "at most the sweeps"
                )]
                let expected = left.iter().map(|member| (sweeps as f64 * mean(member)) as u64).collect();
                drop(clicks);
                (expected, regret)
            }
        };
        let (row_clicks, row_regret) = both(rows, &column_partners, &|row, column| Cell::new(row, column));
        let (column_clicks, column_regret) =
            both(columns, &row_partners, &|column, row| Cell::new(row, column));
        self.policy.add_sweeps(sweeps, &row_clicks, &column_clicks);
        let clicks = row_clicks.iter().chain(&column_clicks).sum();
        Stretch { rounds: sweeps * length, regret: row_regret + column_regret, clicks }
    }
}

#[test]
fn wrong_sweeps_are_noticed() {
    let model = users();
    let rounds = samples(&model, 1, || Rank1Elim::kl(model.shape(), HORIZON), sides, false);
    for fault in [Fault::Unweighted, Fault::OwnPartners, Fault::NoSpread] {
        let fresh = || Wrong { policy: Rank1Elim::kl(model.shape(), HORIZON), fault };
        let wrong = samples(&model, 2, fresh, |policy| sides(&policy.policy), true);
        assert!(!rounds.differences(&wrong).is_empty(), "{fault:?} is not noticed");
    }
}

/// Regret and clicks at the horizon have the same distribution for any number of checkpoints.
#[test]
fn checkpoints_may_be_anywhere() {
    let model = users();
    let mut policy = Rank1Elim::kl(model.shape(), 1000);
    let streams = Streams::new(3);
    let schedule = Schedule::new((1..=1000).collect()).expect("increasing");
    let curve = play_in_stages(
        &model,
        &mut policy,
        &schedule,
        &mut streams.environment(0),
        &mut streams.policy("x", 0),
    );
    assert_eq!(curve.regret.len(), 1000);
    // With a checkpoint in every round no sweeps are played at once, and the result equals the
    // round loop's.
    let mut other = Rank1Elim::kl(model.shape(), 1000);
    let same = play(&model, &mut other, &schedule, &mut streams.environment(0), &mut streams.policy("x", 0));
    assert_eq!(curve, same);
}

/// Plays one policy in stages; returns its curve and the remaining rows and columns.
fn odd<P: InSweeps>(
    model: &RankOneModel,
    mut policy: P,
    horizon: u64,
    left: impl Fn(&P) -> Vec<usize>,
) -> (Curve, Vec<usize>) {
    let schedule = Schedule::new(vec![horizon]).expect("increasing");
    let streams = Streams::new(4);
    let (mut users, mut randomness) = (streams.environment(0), streams.policy("x", 0));
    let curve = play_in_stages(model, &mut policy, &schedule, &mut users, &mut randomness);
    (curve, left(&policy))
}

/// All rows zero, one row, one column, one cell, several best cells, all cells alike; each with
/// several horizons, all but the last of which end within the first stage, before any elimination.
#[test]
fn odd_tables_and_short_horizons_are_played_in_stages() {
    for (rows, columns) in [
        (&[0.0, 0.0, 0.0][..], &[0.5, 0.9][..]),
        (&[0.5], &[0.1, 0.9, 0.1]),
        (&[0.1, 0.9, 0.1], &[0.7]),
        (&[0.4], &[0.6]),
        (&[0.1, 0.9, 0.9], &[0.9, 0.1, 0.9]),
        (&[0.5, 0.5], &[0.5, 0.5]),
        (&[1.0, 1.0], &[1.0, 0.0]),
    ] {
        let model = RankOneModel::from_values(rows, columns).expect("valid");
        let (shape, all) = (model.shape(), vec![rows.len(), columns.len()]);
        let worst = rows.iter().flat_map(|row| columns.iter().map(move |column| row * column));
        let worst = model.optimal_reward() - worst.fold(1.0, f64::min);
        for horizon in [1, 2, 5, 20, 200_000] {
            let elimination =
                |fresh: fn(TableShape, u64) -> Rank1Elim| odd(&model, fresh(shape, horizon), horizon, sides);
            let cells = odd(&model, Ucb1Elim::new(shape, horizon), horizon, |_| vec![]);
            for (curve, left) in [elimination(Rank1Elim::kl), elimination(Rank1Elim::hoeffding), cells] {
                let regret = curve.regret[0];
                assert!(
                    regret >= 0.0 && regret <= worst * horizon as f64 * (1.0 + 1e-9),
                    "{regret} of {model:?}"
                );
                if horizon <= 5 && !left.is_empty() {
                    assert_eq!(left, all, "horizon {horizon}");
                }
                // If regret is possible, the policy finds the best cell in the end.
                assert!(horizon < 200_000 || regret <= 0.3 * worst * horizon as f64, "{regret} of {model:?}");
            }
        }
    }
}
