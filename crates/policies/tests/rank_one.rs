//! What holds for every policy on rank-one users: saved and restored it goes on as the original, damaged data is refused, rounds allocate
//! nothing, no answer breaks it, late answers are taken in, and its choices are what they always were.

use crate::support::saved::{assert_goes_on_restored, damages};
use allocation_counter::measure;
use click_models::{Cell, CellClick, ClickModel, RankOneModel, TableShape};
use confidence::Rate;
use policies::{
    CellKlUcb, Decision, Rank1Elim, Rank1Gibbs, Select, Ucb1, Ucb1Elim, UniformCell, Update, Uts,
};
use quickcheck::{Arbitrary, Gen, QuickCheck};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Value, json};
use std::collections::{BTreeMap, VecDeque};
use std::fmt::Debug;

/// What is done with every policy.
trait Visitor {
    fn visit<P>(&mut self, name: &str, model: &RankOneModel, policy: P)
    where
        P: Update<Cell, CellClick> + Serialize + DeserializeOwned + Clone + Debug + Send + Sync;
}

/// Every policy, fresh.
fn policies(model: &RankOneModel, visitor: &mut impl Visitor) {
    let shape = model.shape();
    visitor.visit("Rank1ElimKL", model, Rank1Elim::kl(shape, 5000));
    visitor.visit("Rank1Elim", model, Rank1Elim::hoeffding(shape, 5000));
    visitor.visit("UCB1Elim", model, Ucb1Elim::new(shape, 5000));
    visitor.visit("UCB1", model, Ucb1::new(shape));
    visitor.visit("KL-UCB", model, CellKlUcb::new(shape, Rate::LOG));
    visitor.visit("UTS", model, Uts::new(shape));
    visitor.visit("rank1-gibbs", model, Rank1Gibbs::new(shape));
}

/// The paper's class, a random table, a row, a column, a cell, ties, and nothing to find.
fn instances() -> Vec<RankOneModel> {
    let shape = |rows, columns| TableShape::new(rows, columns).expect("valid");
    let plain = |rows: &[f64], columns: &[f64]| RankOneModel::from_values(rows, columns).expect("valid");
    vec![
        RankOneModel::needle(shape(6, 6), (0.25, 0.5), (0.25, 0.5)).expect("valid"),
        RankOneModel::random(shape(12, 15), &mut generator(3)),
        plain(&[0.5], &[0.2, 0.9, 0.4]),
        plain(&[0.1, 0.8, 0.3, 0.8], &[0.7]),
        plain(&[0.4], &[0.6]),
        plain(&[0.3, 0.9, 0.9], &[0.8, 0.2, 0.8]),
        plain(&[0.0, 0.0, 0.0], &[0.5, 0.9]),
    ]
}

fn everything(visitor: &mut impl Visitor) {
    for model in instances() {
        policies(&model, visitor);
    }
}

fn generator(seed: u64) -> Xoshiro256PlusPlus {
    Xoshiro256PlusPlus::seed_from_u64(seed)
}

/// One round: decide, play, learn. Gives the regret.
fn round<P: Update<Cell, CellClick>>(
    model: &RankOneModel,
    policy: &mut P,
    decision: &mut Decision<Cell, P::Note>,
    rng: &mut Xoshiro256PlusPlus,
    users: &mut Xoshiro256PlusPlus,
) -> f64 {
    Select::select(policy, rng, decision);
    assert!(model.admits(&decision.action));
    let feedback = model.respond(&decision.action, users);
    policy.update(decision, &feedback);
    model.gap(&decision.action)
}

// --- Saved state --------------------------------------------------------------------------------------------------------

struct Resume;

impl Visitor for Resume {
    fn visit<P>(&mut self, name: &str, model: &RankOneModel, policy: P)
    where
        P: Update<Cell, CellClick> + Serialize + DeserializeOwned + Clone + Debug + Send + Sync,
    {
        let play = |policy: &mut P, decision: &mut _, rng: &mut _, users: &mut _| {
            round(model, policy, decision, rng, users);
        };
        assert_goes_on_restored(&format!("{name} on {model:?}"), policy, play, |_, _| ());
    }
}

#[test]
fn restored_policies_go_on_as_the_original() {
    everything(&mut Resume);
}

struct Damage {
    refused: u32,
    accepted: u32,
}

impl Visitor for Damage {
    fn visit<P>(&mut self, name: &str, model: &RankOneModel, mut policy: P)
    where
        P: Update<Cell, CellClick> + Serialize + DeserializeOwned + Clone + Debug + Send + Sync,
    {
        let (mut rng, mut users) = (generator(1), generator(2));
        let mut decision = Decision::default();
        for _ in 0..300 {
            round(model, &mut policy, &mut decision, &mut rng, &mut users);
        }
        let saved = serde_json::to_value(&policy).expect("a policy can be saved");
        for damaged in damages(&saved) {
            let Ok(mut policy) = serde_json::from_value::<P>(damaged.clone()) else {
                self.refused += 1;
                continue;
            };
            // Whatever its table is now, it plays cells of it and learns.
            self.accepted += 1;
            for _ in 0..50 {
                policy.select(&mut rng, &mut decision);
                let Cell { row, column } = decision.action;
                assert!(row < 1000 && column < 1000, "{name} from {damaged}");
                policy.update(&decision, &CellClick { clicked: rng.random() });
            }
        }
    }
}

#[test]
fn damaged_data_is_refused_or_usable() {
    let mut damage = Damage { refused: 0, accepted: 0 };
    everything(&mut damage);
    let Damage { refused, accepted } = damage;
    assert!(refused > 1000 && accepted > 100, "{refused} refused, {accepted} accepted");
}

/// Every check of saved data by itself.
#[test]
fn inconsistent_data_is_refused() {
    let shape = TableShape::new(2, 3).expect("valid");
    let refused = |policy: &Value, place: &str, value: Value, kind: &str| {
        let mut damaged = policy.clone();
        *damaged.pointer_mut(place).expect("a place in it") = value;
        let error = match kind {
            "elim" => serde_json::from_value::<Rank1Elim>(damaged).err(),
            "ucb1-elim" => serde_json::from_value::<Ucb1Elim>(damaged).err(),
            "uts" => serde_json::from_value::<Uts>(damaged).err(),
            "gibbs" => serde_json::from_value::<Rank1Gibbs>(damaged).err(),
            _ => serde_json::from_value::<Ucb1>(damaged).err(),
        };
        assert!(error.is_some(), "{kind}: {place}");
    };
    let elim = serde_json::to_value(Rank1Elim::kl(shape, 100)).expect("saved");
    refused(&elim, "/rows/stand_in", json!([1, 0]), "elim");
    refused(&elim, "/rows/stand_in", json!([0, 2]), "elim");
    refused(&elim, "/rows/clicks", json!([1, 0]), "elim");
    refused(&elim, "/place", json!(2), "elim");
    refused(&elim, "/stage", json!(25), "elim");
    refused(&elim, "/sweep", json!(75), "elim");
    refused(&elim, "/horizon", json!(1), "elim");
    let elim = serde_json::to_value(Ucb1Elim::new(shape, 100)).expect("saved");
    refused(&elim, "/left", json!([]), "ucb1-elim");
    refused(&elim, "/left", json!([1, 0]), "ucb1-elim");
    refused(&elim, "/left", json!([6]), "ucb1-elim");
    refused(&elim, "/clicks", json!([1, 0, 0, 0, 0, 0]), "ucb1-elim");
    refused(&elim, "/stage", json!(9), "ucb1-elim");
    refused(&elim, "/sweep", json!(11), "ucb1-elim");
    let ucb1 = serde_json::to_value(Ucb1::new(shape)).expect("saved");
    refused(&ucb1, "/counts/shape/n_rows", json!(3), "ucb1");
    refused(&ucb1, "/counts/clicks/0", json!(1), "ucb1");
    let uts = serde_json::to_value(Uts::new(shape)).expect("saved");
    refused(&uts, "/leads", json!([0]), "uts");
    let gibbs = serde_json::to_value(Rank1Gibbs::new(shape)).expect("saved");
    refused(&gibbs, "/columns/0", json!(1.5), "gibbs");
    refused(&gibbs, "/row_clicks/0", json!(1), "gibbs");
}

// --- Allocation and memory ----------------------------------------------------------------------------------------------

struct Count {
    checked: u32,
}

impl Visitor for Count {
    fn visit<P>(&mut self, name: &str, model: &RankOneModel, mut policy: P)
    where
        P: Update<Cell, CellClick> + Serialize + DeserializeOwned + Clone + Debug + Send + Sync,
    {
        let (mut rng, mut users) = (generator(1), generator(2));
        let mut decision = Decision::default();
        let mut play = |rounds| {
            for _ in 0..rounds {
                round(model, &mut policy, &mut decision, &mut rng, &mut users);
            }
        };
        play(1);
        let early = measure(|| play(2000)).count_total;
        play(10_000);
        assert_eq!([early, measure(|| play(2000)).count_total], [0, 0], "{name} on {model:?}");
        self.checked += 1;
    }
}

#[test]
fn rounds_allocate_nothing() {
    let mut count = Count { checked: 0 };
    everything(&mut count);
    // A table of which not every cell is looked at in every round.
    let shape = TableShape::new(40, 40).expect("valid");
    policies(&RankOneModel::needle(shape, (0.25, 0.5), (0.25, 0.5)).expect("valid"), &mut count);
    assert_eq!(count.checked, 8 * 7);
}

/// A thousand rows and a thousand columns: no K x L table in `Rank1Elim` (less than 200 kB), 12 bytes an arm in `UCB1Elim`.
#[test]
fn large_tables_fit_into_memory() {
    let shape = TableShape::new(1000, 1000).expect("valid");
    let model = RankOneModel::random(shape, &mut generator(5));
    let bytes = |play: &mut dyn FnMut()| measure(play).bytes_max;
    let rounds = 20_000;
    let kl = bytes(&mut || play(&model, Rank1Elim::kl(shape, 1_000_000), rounds));
    let hoeffding = bytes(&mut || play(&model, Rank1Elim::hoeffding(shape, 1_000_000), rounds));
    let ucb1_elim = bytes(&mut || play(&model, Ucb1Elim::new(shape, 1_000_000), rounds));
    assert!(kl < 200_000 && hoeffding < 200_000, "{kl} {hoeffding}");
    assert!((12_000_000..12_100_000).contains(&ucb1_elim), "{ucb1_elim}");
}

fn play<P: Update<Cell, CellClick>>(model: &RankOneModel, mut policy: P, rounds: u32) {
    let (mut rng, mut users) = (generator(1), generator(2));
    let mut decision = Decision::default();
    for _ in 0..rounds {
        round(model, &mut policy, &mut decision, &mut rng, &mut users);
    }
}

// --- Robustness ---------------------------------------------------------------------------------------------------------

/// What happens to a policy.
#[derive(Debug, Clone)]
enum Event {
    Select,
    /// The answer to one of the decisions so far arrives, for the first time or again.
    Answer {
        decision: u8,
        clicked: bool,
    },
    /// An answer arrives for a cell that may not exist.
    Strange {
        row: u8,
        column: u8,
        far: bool,
        clicked: bool,
    },
}

impl Arbitrary for Event {
    fn arbitrary(g: &mut Gen) -> Self {
        let clicked = bool::arbitrary(g);
        match u8::arbitrary(g) % 8 {
            0..4 => Self::Select,
            4..7 => Self::Answer { decision: u8::arbitrary(g), clicked },
            _ => {
                let (row, column) = (u8::arbitrary(g) % 8, u8::arbitrary(g) % 8);
                Self::Strange { row, column, far: bool::arbitrary(g), clicked }
            }
        }
    }
}

#[derive(Debug, Clone)]
struct Story {
    shape: TableShape,
    events: Vec<Event>,
    seed: u64,
}

impl Arbitrary for Story {
    fn arbitrary(g: &mut Gen) -> Self {
        let mut size = || 1 + usize::from(u8::arbitrary(g) % 5);
        let shape = TableShape::new(size(), size()).expect("valid");
        Self { shape, events: (0..300).map(|_| Event::arbitrary(g)).collect(), seed: u64::arbitrary(g) }
    }
}

struct Tell<'a> {
    story: &'a Story,
}

impl Visitor for Tell<'_> {
    fn visit<P>(&mut self, name: &str, model: &RankOneModel, mut policy: P)
    where
        P: Update<Cell, CellClick> + Serialize + DeserializeOwned + Clone + Debug + Send + Sync,
    {
        let mut rng = generator(self.story.seed);
        let mut decisions: Vec<Decision<Cell, P::Note>> = vec![];
        for event in &self.story.events {
            match *event {
                Event::Select => {
                    let mut decision = decisions.last().cloned().unwrap_or_default();
                    policy.select(&mut rng, &mut decision);
                    assert!(model.admits(&decision.action), "{name} plays {:?}", decision.action);
                    decisions.push(decision);
                }
                Event::Answer { decision, clicked } => {
                    if let Some(decision) = decisions.get(usize::from(decision) % decisions.len().max(1)) {
                        policy.update(decision, &CellClick { clicked });
                    }
                }
                Event::Strange { row, column, far, clicked } => {
                    let place = |place: u8| if far { u32::MAX - u32::from(place) } else { place.into() };
                    let note = decisions.last().map(|decision| decision.note.clone()).unwrap_or_default();
                    let decision = Decision { action: Cell::new(place(row), place(column)), note };
                    policy.update(&decision, &CellClick { clicked });
                }
            }
        }
    }
}

#[test]
fn any_story_ends_well() {
    #[expect(clippy::needless_pass_by_value, reason = "the form that quickcheck asks for")]
    fn ends_well(story: Story) -> bool {
        let model = RankOneModel::random(story.shape, &mut generator(story.seed));
        policies(&model, &mut Tell { story: &story });
        true
    }
    QuickCheck::new().tests(2000).quickcheck(ends_well as fn(Story) -> bool);
}

/// Answers that come two hundred rounds late, and one in ten not at all: the best cell is found all the same.
struct Late;

impl Visitor for Late {
    fn visit<P>(&mut self, name: &str, model: &RankOneModel, mut policy: P)
    where
        P: Update<Cell, CellClick> + Serialize + DeserializeOwned + Clone + Debug + Send + Sync,
    {
        let (mut rng, mut users) = (generator(1), generator(2));
        let mut waiting = VecDeque::new();
        let mut best = 0;
        for number in 0..60_000 {
            let mut decision = Decision::default();
            policy.select(&mut rng, &mut decision);
            best += u32::from(number >= 50_000 && model.gap(&decision.action) == 0.0);
            let feedback = model.respond(&decision.action, &mut users);
            if number % 10 > 0 {
                waiting.push_back((decision, feedback));
            }
            if waiting.len() > 200 {
                let (decision, feedback) = waiting.pop_front().expect("more than 200");
                policy.update(&decision, &feedback);
            }
        }
        // UCB1 still explores.
        let wanted = if name == "UCB1" { 6000 } else { 9000 };
        assert!(best >= wanted, "{name}: {best} of the last 10,000 rounds");
    }
}

#[test]
fn late_and_missing_answers_do_not_mislead() {
    policies(&RankOneModel::from_values(&[0.2, 0.9, 0.2], &[0.3, 0.3, 0.9]).expect("valid"), &mut Late);
}

/// Mean regret on the paper's needle with K = L = 32 after 200,000 rounds.
fn regret_on_the_needle<P: Update<Cell, CellClick>>(runs: u64, fresh: impl Fn(TableShape) -> P) -> f64 {
    let shape = TableShape::new(32, 32).expect("valid");
    let model = RankOneModel::needle(shape, (0.25, 0.5), (0.25, 0.5)).expect("valid");
    let one = |run| {
        let (mut rng, mut users) = (generator(2 * run), generator(2 * run + 1));
        let (mut policy, mut decision) = (fresh(shape), Decision::default());
        (0..200_000).map(|_| round(&model, &mut policy, &mut decision, &mut rng, &mut users)).sum::<f64>()
    };
    (0..runs).map(one).sum::<f64>() / runs as f64
}

/// UTS loses 960 on average with a standard deviation of 400 from run to run, so that 30 runs exceed 1,300 with a probability of about
/// 1e-6; rank1-gibbs 1,210 with one of 50. `Rank1ElimKL` loses 84,000.
#[test]
fn thompson_sampling_finds_the_papers_needle() {
    let uts = regret_on_the_needle(30, Uts::new);
    assert!(uts < 1300.0, "{uts}");
    let gibbs = regret_on_the_needle(6, Rank1Gibbs::new);
    assert!(gibbs < 1400.0, "{gibbs}");
    // A leader that is played for being one every 63rd time only is found out too late.
    let patient = regret_on_the_needle(30, |shape| Uts::leading_every(shape, 63));
    assert!(patient > 1300.0, "{patient}");
}

/// Where every cell is as good as any other nothing can be lost, and where one side has a single member the other is found.
struct Degenerate;

impl Visitor for Degenerate {
    fn visit<P>(&mut self, name: &str, model: &RankOneModel, mut policy: P)
    where
        P: Update<Cell, CellClick> + Serialize + DeserializeOwned + Clone + Debug + Send + Sync,
    {
        let (mut rng, mut users) = (generator(1), generator(2));
        let mut decision = Decision::default();
        let mut late = 0.0;
        for number in 0..40_000 {
            let regret = round(model, &mut policy, &mut decision, &mut rng, &mut users);
            late += if number < 30_000 { 0.0 } else { regret };
        }
        let worst = (0..model.shape().n_cells()).map(|cell| model.gap(&model.shape().cell(cell)));
        let worst = worst.fold(0.0, f64::max);
        assert!(late <= 0.05 * 10_000.0 * worst, "{name} on {model:?} loses {late} of {worst} a round");
    }
}

#[test]
fn odd_tables_are_played_well() {
    let plain = |rows: &[f64], columns: &[f64]| RankOneModel::from_values(rows, columns).expect("valid");
    for model in [
        plain(&[0.0, 0.0, 0.0], &[0.5, 0.9]),
        plain(&[0.5], &[0.1, 0.9, 0.1]),
        plain(&[0.1, 0.9, 0.1], &[0.7]),
        plain(&[0.4], &[0.6]),
        plain(&[0.1, 0.9, 0.9], &[0.9, 0.1, 0.9]),
        plain(&[0.5, 0.5], &[0.5, 0.5]),
        plain(&[1.0, 1.0], &[1.0, 0.0]),
    ] {
        policies(&model, &mut Degenerate);
    }
}

/// A horizon that stands for "unknown" is as long as any: stages end, and the best cell is found.
#[test]
fn the_longest_horizon_is_a_horizon() {
    let model = RankOneModel::from_values(&[0.1, 1.0], &[1.0, 0.1]).expect("valid");
    for horizon in [1 << 62, 1 << 63, u64::MAX] {
        Endless.visit("Rank1ElimKL", &model, Rank1Elim::kl(model.shape(), horizon));
        Endless.visit("Rank1Elim", &model, Rank1Elim::hoeffding(model.shape(), horizon));
        Endless.visit("UCB1Elim", &model, Ucb1Elim::new(model.shape(), horizon));
    }
}

struct Endless;

impl Visitor for Endless {
    fn visit<P>(&mut self, name: &str, model: &RankOneModel, mut policy: P)
    where
        P: Update<Cell, CellClick> + Serialize + DeserializeOwned + Clone + Debug + Send + Sync,
    {
        let (mut rng, mut users) = (generator(1), generator(2));
        let mut decision = Decision::default();
        for _ in 0..40_000 {
            round(model, &mut policy, &mut decision, &mut rng, &mut users);
        }
        assert_eq!(decision.action, model.optimal_action(), "{name}");
        let saved = serde_json::to_string(&policy).expect("a policy can be saved");
        serde_json::from_str::<P>(&saved).expect("a saved policy can be restored");
    }
}

// --- Choices ------------------------------------------------------------------------------------------------------------

/// Fresh policies that do not begin in a given order: the first cell is uniform. A count of 24,000 draws among 6 cells has mean 4,000 and
/// standard deviation 57.7; one is off by 400 with probability 1e-11 at most.
struct First;

impl Visitor for First {
    fn visit<P>(&mut self, name: &str, _: &RankOneModel, policy: P)
    where
        P: Update<Cell, CellClick> + Serialize + DeserializeOwned + Clone + Debug + Send + Sync,
    {
        if name.contains("Elim") {
            return;
        }
        let mut rng = generator(2);
        let mut decision = Decision::default();
        let mut counts = BTreeMap::new();
        for _ in 0..24_000 {
            policy.clone().select(&mut rng, &mut decision);
            *counts.entry(decision.action).or_insert(0_u64) += 1;
        }
        let is_uniform = counts.len() == 6 && counts.values().all(|count| count.abs_diff(4000) < 400);
        assert!(is_uniform, "{name}: {counts:?}");
    }
}

#[test]
fn the_first_cell_is_uniform() {
    let model = RankOneModel::from_values(&[0.5; 2], &[0.5; 3]).expect("valid");
    policies(&model, &mut First);
    First.visit("uniform", &model, UniformCell::new(model.shape()));
}

/// A line a policy: name, the cells of rounds 1, 2, 3, 10 and 1000, and the bits of the regret after 60,000 rounds.
struct Record {
    lines: Vec<String>,
}

impl Visitor for Record {
    fn visit<P>(&mut self, name: &str, model: &RankOneModel, mut policy: P)
    where
        P: Update<Cell, CellClick> + Serialize + DeserializeOwned + Clone + Debug + Send + Sync,
    {
        let (mut rng, mut users) = (generator(1), generator(2));
        let mut decision = Decision::default();
        let mut regret = 0.0;
        let mut cells = vec![];
        for number in 1..=60_000 {
            regret += round(model, &mut policy, &mut decision, &mut rng, &mut users);
            if [1, 2, 3, 10, 1000].contains(&number) {
                cells.push(format!("({}, {})", decision.action.row, decision.action.column));
            }
        }
        self.lines.push(format!("{name}: {} {:016x}", cells.join(" "), f64::to_bits(regret)));
    }
}

#[test]
fn choices_are_what_they_always_were() {
    let mut record = Record { lines: vec![] };
    let shape = TableShape::new(12, 16).expect("valid");
    policies(&RankOneModel::needle(shape, (0.25, 0.5), (0.25, 0.5)).expect("valid"), &mut record);
    let found = record.lines.join("\n");
    let expected = include_str!("data/rank_one_stability.txt");
    assert!(
        found == expected.trim_end(),
        "choices have changed, so experiments give other results than before. If that is intended, say so in the commit and put these \
         lines into tests/data/rank_one_stability.txt; if not, look for what changed.\n\n{found}\n"
    );
}
