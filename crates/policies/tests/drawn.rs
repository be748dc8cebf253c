//! Propensities: the draws are one round of each policy, and weights have mean 1.

use crate::support::generator;
use allocation_counter::measure;
use click_models::{
    Cascade, Clicks, ClicksOnly, ItemId, ListProtocol, ListShape, Pbm, PbmKnown, Ranking, SemiBandit,
};
use confidence::Probability;
use policies::catalogue::{CatalogueProtocol, PolicySpec, Protocol, rows};
use policies::{BuildError, Decision, Drawing, Drawn, NamedPolicy, PrefixTs, Propensity, Select, Update};
use rand::{Rng, RngExt};
use serde_json::{Value, json};

const N_ITEMS: usize = 4;
const N_POSITIONS: usize = 2;

/// Further draws of these policies change their state, but not the law of their lists: chains of
/// samples, random orders of equals, thresholds of thinned draws.
const CHAINS: [&str; 9] =
    ["pbm-gibbs", "pb-mhb", "top-rank", "batch-rank", "pbm-ts", "bc-mp-ts", "rsf-ts", "cascade-ts", "dcm-ts"];

fn shape() -> ListShape {
    ListShape::new(N_ITEMS, N_POSITIONS).expect("a shape")
}

fn drawing(draws: u32, epsilon: f64) -> Drawing {
    Drawing::new(draws, Probability::new(epsilon).expect("a probability")).expect("draws")
}

/// Builds the policies of a protocol.
type Build<I> = fn(PolicySpec) -> Result<NamedPolicy<I>, BuildError>;

fn pbm(spec: PolicySpec) -> Result<NamedPolicy<Pbm>, BuildError> {
    let examination = [0.5, 0.9].map(|examined| Probability::new(examined).expect("a probability"));
    NamedPolicy::build(spec, PbmKnown::new(shape(), &examination).expect("known"), 1_000)
}

/// Every list policy for the users of a protocol.
fn every<I: CatalogueProtocol>(build: Build<I>) -> impl Iterator<Item = (&'static str, NamedPolicy<I>)> {
    let rows = rows().iter().filter(|row| row.speaks(I::PROTOCOL) && row.is_built_from_knowledge());
    rows.map(move |row| (row.name, build(row.name.parse().expect("a policy")).expect("a policy")))
}

/// Better items have smaller numbers.
fn clicks(list: &Ranking, rng: &mut impl Rng) -> Clicks {
    list.by_position().fold(Clicks::new(list.len()), |clicks, (position, item)| {
        let is_clicked = rng.random_range(0..6) > item.index() + 1;
        if is_clicked { clicks.with(position) } else { clicks }
    })
}

fn list(items: [usize; N_POSITIONS]) -> Ranking {
    items.map(ItemId::from_index).into_iter().collect()
}

/// `Drawn` from its definition: every draw is made by a copy of the policy as it was.
fn decide_plainly<P: Select<Ranking> + Clone>(
    policy: &mut P,
    (draws, epsilon): (u32, f64),
    rng: &mut impl Rng,
) -> (Decision<Ranking, P::Note>, Vec<[f64; 2]>) {
    let before = policy.clone();
    let mut decisions = vec![Decision::default()];
    policy.select(rng, &mut decisions[0]);
    let shown = rng.random_range(0..draws) as usize;
    if before.clone().repeat_round() {
        decisions.resize(draws as usize, Decision::default());
        for decision in &mut decisions[1..] {
            before.clone().select(rng, decision);
        }
    }
    let mut decision = decisions[shown % decisions.len()].clone();
    if rng.random::<f64>() < epsilon {
        let first = rng.random_range(0..N_ITEMS);
        let second = std::iter::repeat_with(|| rng.random_range(0..N_ITEMS)).find(|&item| item != first);
        decision.action = list([first, second.expect("another one")]);
    }
    let (items, n) = (decision.action.as_slice(), decisions.len() as f64);
    let share = |holds: &dyn Fn(&[ItemId]) -> bool| {
        decisions.iter().filter(|drawn| holds(drawn.action.as_slice())).count() as f64 / n
    };
    let mixed = |share: f64, uniform: f64| (1.0 - epsilon) * share + epsilon * uniform;
    let first = mixed(share(&|drawn| drawn[0] == items[0]), 0.25);
    let second = mixed(share(&|drawn| drawn[1] == items[1]), 0.25);
    let both = mixed(share(&|drawn| drawn == items), 1.0 / 12.0);
    let propensities = vec![[first, first], [second, both]];
    (decision, propensities)
}

fn assert_one_round<I: CatalogueProtocol + ListProtocol>(build: Build<I>) {
    for (name, policy) in every(build) {
        let mut plain = policy.clone();
        let mut drawn = Drawn::new(policy, drawing(7, 0.1));
        let mut decision = Decision::default();
        let [mut rng, mut plain_rng, mut world] = [1, 1, 2].map(generator);
        for round in 0..400 {
            drawn.select(&mut rng, &mut decision);
            let found: Vec<[f64; 2]> = drawn.propensities().iter().map(|of| [of.item, of.prefix]).collect();
            for [item, prefix] in &found {
                assert!(*prefix > 0.0 && prefix <= item && *item <= 1.0, "{name}: {found:?}");
            }
            if CHAINS.contains(&name) {
                plain.select(&mut plain_rng, &mut Decision::default());
            } else {
                let (expected, propensities) = decide_plainly(&mut plain, (7, 0.1), &mut plain_rng);
                assert_eq!(decision, expected, "{name}, round {round}");
                let pairs = found.as_flattened().iter().zip(propensities.as_flattened());
                for (found, expected) in pairs {
                    assert!((found - expected).abs() < 1e-12, "{name}, round {round}: {found}, {expected}");
                }
            }
            let answer = I::read(clicks(&decision.action, &mut world), N_POSITIONS);
            drawn.update(&decision, &answer);
            plain.update(&decision, &answer);
            if round % 100 == 57 {
                // Restored as the policy, in both kinds of formats.
                let text = serde_json::to_string(&drawn).expect("saved");
                drawn = serde_json::from_str(&text).expect(name);
                let bytes = postcard::to_allocvec(&drawn).expect("saved");
                drawn = postcard::from_bytes(&bytes).expect(name);
                assert_eq!(serde_json::to_string(&drawn).expect("saved"), text, "{name}");
            }
        }
        let [drawn, plain] = [drawn.policy(), &plain].map(|policy| {
            let state = serde_json::to_value(policy).expect("saved");
            // Rounds, also inside tables.
            if CHAINS.contains(&name) { find(&state, "rounds").cloned().into() } else { state }
        });
        assert_eq!(drawn, plain, "{name}");
    }
}

fn find<'a>(state: &'a Value, key: &str) -> Option<&'a Value> {
    let fields = state.as_object()?;
    fields.get(key).or_else(|| fields.values().find_map(|value| find(value, key)))
}

#[test]
fn draws_are_one_round_of_every_policy() {
    assert_one_round::<Pbm>(pbm);
    assert_one_round::<Cascade>(|spec| NamedPolicy::build(spec, shape(), 1_000));
    assert_one_round::<SemiBandit>(|spec| NamedPolicy::build(spec, shape(), 1_000));
    assert_one_round::<ClicksOnly>(|spec| NamedPolicy::build(spec, shape(), 1_000));
}

#[test]
fn decisions_allocate_nothing_after_the_first() {
    fn check<I: CatalogueProtocol + ListProtocol>(build: Build<I>) {
        for (name, policy) in every(build) {
            let mut policy = Drawn::new(policy, drawing(20, 0.2));
            let (mut decision, mut rng) = (Decision::default(), generator(1));
            let mut play = |rounds| {
                for _ in 0..rounds {
                    policy.select(&mut rng, &mut decision);
                    let answer = I::read(Clicks::new(N_POSITIONS).with(1), N_POSITIONS);
                    policy.update(&decision, &answer);
                }
            };
            play(1);
            assert_eq!(measure(|| play(300)).count_total, 0, "{name}");
        }
    }
    check::<Pbm>(pbm);
    check::<Cascade>(|spec| NamedPolicy::build(spec, shape(), 1_000));
}

/// Mean weights of one ranking under the three levels, with the distance of each from 1 in standard
/// errors. The policy learns, and begins anew every 500 decisions.
fn mean_weights<I: CatalogueProtocol + ListProtocol>(
    (build, name): (Build<I>, &str),
    (draws, decisions): (u32, u32),
    are_fresh: bool,
) -> [[f64; 2]; 3] {
    const EPSILON: f64 = 0.05;
    let target = list([1, 0]);
    let mut rng = generator(3);
    let mut sums = [[0.0; 2]; 3];
    let mut decision = Decision::default();
    let new =
        || Drawn::new(build(name.parse().expect("a policy")).expect("a policy"), drawing(draws, EPSILON));
    let mut policy = new();
    for round in 0..decisions {
        if round % 500 == 0 {
            policy = new();
        }
        let before = are_fresh.then(|| policy.policy().clone());
        policy.select(&mut rng, &mut decision);
        let mut found = policy.propensities().to_vec();
        if let Some(mut other) = before {
            // The shares among lists none of which is shown.
            let mut counts = [0.0; 3];
            let mut fresh = Decision::default();
            for _ in 0..draws {
                other.select(&mut rng, &mut fresh);
                assert!(other.repeat_round());
                let same = |position: usize| fresh.action[position] == decision.action[position];
                let holds = [same(0), same(1), same(0) && same(1)];
                counts.iter_mut().zip(holds).for_each(|(count, holds)| *count += f64::from(u8::from(holds)));
            }
            let [first, second, both] = counts.map(|count| (1.0 - EPSILON) * count / f64::from(draws));
            let uniform = EPSILON / N_ITEMS as f64;
            found = vec![
                Propensity { item: first + uniform, prefix: first + uniform },
                Propensity { item: second + uniform, prefix: both + uniform / (N_ITEMS - 1) as f64 },
            ];
        }
        let same = |position: usize| decision.action[position] == target[position];
        let weights = [
            if same(0) { 1.0 / found[0].item } else { 0.0 },
            if same(1) { 1.0 / found[1].item } else { 0.0 },
            if same(0) && same(1) { 1.0 / found[1].prefix } else { 0.0 },
        ];
        for (sum, weight) in sums.iter_mut().zip(weights) {
            sum[0] += weight;
            sum[1] += weight * weight;
        }
        let answer = I::read(clicks(&decision.action, &mut rng), N_POSITIONS);
        policy.update(&decision, &answer);
    }
    let n = f64::from(decisions);
    sums.map(|[sum, squares]| {
        let mean = sum / n;
        [mean, (mean - 1.0) / ((squares / n - mean * mean) / n).sqrt()]
    })
}

const JUDGED: [&str; 5] = ["pbm-ts", "pbm-gibbs", "epsilon-greedy", "cascade-ts", "cascade-ucb1"];

fn judged(name: &str, settings: (u32, u32), are_fresh: bool) -> [[f64; 2]; 3] {
    let spec: PolicySpec = name.parse().expect("a policy");
    if spec.speaks(Protocol::PositionBased) {
        return mean_weights::<Pbm>((pbm, name), settings, are_fresh);
    }
    mean_weights::<Cascade>((|spec| NamedPolicy::build(spec, shape(), 1_000), name), settings, are_fresh)
}

fn assert_mean_weights(draws: u32, decisions: u32) {
    for name in JUDGED {
        let weights = judged(name, (draws, decisions), false);
        println!("{name}, {draws} draws: {weights:.3?}");
        for [mean, distance] in weights {
            assert!(
                distance.abs() < 3.0,
                "{name}, {draws} draws: mean weight {mean}, {distance} errors from 1"
            );
        }
        let wrong = judged(name, (draws, decisions), true);
        println!("{name}, {draws} fresh draws: {wrong:.3?}");
        // A deterministic policy draws the same lists again, unless items are equal.
        let fails = wrong.iter().any(|[_, distance]| distance.abs() > 3.0);
        assert!(fails || name == "cascade-ucb1", "{name}: fresh draws pass: {wrong:?}");
    }
}

#[test]
fn weights_have_mean_1_and_those_of_fresh_draws_do_not() {
    assert_mean_weights(20, 10_000);
}

#[test]
#[ignore = "a minute: the judged numbers of decisions"]
fn weights_have_mean_1_over_many_decisions() {
    for draws in [20, 100] {
        assert_mean_weights(draws, 200_000);
    }
}

#[test]
fn invalid_numbers_of_draws_are_refused() {
    let epsilon = Probability::new(0.05).expect("a probability");
    for draws in [0, Drawing::MOST_DRAWS + 1] {
        let error = Drawing::new(draws, epsilon).expect_err("refused").to_string();
        assert!(error.contains(&format!("{draws} draws of a list: expected 1 to 10000")), "{error}");
    }
    let policy = Drawn::new(PrefixTs::new(shape()), drawing(3, 0.1));
    let mut saved = serde_json::to_value(&policy).expect("saved");
    saved["drawing"]["draws"] = json!(0);
    let error = serde_json::from_value::<Drawn<PrefixTs>>(saved).expect_err("refused").to_string();
    assert!(error.contains("0 draws of a list"), "{error}");
}
