//! Policies that show ranked lists.

use crate::{CannotPlay, Entered, Entrant, Play, enter_all};
use click_models::{
    Cascade, CascadeModel, ClickModel, Dcm, DependentClick, Feedback, ListFeedback, ListProtocol, Pbm,
    PbmKnown, PositionBased, RandomSemiBandit, SemiBandit,
};
use confidence::{Probability, Rate};
use policies::spec::{PbmPiePosition, PolicySpec, Protocol};
use policies::{
    BatchRank, BcMpTs, PbmPie, PbmTs, PbmUcb, Pie, PrefixKlUcb, PrefixKnown, PrefixTs, PrefixUcb, PrefixUcbV,
    RbaKlUcb, ReadAs, TopRank, TsCascade, Uniform,
};
use sim::{Contender, Entry, Oracle};
use std::convert::identity;

/// What policies may know of the users of a model.
type Known<'a, M> = <M as ClickModel>::Known<'a>;

/// A click model of lists, and what it lets policies know.
trait ListModel: ClickModel<Interaction: ListProtocol> + 'static {
    /// Sizes, and where the best items go if that is not the top.
    fn prefix<'a>(known: &Known<'a, Self>) -> PrefixKnown<'a>;

    /// Examination probabilities; none where the model has none.
    fn examination<'a>(_known: &Known<'a, Self>) -> &'a [Probability] {
        &[]
    }

    /// The policy as a contender that reads these users' own answers.
    fn enter(entrant: &Entrant, horizon: u64) -> Entered<Self>
    where
        Self: Sized;
}

/// The policy as a contender on users of the model `M`.
fn enter<M>(entrant: &Entrant, horizon: u64) -> Entered<M>
where
    M: ListModel,
    Feedback<M>: ListFeedback,
{
    on_any_list(entrant, horizon).or_else(|| match entrant.read_as {
        None => M::enter(entrant, horizon),
        Some(Protocol::PositionBased) => position_based!(M, entrant, horizon, ReadAs::<Pbm, _>::new),
        Some(Protocol::SemiBandit) => prefix!(M, entrant, ReadAs::<SemiBandit, _>::new),
        Some(Protocol::Cascade) => prefix!(M, entrant, ReadAs::<Cascade, _>::new),
        Some(Protocol::Dcm) => prefix!(M, entrant, ReadAs::<Dcm, _>::new),
        // A cell is no list, and neither is a pair.
        Some(Protocol::RankOne | Protocol::Dueling) => None,
    })
}

/// Policies that every list model's users can be shown.
fn on_any_list<M>(entrant: &Entrant, horizon: u64) -> Entered<M>
where
    M: ListModel,
    Feedback<M>: ListFeedback,
{
    let label = entrant.label.clone();
    Some(match entrant.spec {
        PolicySpec::RbaKlUcb {} => {
            Box::new(Entry::new(label, |known: Known<'_, M>| RbaKlUcb::new(M::prefix(&known).shape())))
        }
        PolicySpec::TopRank {} => Box::new(Entry::new(label, move |known: Known<'_, M>| {
            TopRank::new(M::prefix(&known).shape(), horizon)
        })),
        PolicySpec::BatchRank {} => Box::new(Entry::new(label, move |known: Known<'_, M>| {
            BatchRank::new(M::prefix(&known).shape(), horizon)
        })),
        PolicySpec::Uniform {} => {
            Box::new(Entry::new(label, |known: Known<'_, M>| Uniform::new(M::prefix(&known).shape())))
        }
        PolicySpec::Oracle {} => Box::new(Oracle::new(label)),
        _ => return None,
    })
}

/// Enters a policy that learns from an observed prefix, each made what it has to be by `$wrap`: the policy itself, or one that
/// reads these users' answers as something else. A macro, since every policy is another type.
macro_rules! prefix {
    ($model:ty, $entrant:expr, $wrap:expr) => {{
        let label = $entrant.label.clone();
        let entered: Entered<$model> = match $entrant.spec {
            PolicySpec::RsfUcb {} => Some(Box::new(Entry::new(label, |known: Known<'_, $model>| {
                $wrap(PrefixUcb::rsf(<$model as ListModel>::prefix(&known)))
            }))),
            PolicySpec::CascadeUcb1 {} => Some(Box::new(Entry::new(label, |known: Known<'_, $model>| {
                $wrap(PrefixUcb::cascade(<$model as ListModel>::prefix(&known)))
            }))),
            PolicySpec::CascadeUcbV { zeta } => {
                Some(Box::new(Entry::new(label, move |known: Known<'_, $model>| {
                    $wrap(PrefixUcbV::new(<$model as ListModel>::prefix(&known)).with_zeta(zeta))
                })))
            }
            PolicySpec::RsfKlUcb { level }
            | PolicySpec::KlUcb { level }
            | PolicySpec::CascadeKlUcb { level }
            | PolicySpec::DcmKlUcb { level } => {
                Some(Box::new(Entry::new(label, move |known: Known<'_, $model>| {
                    $wrap(PrefixKlUcb::new(<$model as ListModel>::prefix(&known), level.into()))
                })))
            }
            PolicySpec::RsfTs {} | PolicySpec::CascadeTs {} | PolicySpec::DcmTs {} => {
                Some(Box::new(Entry::new(label, |known: Known<'_, $model>| {
                    $wrap(PrefixTs::new(<$model as ListModel>::prefix(&known)))
                })))
            }
            PolicySpec::TsCascade {} => Some(Box::new(Entry::new(label, |known: Known<'_, $model>| {
                $wrap(TsCascade::new(<$model as ListModel>::prefix(&known)))
            }))),
            PolicySpec::Pie { position, level } => {
                Some(Box::new(Entry::new(label, move |known: Known<'_, $model>| {
                    let known = <$model as ListModel>::prefix(&known);
                    $wrap(match position {
                        None => Pie::last(known, level.into()),
                        // Experiments with a position beyond one of their lists have been refused by their reader.
                        Some(position) => {
                            Pie::at(known, position, level.into()).expect("the position is on the list")
                        }
                    })
                })))
            }
            _ => None,
        };
        entered
    }};
}
use prefix;

/// Enters a policy for the position-based model in the same way. It is told the examination probabilities that the experiment
/// gives it, or else those that the users have.
macro_rules! position_based {
    ($model:ty, $entrant:expr, $horizon:expr, $wrap:expr) => {{
        let label = $entrant.label.clone();
        let told = $entrant.examination.clone();
        macro_rules! entered {
            ($build:expr) => {
                Some(Box::new(Entry::new(label, move |known: Known<'_, $model>| {
                    let shape = <$model as ListModel>::prefix(&known).shape();
                    let examination =
                        told.as_deref().unwrap_or_else(|| <$model as ListModel>::examination(&known));
                    $wrap($build(PbmKnown { shape, examination }))
                })))
            };
        }
        let entered: Entered<$model> = match $entrant.spec {
            PolicySpec::PbmUcb { epsilon } => entered!(|known| PbmUcb::new(known, Rate::scaled_log(epsilon))),
            PolicySpec::PbmPie { epsilon, level, position: PbmPiePosition::Last } => {
                let rate = level.rate(epsilon, $horizon);
                entered!(|known| PbmPie::new(known, rate))
            }
            PolicySpec::PbmTs {} => entered!(PbmTs::new),
            PolicySpec::BcMpTs {} => entered!(BcMpTs::new),
            _ => None,
        };
        entered
    }};
}
use position_based;

/// [`Play`] for a list model: not generic, so that the round loops are compiled in this crate.
macro_rules! play {
    ($($model:ty),*) => {$(
        impl Play for $model {
            fn contenders(
                entrants: &[Entrant],
                horizon: u64,
            ) -> Result<Vec<Box<dyn Contender<Self>>>, CannotPlay> {
                enter_all(entrants, |entrant| enter(entrant, horizon))
            }
        }
    )*};
}
play!(PositionBased, RandomSemiBandit, CascadeModel, DependentClick);

impl ListModel for PositionBased {
    fn prefix<'a>(known: &Known<'a, Self>) -> PrefixKnown<'a> {
        known.shape.into()
    }

    fn examination<'a>(known: &Known<'a, Self>) -> &'a [Probability] {
        known.examination
    }

    fn enter(entrant: &Entrant, horizon: u64) -> Entered<Self> {
        position_based!(Self, entrant, horizon, identity)
    }
}

impl ListModel for RandomSemiBandit {
    fn prefix<'a>(known: &Known<'a, Self>) -> PrefixKnown<'a> {
        (*known).into()
    }

    fn enter(entrant: &Entrant, _horizon: u64) -> Entered<Self> {
        prefix!(Self, entrant, identity)
    }
}

impl ListModel for CascadeModel {
    fn prefix<'a>(known: &Known<'a, Self>) -> PrefixKnown<'a> {
        (*known).into()
    }

    fn enter(entrant: &Entrant, _horizon: u64) -> Entered<Self> {
        prefix!(Self, entrant, identity)
    }
}

impl ListModel for DependentClick {
    fn prefix<'a>(known: &Known<'a, Self>) -> PrefixKnown<'a> {
        (*known).into()
    }

    fn enter(entrant: &Entrant, _horizon: u64) -> Entered<Self> {
        prefix!(Self, entrant, identity)
    }
}
