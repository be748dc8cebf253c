//! Regret on users who differ, against the list that is best for each.

use crate::support::generator;
use click_models::{
    CascadeModel, ClickModel, Context, ContextKnown, ListShape, Pbm, Personal, PositionBased, Ranking,
    WithAttraction,
};
use confidence::NonNegative;
use policies::{
    CascadeLinear, Decision, HybridSettings, HybridTs, PbmHybridTs, PolicyFor, PrefixTs, Segmented, SelectFor,
};
use rand::{Rng, RngExt};

const N_ITEMS: usize = 200;
const N_FEATURES: usize = 6;

/// Users in clusters, whose log-odds are `mean + w z + x B z + d_i + x s_i`; every parameter is the
/// standard deviation of one of these terms.
#[derive(Clone, Copy)]
struct World {
    main: f64,
    interaction: f64,
    item: f64,
    item_slope: f64,
    /// Attraction is linear in the score, and not logistic.
    is_linear: bool,
}

const F0: World = World { main: 0.9, interaction: 0.9, item: 0.0, item_slope: 0.0, is_linear: true };
const F1: World = World { is_linear: false, ..F0 };
const F2: World = World { main: 0.6, interaction: 0.6, item: 0.5, item_slope: 0.4, is_linear: false };
const F3: World = World { main: 0.0, interaction: 0.0, item: 0.8, item_slope: 0.8, is_linear: false };

/// Users, the number of their segments, and the features of the items.
struct Drawn<M> {
    users: Personal<M>,
    n_segments: u32,
    item_features: Vec<f64>,
}

/// Variance of the mean features of a cluster, and of its users' features around these.
const VARIANCES: [f64; 2] = [0.7, 0.3];

/// A standard normal number.
fn normal<R: Rng>(rng: &mut R) -> f64 {
    let (radius, angle) = (1.0 - rng.random::<f64>(), rng.random::<f64>());
    (-2.0 * libm::log(radius)).sqrt() * libm::cos(std::f64::consts::TAU * angle)
}

fn normals<R: Rng>(n: usize, deviation: f64, rng: &mut R) -> Vec<f64> {
    (0..n).map(|_| deviation * normal(rng)).collect()
}

fn sigmoid(log_odds: f64) -> f64 {
    1.0 / (1.0 + libm::exp(-log_odds))
}

fn product(one: &[f64], other: &[f64]) -> f64 {
    one.iter().zip(other).map(|(one, other)| one * other).sum()
}

fn with_attraction<M: WithAttraction>(model: &M, attraction: &[f64]) -> M {
    let attraction = attraction.iter().map(|&attraction| attraction.try_into().expect("a probability"));
    model.with_attraction(attraction.collect()).expect("valid")
}

/// 2,000 users in 20 clusters, which are their segments.
fn with_features<M: WithAttraction>(world: World, model: &M, seed: u64) -> Drawn<M> {
    let rng = &mut generator(seed);
    let (n, root) = (N_FEATURES, (N_FEATURES as f64).sqrt());
    let item_features = normals(N_ITEMS * n, 1.0, rng);
    let main = normals(n, world.main / root, rng);
    let interaction = normals(n * n, world.interaction / n as f64, rng);
    let of_items = normals(N_ITEMS, world.item, rng);
    let slopes = normals(N_ITEMS * n, world.item_slope / root, rng);
    let [between, within] = VARIANCES.map(f64::sqrt);
    let centres = normals(20 * n, between, rng);
    let users = (0..2_000_u32).map(|user| {
        let segment = user % 20;
        let cluster = segment as usize;
        let centre = &centres[cluster * n..(cluster + 1) * n];
        let features: Vec<f64> = centre.iter().map(|centre| centre + within * normal(rng)).collect();
        let by_item_feature: Vec<f64> = (0..n)
            .map(|to| main[to] + (0..n).map(|from| features[from] * interaction[from * n + to]).sum::<f64>())
            .collect();
        let attraction = |item: usize| {
            let score = product(&by_item_feature, &item_features[item * n..(item + 1) * n])
                + of_items[item]
                + product(&features, &slopes[item * n..(item + 1) * n]);
            if world.is_linear { (0.08 + 0.035 * score).clamp(0.002, 0.6) } else { sigmoid(score - 3.0) }
        };
        let attraction: Vec<f64> = (0..N_ITEMS).map(attraction).collect();
        (Context { segment, features }, with_attraction(model, &attraction))
    });
    Drawn { users: Personal::new(users.collect()).expect("valid"), n_segments: 20, item_features }
}

/// A user for each segment: log-odds `-3 + .8 b_i + h e_gi`.
fn with_segments<M: WithAttraction>(n_segments: u32, h: f64, model: &M, seed: u64) -> Drawn<M> {
    let rng = &mut generator(seed);
    let of_items = normals(N_ITEMS, 0.8, rng);
    let users = (0..n_segments).map(|segment| {
        let attraction: Vec<f64> =
            of_items.iter().map(|item| sigmoid(item + h * normal(rng) - 3.0)).collect();
        (Context { segment, features: vec![] }, with_attraction(model, &attraction))
    });
    Drawn { users: Personal::new(users.collect()).expect("valid"), n_segments, item_features: vec![] }
}

/// The part of the contexts that a policy sees.
#[derive(Clone, Copy, PartialEq)]
enum Sees {
    Nothing,
    Features,
    Segment,
    All,
}

impl<M> Drawn<M> {
    fn known(&self, sees: Sees) -> ContextKnown<'_> {
        let item_features: &[f64] =
            if matches!(sees, Sees::Features | Sees::All) { &self.item_features } else { &[] };
        let known = ContextKnown::new(N_ITEMS, item_features).expect("valid");
        let n_features = if item_features.is_empty() { 0 } else { N_FEATURES };
        let n_segments = if matches!(sees, Sees::Segment | Sees::All) { self.n_segments } else { 1 };
        known.with_user_features(n_features).with_segments(n_segments)
    }
}

/// Regret after `n_rounds`, with answers that come in batches of `batch`.
fn regret<M, P>(drawn: &Drawn<M>, sees: Sees, mut policy: P, n_rounds: usize, batch: usize, seed: u64) -> f64
where
    M: WithAttraction,
    P: PolicyFor<M::Interaction>,
{
    let (mut arrivals, mut rng) = (generator(seed), generator(seed + 1));
    let mut answers: Vec<(Decision<Ranking, <P as SelectFor<Ranking>>::Note>, _)> = vec![];
    let (mut regret, mut decision) = (0.0, Decision::default());
    for _ in 0..n_rounds {
        let user = drawn.users.arrive(&mut arrivals);
        let mut told = drawn.users.contexts()[user].clone();
        if matches!(sees, Sees::Nothing | Sees::Segment) {
            told.features.clear();
        }
        if matches!(sees, Sees::Nothing | Sees::Features) {
            told.segment = 0;
        }
        let model = drawn.users.user(user);
        policy.select_for(&told, &mut rng, &mut decision);
        assert!(model.admits(&decision.action));
        regret += model.gap(&decision.action);
        answers.push((decision.clone(), model.respond(&decision.action, &mut arrivals)));
        if answers.len() >= batch {
            for (decision, feedback) in answers.drain(..) {
                policy.update_for(&decision, &feedback);
            }
        }
    }
    regret
}

/// A cascade of 12 positions.
fn cascade() -> CascadeModel {
    CascadeModel::from_values(&[0.5; N_ITEMS], 12).expect("valid")
}

fn position_based() -> PositionBased {
    PositionBased::from_values(&[0.5; N_ITEMS], &[1.0, 0.6, 0.4, 0.3, 0.2]).expect("valid")
}

fn shape() -> ListShape {
    ListShape::new(N_ITEMS, 12).expect("valid")
}

fn hybrid(known: ContextKnown<'_>, interactions: bool) -> HybridTs {
    let settings = HybridSettings { interactions, ..HybridSettings::default() };
    HybridTs::new(shape(), known, settings).expect("valid")
}

fn lin_ucb(known: ContextKnown<'_>) -> CascadeLinear {
    let number = |number| NonNegative::new(number).expect("valid");
    CascadeLinear::ucb(shape(), known, number(0.3), number(1.0)).expect("valid")
}

/// The sums of regrets over the runs of each policy, and the ratios of the first to each other one.
fn ratios<const N: usize>(n_runs: u64, mut run: impl FnMut(u64) -> [f64; N]) -> [f64; N] {
    let mut sums = [0.0; N];
    for seed in 0..n_runs {
        for (sum, regret) in sums.iter_mut().zip(run(1_000 + 10 * seed)) {
            *sum += regret;
        }
    }
    println!("mean regrets: {:.1?}", sums.map(|sum| sum / n_runs as f64));
    sums.map(|sum| sums[0] / sum)
}

#[test]
fn features_are_worth_more_than_half_of_the_regret() {
    let [_, free] = ratios(2, |seed| {
        let drawn = with_features(F2, &cascade(), seed);
        [(Sees::Features, true), (Sees::Nothing, true)].map(|(sees, interactions)| {
            regret(&drawn, sees, hybrid(drawn.known(sees), interactions), 3_000, 1, seed + 1)
        })
    });
    assert!(free < 0.7, "{free}");
}

/// The users of `regrets.json`, in 20 runs each.
#[test]
#[ignore = "a measurement of some minutes"]
fn ratios_of_regret() {
    use Sees::{All, Features, Nothing, Segment};
    let f = |world: World, sees: Sees, seed: u64| {
        let drawn = with_features(world, &cascade(), seed);
        let play = |sees, policy| regret(&drawn, sees, policy, 5_000, 1, seed + 1);
        [
            play(sees, hybrid(drawn.known(sees), true)),
            play(Nothing, hybrid(drawn.known(Nothing), true)),
            play(Features, hybrid(drawn.known(Features), false)),
            regret(&drawn, Features, lin_ucb(drawn.known(Features)), 5_000, 1, seed + 1),
        ]
    };
    for (name, world) in [("F0", F0), ("F1", F1), ("F2", F2), ("F3", F3)] {
        println!("{name}: hybrid to context-free, without interactions, cascade-lin-ucb");
        println!("{:.3?}", ratios(20, |seed| f(world, Features, seed)));
    }
    println!("F2 with segments");
    println!("{:.3?}", ratios(20, |seed| f(F2, All, seed)));
    println!("F2 in batches of 500: hybrid to context-free");
    let batches = ratios(20, |seed| {
        let drawn = with_features(F2, &cascade(), seed);
        [Features, Nothing]
            .map(|sees| regret(&drawn, sees, hybrid(drawn.known(sees), true), 5_000, 500, seed + 1))
    });
    println!("{batches:.3?}");
    println!("F2, position-based: hybrid to context-free");
    let pbm = |drawn: &Drawn<PositionBased>, sees, n_rounds, seed| {
        let known = drawn.users.user(0).known();
        let policy = PbmHybridTs::new(known, drawn.known(sees), HybridSettings::default()).expect("valid");
        regret::<_, PbmHybridTs>(drawn, sees, policy, n_rounds, 1, seed + 1)
    };
    let positions = ratios(20, |seed| {
        let drawn = with_features(F2, &position_based(), seed);
        [Features, Nothing].map(|sees| pbm(&drawn, sees, 5_000, seed))
    });
    println!("{positions:.3?}");
    for (n_segments, h) in [(100, 0.5), (100, 1.0), (10, 1.0), (100, 0.0)] {
        println!("{n_segments} segments, {h}: hybrid to context-free, segmented(of=cascade-ts)");
        let segments = ratios(20, |seed| {
            let drawn = with_segments(n_segments, h, &cascade(), seed);
            let play = |sees| regret(&drawn, sees, hybrid(drawn.known(sees), true), 15_000, 1, seed + 1);
            let segmented = Segmented::new(PrefixTs::new(shape()), n_segments);
            [play(Segment), play(Nothing), regret(&drawn, Segment, segmented, 15_000, 1, seed + 1)]
        });
        println!("{segments:.3?}");
    }
    println!("100 segments, .5, position-based: hybrid to context-free");
    let segments = ratios(20, |seed| {
        let drawn = with_segments(100, 0.5, &position_based(), seed);
        [Segment, Nothing].map(|sees| pbm(&drawn, sees, 15_000, seed))
    });
    println!("{segments:.3?}");
}

/// A policy of position-based users is one of their protocol.
const _: fn() = || {
    fn plays<P: PolicyFor<Pbm>>() {}
    plays::<PbmHybridTs>();
};
