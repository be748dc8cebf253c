//! Policies of the catalogue that are used live, by name: tables, items that come and go, saving.

use crate::support::{generator, saved::for_each_damage};
use allocation_counter::measure;
use click_models::{
    Cascade, CascadeFeedback, Clicks, Context, ItemId, ItemSet, ListShape, Pbm, PbmFeedback, PbmKnown,
    PrefixFeedback, RankOne, Ranking, SemiBandit, TableShape,
};
use confidence::Probability;
use confidence::math::{ln, ln_1p};
use policies::catalogue::{CatalogueProtocol, Live, NamedLive, PolicySpec, Protocol, rows};
use policies::{
    AnyPolicy, BuildError, Decision, Error, NamedPolicy, Prior, Select, SelectAmongFor, SelectFor, Tallies,
    Tally, Update,
};
use rand::{Rng, RngExt};
use serde_json::{Value, json};

const N_POSITIONS: usize = 3;

type Lists = Decision<Ranking, Context>;

/// The operations of the tests on a policy, whatever its protocol.
trait Table: Tallies {
    fn set_prior(&mut self, prior: Prior) -> Result<(), Error>;
    fn among(&mut self, available: &ItemSet, rng: &mut dyn Rng, out: &mut Lists);
    fn saved(&self) -> Value;
    fn restored(&self, saved: &Value) -> Result<Box<dyn Table>, String>;
    fn by_bytes(&self) -> Box<dyn Table>;
}

impl<I: CatalogueProtocol<Action = Ranking>> Table for NamedLive<I> {
    fn set_prior(&mut self, prior: Prior) -> Result<(), Error> {
        NamedLive::set_prior(self, prior)
    }

    fn among(&mut self, available: &ItemSet, mut rng: &mut dyn Rng, out: &mut Lists) {
        self.select_among_for(&Context::default(), available, &mut rng, out);
    }

    fn saved(&self) -> Value {
        serde_json::to_value(self).expect("a policy can be saved")
    }

    fn restored(&self, saved: &Value) -> Result<Box<dyn Table>, String> {
        let restored = serde_json::from_value::<Self>(saved.clone());
        restored.map(|policy| Box::new(policy) as _).map_err(|error| error.to_string())
    }

    fn by_bytes(&self) -> Box<dyn Table> {
        let bytes = postcard::to_allocvec(self).expect("a policy can be saved");
        Box::new(postcard::from_bytes::<Self>(&bytes).expect("a saved policy"))
    }
}

/// The policy of this name for this number of items.
fn table(name: &str, n_items: usize) -> Box<dyn Table> {
    let shape = ListShape::new(n_items, N_POSITIONS).expect("a shape");
    let spec: PolicySpec = name.parse().expect("a policy");
    if spec.speaks(Protocol::Cascade) {
        return Box::new(NamedLive::<Cascade>::build(spec, shape, None).expect("a table"));
    }
    let examination = [0.5, 0.9, 0.3].map(|examined| Probability::new(examined).expect("a probability"));
    let known = PbmKnown::new(shape, &examination).expect("known");
    Box::new(NamedLive::<Pbm>::build(spec, known, None).expect("a table"))
}

fn names() -> impl Iterator<Item = &'static str> {
    rows().iter().filter(|row| row.live == Live::Table).map(|row| row.name)
}

fn tally(shows: u64, clicks: u64) -> Tally {
    Tally { shows, clicks }
}

/// Random changes of items and tallies.
fn change(policy: &mut dyn Table, rounds: u32, rng: &mut impl Rng) {
    for _ in 0..rounds {
        let item = ItemId::from_index(rng.random_range(0..policy.n_items() + 1));
        let kind = rng.random_range(0..policy.n_kinds() + 1);
        let shows = rng.random_range(0..4);
        match rng.random_range(0..12) {
            0..6 => policy.add(item, kind, tally(shows, rng.random_range(0..=shows))),
            6..10 => policy.take_back(item, kind, tally(shows, rng.random_range(0..=shows))),
            10 => policy.set_present(item, rng.random()),
            _ if rng.random_range(0..5) == 0 => _ = policy.add_item(),
            _ => {}
        }
    }
}

fn some(n_items: usize, share: f64, rng: &mut impl Rng) -> ItemSet {
    let mut available = ItemSet::none(n_items + 2);
    for item in (0..n_items + 2).filter(|_| rng.random::<f64>() < share) {
        available.insert(ItemId::from_index(item));
    }
    available
}

/// Both choose the same lists, while items and tallies change.
fn assert_alike(name: &str, one: &mut dyn Table, other: &mut dyn Table, rounds: u32) {
    let mut world = generator(7);
    let [mut rng, mut other_rng] = [3, 3].map(generator);
    let [mut decision, mut other_decision] = [Decision::default(), Decision::default()];
    for round in 0..rounds {
        let available = some(one.n_items(), [0.03, 0.4, 0.9][round as usize % 3], &mut world);
        one.among(&available, &mut rng, &mut decision);
        other.among(&available, &mut other_rng, &mut other_decision);
        assert_eq!(decision, other_decision, "{name}, round {round}");
        let list = decision.action.as_slice();
        assert!(list.iter().all(|&item| available.contains(item) && item.index() < one.n_items()), "{name}");
        for (position, item) in decision.action.by_position() {
            let kind = position.min(one.n_kinds() - 1);
            let seen = tally(1, u64::from(world.random_range(0..40) < item.index() % 23));
            one.add(item, kind, seen);
            other.add(item, kind, seen);
        }
        let mut again = world.clone();
        change(one, 2, &mut world);
        change(other, 2, &mut again);
    }
    assert_eq!(one.saved(), other.saved(), "{name}");
}

#[test]
fn eighteen_policies_are_used_live_with_a_table() {
    assert_eq!(names().count(), 18);
    assert_eq!(rows().iter().filter(|row| row.live == Live::InOrder).count(), 16);
}

#[test]
fn other_policies_are_refused_by_name_with_what_they_can_do() {
    let shape = ListShape::new(5, N_POSITIONS).expect("a shape");
    let refused = |name: &str| {
        let refusal = NamedLive::<Cascade>::build(name.parse().expect("a policy"), shape, None);
        refusal.expect_err("not live").to_string()
    };
    for row in rows().iter().filter(|row| row.live != Live::Table && row.is_built_from_knowledge()) {
        let message = refused(row.name);
        let can = if row.live == Live::No { "no lists" } else { "in the order of its decisions" };
        assert!(message.contains(row.name) && message.contains(can), "{message}");
    }
    let cells = TableShape::new(3, 2).expect("a shape");
    let cells = NamedPolicy::<RankOne>::build("kl-ucb".parse().expect("a policy"), cells, None);
    let refusal =
        NamedLive::<RankOne>::try_from(AnyPolicy::from(cells.expect("a policy"))).expect_err("no lists");
    assert!(matches!(refusal, BuildError::NotLive { policy: "kl-ucb", .. }));
}

/// Observations that were added and taken back leave no trace.
#[test]
fn the_table_determines_the_state() {
    for name in names() {
        let mut changed = table(name, 6);
        change(&mut *changed, 3000, &mut generator(1));
        let mut told = table(name, 6);
        while told.n_items() < changed.n_items() {
            told.add_item();
        }
        let mut n_clicks = 0;
        for item in (0..changed.n_items()).map(ItemId::from_index) {
            changed.set_present(item, true);
            for kind in 0..changed.n_kinds() {
                let seen = changed.tally(item, kind);
                told.add(item, kind, seen);
                changed.add(item, kind, Tally::default());
                n_clicks += seen.clicks;
            }
        }
        assert!(n_clicks > 20, "{name}");
        // The order in which thinning keeps the items depends on their history.
        let [one, other] = [changed, told].map(|policy| {
            let mut state = policy.saved()["state"].take();
            state.as_object_mut().expect("a state").remove("draws");
            state
        });
        assert_eq!(one, other, "{name}");
    }
}

#[test]
fn short_lists_fill_the_top_positions() {
    for name in names() {
        let mut policy = table(name, 6);
        policy.set_present(ItemId::new(4), false);
        let (mut available, mut decision) = (ItemSet::none(9), Decision::default());
        let mut expected = vec![];
        for item in [8, 4, 5, 1].map(ItemId::new) {
            policy.among(&available, &mut generator(1), &mut decision);
            let mut items = decision.action.as_slice().to_vec();
            items.sort_unstable();
            assert_eq!(items, expected, "{name}");
            available.insert(item);
            if item.index() < 6 && item != ItemId::new(4) {
                expected.push(item);
                expected.sort_unstable();
            }
        }
        // The better one is where users look most: of positions 0 and 1 with known examination at
        // position 1, otherwise at the top.
        if name == "pbm-ucb" || name == "cascade-ucb1" {
            for kind in 0..policy.n_kinds() {
                policy.add(ItemId::new(1), kind, tally(1000, 900));
                policy.add(ItemId::new(5), kind, tally(1000, 100));
            }
            policy.among(&available, &mut generator(1), &mut decision);
            let better = usize::from(name == "pbm-ucb");
            assert_eq!(decision.action[better], ItemId::new(1), "{name}");
        }
    }
}

#[test]
fn restored_policies_choose_as_the_original() {
    for name in names() {
        for n_items in [4, 700] {
            let mut policy = table(name, n_items);
            let is_bayesian = policy.set_prior(Prior::new(1.5, 4.0).expect("a prior")).is_ok();
            assert_eq!(
                is_bayesian,
                name.contains("-ts") && name != "ts-cascade" || name == "pbm-gibbs",
                "{name}"
            );
            let (mut world, mut rng, mut decision) = (generator(5), generator(6), Decision::default());
            for _ in 0..300 {
                change(&mut *policy, 5, &mut world);
                let available = some(policy.n_items(), 0.7, &mut world);
                policy.among(&available, &mut rng, &mut decision);
            }
            let saved = policy.saved();
            assert!(saved["state"].to_string().contains("\"absent\""), "{name}");
            let mut restored = policy.restored(&saved).expect("a saved policy");
            assert_eq!(restored.saved(), saved, "{name}");
            let mut of_bytes = policy.by_bytes();
            let mut original = policy.restored(&saved).expect("a saved policy");
            assert_alike(name, &mut *original, &mut *of_bytes, 200);
            assert_alike(name, &mut *policy, &mut *restored, 200);
        }
    }
}

/// Older states end where live use begins now.
#[test]
fn older_states_are_read() {
    for name in names() {
        let spec: PolicySpec = name.parse().expect("a policy");
        let shape = ListShape::new(5, N_POSITIONS).expect("a shape");
        if !spec.speaks(Protocol::Cascade) {
            continue;
        }
        let policy = NamedPolicy::<Cascade>::build(spec, shape, None).expect("a policy");
        let bytes = postcard::to_allocvec(&policy).expect("bytes");
        let (&live, older) = bytes.split_last().expect("not empty");
        assert_eq!(live, 0, "{name}");
        let read: NamedPolicy<Cascade> = postcard::from_bytes(older).expect("an older state");
        let saved = serde_json::to_value(&read).expect("a policy can be saved");
        let mut older = saved.clone();
        let state = older["state"].as_object_mut().expect("a state");
        assert_eq!(state.remove("live"), Some(Value::Null), "{name}");
        let read: NamedPolicy<Cascade> = serde_json::from_value(older).expect("an older state");
        assert_eq!(serde_json::to_value(&read).expect("a policy can be saved"), saved, "{name}");
    }
}

#[test]
fn damaged_states_are_refused_or_usable() {
    let (mut refused, mut accepted) = (0, 0);
    for name in names() {
        let mut policy = table(name, 5);
        change(&mut *policy, 60, &mut generator(2));
        policy.set_present(ItemId::new(2), false);
        policy.set_prior(Prior::new(1.5, 4.0).expect("a prior")).ok();
        for_each_damage(&policy.saved(), |damaged| match policy.restored(damaged) {
            Err(error) => {
                assert!(!error.is_empty());
                refused += 1;
            }
            Ok(mut usable) => {
                accepted += 1;
                let mut decision = Decision::default();
                usable.among(&ItemSet::all(9), &mut generator(1), &mut decision);
                change(&mut *usable, 10, &mut generator(3));
                usable.among(&ItemSet::all(9), &mut generator(1), &mut decision);
            }
        });
        let mut absent = policy.saved();
        absent["state"]["live"] = json!({ "absent": [u32::MAX] });
        let is_nested = absent["state"].get("run").is_some();
        assert!(is_nested || policy.restored(&absent).is_err_and(|error| error.contains(name)), "{name}");
    }
    assert!(refused > 500 && accepted > 500, "{refused}, {accepted}");
}

#[test]
fn choosing_and_counting_allocate_nothing() {
    for name in names() {
        for n_items in [40, 700] {
            let mut policy = table(name, n_items);
            policy.set_present(ItemId::new(1), false);
            let (mut rng, mut decision) = (generator(1), Decision::default());
            let sets = [0.02, 0.3, 0.9].map(|share| some(n_items, share, &mut generator(9)));
            let mut play = |rounds: usize| {
                for round in 0..rounds {
                    policy.among(&sets[round % 3], &mut rng, &mut decision);
                    for (position, item) in decision.action.by_position() {
                        let kind = position.min(policy.n_kinds() - 1);
                        policy.add(item, kind, tally(1, (round % 7 == 0).into()));
                        if round % 3 == 0 {
                            policy.take_back(item, kind, tally(1, 0));
                        }
                    }
                }
            };
            // The table of `uniform` grows with its first counts.
            play(2000);
            assert_eq!(measure(|| play(2000)).count_total, 0, "{name}, {n_items} items");
        }
    }
}

#[test]
fn bad_priors_are_refused() {
    for (a, b) in
        [(0.0, 1.0), (-1.0, 2.0), (f64::NAN, 1.0), (1.0, f64::NAN), (1.0, 0.99), (f64::INFINITY, 1.0)]
    {
        let error = Prior::new(a, b).expect_err("no prior").to_string();
        assert!(error.contains(&format!("Beta({a}, {b})")), "{error}");
    }
    let half = Prior::new(0.5, 4.5).expect("a prior");
    let accept: Vec<&str> = names().filter(|name| table(name, 5).set_prior(half).is_ok()).collect();
    assert_eq!(accept, ["bc-mp-ts", "rsf-ts", "cascade-ts", "dcm-ts"]);
    let error = table("pbm-ts", 5).set_prior(half).expect_err("no prior").to_string();
    assert_eq!(error, "the prior Beta(0.5, 4.5): this policy needs a of at least 1");
}

/// A catalogue that begins empty, as a service does, and grows to where draws are thinned.
#[test]
fn items_are_added_one_by_one() {
    for name in names() {
        let mut policy = table(name, N_POSITIONS);
        for item in 0..3 {
            policy.set_present(ItemId::new(item), false);
        }
        let (mut rng, mut decision) = (generator(1), Decision::default());
        for n_items in N_POSITIONS..1200 {
            let available = ItemSet::all(n_items);
            if n_items % 10 == 0 {
                policy.among(&available, &mut rng, &mut decision);
                assert_eq!(decision.action.len(), N_POSITIONS.min(n_items - 3), "{name}");
                let item = decision.action[0];
                policy.add(item, 0, tally(1, u64::from(item.index() > 600)));
            }
            assert_eq!(policy.add_item(), ItemId::from_index(n_items));
        }
        let saved = policy.saved();
        let mut restored = policy.restored(&saved).expect("a saved policy");
        assert_alike(name, &mut *policy, &mut *restored, 30);
    }
}

/// `select` on a policy without some items is a full list of all.
#[test]
fn select_ignores_presence() {
    let shape = ListShape::new(3, N_POSITIONS).expect("a shape");
    let mut policy = NamedLive::<Cascade>::build(PolicySpec::CascadeTs {}, shape, None).expect("a table");
    policy.set_present(ItemId::new(0), false);
    let mut decision = Decision::default();
    policy.select_for(&Context::default(), &mut generator(1), &mut decision);
    assert!(decision.action.fits(shape));
}

/// Plays a policy of indices, and compares every list with its scores.
fn plays_by_its_scores<I: CatalogueProtocol<Action = Ranking>>(
    mut policy: NamedPolicy<I>,
    feedback: impl Fn(&Ranking, u64) -> I::Feedback,
) {
    let (mut rng, mut decision) = (generator(7), Decision::default());
    for _ in 0..300 {
        let scores = policy.scores().expect("a table");
        policy.select(&mut rng, &mut decision);
        let shown = |item: usize| decision.action.iter().any(|other| other.index() == item);
        let least = (0..scores.len())
            .filter(|&item| shown(item))
            .map(|item| scores[item])
            .fold(f64::INFINITY, f64::min);
        for item in (0..scores.len()).filter(|&item| !shown(item)) {
            assert!(
                scores[item] <= least * (1.0 + 1e-12),
                "{:?}: {scores:?}, {:?}",
                policy.spec(),
                decision.action
            );
        }
        policy.update(&decision, &feedback(&decision.action, rng.next_u64()));
    }
}

#[test]
fn the_items_of_largest_index_are_shown() {
    let shape = ListShape::new(8, N_POSITIONS).expect("a shape");
    let clicks = |draw: u64| Clicks::from_bits(draw >> 61 & draw >> 7, N_POSITIONS).expect("three positions");
    for name in ["rsf-ucb", "rsf-kl-ucb", "cascade-ucb1", "cascade-kl-ucb", "cascade-ucb-v", "dcm-kl-ucb"] {
        let policy = NamedPolicy::<SemiBandit>::build(name.parse().expect("a policy"), shape, None);
        plays_by_its_scores(policy.expect(name), |_, draw| PrefixFeedback { clicks: clicks(draw) });
    }
    let examination = [0.5, 0.9, 0.3].map(|examined| Probability::new(examined).expect("a probability"));
    for name in ["pbm-ucb", "pbm-kl-ucb"] {
        let known = PbmKnown::new(shape, &examination).expect("known");
        let policy = NamedPolicy::<Pbm>::build(name.parse().expect("a policy"), known, None);
        plays_by_its_scores(policy.expect(name), |_, draw| PbmFeedback { clicks: clicks(draw) });
    }
    assert!(
        NamedPolicy::<Cascade>::build(PolicySpec::TopRank {}, shape, 100).expect("built").scores().is_none()
    );
}

#[test]
fn scores_without_indices_are_means() {
    let shape = ListShape::new(4, N_POSITIONS).expect("a shape");
    let mut policy =
        NamedPolicy::<Cascade>::build("cascade-ts".parse().expect("a policy"), shape, None).expect("built");
    assert_eq!(policy.scores().expect("a table"), [0.5; 4]);
    let decision =
        Decision { action: [2, 0, 1].map(ItemId::new).into_iter().collect(), ..Decision::default() };
    policy.update(&decision, &CascadeFeedback::new(Some(1), N_POSITIONS).expect("a click"));
    assert_eq!(policy.scores().expect("a table"), [2.0 / 3.0, 0.5, 1.0 / 3.0, 0.5]);
    let table = policy.tallies().expect("a table");
    assert_eq!(table.tally(ItemId::new(0), 0), Tally { shows: 1, clicks: 1 });
    let mut uniform = NamedPolicy::<Cascade>::build(PolicySpec::Uniform {}, shape, None).expect("built");
    assert!(uniform.scores().expect("a table").iter().all(|score| score.is_nan()));
}

/// Beside sums over a fine grid of attractions.
#[test]
fn posterior_means_are_those_of_the_density() {
    let tally = |shows, clicks| Tally { shows, clicks };
    let cases: [(f64, f64, &[Tally], &[f64]); 5] = [
        (1.0, 1.0, &[tally(10, 4), tally(30, 5)], &[1.0, 0.3]),
        (2.5, 7.0, &[tally(0, 0), tally(12, 12)], &[0.9, 0.6]),
        (1.0, 1.0, &[tally(50, 0), tally(700, 1)], &[0.8, 0.01]),
        (0.5, 9.5, &[tally(400, 30), tally(90, 2)], &[0.7, 0.2]),
        (1.0, 1.0, &[tally(40_000, 9_000), tally(60_000, 4_000)], &[0.9, 0.3]),
    ];
    for (a, b, tallies, examination) in cases {
        let log_density = |x: f64| {
            let of_kinds = tallies.iter().zip(examination).map(|(tally, examined)| {
                tally.clicks as f64 * ln(x) + (tally.shows - tally.clicks) as f64 * ln_1p(-examined * x)
            });
            (a - 1.0) * ln(x) + (b - 1.0) * ln(1.0 - x) + of_kinds.sum::<f64>()
        };
        let grid: Vec<f64> = (0..2_000_000).map(|place| (f64::from(place) + 0.5) / 2e6).collect();
        let largest = grid.iter().map(|&x| log_density(x)).fold(f64::NEG_INFINITY, f64::max);
        let weights: Vec<f64> = grid.iter().map(|&x| libm::exp(log_density(x) - largest)).collect();
        let mean = grid.iter().zip(&weights).map(|(x, weight)| x * weight).sum::<f64>()
            / weights.iter().sum::<f64>();
        let found = Prior::new(a, b).expect("a prior").posterior_mean(tallies, examination);
        assert!((found - mean).abs() < 1e-6 * mean.max(0.01), "{found} {mean}");
    }
}
