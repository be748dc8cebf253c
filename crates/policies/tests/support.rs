//! Every policy on instances of every kind, for tests that hold for all of them.

pub(crate) mod duelists;
pub(crate) mod plain_cascade_bai;
pub(crate) mod plain_rucb;
pub(crate) mod saved;

use click_models::{
    CascadeModel, ClickModel, DcmReward, DependentClick, Feedback, Interaction, ListFeedback, ListShape,
    ObservedPrefix, PositionBased, RandomSemiBandit, Ranking, SemiBandit,
};
use confidence::{NonNegative, Rate};
use policies::{
    BatchRank, BcMpTs, CascadeBai, CascadeKl, CascadeKlOrder, CascadeKlTest, Decision, Delta, EpsilonGreedy,
    Fixed, KlLucb, PbmPie, PbmTs, PbmUcb, Pie, PrefixKlUcb, PrefixKnown, PrefixTs, PrefixUcb, PrefixUcbV,
    Pulls, RbaKlUcb, ReadAs, Select, ShowOrder, SuccessiveRejects, TopRank, TsCascade, Uniform, Update,
};
use rand::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::{Serialize, de::DeserializeOwned};
use std::fmt::Debug;

/// What is done with every policy. Policies that everything below can be done with are all that there are.
pub(crate) trait Visitor<M: ClickModel> {
    fn visit<P>(&mut self, name: &str, model: &M, policy: P)
    where
        P: Update<Ranking, Feedback<M>> + Serialize + DeserializeOwned + Clone + Debug + Send + Sync;
}

/// Every policy for the position-based model, fresh.
pub(crate) fn position_based_policies(model: &PositionBased, visitor: &mut impl Visitor<PositionBased>) {
    let epsilon = NonNegative::new(0.1).expect("not negative");
    visitor.visit("PbmUcb", model, PbmUcb::new(model.known(), Rate::LOG));
    visitor.visit("PbmPie", model, PbmPie::new(model.known(), Rate::LOG));
    let at_horizon = Rate::scaled_log(epsilon).at_horizon(100_000);
    visitor.visit("PbmPie at the horizon", model, PbmPie::new(model.known(), at_horizon));
    visitor.visit("PbmTs", model, PbmTs::new(model.known()));
    visitor.visit("BcMpTs", model, BcMpTs::new(model.known()));
    list_policies(model, model.shape(), visitor);
}

/// Every policy for lists whose prefix is seen, fresh.
pub(crate) fn prefix_policies<M>(model: &M, known: PrefixKnown<'_>, visitor: &mut impl Visitor<M>)
where
    M: ClickModel,
    M::Interaction: Interaction<Action = Ranking>,
    Feedback<M>: ObservedPrefix + ListFeedback,
{
    visitor.visit("PrefixUcb", model, PrefixUcb::rsf(known));
    visitor.visit("PrefixUcb of the cascade", model, PrefixUcb::cascade(known));
    visitor.visit("PrefixUcbV", model, PrefixUcbV::new(known));
    visitor.visit("PrefixKlUcb", model, PrefixKlUcb::new(known, Rate::LOG));
    visitor.visit("PrefixKlUcb of the cascade", model, PrefixKlUcb::new(known, Rate::LOG_PLUS_3_LOG_LOG));
    visitor.visit("PrefixTs", model, PrefixTs::new(known));
    visitor.visit("TsCascade", model, TsCascade::new(known));
    visitor.visit("Pie", model, Pie::last(known, Rate::LOG));
    let at_the_top = Pie::at(known, 0, Rate::LOG_PLUS_4_LOG_LOG).expect("a list has a first position");
    visitor.visit("Pie at the top", model, at_the_top);
    list_policies(model, known.shape(), visitor);
}

/// Every policy that looks for the best items of cascading users, fresh. Most with a radius so small that they come to an
/// answer within tests.
pub(crate) fn stopping_policies(model: &CascadeModel, visitor: &mut impl Visitor<CascadeModel>) {
    let (shape, delta) = (model.shape(), Delta::default());
    visitor.visit("CascadeBai", model, CascadeBai::new(shape, delta));
    let small = NonNegative::new(0.3).expect("not negative");
    let fast = CascadeBai::new(shape, delta).with_radius_scale(small);
    visitor.visit("CascadeBai with a small radius", model, fast.clone());
    visitor.visit("CascadeBai by mean", model, fast.clone().with_order(ShowOrder::MeanAsc));
    visitor.visit("CascadeBai by upper bound", model, fast.with_order(ShowOrder::UpperDesc));
    let bat_rac = CascadeBai::bat_rac(shape, Pulls::List, delta).with_radius_scale(small);
    let tolerance = NonNegative::new(0.1).expect("not negative");
    visitor.visit("BatRac", model, bat_rac.with_epsilon(tolerance));
    visitor.visit("CascadeKl", model, CascadeKl::new(shape, delta));
    let item = CascadeKl::new(shape, delta).with_test(CascadeKlTest::Item);
    let paper = item.with_order(CascadeKlOrder::LeastObserved);
    visitor.visit("CascadeKl of the least observed", model, paper.with_epsilon(tolerance));
    visitor.visit("KlLucb", model, KlLucb::new(shape, delta));
    visitor.visit("SuccessiveRejects", model, SuccessiveRejects::new(shape, 2000));
}

/// How many these are.
pub(crate) const STOPPING: u32 = 9;

/// Every policy for lists of any kind, fresh.
fn list_policies<M>(model: &M, shape: ListShape, visitor: &mut impl Visitor<M>)
where
    M: ClickModel,
    M::Interaction: Interaction<Action = Ranking>,
    Feedback<M>: ListFeedback,
{
    visitor.visit("RbaKlUcb", model, RbaKlUcb::new(shape));
    // Horizons so short that something happens.
    visitor.visit("TopRank", model, TopRank::new(shape, 100));
    visitor.visit("BatchRank", model, BatchRank::new(shape, 100));
    visitor.visit("EpsilonGreedy", model, EpsilonGreedy::new(shape, EpsilonGreedy::default_epsilon()));
    let read_as: ReadAs<SemiBandit, _> = ReadAs::new(PrefixTs::new(shape));
    visitor.visit("PrefixTs as on a semi-bandit", model, read_as);
    visitor.visit("Uniform", model, Uniform::new(shape));
    visitor.visit("Fixed", model, Fixed::new(model.optimal_action()));
}

/// Position-based instances: the paper's, one as in advertising, all items shown, one position, and positions in any order that
/// everybody, or nobody, looks at.
pub(crate) fn position_based() -> Vec<PositionBased> {
    [
        (&[0.45, 0.35, 0.25, 0.15, 0.05][..], &[0.9, 0.6, 0.3][..]),
        (&[0.149, 0.022, 0.04, 0.04, 0.035, 0.08, 0.03, 0.03, 0.061, 0.025, 0.149], &[1.0, 0.526, 0.358]),
        (&[0.2, 0.4, 0.6, 0.8], &[1.0, 0.8, 0.4, 0.2]),
        (&[0.2, 0.4, 0.6, 0.6], &[0.7]),
        (&[0.0, 1.0, 0.5, 0.5, 1.0], &[0.0, 1.0, 0.5]),
    ]
    .map(|(attraction, examination)| {
        PositionBased::from_values(attraction, examination).expect("a valid instance")
    })
    .into()
}

/// Random semi-bandits of the same kinds.
pub(crate) fn semi_bandits() -> Vec<RandomSemiBandit> {
    [
        (&[0.6, 0.58, 0.55, 0.45, 0.45, 0.4][..], &[1.0, 0.8, 0.6][..]),
        (&[0.149, 0.022, 0.04, 0.04, 0.035, 0.08, 0.03, 0.03, 0.061, 0.025, 0.149], &[1.0, 0.526, 0.358]),
        (&[0.2, 0.4, 0.6, 0.8], &[1.0, 0.8, 0.4, 0.2]),
        (&[0.2, 0.4, 0.6, 0.6], &[0.7]),
        (&[0.0, 1.0, 0.5, 0.5, 1.0], &[1.0, 0.5, 0.0]),
    ]
    .map(|(attraction, examination)| {
        RandomSemiBandit::from_values(attraction, examination).expect("a valid instance")
    })
    .into()
}

/// Cascades: the paper's, all items shown, and certain ones.
pub(crate) fn cascades() -> Vec<CascadeModel> {
    [
        (&[0.2, 0.2, 0.05, 0.05, 0.05, 0.05, 0.05, 0.05][..], 3),
        (&[0.2, 0.4, 0.6, 0.8], 4),
        (&[0.0, 1.0, 0.5, 0.5, 1.0], 2),
    ]
    .map(|(attraction, n_positions)| {
        CascadeModel::from_values(attraction, n_positions).expect("a valid instance")
    })
    .into()
}

/// Dependent clicks: the best position in the middle, at the bottom, and users who never leave or always do.
pub(crate) fn dependent_clicks() -> Vec<DependentClick> {
    [
        (&[0.3, 0.5, 0.2, 0.5, 0.1, 0.3][..], &[0.5, 0.9, 0.2][..], DcmReward::Satisfaction),
        (&[0.6, 0.5, 0.3, 0.2, 0.1], &[0.9, 0.7, 0.1], DcmReward::Clicks),
        (&[0.2, 0.4, 0.6, 1.0], &[0.0, 1.0], DcmReward::Satisfaction),
    ]
    .map(|(attraction, leave, reward)| {
        DependentClick::from_values(attraction, leave, reward).expect("a valid instance")
    })
    .into()
}

/// Whatever visits policies under every click model.
pub(crate) trait VisitorOfAll:
    Visitor<PositionBased> + Visitor<RandomSemiBandit> + Visitor<CascadeModel> + Visitor<DependentClick>
{
}

impl<V> VisitorOfAll for V where
    V: Visitor<PositionBased> + Visitor<RandomSemiBandit> + Visitor<CascadeModel> + Visitor<DependentClick>
{
}

/// Every policy on every instance.
pub(crate) fn everything(visitor: &mut impl VisitorOfAll) {
    for model in position_based() {
        position_based_policies(&model, visitor);
    }
    for model in semi_bandits() {
        prefix_policies(&model, model.shape().into(), visitor);
    }
    for model in cascades() {
        prefix_policies(&model, model.shape().into(), visitor);
        stopping_policies(&model, visitor);
    }
    for model in dependent_clicks() {
        prefix_policies(&model, model.known().into(), visitor);
    }
}

pub(crate) fn generator(seed: u64) -> Xoshiro256PlusPlus {
    Xoshiro256PlusPlus::seed_from_u64(seed)
}

/// One round: decide, show, learn. Gives the regret.
pub(crate) fn round<M, P, R, E>(
    model: &M,
    policy: &mut P,
    decision: &mut Decision<Ranking, P::Note>,
    rng: &mut R,
    users: &mut E,
) -> f64
where
    M: ClickModel,
    M::Interaction: Interaction<Action = Ranking>,
    P: Update<Ranking, Feedback<M>>,
    R: Rng,
    E: Rng,
{
    Select::select(policy, rng, decision);
    let feedback = model.respond(&decision.action, users);
    policy.update(decision, &feedback);
    model.gap(&decision.action)
}

/// The numbers of the items shown.
pub(crate) fn items(list: &Ranking) -> Vec<usize> {
    list.iter().map(click_models::ItemId::index).collect()
}
