//! Policies by name: each makes the choices of the policy of its own type, and errors name what is
//! wrong.

use crate::every_policy::trials::variants;
use crate::every_policy::users::Users;
use crate::support::{choose, generator, learn};
use click_models::{
    Action, Cascade, CascadeModel, ClickModel, Dcm, DependentClick, DuelShape, Dueling, DuelingModel,
    Feedback, ItemId, ListShape, Pbm, PbmKnown, PositionBased, RandomSemiBandit, RankOne, RankOneModel,
    Ranking, SemiBandit, TableShape,
};
use confidence::NonNegative;
use policies::catalogue::{
    CatalogueProtocol, Limit, NamedPolicy, PairKnown, PolicySpec, WithAnyList, WithBudgeted, WithCells,
    WithPairs, WithPositionBased, WithPrefix, WithStopping, WithUnknownExamination, find, rows, table,
};
use policies::{Decision, Error, Policy, PositionsKnown, PrefixKnown, Recommend, Stop, Update};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde_json::Value;

const HORIZON: u64 = 7000;

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
    choose(policy, rng, decision);
    let feedback = model.respond(&decision.action, users);
    learn(policy, decision, &feedback);
}

/// Plays the policy of its own type: its choices, and its generator at the end. The policy by name
/// is played apart, so that it is compiled once.
struct Typed<'a, M>(&'a M);

/// The choices, and the state of the random numbers after them.
type Choices<A> = (Vec<A>, Xoshiro256PlusPlus);

fn choices<M, P>(model: &M, mut policy: P) -> Choices<Action<M>>
where
    M: ClickModel,
    P: Policy<M::Interaction>,
    Action<M>: Default + Clone,
{
    let [mut rng, mut users] = [3, 4].map(generator);
    let mut decision = Decision::default();
    let mut chosen = Vec::with_capacity(1500);
    for _ in 0..1500 {
        round(model, &mut policy, &mut decision, &mut rng, &mut users);
        chosen.push(decision.action.clone());
    }
    (chosen, rng)
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

impl WithUnknownExamination for Typed<'_, PositionBased> {
    type Output = Choices<Ranking>;

    fn with<P, F>(self, build: F) -> Self::Output
    where
        P: Policy<Pbm>,
        F: Fn(PrefixKnown<'_>, u64) -> Result<P, Error>,
    {
        let Self(users) = self;
        let places = PositionsKnown::from(users.known()).places();
        let known = PrefixKnown::with_places(users.shape(), &places).expect("their positions");
        choices(users, build(known, HORIZON).expect("built"))
    }
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
    let users = Users::all();
    let mut n_compared = 0;
    for spec in rows().iter().flat_map(variants) {
        macro_rules! compare {
            ($interaction:ty, $model:expr, $($with:ident),+) => {{
                let model = &$model;
                if spec.speaks(<$interaction>::PROTOCOL) && spec.row().is_built_from_knowledge() {
                    let by_name = NamedPolicy::<$interaction>::build(spec, model.known(), HORIZON).expect("built");
                    let by_name = choices(model, by_name);
                    let typed = [$(spec.$with(Typed(model))),+].into_iter().flatten();
                    // `kl-ucb` and `uniform` are of several families, each for other users.
                    for typed in typed {
                        assert!(typed == by_name, "{spec}");
                        n_compared += 1;
                    }
                }
            }};
        }
        compare!(Pbm, users.position_based[1], with_position_based, with_unknown_examination, with_any_list);
        compare!(SemiBandit, users.semi_bandits[1], with_prefix, with_any_list);
        compare!(
            Cascade,
            users.cascades[0],
            with_prefix,
            with_any_list,
            with_stopping,
            with_full_feedback,
            with_budgeted
        );
        compare!(Dcm, users.dependent_clicks[0], with_prefix, with_any_list);
        compare!(RankOne, users.rank_one[1], with_cells);
        compare!(Dueling, users.dueling[2], with_pairs);
    }
    assert!(n_compared > 100, "{n_compared}");
}

#[test]
fn a_policy_by_name_is_told_what_it_cannot_be() {
    let users = Users::first().position_based.remove(0);
    let refused = |text: &str, horizon: Option<u64>| {
        NamedPolicy::<Pbm>::build(text.parse().unwrap(), users.known(), horizon).unwrap_err().to_string()
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
    let error =
        NamedPolicy::<SemiBandit>::build("top-rank".parse().unwrap(), shape, 10).unwrap_err().to_string();
    assert!(error.contains("keeps numbers for every pair of items, of which there are 5000"), "{error}");
    let error = NamedPolicy::<SemiBandit>::build("pie(position=3)".parse().unwrap(), shape, 10)
        .unwrap_err()
        .to_string();
    assert_eq!(error, "`pie`: position 3 (counted from 0) is beyond a list of 3");
    let cells = TableShape::new(4096, 4096).unwrap();
    assert!(NamedPolicy::<RankOne>::build("ucb1".parse().unwrap(), cells, None).is_err());
    assert!(NamedPolicy::<Dueling>::build("rucb".parse().unwrap(), DuelShape::new(3).unwrap(), None).is_ok());
}

#[test]
fn foreign_snapshots_are_refused_by_name() {
    let users = Users::first().position_based.remove(0);
    let build = |text: &str| NamedPolicy::<Pbm>::build(text.parse().unwrap(), users.known(), 100).unwrap();
    let [ucb, generous, ts] = ["pbm-ucb", "pbm-ucb(epsilon=0.5)", "pbm-ts"].map(build);
    let saved = |policy: &NamedPolicy<Pbm>| serde_json::to_value(policy).unwrap();
    assert!(ucb.restore(saved(&ucb)).is_ok());
    let refused = |saved: Value| ucb.restore(saved).unwrap_err().to_string();
    assert_eq!(refused(saved(&ts)), "the saved policy is `pbm-ts`, expected `pbm-ucb`");
    assert_eq!(refused(saved(&generous)), "the saved policy is `pbm-ucb(epsilon=0.5)`, expected `pbm-ucb`");
    let known = PbmKnown::new(ListShape::new(7, 3).unwrap(), users.known().examination()).unwrap();
    let larger = NamedPolicy::<Pbm>::build(*ucb.spec(), known, 100).unwrap();
    assert!(
        refused(saved(&larger)).starts_with("the saved policy `pbm-ucb` was told sizes = [7, 3], expected [")
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
    let of_state = |value: Value| {
        let said = changed("state", value);
        said.strip_prefix("`state` of `pbm-ucb`: ").expect("the state is named").to_owned()
    };
    assert!(of_state(7.into()).starts_with("invalid type: integer `7`, expected struct "));
    assert!(of_state(serde_json::json!({})).starts_with("missing field `"));
    assert_eq!(changed("note", 7.into()), "a saved policy has no `note`");
    // A policy of another protocol.
    let cascade =
        NamedPolicy::<Cascade>::build("cascade-ts".parse().unwrap(), ListShape::new(5, 3).unwrap(), None)
            .unwrap();
    let error =
        serde_json::from_value::<NamedPolicy<Pbm>>(serde_json::to_value(&cascade).unwrap()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the saved policy `cascade-ts` cannot read the answers of position-based users"
    );
}

/// A policy that does not know examination keeps the order of the positions
/// at most.
#[test]
fn unknown_examination_stays_unknown() {
    let users = PositionBased::from_values(&[0.5, 0.4, 0.3], &[0.2, 0.9]).unwrap();
    let build = |text: &str| NamedPolicy::<Pbm>::build(text.parse().unwrap(), users.known(), None).unwrap();
    let policy = build("pbm-gibbs(order=known)");
    assert_eq!((policy.told().examination.len(), &policy.told().places[..]), (0, &[1, 0][..]));
    // From the sizes alone, and from a given order.
    let spec: PolicySpec = "pbm-gibbs".parse().unwrap();
    let shape = users.shape();
    assert!(NamedPolicy::<Pbm>::build(spec, shape, None).unwrap().told().places.is_empty());
    let known = PrefixKnown::with_places(shape, &[1, 0]).unwrap();
    let told = NamedPolicy::<Pbm>::build(*policy.spec(), known, None).unwrap();
    assert_eq!(told.told(), policy.told());
    // A policy that needs examination is not built from sizes.
    let error = NamedPolicy::<Pbm>::build("pbm-ts".parse().unwrap(), shape, None).unwrap_err().to_string();
    assert_eq!(error, "`pbm-ts`: examination: 0 given, expected one for each of the 2 positions");
    let mut saved = serde_json::to_value(&policy).unwrap();
    saved["told"]["examination"] = serde_json::json!([0.2, 0.9]);
    let error = serde_json::from_value::<NamedPolicy<Pbm>>(saved).unwrap_err().to_string();
    assert_eq!(error, "`pbm-gibbs`: the policy does not know examination: it was saved with probabilities");
}

#[test]
fn stopping_policies_by_name_stop() {
    let users = CascadeModel::from_values(&[0.9, 0.8, 0.1, 0.05], 2).unwrap();
    let mut policy =
        NamedPolicy::<Cascade>::build("cascade-kl".parse().unwrap(), users.known(), None).unwrap();
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
    let other = NamedPolicy::<Cascade>::build("cascade-ts".parse().unwrap(), users.known(), None).unwrap();
    assert!(other.answer().is_none() && !other.recommend(&mut rng, &mut named));
}

#[test]
fn text_names_every_policy() {
    for spec in rows().iter().flat_map(variants) {
        assert_eq!(spec.to_string().parse::<PolicySpec>(), Ok(spec));
        assert_eq!(PolicySpec::from_parameters(spec.name(), &spec.parameters()), Ok(spec));
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
    let (readme, page) = (include_str!("../README.md"), include_str!("../../../docs/which-policy.md"));
    let tables = [(readme, table::policies()), (readme, table::parameters()), (page, table::dominated())];
    for (readme, table) in tables {
        assert!(readme.contains(&table), "write the tables anew: cargo xtask tables");
    }
}
