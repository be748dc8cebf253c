//! Users of the caller, who show lists under any protocol of lists.
//!
//! An experiment needs data of them: sizes, what policies may know, and the best list.
//! Their answers are a trait object, so that the round loops are compiled once for each protocol.
//! Policies of the catalogue play them under their names, as with `read-as`.

use crate::lists::{ListModel, read_as};
use crate::{Entrant, GOES_WITH_USERS, MaybeContender, Play};
use click_models::{
    Cascade, ClickModel, Clicks, ClicksOnly, Dcm, ListFeedback, ListProtocol, ListShape, Pbm, PbmKnown,
    Ranking, SemiBandit,
};
use confidence::Probability;
use policies::catalogue::{CatalogueProtocol, NamedPolicy, PolicySpec, Protocol};
use policies::{PositionsKnown, PrefixKnown};
use rand::Rng;
use sim::{Contender, DrawUsers, Entry, SimRng, oracle};
use std::fmt::Debug;
use std::marker::PhantomData;
use std::sync::Arc;

/// The answers of the users of one instance.
pub trait OwnAnswers: Debug + Send + Sync {
    /// The users of a run. All contenders of the run meet users with the same seed.
    fn begin(&self, seed: u64) -> Arc<dyn OwnRun>;

    /// The mean reward of a list.
    fn expected(&self, list: &Ranking) -> f64;
}

/// The answers of users in one run of one contender.
pub trait OwnRun: Debug + Send + Sync {
    /// The clicks on a list; [`Clicks::len`] positions were observed, as far as the protocol tells.
    fn respond(&self, list: &Ranking) -> Clicks;
}

/// Users of the caller under the protocol `I`.
#[derive(Debug)]
pub struct OwnUsers<I> {
    /// Numbers of items and positions.
    pub shape: ListShape,
    /// Examination of the positions, as policies know it; for position-based users only.
    pub examination: Vec<Probability>,
    /// A best list and its mean reward.
    pub best: (Ranking, f64),
    /// The answers; `None` for users who were read from a file, and cannot be played.
    pub answers: Option<Arc<dyn OwnAnswers>>,
    run: Option<Arc<dyn OwnRun>>,
    protocol: PhantomData<fn() -> I>,
}

impl<I> OwnUsers<I> {
    /// Users of these sizes with this best list, who do not answer yet.
    pub fn new(shape: ListShape, examination: Vec<Probability>, best: (Ranking, f64)) -> Self {
        Self { shape, examination, best, answers: None, run: None, protocol: PhantomData }
    }
}

// Written by hand: a derived one would require `I: Clone`, and a protocol has no values.
impl<I> Clone for OwnUsers<I> {
    fn clone(&self) -> Self {
        let (answers, run) = (self.answers.clone(), self.run.clone());
        Self { answers, run, ..Self::new(self.shape, self.examination.clone(), self.best.clone()) }
    }
}

/// A protocol of lists that users of the caller may have.
pub trait OwnProtocol: CatalogueProtocol + ListProtocol<Feedback: ListFeedback> + Debug {
    /// The knowledge that policies may have.
    fn known(users: &OwnUsers<Self>) -> Self::Known<'_>;

    /// Sizes, and the order of positions.
    fn prefix<'a>(known: &Self::Known<'a>) -> PrefixKnown<'a>;
}

impl OwnProtocol for Pbm {
    fn known(users: &OwnUsers<Self>) -> PositionsKnown<'_> {
        let known = PbmKnown::new(users.shape, &users.examination);
        known.map_or_else(|_| users.shape.into(), PositionsKnown::from)
    }

    fn prefix<'a>(known: &Self::Known<'a>) -> PrefixKnown<'a> {
        known.shape().into()
    }
}

impl OwnProtocol for ClicksOnly {
    fn known(users: &OwnUsers<Self>) -> ListShape {
        users.shape
    }

    fn prefix<'a>(known: &Self::Known<'a>) -> PrefixKnown<'a> {
        (*known).into()
    }
}

/// Protocols that report a prefix.
macro_rules! of_prefixes {
    ($($Protocol:ident),*) => {$(
        impl OwnProtocol for $Protocol {
            fn known(users: &OwnUsers<Self>) -> PrefixKnown<'_> {
                users.shape.into()
            }

            fn prefix<'a>(known: &Self::Known<'a>) -> PrefixKnown<'a> {
                *known
            }
        }
    )*};
}
of_prefixes!(SemiBandit, Cascade, Dcm);

impl<I: OwnProtocol> ClickModel for OwnUsers<I> {
    type Interaction = I;
    type Known<'a> = I::Known<'a>;

    fn known(&self) -> I::Known<'_> {
        I::known(self)
    }

    fn admits(&self, list: &Ranking) -> bool {
        list.fits(self.shape)
    }

    /// Takes no draw: the users of a run have a generator of their own.
    fn respond<R: Rng + ?Sized>(&self, list: &Ranking, _rng: &mut R) -> I::Feedback {
        let clicks = self.run.as_ref().map_or(Clicks::new(list.len()), |run| run.respond(list));
        match I::PROTOCOL {
            // They report how many positions were observed.
            Protocol::SemiBandit | Protocol::Dcm => I::feedback(clicks),
            _ => I::read(clicks, list.len()),
        }
    }

    fn expected_reward(&self, list: &Ranking) -> f64 {
        self.answers.as_ref().map_or(self.best.1, |answers| answers.expected(list))
    }

    fn best(&self) -> &(Ranking, f64) {
        &self.best
    }

    fn optimal_reward(&self) -> f64 {
        self.best.1
    }
}

impl<I: OwnProtocol> ListModel for OwnUsers<I> {
    fn prefix<'a>(known: &I::Known<'a>) -> PrefixKnown<'a> {
        I::prefix(known)
    }
}

impl<I: OwnProtocol> Play for OwnUsers<I> {
    fn contender(entrant: &Entrant, horizon: u64) -> MaybeContender<Self> {
        match (entrant.spec, entrant.read_as) {
            (PolicySpec::Oracle {}, _) => Some(oracle(entrant.label.clone())),
            (PolicySpec::Logged {}, _) => None,
            // Examination of the experiment's own is another assumption on the users.
            (spec, None) if entrant.examination.is_none() => spec.speaks(I::PROTOCOL).then(|| {
                let build = move |known: I::Known<'_>| {
                    NamedPolicy::<I>::build(spec, known, horizon).expect(GOES_WITH_USERS)
                };
                Box::new(Entry::new(entrant.label.clone(), build)) as Box<dyn Contender<Self>>
            }),
            (_, Some(Protocol::PositionBased) | None) => read_as::<Self, Pbm>(entrant, horizon),
            (_, Some(Protocol::SemiBandit)) => read_as::<Self, SemiBandit>(entrant, horizon),
            (_, Some(Protocol::Cascade)) => read_as::<Self, Cascade>(entrant, horizon),
            (_, Some(Protocol::Dcm)) => read_as::<Self, Dcm>(entrant, horizon),
            (_, Some(_)) => None,
        }
    }
}

/// The users of each run, with a seed from its stream.
#[derive(Debug)]
pub struct OwnRuns<I>(pub Vec<OwnUsers<I>>);

impl<I: OwnProtocol> DrawUsers<OwnUsers<I>> for OwnRuns<I> {
    fn draw(&self, instance: usize, _number: u64, rng: &mut SimRng) -> OwnUsers<I> {
        let users = &self.0[instance];
        let run = users.answers.as_ref().map(|answers| answers.begin(rng.next_u64()));
        OwnUsers { run, ..users.clone() }
    }
}
