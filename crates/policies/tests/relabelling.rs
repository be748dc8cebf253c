//! Relabelling the items relabels the choices.
//!
//! Which item wins a tie depends on its number, by a hash, so two runs that differ in the numbers alone need not be each other's
//! image; their laws must be. Every policy plays 1,500 runs of 60 rounds on an instance and on its relabelled image, and how often
//! each item stands at each position is compared. Of 1,080 differences, as good as normal, some is beyond 6.5 standard errors by chance with
//! probability 9e-8. With a standard deviation of about 10 displays a run, a difference of 3 of 60 displays is seen.

use crate::support::{
    Visitor, generator, position_based_policies, prefix_policies, round, stopping_policies,
};
use click_models::{
    CascadeModel, ClickModel, DcmReward, DependentClick, Feedback, Interaction, ItemId, ListShape,
    ObservedPrefix, PositionBased, RandomSemiBandit, Ranking,
};
use policies::{Decision, Select, Update};
use rand::Rng;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use std::collections::BTreeMap;
use std::fmt::Debug;

const RUNS: u32 = 1500;
const ROUNDS: u32 = 60;
const ATTRACTION: [f64; 5] = [0.6, 0.5, 0.3, 0.2, 0.1];
/// The new number of every item.
const LABELS: [usize; 5] = [3, 0, 4, 2, 1];

fn relabelled() -> [f64; 5] {
    let mut attraction = [0.0; 5];
    for (&label, probability) in LABELS.iter().zip(ATTRACTION) {
        attraction[label] = probability;
    }
    attraction
}

/// Displays of an item at a position: the sum over the runs, and the sum of squares.
type Displays = BTreeMap<(usize, usize), (f64, f64)>;

/// Counts what every policy shows, by its old labels.
struct Count<'a> {
    /// Old labels by new ones; none when these are the old ones.
    old: Option<&'a [usize; 5]>,
    seed: u64,
    found: BTreeMap<String, Displays>,
}

impl<M> Visitor<M> for Count<'_>
where
    M: ClickModel,
    M::Interaction: Interaction<Action = Ranking>,
{
    fn visit<P>(&mut self, name: &str, model: &M, policy: P)
    where
        P: Update<Ranking, Feedback<M>> + Serialize + DeserializeOwned + Clone + Debug + Send + Sync,
    {
        let (mut rng, mut users) = (generator(self.seed), generator(self.seed + 1));
        let mut decision = Decision::default();
        let mut displays = Displays::new();
        for _ in 0..RUNS {
            let mut policy = policy.clone();
            let mut run = BTreeMap::new();
            for _ in 0..ROUNDS {
                round(model, &mut policy, &mut decision, &mut rng, &mut users);
                for (position, item) in decision.action.by_position() {
                    let item = self.old.map_or(item.index(), |old| old[item.index()]);
                    *run.entry((item, position)).or_insert(0.0) += 1.0;
                }
            }
            for (cell, shown) in run {
                let (sum, squares) = displays.entry(cell).or_insert((0.0, 0.0));
                *sum += shown;
                *squares += shown * shown;
            }
        }
        self.found.insert(name.to_owned(), displays);
    }
}

/// The largest difference of any cell, in standard errors.
fn largest_z(one: &Displays, other: &Displays) -> f64 {
    let runs = f64::from(RUNS);
    let mean_and_error = |displays: &Displays, cell| {
        let (sum, squares): (f64, f64) = displays.get(cell).copied().unwrap_or_default();
        (sum / runs, (squares / runs - (sum / runs).powi(2)).max(0.0) / runs)
    };
    let z = |cell| {
        let ((one, error), (other, other_error)) = (mean_and_error(one, cell), mean_and_error(other, cell));
        // Displays that never vary must agree.
        if one == other { 0.0 } else { (one - other).abs() / (error + other_error).sqrt() }
    };
    one.keys().chain(other.keys()).map(z).fold(0.0, f64::max)
}

/// Plays `everyone` with the old labels and with the new ones, and gives each policy's largest difference.
fn differences(everyone: impl Fn(&[f64; 5], &mut Count<'_>)) -> Vec<(String, f64)> {
    let mut old = [0; 5];
    for (item, &label) in LABELS.iter().enumerate() {
        old[label] = item;
    }
    let mut before = Count { old: None, seed: 1, found: BTreeMap::new() };
    everyone(&ATTRACTION, &mut before);
    let mut after = Count { old: Some(&old), seed: 3, found: BTreeMap::new() };
    everyone(&relabelled(), &mut after);
    let z = |(name, displays): (String, Displays)| (name.clone(), largest_z(&displays, &after.found[&name]));
    before.found.into_iter().map(z).collect()
}

fn assert_alike(model: &str, differences: &[(String, f64)]) {
    for (name, z) in differences {
        assert!(*z < 6.5, "{name}, {model}: {z} standard errors");
    }
}

#[test]
fn relabelling_items_relabels_choices() {
    let found = differences(|attraction, count| {
        let model = PositionBased::from_values(attraction, &[0.9, 0.3, 0.6]).expect("a valid instance");
        position_based_policies(&model, count);
    });
    assert_alike("position-based", &found);
    let found = differences(|attraction, count| {
        let model = RandomSemiBandit::from_values(attraction, &[1.0, 0.8, 0.5]).expect("a valid instance");
        prefix_policies(&model, model.shape().into(), count);
    });
    assert_alike("semi-bandit", &found);
    let found = differences(|attraction, count| {
        let model = CascadeModel::from_values(attraction, 3).expect("a valid instance");
        prefix_policies(&model, model.shape().into(), count);
        stopping_policies(&model, count);
    });
    assert_alike("cascade", &found);
    let found = differences(|attraction, count| {
        let model = DependentClick::from_values(attraction, &[0.5, 0.9, 0.2], DcmReward::Satisfaction)
            .expect("a valid instance");
        prefix_policies(&model, model.known().into(), count);
    });
    assert_alike("dependent clicks", &found);
}

/// The items of largest mean, where equal ones go by number.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct LowestFirst {
    shape: ListShape,
    shows: [u32; 5],
    clicks: [u32; 5],
}

impl Select<Ranking> for LowestFirst {
    type Note = ();

    fn select<R: Rng + ?Sized>(&mut self, _: &mut R, out: &mut Decision<Ranking>) {
        let mean = |item: usize| f64::from(self.clicks[item]) / f64::from(self.shows[item].max(1));
        let mut items: Vec<usize> = (0..self.shape.n_items()).collect();
        items.sort_by(|&a, &b| mean(b).total_cmp(&mean(a)));
        out.action = items.into_iter().take(self.shape.n_positions()).map(ItemId::from_index).collect();
    }
}

impl<F: ObservedPrefix> Update<Ranking, F> for LowestFirst {
    fn update(&mut self, decision: &Decision<Ranking>, feedback: &F) {
        let clicks = feedback.observed_clicks();
        for (position, item) in decision.action.by_position().take(clicks.len()) {
            self.shows[item.index()] += 1;
            self.clicks[item.index()] += u32::from(clicks.get(position));
        }
    }
}

#[test]
fn ties_to_the_lowest_number_are_caught() {
    let found = differences(|attraction, count| {
        let model = CascadeModel::from_values(attraction, 3).expect("a valid instance");
        let policy = LowestFirst { shape: model.shape(), shows: [0; 5], clicks: [0; 5] };
        count.visit("LowestFirst", &model, policy);
    });
    assert!(found[0].1 > 6.5, "{found:?}");
}
