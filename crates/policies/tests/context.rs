//! Policies that see who asks for a list, against exact small cases and plain simulations.

use crate::support::generator;
use click_models::{
    Clicks, Context, ContextKnown, ItemId, ListShape, PbmFeedback, PbmKnown, PrefixFeedback, Ranking,
    SemiBandit,
};
use confidence::{NonNegative, Probability};
use policies::catalogue::{NamedPolicy, PolicySpec};
use policies::{
    CascadeLinear, Decision, Delta, Error, FeatureScale, HybridPosterior, HybridSettings, HybridTs,
    PbmHybridTs, PrefixTs, Score, Segmented, Select, SelectFor, Update, UpdateFor, WithoutContext,
};
use rand::RngExt;
use serde::Deserialize;
use serde::de::DeserializeOwned;

/// Largest error, relative beyond 1.
const TOLERANCE: f64 = 1e-9;

#[derive(Deserialize)]
struct Cases {
    hybrid: Vec<Hybrid>,
    linear: Vec<Linear>,
}

#[derive(Deserialize)]
struct Hybrid {
    name: String,
    n_items: usize,
    n_positions: usize,
    n_segments: u32,
    n_user_features: usize,
    item_features: Vec<Vec<f64>>,
    protocol: String,
    examination: Option<Vec<f64>>,
    interactions: bool,
    rounds: Vec<Round>,
    first_update: FirstUpdate,
    state: State,
    after_estimate: Option<State>,
    asked: Asked<AskedScore>,
}

#[derive(Deserialize)]
struct Linear {
    n_items: usize,
    n_positions: usize,
    n_user_features: usize,
    item_features: Vec<Vec<f64>>,
    sigma2: f64,
    lam: f64,
    c: f64,
    delta: f64,
    r: f64,
    rounds: Vec<Round>,
    mean: Vec<f64>,
    covariance: Vec<Vec<f64>>,
    log_det_ratio: f64,
    c3_beta: f64,
    asked: Asked<AskedBound>,
}

#[derive(Deserialize)]
struct Round {
    segment: u32,
    features: Vec<f64>,
    items: Vec<u32>,
    clicks: Vec<u8>,
    observed: usize,
}

#[derive(Deserialize)]
struct FirstUpdate {
    mean: f64,
    variance: f64,
}

#[derive(Deserialize)]
struct State {
    mean: Vec<f64>,
    covariance: Vec<Vec<f64>>,
    item_means: Vec<Vec<f64>>,
    item_precisions: Vec<Vec<f64>>,
    cell_means: Vec<Vec<f64>>,
    cell_precisions: Vec<Vec<f64>>,
    deviations: [f64; 3],
}

#[derive(Deserialize)]
struct Asked<S> {
    #[serde(default)]
    segment: u32,
    features: Vec<f64>,
    items: Vec<S>,
}

#[derive(Deserialize)]
struct AskedScore {
    mean: f64,
    shared_variance: f64,
    own_variance: f64,
}

#[derive(Deserialize)]
struct AskedBound {
    mean: f64,
    width: f64,
    lin_ucb: f64,
    c3_ucb: f64,
}

impl Round {
    fn decision(&self) -> Decision<Ranking, Context> {
        let note = Context { segment: self.segment, features: self.features.clone() };
        Decision { action: self.items.iter().copied().map(ItemId::new).collect(), note }
    }

    fn clicks(&self) -> Clicks {
        let clicks = self.clicks.iter().take(self.observed).enumerate().filter(|&(_, &click)| click == 1);
        clicks.fold(Clicks::new(self.observed), |clicks, (position, _)| clicks.with(position))
    }
}

fn cases() -> Cases {
    serde_json::from_str(include_str!("data/context.json")).expect("the vectors")
}

/// A policy of either kind of feedback.
enum Either {
    Prefix(HybridTs),
    PositionBased(PbmHybridTs),
}

impl Either {
    fn new(case: &Hybrid) -> Self {
        let shape = ListShape::new(case.n_items, case.n_positions).expect("valid");
        let features = case.item_features.concat();
        let known = ContextKnown::new(case.n_items, &features).expect("valid");
        let known = known.with_user_features(case.n_user_features).with_segments(case.n_segments);
        let settings = HybridSettings { interactions: case.interactions, ..HybridSettings::default() };
        match &case.examination {
            None => Self::Prefix(HybridTs::new(shape, known, settings).expect("valid")),
            Some(examination) => {
                let examination: Vec<Probability> =
                    examination.iter().map(|&examined| Probability::new(examined).expect("valid")).collect();
                let pbm = PbmKnown::new(shape, &examination).expect("valid");
                Self::PositionBased(PbmHybridTs::new(pbm, known, settings).expect("valid"))
            }
        }
    }

    fn update(&mut self, round: &Round) {
        let (decision, clicks) = (round.decision(), round.clicks());
        match self {
            Self::Prefix(policy) => policy.update_for(&decision, &PrefixFeedback { clicks }),
            Self::PositionBased(policy) => policy.update_for(&decision, &PbmFeedback { clicks }),
        }
    }

    fn scores(&mut self, context: &Context) -> Vec<Score> {
        match self {
            Self::Prefix(policy) => policy.scores(context),
            Self::PositionBased(policy) => policy.scores(context),
        }
    }

    fn posterior(&self) -> HybridPosterior {
        match self {
            Self::Prefix(policy) => policy.posterior(),
            Self::PositionBased(policy) => policy.posterior(),
        }
    }

    fn estimate_deviations(&mut self) {
        match self {
            Self::Prefix(policy) => policy.estimate_deviations(),
            Self::PositionBased(policy) => policy.estimate_deviations(),
        }
    }

    /// Saved and restored.
    fn restored(self) -> Self {
        match self {
            Self::Prefix(policy) => Self::Prefix(restored(&policy)),
            Self::PositionBased(policy) => Self::PositionBased(restored(&policy)),
        }
    }
}

fn restored<P: serde::Serialize + DeserializeOwned>(policy: &P) -> P {
    serde_json::from_str(&serde_json::to_string(policy).expect("saved")).expect("restored")
}

fn assert_close(found: &[f64], expected: &[f64], what: &str) {
    assert_eq!(found.len(), expected.len(), "{what}");
    for (found, expected) in found.iter().zip(expected) {
        let error = (found - expected).abs() / expected.abs().max(1.0);
        assert!(error <= TOLERANCE, "{what}: {found} instead of {expected}");
    }
}

fn assert_posterior(found: &HybridPosterior, expected: &State, case: &str) {
    for (found, expected, what) in [
        (&found.mean, &expected.mean, "mean"),
        (&found.covariance, &expected.covariance.concat(), "covariance"),
        (&found.item_means, &expected.item_means.concat(), "item means"),
        (&found.item_precisions, &expected.item_precisions.concat(), "item precisions"),
        (&found.cell_means, &expected.cell_means.concat(), "cell means"),
        (&found.cell_precisions, &expected.cell_precisions.concat(), "cell precisions"),
    ] {
        assert_close(found, expected, &format!("{case}: {what}"));
    }
    assert_close(&found.deviations, &expected.deviations, &format!("{case}: deviations"));
}

#[test]
fn hybrid_posteriors_are_those_of_the_small_cases() {
    for case in cases().hybrid {
        let mut policy = Either::new(&case);
        let first = &case.rounds[0];
        let score = policy.scores(&first.decision().note)[first.items[0] as usize];
        let variance = score.shared_variance + score.own_variance;
        assert_close(
            &[score.mean, variance],
            &[case.first_update.mean, case.first_update.variance],
            &case.name,
        );
        for round in &case.rounds {
            policy.update(round);
            policy = policy.restored();
        }
        assert_posterior(&policy.posterior(), &case.state, &case.name);
        let Asked { segment, features, items } = &case.asked;
        let scores = policy.scores(&Context { segment: *segment, features: features.clone() });
        for (found, expected) in scores.iter().zip(items) {
            let found = [found.mean, found.shared_variance, found.own_variance];
            let expected = [expected.mean, expected.shared_variance, expected.own_variance];
            assert_close(&found, &expected, &format!("{} on {}", case.name, case.protocol));
        }
        if let Some(expected) = &case.after_estimate {
            policy.estimate_deviations();
            assert_posterior(&policy.posterior(), expected, &format!("{} after an estimate", case.name));
        }
    }
}

#[test]
fn linear_bounds_are_those_of_the_small_cases() {
    for case in cases().linear {
        let shape = ListShape::new(case.n_items, case.n_positions).expect("valid");
        let features = case.item_features.concat();
        let known = ContextKnown::new(case.n_items, &features).expect("valid");
        let known = known.with_user_features(case.n_user_features);
        let number = |number: f64| NonNegative::new(number).expect("valid");
        let ucb = CascadeLinear::ucb(shape, known, number(case.c), number(case.sigma2.sqrt()));
        let delta = Delta::new(case.delta).expect("valid");
        let c3 = CascadeLinear::c3(shape, known, number(case.lam), delta, number(case.r));
        let mut policies = [ucb, c3].map(|policy| policy.expect("valid"));
        for policy in &mut policies {
            for round in &case.rounds {
                policy.update_for(&round.decision(), &PrefixFeedback { clicks: round.clicks() });
                *policy = restored(policy);
            }
            assert_close(policy.mean(), &case.mean, "mean");
            assert_close(&policy.covariance(), &case.covariance.concat(), "covariance");
            assert_close(&[policy.log_det_ratio()], &[case.log_det_ratio], "determinant");
        }
        let user = Context { segment: 0, features: case.asked.features.clone() };
        let [ucb, c3] = policies.each_mut().map(|policy| policy.scores(&user));
        for ((ucb, c3), expected) in ucb.iter().zip(&c3).zip(&case.asked.items) {
            let found = [ucb.mean, ucb.width, ucb.index, c3.index];
            assert_close(
                &found,
                &[expected.mean, expected.width, expected.lin_ucb, expected.c3_ucb],
                "index",
            );
        }
        assert_close(&[policies[1].radius().expect("bounds")], &[case.c3_beta], "radius");
    }
}

/// A list is learned in one pass over the factor; single answers are learned one after the other.
#[test]
fn a_list_is_learned_as_its_answers_one_by_one() {
    let mut rng = generator(1);
    let mut normal = || rng.random::<f64>() * 2.0 - 1.0;
    let (n_items, n_positions) = (30, 12);
    let features: Vec<f64> = (0..n_items * 3).map(|_| normal()).collect();
    let known = ContextKnown::new(n_items, &features).expect("valid").with_user_features(4).with_segments(3);
    let settings = HybridSettings::default();
    let new = |n_positions| {
        HybridTs::new(ListShape::new(n_items, n_positions).expect("valid"), known, settings).expect("valid")
    };
    let (mut whole, mut single) = (new(n_positions), new(1));
    let mut decision = Decision::default();
    // Deviations are estimated after 100 lists, which one of the two policies sees sooner.
    for round in 0..8_u32 {
        let features = (0..4).map(|_| normal()).collect();
        let user = Context { segment: round % 4, features };
        whole.select_for(&user, &mut generator(u64::from(round)), &mut decision);
        let clicked = |item: ItemId| (item.index() + round as usize).is_multiple_of(5);
        let mut clicks = Clicks::new(n_positions);
        for (position, item) in decision.action.by_position() {
            let click = clicked(item);
            clicks = if click { clicks.with(position) } else { clicks };
            let one = Decision { action: [item].into_iter().collect(), note: user.clone() };
            let click = if click { Clicks::new(1).with(0) } else { Clicks::new(1) };
            single.update_for(&one, &PrefixFeedback { clicks: click });
        }
        whole.update_for(&decision, &PrefixFeedback { clicks });
    }
    let (whole, single) = (whole.posterior(), single.posterior());
    assert_close(&whole.mean, &single.mean, "mean");
    assert_close(&whole.covariance, &single.covariance, "covariance");
    assert_close(&whole.item_means, &single.item_means, "item means");
    assert_close(&whole.cell_precisions, &single.cell_precisions, "cell precisions");
}

#[test]
fn odd_contexts_are_read_as_far_as_they_go() {
    let known =
        ContextKnown::new(4, &[0.1, 0.2, 0.3, 0.4]).expect("valid").with_user_features(2).with_segments(2);
    let shape = ListShape::new(4, 2).expect("valid");
    let mut policy = HybridTs::new(shape, known, HybridSettings::default()).expect("valid");
    let mut decision = Decision::default();
    let clicks = Clicks::new(2).with(1);
    for features in [vec![], vec![f64::NAN, 1.0, 7.0], vec![f64::INFINITY]] {
        let user = Context { segment: 9, features };
        policy.select_for(&user, &mut generator(1), &mut decision);
        policy.update_for(&decision, &PrefixFeedback { clicks });
    }
    let posterior = policy.posterior();
    assert!(posterior.mean.iter().all(|mean| mean.is_finite()));
    // Users of unknown segments teach no cell.
    assert!(posterior.cell_means.iter().all(|&mean| mean == 0.0));
    decision.action = [77, 1].map(ItemId::new).into_iter().collect();
    policy.update_for(&decision, &PrefixFeedback { clicks });
}

#[test]
fn extreme_answers_stay_finite() {
    let known = ContextKnown::new(1, &[1e3]).expect("valid").with_user_features(1);
    let shape = ListShape::new(1, 1).expect("valid");
    let examination = [Probability::new(0.3).expect("valid")];
    let settings = HybridSettings::default();
    let mut policy =
        PbmHybridTs::new(PbmKnown::new(shape, &examination).expect("valid"), known, settings).expect("valid");
    let decision = |feature| Decision {
        action: [ItemId::new(0)].into_iter().collect(),
        note: Context { segment: 0, features: vec![feature] },
    };
    for round in 0..300 {
        let clicks = if round % 3 == 0 { Clicks::new(1).with(0) } else { Clicks::new(1) };
        policy.update_for(&decision(f64::from(round) * 1e3), &PbmFeedback { clicks });
    }
    let posterior = policy.posterior();
    let numbers = posterior.mean.iter().chain(&posterior.covariance).chain(&posterior.item_means);
    assert!(numbers.into_iter().all(|number| number.is_finite()));
}

#[test]
fn damaged_posteriors_are_refused() {
    let known = ContextKnown::new(3, &[]).expect("valid").with_segments(2);
    let shape = ListShape::new(3, 2).expect("valid");
    let policy = HybridTs::new(shape, known, HybridSettings::default()).expect("valid");
    let saved = serde_json::to_value(&policy).expect("saved");
    assert!(serde_json::from_value::<HybridTs>(saved.clone()).is_ok());
    for (pointer, value) in [
        ("/learner/shared/factor/0", serde_json::json!(0.0)),
        ("/learner/shared/factor/0", serde_json::json!(-1.0)),
        ("/learner/shared/factor", serde_json::json!([1.0, 1.0])),
        ("/learner/intercepts/deviation", serde_json::json!(0.02)),
        ("/learner/cells/deviation", serde_json::json!(3.5)),
        ("/learner/intercepts/precisions/1", serde_json::json!(0.0)),
        ("/learner/cells/means", serde_json::json!([0.0])),
        ("/learner/n_segments", serde_json::json!(4_000_000_000_u32)),
        ("/learner/n_positions", serde_json::json!(9)),
        ("/learner/products/n_items", serde_json::json!(u64::MAX)),
        ("/order", serde_json::json!([0, 0])),
        ("/order", serde_json::json!([])),
    ] {
        let mut damaged = saved.clone();
        *damaged.pointer_mut(pointer).expect("a number of the state") = value;
        assert!(serde_json::from_value::<HybridTs>(damaged).is_err(), "{pointer}");
    }
}

#[test]
fn a_segment_has_a_policy_of_its_own() {
    let shape = ListShape::new(3, 1).expect("valid");
    let mut policy = Segmented::new(PrefixTs::new(shape), 2);
    let mut decision = Decision::default();
    let user = Context { segment: 1, features: vec![] };
    policy.select_for(&user, &mut generator(1), &mut decision);
    let clicks = Clicks::new(1).with(0);
    policy.update_for(&decision, &PrefixFeedback { clicks });
    let mut alone = PrefixTs::new(shape);
    let mut same = Decision::default();
    Select::select(&mut alone, &mut generator(1), &mut same);
    assert_eq!(same.action, decision.action);
    Update::update(&mut alone, &same, &PrefixFeedback { clicks });
    let states = [policy.policy(0), policy.policy(1), policy.policy(7), &alone]
        .map(|policy| serde_json::to_value(policy).expect("saved"));
    assert!(states[1] == states[3] && states[0] != states[1] && states[2] == states[0]);
    assert_eq!(serde_json::to_value(restored(&policy).policy(1)).expect("saved"), states[1]);
}

#[test]
fn ordinary_users_are_played_without_a_context() {
    let known = ContextKnown::new(5, &[]).expect("valid");
    let shape = ListShape::new(5, 3).expect("valid");
    let new = || HybridTs::new(shape, known, HybridSettings::default()).expect("valid");
    let (mut adapted, mut plain) = (WithoutContext::new(new()), new());
    let (mut rngs, mut decisions) =
        ([generator(3), generator(3)], (Decision::default(), Decision::default()));
    for round in 0..300 {
        Select::select(&mut adapted, &mut rngs[0], &mut decisions.0);
        plain.select_for(&Context::default(), &mut rngs[1], &mut decisions.1);
        assert_eq!(decisions.0.action, decisions.1.action);
        let feedback = PrefixFeedback { clicks: Clicks::new(2).with(round % 2) };
        Update::update(&mut adapted, &decisions.0, &feedback);
        plain.update_for(&decisions.1, &feedback);
    }
}

/// By name, a policy that has begun with a prior is restored as it was.
#[test]
fn a_prior_is_saved_with_the_policy() {
    let (shape, features) = (ListShape::new(3, 2).unwrap(), [1.0, 2.5, 10.0]);
    let context = ContextKnown::new(3, &features).unwrap().with_user_features(1).with_segments(2);
    let scale = FeatureScale::new(vec![[40.0, 10.0]], vec![[4.5, 3.0]]).unwrap();
    let fresh = HybridTs::new(shape, context, HybridSettings::default()).unwrap();
    let mut learned = fresh.standardising(scale).unwrap();
    let user = Context { segment: 1, features: vec![55.0] };
    let decision = Decision { action: [2, 0].map(ItemId::new).into_iter().collect(), note: user.clone() };
    learned.update_for(&decision, &PrefixFeedback { clicks: Clicks::from_bits(0b1, 2).unwrap() });
    let build = |name: &str| {
        let spec: PolicySpec = name.parse().unwrap();
        NamedPolicy::<SemiBandit>::build_for(spec, shape, context, None).unwrap()
    };
    let mut policy = build("hybrid-ts");
    policy.begin_with(&learned.learned()).unwrap();
    let scores = |policy: &mut NamedPolicy<SemiBandit>| policy.coefficients().unwrap().scores(&user);
    let expected = learned.scores(&user).iter().map(|score| score.mean).collect::<Vec<_>>();
    assert_eq!(scores(&mut policy)[0].numbers, expected);
    assert_ne!(scores(&mut build("hybrid-ts"))[0].numbers, expected);
    let saved = serde_json::to_value(&policy).unwrap();
    let mut restored = NamedPolicy::<SemiBandit>::deserialize(saved).unwrap();
    assert_eq!(scores(&mut restored), scores(&mut policy));
    assert_eq!(build("cascade-lin-ts").begin_with(&learned.learned()), Err(Error::NoPrior));
}
