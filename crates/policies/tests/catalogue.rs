//! Policies by name: each is built, plays, is saved and restored, and chooses what the policy of its own type chooses.

use crate::support::saved::{assert_goes_on_restored, damages};
use crate::support::{cascades, dependent_clicks, generator, position_based, semi_bandits};
use click_models::{
    Action, Cascade, CascadeModel, ClickModel, Dcm, DependentClick, DuelShape, Dueling, DuelingModel,
    Feedback, ItemId, ListShape, Pbm, PbmKnown, PositionBased, PreferenceMatrix, RandomSemiBandit, RankOne,
    RankOneModel, Ranking, SemiBandit, TableShape,
};
use confidence::NonNegative;
use policies::catalogue::{
    Catalogued, Chosen, Kind, Limit, PairKnown, PolicySpec, Protocol, WithAnyList, WithBudgeted, WithCells,
    WithPairs, WithPositionBased, WithPrefix, WithStopping, find, rows, table,
};
use policies::{Decision, Error, Policy, PrefixKnown, Pulls, Recommend, Select, Stop, Update};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde_json::{Map, Value};
use std::fmt::Debug;

const HORIZON: u64 = 7000;

fn rank_one() -> RankOneModel {
    RankOneModel::from_values(&[0.9, 0.5, 0.4, 0.2], &[0.8, 0.3, 0.1]).expect("a valid instance")
}

fn duelists() -> DuelingModel {
    let rows = [
        vec![0.5, 0.7, 0.8, 0.6],
        vec![0.3, 0.5, 0.6, 0.7],
        vec![0.2, 0.4, 0.5, 0.5],
        vec![0.4, 0.3, 0.5, 0.5],
    ];
    DuelingModel::new(PreferenceMatrix::new(&rows).expect("a matrix"))
}

/// A policy with its defaults, and once with another value of every parameter.
fn variants(name: &str) -> Vec<PolicySpec> {
    let row = find(name).expect("a policy");
    let mut specs = vec![row.spec()];
    for parameter in row.parameters {
        let values: Vec<Value> = match parameter.kind {
            Kind::Number(_) => vec![0.3.into()],
            Kind::Integer(_) => vec![1.into()],
            Kind::Choice(names) => names.iter().map(|&name| name.into()).collect(),
        };
        for value in values {
            let parameters = Map::from_iter([(parameter.name.to_owned(), value)]);
            specs.push(PolicySpec::from_parameters(name, parameters).expect("a value that it may have"));
        }
    }
    specs
}

/// What is done with every policy that users of a model can be played by.
trait Visitor {
    fn visit<M>(&mut self, spec: PolicySpec, model: &M, policy: &Chosen<M::Interaction>)
    where
        M: ClickModel<Interaction: Catalogued> + Debug,
        Action<M>: Default + Clone + Debug + PartialEq + serde::Serialize;
}

/// Every policy of the catalogue on users of every protocol that it reads.
fn everything(visitor: &mut impl Visitor) -> usize {
    let mut n_visited = 0;
    for row in rows().iter().filter(|row| row.name != "oracle") {
        for protocol in row.protocols() {
            for spec in variants(row.name) {
                macro_rules! visit {
                    ($interaction:ty, $model:expr) => {{
                        let model = $model;
                        let policy =
                            Chosen::<$interaction>::build(spec, model.known(), HORIZON).expect("built");
                        visitor.visit(spec, &model, &policy);
                    }};
                }
                match protocol {
                    Protocol::PositionBased => visit!(Pbm, position_based().swap_remove(0)),
                    Protocol::SemiBandit => visit!(SemiBandit, semi_bandits().swap_remove(0)),
                    Protocol::Cascade => visit!(Cascade, cascades().swap_remove(0)),
                    Protocol::Dcm => visit!(Dcm, dependent_clicks().swap_remove(0)),
                    Protocol::RankOne => visit!(RankOne, rank_one()),
                    Protocol::Dueling => visit!(Dueling, duelists()),
                }
                n_visited += 1;
            }
        }
    }
    n_visited
}

fn round<M, P>(
    model: &M,
    policy: &mut P,
    decision: &mut Decision<Action<M>, P::Note>,
    rng: &mut Xoshiro256PlusPlus,
    users: &mut Xoshiro256PlusPlus,
) where
    M: ClickModel,
    P: Update<Action<M>, Feedback<M>>,
{
    Select::select(policy, rng, decision);
    let feedback = model.respond(&decision.action, users);
    policy.update(decision, &feedback);
}

struct Resume;

impl Visitor for Resume {
    fn visit<M>(&mut self, spec: PolicySpec, model: &M, policy: &Chosen<M::Interaction>)
    where
        M: ClickModel<Interaction: Catalogued> + Debug,
        Action<M>: Default + Clone + Debug + PartialEq + serde::Serialize,
    {
        let play = |policy: &mut Chosen<M::Interaction>, decision: &mut _, rng: &mut _, users: &mut _| {
            round(model, policy, decision, rng, users);
        };
        let name = format!("{spec} on {model:?}");
        // Programs' own formats skip nothing and name nothing.
        let same_in_bytes = |one: &Chosen<M::Interaction>, _: &Chosen<M::Interaction>| {
            let bytes = postcard::to_allocvec(one).expect("saved");
            let restored: Chosen<M::Interaction> = postcard::from_bytes(&bytes).expect("restored");
            assert_eq!(postcard::to_allocvec(&restored).expect("saved"), bytes, "{name}");
            assert_eq!((restored.spec(), restored.told()), (one.spec(), one.told()), "{name}");
        };
        assert_goes_on_restored(&name, policy.clone(), play, same_in_bytes);
    }
}

#[test]
fn policies_by_name_go_on_as_saved() {
    assert!(everything(&mut Resume) > 150);
}

/// Damages what was saved in every place in many ways: it is refused, or it plays.
struct Damage([u32; 2]);

impl Visitor for Damage {
    fn visit<M>(&mut self, spec: PolicySpec, model: &M, policy: &Chosen<M::Interaction>)
    where
        M: ClickModel<Interaction: Catalogued> + Debug,
        Action<M>: Default + Clone + Debug + PartialEq + serde::Serialize,
    {
        let (mut rng, mut users) = (generator(1), generator(2));
        let mut decision = Decision::default();
        let mut policy = policy.clone();
        for _ in 0..30 {
            round(model, &mut policy, &mut decision, &mut rng, &mut users);
        }
        for damaged in damages(&serde_json::to_value(&policy).expect("saved")) {
            let restored = serde_json::from_value::<Chosen<M::Interaction>>(damaged.clone());
            self.0[usize::from(restored.is_ok())] += 1;
            match restored {
                Err(error) => assert!(!error.to_string().is_empty()),
                Ok(mut restored) => {
                    assert_eq!(restored.told().sizes, policy.told().sizes, "{spec} from {damaged}");
                    for _ in 0..20 {
                        Select::select(&mut restored, &mut rng, &mut decision);
                        // What was told is what is played, so that users can answer; but one item at a time is no list of theirs.
                        if matches!(spec, PolicySpec::Batrac { pulls: Pulls::One, .. }) {
                            break;
                        }
                        assert!(model.admits(&decision.action), "{spec} from {damaged}");
                        restored.update(&decision, &model.respond(&decision.action, &mut users));
                    }
                }
            }
        }
    }
}

#[test]
fn damaged_policies_are_refused_or_play() {
    let mut damage = Damage([0; 2]);
    everything(&mut damage);
    assert!(damage.0.iter().all(|&n| n > 1000), "{:?}", damage.0);
}

/// Plays the policy of its own type: its choices, and its generator at the end. The policy by name is played apart, so that it is compiled once.
struct Typed<'a, M>(&'a M);

/// What was chosen, and the random numbers that are left.
type Choices<A> = (Vec<A>, Xoshiro256PlusPlus);

fn choices<M, P>(model: &M, mut policy: P) -> Choices<Action<M>>
where
    M: ClickModel,
    P: Policy<M::Interaction>,
    Action<M>: Default + Clone,
{
    let [mut rng, mut users] = [3, 4].map(generator);
    let mut decision = Decision::default();
    let chosen = (0..3000).map(|_| {
        round(model, &mut policy, &mut decision, &mut rng, &mut users);
        decision.action.clone()
    });
    (chosen.collect(), rng)
}

/// The typed policies of a family, played beside those by name.
macro_rules! beside {
    ($($Visitor:ident($Known:ty) on $($model:ty),+: |$users:ident| $known:expr;)*) => {$($(
        impl $Visitor for Typed<'_, $model> {
            type Output = Choices<Action<$model>>;

            fn with<P, F>(self, build: F) -> Self::Output
            where
                P: Policy<<$model as ClickModel>::Interaction>,
                F: Fn($Known, u64) -> Result<P, Error>,
            {
                let $users = self.0;
                choices($users, build($known, HORIZON).expect("built"))
            }
        }
    )+)*};
}

beside! {
    WithPositionBased(PbmKnown<'_>) on PositionBased: |users| users.known();
    WithPrefix(PrefixKnown<'_>) on RandomSemiBandit, CascadeModel, DependentClick: |users| users.known().into();
    WithAnyList(ListShape) on PositionBased, RandomSemiBandit, CascadeModel, DependentClick: |users| users.shape();
    WithBudgeted(ListShape) on CascadeModel: |users| users.shape();
    WithCells(TableShape) on RankOneModel: |users| users.known();
    WithPairs(PairKnown) on DuelingModel: |users| users.known().into();
}

impl WithStopping for Typed<'_, CascadeModel> {
    type Output = Choices<Ranking>;

    fn with<P, F>(self, build: F, tolerance: NonNegative) -> Self::Output
    where
        P: Policy<Cascade> + Recommend<Ranking> + Stop<Answer: AsRef<[ItemId]>>,
        F: Fn(ListShape, u64) -> Result<P, Error>,
    {
        assert!(tolerance.get() >= 0.0);
        let Self(users) = self;
        choices(users, build(users.shape(), HORIZON).expect("built"))
    }
}

#[test]
fn policies_by_name_choose_as_their_own_type() {
    let mut n_compared = 0;
    for spec in rows().iter().flat_map(|row| variants(row.name)) {
        macro_rules! compare {
            ($interaction:ty, $model:expr, $($with:ident),+) => {{
                let model = $model;
                if spec.speaks(<$interaction>::PROTOCOL) && spec.name() != "oracle" {
                    let by_name = Chosen::<$interaction>::build(spec, model.known(), HORIZON).expect("built");
                    let by_name = choices(&model, by_name);
                    let typed = [$(spec.$with(Typed(&model))),+].into_iter().flatten();
                    // `kl-ucb` and `uniform` are of several families, each for other users.
                    for typed in typed {
                        assert!(typed == by_name, "{spec}");
                        n_compared += 1;
                    }
                }
            }};
        }
        compare!(Pbm, position_based().swap_remove(1), with_position_based, with_any_list);
        compare!(SemiBandit, semi_bandits().swap_remove(1), with_prefix, with_any_list);
        compare!(
            Cascade,
            cascades().swap_remove(0),
            with_prefix,
            with_any_list,
            with_stopping,
            with_full_feedback,
            with_budgeted
        );
        compare!(Dcm, dependent_clicks().swap_remove(0), with_prefix, with_any_list);
        compare!(RankOne, rank_one(), with_cells);
        compare!(Dueling, duelists(), with_pairs);
    }
    assert!(n_compared > 150, "{n_compared}");
}

#[test]
fn a_policy_by_name_is_told_what_it_cannot_be() {
    let users = position_based().swap_remove(0);
    let refused = |text: &str, horizon: Option<u64>| {
        Chosen::<Pbm>::build(text.parse().unwrap(), users.known(), horizon).unwrap_err().to_string()
    };
    assert_eq!(
        refused("cascade-ts", None),
        "`cascade-ts` cannot read the answers of position-based users: it plays random semi-bandit users, cascade users, \
         dependent-click users"
    );
    assert_eq!(refused("top-rank", None), "`top-rank` needs a horizon: give the number of rounds");
    assert_eq!(
        refused("pbm-pie(level=log-horizon)", None),
        "`pbm-pie` needs a horizon: give the number of rounds"
    );
    assert!(refused("oracle", None).starts_with("`oracle` cannot read"));
    let shape = ListShape::new(5000, 3).unwrap();
    let error = Chosen::<SemiBandit>::build("top-rank".parse().unwrap(), shape, 10).unwrap_err().to_string();
    assert!(error.contains("keeps numbers for every pair of items, of which there are 5000"), "{error}");
    let error =
        Chosen::<SemiBandit>::build("pie(position=3)".parse().unwrap(), shape, 10).unwrap_err().to_string();
    assert_eq!(error, "`pie`: position 3 (counted from 0) is beyond a list of 3");
    let cells = TableShape::new(4096, 4096).unwrap();
    assert!(Chosen::<RankOne>::build("ucb1".parse().unwrap(), cells, None).is_err());
    assert!(Chosen::<Dueling>::build("rucb".parse().unwrap(), DuelShape::new(3).unwrap(), None).is_ok());
}

#[test]
fn foreign_snapshots_are_refused_by_name() {
    let users = position_based().swap_remove(0);
    let build = |text: &str| Chosen::<Pbm>::build(text.parse().unwrap(), users.known(), 100).unwrap();
    let [ucb, generous, ts] = ["pbm-ucb", "pbm-ucb(epsilon=0.5)", "pbm-ts"].map(build);
    let saved = |policy: &Chosen<Pbm>| serde_json::to_value(policy).unwrap();
    assert!(ucb.restore(saved(&ucb)).is_ok());
    let refused = |saved: Value| ucb.restore(saved).unwrap_err().to_string();
    assert_eq!(refused(saved(&ts)), "the saved policy is `pbm-ts`, expected `pbm-ucb`");
    assert_eq!(refused(saved(&generous)), "the saved policy is `pbm-ucb(epsilon=0.5)`, expected `pbm-ucb`");
    let known = PbmKnown::new(ListShape::new(7, 3).unwrap(), users.known().examination()).unwrap();
    let larger = Chosen::<Pbm>::build(*ucb.spec(), known, 100).unwrap();
    assert!(
        refused(saved(&larger)).starts_with("the saved policy `pbm-ucb` was told sizes = [7,3], expected [")
    );
    let changed = |key: &str, value: Value| {
        let mut saved = saved(&ucb);
        saved[key] = value;
        let said = refused(saved);
        said.strip_prefix("`pbm-ucb` cannot be restored: ").expect("the policy is named").to_owned()
    };
    assert_eq!(changed("format", 2.into()), "a saved policy of format 2: expected 1");
    assert!(
        changed("policy", "pbm-tts".into())
            .starts_with("unknown policy `pbm-tts`: expected one of pbm-ucb, ")
    );
    assert!(changed("policy", "cascade-ts".into()).contains("`cascade-ts`: unknown parameter `epsilon`"));
    assert!(
        changed("state", saved(&larger)["state"].clone())
            .contains("was told the sizes [5, 3], but has [7, 3]")
    );
    assert!(changed("state", 7.into()).starts_with("`state` of `pbm-ucb`: "));
    assert_eq!(changed("note", 7.into()), "a saved policy has no `note`");
    // A policy of another protocol.
    let cascade =
        Chosen::<Cascade>::build("cascade-ts".parse().unwrap(), ListShape::new(5, 3).unwrap(), None).unwrap();
    let error = serde_json::from_value::<Chosen<Pbm>>(serde_json::to_value(&cascade).unwrap()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the saved policy `cascade-ts` cannot read the answers of position-based users"
    );
}

#[test]
fn stopping_policies_by_name_stop() {
    let users = CascadeModel::from_values(&[0.9, 0.8, 0.1, 0.05], 2).unwrap();
    let mut policy = Chosen::<Cascade>::build("cascade-kl".parse().unwrap(), users.known(), None).unwrap();
    let [mut rng, mut answers] = [5, 6].map(generator);
    let mut decision = Decision::default();
    let mut rounds = 0;
    while policy.answer().is_none() {
        round(&users, &mut policy, &mut decision, &mut rng, &mut answers);
        rounds += 1;
        assert!(rounds < 10_000);
    }
    assert_eq!(policy.answer().unwrap(), [0, 1].map(ItemId::new));
    let mut named = Ranking::default();
    assert!(policy.recommend(&mut rng, &mut named) && named.len() == 2);
    let other = Chosen::<Cascade>::build("cascade-ts".parse().unwrap(), users.known(), None).unwrap();
    assert!(other.answer().is_none() && !other.recommend(&mut rng, &mut named));
}

#[test]
fn text_names_every_policy() {
    for spec in rows().iter().flat_map(|row| variants(row.name)) {
        assert_eq!(spec.to_string().parse::<PolicySpec>(), Ok(spec));
        assert_eq!(PolicySpec::from_parameters(spec.name(), spec.parameters()), Ok(spec));
        let json = serde_json::to_string(&spec).unwrap();
        assert_eq!(serde_json::from_str::<PolicySpec>(&json).unwrap(), spec);
    }
    let spaced: PolicySpec = " cascade-bai ( delta = 0.05 , order = mean-asc ) ".parse().unwrap();
    assert_eq!(spaced.to_string(), "cascade-bai(delta=0.05,order=mean-asc)");
    for (text, message) in [
        ("pbm", "unknown policy `pbm`: expected one of pbm-ucb, pbm-pie, "),
        ("", "unknown policy ``: expected one of "),
        ("pbm-ucb(epsilon=-1)", "`pbm-ucb`: epsilon = -1: expected a number at least 0"),
        ("pbm-ucb(epsilon=much)", "`pbm-ucb`: epsilon = much: expected a number at least 0"),
        ("pbm-pie(level=log-log)", "`pbm-pie`: level = log-log: expected `log-t`, `log-horizon`"),
        ("cascade-bai(delta=1)", "`cascade-bai`: delta = 1: expected a number above 0 and below 1"),
        (
            "pie(position=-1)",
            "`pie`: position = -1: expected an integer from 0, below the number of positions",
        ),
        ("pbm-ucb(alpha=1)", "`pbm-ucb`: unknown parameter `alpha`: expected one of epsilon"),
        ("pbm-ucb(epsilon=1,epsilon=2)", "`pbm-ucb`: twice the parameter `epsilon`: expected it once"),
        (
            "pbm-ucb(epsilon)",
            "`pbm-ucb(epsilon)` is no policy: expected `name` or `name(parameter=value,..)`",
        ),
        ("pbm-ucb(epsilon=1", "`pbm-ucb(epsilon=1` is no policy"),
    ] {
        let error = text.parse::<PolicySpec>().unwrap_err().to_string();
        assert!(error.starts_with(message), "{error}");
    }
}

#[test]
fn rows_say_what_is_there() {
    for row in rows() {
        assert!(!row.sentence.is_empty() && row.sentence.ends_with('.'), "{}", row.name);
        assert_eq!(find(row.name).unwrap().name, row.name);
        let spec = row.spec();
        assert_eq!((spec.name(), spec.row().name), (row.name, row.name));
        for parameter in row.parameters {
            assert!(parameter.meaning.ends_with('.'), "{} {}", row.name, parameter.name);
        }
    }
    assert!(matches!(find("top-rank").unwrap().limit, Limit::Items(_)));
    let tables = [include_str!("../README.md"), include_str!("../../click-bandits/README.md")];
    for (readme, table) in tables.iter().zip([table::policies(), table::parameters()]) {
        assert!(readme.contains(&table), "write the tables anew: cargo run -p policies --example tables");
    }
}
