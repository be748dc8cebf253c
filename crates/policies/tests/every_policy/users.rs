//! Users of every model, among them the odd ones, and their trials.

use super::trials::{Extent, Playable, Trial, add, trial, trial_of_row};
use crate::support::duelists::{circle, in_line, users};
use crate::support::generator;
use click_models::{
    Cascade, CascadeModel, ClickChain, ClickModel, ClicksOnly, Context, ContextKnown, DbnReward, Dcm,
    DcmReward, DependentClick, Dueling, DuelingModel, DynamicBayesian, Interaction, ItemId, Pair, Pbm,
    PositionBased, RandomSemiBandit, RankOne, RankOneModel, Ranking, SemiBandit, TableShape, UserBrowsing,
};
use policies::catalogue::{CatalogueProtocol, NamedFor, NamedPolicy, Note, PolicySpec, Protocol};
use policies::{Decision, Recommend, Select, SelectFor, Update, UpdateFor};
use rand::{Rng, RngExt};
use serde::{Deserialize, Serialize};
use std::rc::Rc;

/// The models of users with their protocols, and the recommendations of their policies.
macro_rules! users {
    ($($users:ident: $Users:ident speak $Interaction:ident, recommended $recommended:expr $(, who differ: $differ:ident)?;)+) => {
        /// Users of every model.
        #[derive(Default)]
        pub(crate) struct Users {
            $(pub(crate) $users: Vec<$Users>,)+
        }

        impl Users {
            /// Plain ones first, then the odd ones.
            pub(crate) fn all() -> Self {
                Self { $($users: $users(),)+ }
            }

            /// The first of every model.
            pub(crate) fn first() -> Self {
                let mut users = Self::all();
                $(users.$users.truncate(1);)+
                users
            }

            /// Adds the trials of all policies.
            pub(super) fn add_trials(self, trials: &mut Vec<Box<dyn Trial>>, extent: Extent, horizon: u64) {
                $(add(trials, self.$users, extent, horizon);)+
            }
        }

        $(impl Playable for $Users {
            const PROTOCOL: Protocol = <$Interaction as CatalogueProtocol>::PROTOCOL;

            fn trial(users: &Rc<Self>, spec: PolicySpec, horizon: u64) -> Box<dyn Trial> {
                let policy = NamedPolicy::<$Interaction>::build(spec, users.known(), horizon);
                let policy = policy.unwrap_or_else(|error| panic!("{error}"));
                trial_of_row(spec, users, policy, $recommended)
            }

            $(fn trial_for(users: &Rc<Self>, spec: PolicySpec, horizon: u64, extent: Extent) -> Option<Box<dyn Trial>> {
                let n_items = users.$differ().n_items();
                let features = (0..n_items).map(|item| (item % 5) as f64 / 2.0 - 1.0);
                let features: Vec<f64> = if extent == Extent::Variants { features.collect() } else { vec![] };
                let context = ContextKnown::new(n_items, &features).expect("valid");
                let context = context.with_user_features(1).with_segments(3);
                let policy = NamedFor::<$Interaction>::build_for(spec, users.known(), context, horizon);
                let policy = policy.unwrap_or_else(|error| panic!("{error}"));
                Some(trial(&format!("{spec} for users who differ"), users, Asked { policy, user: Context::default() }))
            })?
        })+
    };
}

users! {
    position_based: PositionBased speak Pbm, recommended |_| None, who differ: shape;
    semi_bandits: RandomSemiBandit speak SemiBandit, recommended |_| None, who differ: shape;
    cascades: CascadeModel speak Cascade, recommended |policy| {
        let mut list = Ranking::default();
        policy.recommend(&mut generator(4), &mut list).then_some(list)
    }, who differ: shape;
    dependent_clicks: DependentClick speak Dcm, recommended |_| None, who differ: shape;
    bayesian: DynamicBayesian speak ClicksOnly, recommended |_| None;
    click_chains: ClickChain speak ClicksOnly, recommended |_| None;
    browsing: UserBrowsing speak ClicksOnly, recommended |_| None;
    rank_one: RankOneModel speak RankOne, recommended |_| None;
    dueling: DuelingModel speak Dueling, recommended |policy| {
        let mut item = ItemId::default();
        policy.recommend(&mut generator(4), &mut item);
        Some(Pair::of_one(item))
    };
}

/// A policy that sees who asks, with users from its own random numbers: two kinds of them in four
/// segments, the last of which was not announced.
#[derive(Serialize, Deserialize)]
#[serde(bound = "", transparent)]
struct Asked<I: CatalogueProtocol> {
    policy: NamedFor<I>,
    #[serde(skip)]
    user: Context,
}

impl<I: CatalogueProtocol> Clone for Asked<I> {
    fn clone(&self) -> Self {
        Self { policy: self.policy.clone(), user: self.user.clone() }
    }
}

impl<I: CatalogueProtocol + Interaction<Action = Ranking>> Select<Ranking> for Asked<I> {
    type Note = Note;

    fn select<R: Rng + ?Sized>(&mut self, rng: &mut R, out: &mut Decision<Ranking, Note>) {
        self.user.segment = rng.random_range(0..4);
        self.user.features.clear();
        self.user.features.push(if rng.random() { 1.0 } else { -0.5 });
        self.policy.select_for(&self.user, rng, out);
    }
}

impl<I: CatalogueProtocol + Interaction<Action = Ranking>> Update<Ranking, I::Feedback> for Asked<I> {
    fn update(&mut self, decision: &Decision<Ranking, Note>, feedback: &I::Feedback) {
        self.policy.update_for(decision, feedback);
    }
}

/// Attraction of items, examination of positions.
type Lists<'a> = (&'a [f64], &'a [f64]);

impl Users {
    /// Those of all lists.
    pub(crate) fn of_lists() -> Self {
        Self { rank_one: vec![], dueling: vec![], ..Self::all() }
    }

    /// Users of lists, of every protocol, who find these items attractive. Where users read from
    /// the top down, examination falls.
    pub(crate) fn who_like(attraction: &[f64], examination: &[f64]) -> Self {
        let mut falling = examination.to_vec();
        falling.sort_by(|a, b| b.total_cmp(a));
        let satisfied =
            DependentClick::from_values(attraction, examination, DcmReward::Satisfaction).expect("valid");
        Self {
            position_based: vec![PositionBased::from_values(attraction, examination).expect("valid")],
            semi_bandits: vec![RandomSemiBandit::from_values(attraction, &falling).expect("valid")],
            cascades: vec![CascadeModel::from_values(attraction, examination.len()).expect("valid")],
            dependent_clicks: vec![satisfied],
            ..Self::default()
        }
    }
}

/// The paper's, one as in advertising, all items shown, one position, and positions in any order
/// that everybody, or nobody, looks at.
fn position_based() -> Vec<PositionBased> {
    let instances: [Lists<'_>; 5] = [
        (&[0.45, 0.35, 0.25, 0.15, 0.05], &[0.9, 0.6, 0.3]),
        (&[0.149, 0.022, 0.04, 0.04, 0.035, 0.08, 0.03, 0.03, 0.061, 0.025, 0.149], &[1.0, 0.526, 0.358]),
        (&[0.2, 0.4, 0.6, 0.8], &[1.0, 0.8, 0.4, 0.2]),
        (&[0.2, 0.4, 0.6, 0.6], &[0.7]),
        (&[0.0, 1.0, 0.5, 0.5, 1.0], &[0.0, 1.0, 0.5]),
    ];
    instances
        .map(|(attraction, examination)| PositionBased::from_values(attraction, examination).expect("valid"))
        .into()
}

/// Users of the same kinds.
fn semi_bandits() -> Vec<RandomSemiBandit> {
    let instances: [Lists<'_>; 5] = [
        (&[0.6, 0.58, 0.55, 0.45, 0.45, 0.4], &[1.0, 0.8, 0.6]),
        (&[0.149, 0.022, 0.04, 0.04, 0.035, 0.08, 0.03, 0.03, 0.061, 0.025, 0.149], &[1.0, 0.526, 0.358]),
        (&[0.2, 0.4, 0.6, 0.8], &[1.0, 0.8, 0.4, 0.2]),
        (&[0.2, 0.4, 0.6, 0.6], &[0.7]),
        (&[0.0, 1.0, 0.5, 0.5, 1.0], &[1.0, 0.5, 0.0]),
    ];
    instances
        .map(|(attraction, examination)| {
            RandomSemiBandit::from_values(attraction, examination).expect("valid")
        })
        .into()
}

/// The paper's, all items shown, and certain ones.
fn cascades() -> Vec<CascadeModel> {
    let instances: [(&[f64], usize); 3] = [
        (&[0.2, 0.2, 0.05, 0.05, 0.05, 0.05, 0.05, 0.05], 3),
        (&[0.2, 0.4, 0.6, 0.8], 4),
        (&[0.0, 1.0, 0.5, 0.5, 1.0], 2),
    ];
    instances
        .map(|(attraction, n_positions)| CascadeModel::from_values(attraction, n_positions).expect("valid"))
        .into()
}

/// The best position in the middle, at the bottom, and users who never leave or always do.
fn dependent_clicks() -> Vec<DependentClick> {
    [
        (&[0.3, 0.5, 0.2, 0.5, 0.1, 0.3][..], &[0.5, 0.9, 0.2][..], DcmReward::Satisfaction),
        (&[0.6, 0.5, 0.3, 0.2, 0.1], &[0.9, 0.7, 0.1], DcmReward::Clicks),
        (&[0.2, 0.4, 0.6, 1.0], &[0.0, 1.0], DcmReward::Satisfaction),
    ]
    .map(|(attraction, leave, reward)| DependentClick::from_values(attraction, leave, reward).expect("valid"))
    .into()
}

/// Impatient users, and users who never leave or always do.
fn bayesian() -> Vec<DynamicBayesian> {
    [
        (&[0.3, 0.5, 0.2, 0.5, 0.1, 0.3], &[0.5, 0.9, 0.2, 0.1, 0.6, 0.4], 0.8, DbnReward::Clicks),
        (&[0.2, 0.4, 0.6, 1.0, 0.0, 0.5], &[0.0, 1.0, 1.0, 0.0, 1.0, 0.0], 1.0, DbnReward::Satisfaction),
    ]
    .map(|(attraction, satisfaction, continuation, reward)| {
        DynamicBayesian::from_values(attraction, satisfaction, continuation, 3, reward).expect("valid")
    })
    .into()
}

/// Users who leave after a relevant item.
fn click_chains() -> Vec<ClickChain> {
    vec![ClickChain::from_values(&[0.3, 0.5, 0.2, 0.5, 0.1], [0.9, 0.7, 0.2], 3).expect("valid")]
}

/// Users who read on after a click.
fn browsing() -> Vec<UserBrowsing> {
    let examination: [&[f64]; 3] = [&[0.9], &[0.6, 0.8], &[0.3, 0.5, 0.7]];
    vec![UserBrowsing::from_values(&[0.3, 0.5, 0.2, 0.5, 0.1], &examination).expect("valid")]
}

/// The paper's class, a random table, one of which not every cell is looked at in every round, a
/// row, a column, a cell, ties, and nothing to find.
fn rank_one() -> Vec<RankOneModel> {
    let shape = |rows, columns| TableShape::new(rows, columns).expect("valid");
    let plain = |rows: &[f64], columns: &[f64]| RankOneModel::from_values(rows, columns).expect("valid");
    let needle = |n| RankOneModel::needle(shape(n, n), (0.25, 0.5), (0.25, 0.5)).expect("valid");
    vec![
        needle(6),
        RankOneModel::random(shape(12, 15), &mut generator(3)),
        needle(40),
        plain(&[0.5], &[0.2, 0.9, 0.4]),
        plain(&[0.1, 0.8, 0.3, 0.8], &[0.7]),
        plain(&[0.4], &[0.6]),
        plain(&[0.3, 0.9, 0.9], &[0.8, 0.2, 0.8]),
        plain(&[0.0, 0.0, 0.0], &[0.5, 0.9]),
    ]
}

/// A total order, two items, a winner among cycles, none, anything, ties, certainty, more than one
/// batch.
fn dueling() -> Vec<DuelingModel> {
    let mut rng = generator(3);
    vec![
        in_line(7),
        in_line(2),
        users(6, |i, j| if i == 0 { 0.6 } else { [0.9, 0.1][(i + j) % 2] }),
        circle(5),
        users(9, |_, _| rng.random()),
        users(4, |_, _| 0.5),
        users(5, |_, _| 1.0),
        in_line(40),
    ]
}
