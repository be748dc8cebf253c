//! A prior that is estimated while the policy runs.

use click_models::{Cascade, ClickModel as _, ItemId, ListShape, Pbm, PositionBased};
use confidence::Probability;
use live::{Among, Error, Live, Settings};
use policies::catalogue::NamedLive;
use policies::{Bayesian as _, PbmTs, PrefixTs, PrefixUcb, Prior};
use rand::{Rng, RngExt as _, SeedableRng, rngs::ChaCha8Rng};
use rand_distr::{Beta, Distribution as _};

const N_ITEMS: usize = 500;
const N_POSITIONS: usize = 5;
const ESTIMATED: Settings = Settings {
    window: None,
    explore: 0.0,
    propensities: None,
    skips: live::Skips::AtClose,
    estimate_prior: true,
    keep_open: 10,
    keep_retired: 0,
    values: live::ItemValues::Told,
};
const GIVEN: Settings = Settings { estimate_prior: false, ..ESTIMATED };

fn shape() -> ListShape {
    ListShape::new(N_ITEMS, N_POSITIONS).unwrap()
}

/// The probability of a click on one of these items.
fn reward(attractions: impl Iterator<Item = f64>) -> f64 {
    1.0 - attractions.map(|attraction| 1.0 - attraction).product::<f64>()
}

/// The regret of 20,000 rounds with cascade users. Attractions of items are draws of Beta(1, 9),
/// and one item in a hundred is replaced every thousand rounds; it is forgotten.
fn regret(settings: Settings, prior: Prior, run: u64) -> f64 {
    let mut policy = PrefixTs::new(shape());
    policy.set_prior(prior).unwrap();
    let mut live = Live::<Cascade, _>::new(policy, settings).unwrap();
    let [changes, users, rng] = &mut [0, 1, 2].map(|role| ChaCha8Rng::seed_from_u64(3 * run + role));
    let truth = Beta::new(1.0, 9.0).unwrap();
    let mut attractions: Vec<f64> = (0..N_ITEMS).map(|_| truth.sample(changes)).collect();
    let (mut regret, mut best) = (0.0, 0.0);
    for round in 0..20_000_u64 {
        if round % 1_000 == 0 {
            for _ in 0..N_ITEMS / 100 {
                let place = changes.random_range(0..N_ITEMS);
                let item = live.items().nth(place).unwrap();
                assert!(live.retire(item));
                attractions[live.add_item().slot.index()] = truth.sample(changes);
            }
            let mut sorted = attractions.clone();
            sorted.sort_unstable_by(|one, other| other.total_cmp(one));
            best = reward(sorted.into_iter().take(N_POSITIONS));
        }
        let list = live.decide(&round, Among::All, rng).to_vec();
        let attractions = list.iter().map(|item| attractions[item.slot.index()]);
        regret += best - reward(attractions.clone());
        let click = attractions.map(|attraction| users.random::<f64>() < attraction).position(|click| click);
        _ = match click {
            Some(position) => live.click(&round, position),
            None => live.close(&round, None),
        };
    }
    regret
}

#[test]
fn an_estimated_prior_is_nearly_as_good_as_the_true_one() {
    let prior = |a, b| Prior::new(a, b).unwrap();
    let mean = |settings, prior| (0..8).map(|run| regret(settings, prior, run)).sum::<f64>() / 8.0;
    let [uniform, truth] = [prior(1.0, 1.0), prior(1.0, 9.0)].map(|prior| mean(GIVEN, prior));
    let estimated = mean(ESTIMATED, Prior::UNIFORM);
    println!("uniform {uniform:.0}, true {truth:.0}, estimated {estimated:.0}");
    assert!(estimated < 1.15 * truth && estimated < 0.7 * uniform, "{uniform} {truth} {estimated}");
}

/// Plays rounds in which each item has its own attraction; items are retired and added.
fn play<R: Rng>(
    live: &mut Live<Cascade, PrefixTs>,
    rounds: std::ops::Range<u64>,
    rng: &mut R,
) -> Vec<ItemId> {
    let mut shown = Vec::new();
    for id in rounds {
        let list = live.decide(&id, Among::All, rng).to_vec();
        _ = live.click(&id, (id % 7) as usize);
        _ = live.close(&id, None);
        if id.is_multiple_of(50) {
            live.retire(list[0]);
            live.add_item();
        }
        shown.extend(list.iter().map(|item| item.slot));
    }
    shown
}

#[test]
fn estimates_are_part_of_the_saved_state() {
    let mut live = Live::new(PrefixTs::new(shape()), ESTIMATED).unwrap();
    let rng = &mut ChaCha8Rng::seed_from_u64(1);
    play(&mut live, 0..7_000, rng);
    assert_ne!(live.policy().prior(), Prior::UNIFORM);
    let saved = serde_json::to_string(&live).unwrap();
    let mut restored: Live<Cascade, PrefixTs> = serde_json::from_str(&saved).unwrap();
    assert_eq!(restored.policy().prior(), live.policy().prior());
    // The next estimate, at 10,000 decisions, uses the items that were forgotten before.
    let again = || ChaCha8Rng::seed_from_u64(2);
    let lists = play(&mut live, 7_000..12_000, &mut again());
    assert_eq!(play(&mut restored, 7_000..12_000, &mut again()), lists);
    assert_eq!(restored.policy().prior(), live.policy().prior());
    // Without these items it is another one.
    let mut state: serde_json::Value = serde_json::from_str(&saved).unwrap();
    state["estimator"]["forgotten"] = serde_json::json!([]);
    state["estimator"]["n_forgotten"] = 0.into();
    let mut other: Live<Cascade, PrefixTs> = serde_json::from_value(state).unwrap();
    play(&mut other, 7_000..12_000, &mut again());
    assert_ne!(other.policy().prior(), live.policy().prior());
}

#[test]
fn damaged_estimates_and_policies_without_a_prior_are_refused() {
    let error = Live::<Cascade, _>::new(PrefixUcb::cascade(shape()), ESTIMATED).unwrap_err();
    assert_eq!(error, Error::NoPrior);
    let by_name = NamedLive::<Cascade>::build("cascade-kl-ucb".parse().unwrap(), shape(), None).unwrap();
    assert_eq!(Live::<Cascade, _>::new(by_name, ESTIMATED).unwrap_err(), Error::NoPrior);
    let mut live = Live::new(PrefixTs::new(shape()), ESTIMATED).unwrap();
    play(&mut live, 0..200, &mut ChaCha8Rng::seed_from_u64(1));
    let saved = serde_json::to_value(&live).unwrap();
    let damages: [(&str, serde_json::Value); 4] = [
        ("/estimator", serde_json::Value::Null),
        ("/estimator/n_forgotten", 90.into()),
        ("/estimator/forgotten/0/1", (-1.0).into()),
        ("/settings/estimate_prior", false.into()),
    ];
    for (pointer, value) in damages {
        let mut damaged = saved.clone();
        *damaged.pointer_mut(pointer).unwrap() = value;
        let error = serde_json::from_value::<Live<Cascade, PrefixTs>>(damaged).unwrap_err().to_string();
        assert!(error.contains("from which the prior is estimated"), "{pointer}: {error}");
    }
}

/// A display counts as much as its position is examined; the policy needs a first shape of at least
/// 1.
#[test]
fn estimates_know_examination_and_what_the_policy_can_draw_from() {
    let truth = Beta::new(2.0, 6.0).unwrap();
    let rng = &mut ChaCha8Rng::seed_from_u64(4);
    let attractions: Vec<f64> = (0..N_ITEMS).map(|_| truth.sample(rng)).collect();
    let play = |attractions: &[f64]| {
        let users = PositionBased::from_values(attractions, &[0.9, 0.5, 0.2]).unwrap();
        let mut live = Live::<Pbm, _>::new(PbmTs::new(users.known()), ESTIMATED).unwrap();
        let rng = &mut ChaCha8Rng::seed_from_u64(5);
        let examination = [0.9, 0.5, 0.2].map(|value| Probability::new(value).unwrap());
        for id in 0..30_000_u64 {
            let some: Vec<_> = live.items().filter(|_| rng.random::<f64>() < 0.02).collect();
            let list = live.decide(&id, Among::Only(&some), rng).to_vec();
            for (position, item) in list.iter().enumerate() {
                if rng.random::<f64>() < attractions[item.slot.index()] * examination[position].get() {
                    _ = live.click(&id, position);
                }
            }
            _ = live.close(&id, None);
        }
        let prior = live.policy().prior();
        (prior.a(), prior.b())
    };
    let (a, b) = play(&attractions);
    println!("Beta({a:.2}, {b:.2})");
    assert!((a / (a + b) - 0.25).abs() < 0.03 && (5.0..12.0).contains(&(a + b)), "Beta({a}, {b})");
    let (a, b) = play(&[0.05; N_ITEMS]);
    assert!(a >= 1.0 && b > a, "Beta({a}, {b})");
}
