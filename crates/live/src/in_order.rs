//! Answers in the order of decisions, for policies that cannot take them as they come.

use crate::open::OpenDecisions;
use crate::{SavedError, Taken};
use click_models::{Clicks, ListProtocol, Ranking};
use policies::{Decision, Policy, Select};
use rand::Rng;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::hash::Hash;
use std::marker::PhantomData;

/// A policy that learns from whole answers, in the order of its decisions: from each one once all
/// earlier decisions are closed. Policies that stop or that eliminate items need this for their
/// guarantees; they learn up to `wait` decisions late.
///
/// `I` is the protocol by which clicks are read, `D` the client's name of a decision.
///
/// # Examples
///
/// ```
/// use click_models::{Cascade, ListShape};
/// use live::{InOrder, Taken};
/// use policies::PrefixUcb;
/// use rand::{SeedableRng, rngs::ChaCha8Rng};
///
/// let policy = PrefixUcb::cascade(ListShape::new(3, 1)?);
/// let mut policy = InOrder::<Cascade, _, &str>::new(policy, 1_000);
/// let rng = &mut ChaCha8Rng::seed_from_u64(1);
/// let first = policy.decide(&"first", rng).clone();
/// policy.decide(&"second", rng);
/// // The second answer waits for the first.
/// assert_eq!(policy.close(&"second"), Taken::Counted);
/// assert_eq!(policy.n_waiting(), 2);
/// assert_eq!(policy.click(&"first", 0), Taken::Counted);
/// assert_eq!(policy.close(&"first"), Taken::Counted);
/// assert_eq!((policy.n_waiting(), first.len()), (0, 1));
/// assert_eq!(policy.click(&"first", 0), Taken::Unknown);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct InOrder<I, P: Select<Ranking>, D = u64> {
    policy: P,
    wait: usize,
    /// The first is not closed.
    waiting: OpenDecisions<D, PendingDecision<P::Note>>,
    protocol: PhantomData<fn() -> I>,
}

/// A decision whose answer, or that of an earlier one, is incomplete.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct PendingDecision<N> {
    decision: Decision<Ranking, N>,
    clicks: Clicks,
    is_closed: bool,
}

impl<I, P, D> InOrder<I, P, D>
where
    I: ListProtocol,
    P: Policy<I>,
    D: Clone + Eq + Hash,
{
    /// An open decision is closed as it is after `wait` later ones.
    pub fn new(policy: P, wait: usize) -> Self {
        Self { policy, wait, waiting: OpenDecisions::new(usize::MAX), protocol: PhantomData }
    }

    /// The policy, which has not learned from the decisions that wait.
    pub fn policy(&self) -> &P {
        &self.policy
    }

    /// Number of decisions that the policy has not learned from.
    pub fn n_waiting(&self) -> usize {
        self.waiting.len()
    }

    /// Decides on a list. A waiting decision of this name is returned as it is.
    pub fn decide<R: Rng + ?Sized>(&mut self, id: &D, rng: &mut R) -> &Ranking {
        let place = self.waiting.find(id).unwrap_or_else(|| {
            let place = self.waiting.add(id);
            let PendingDecision { decision, clicks, .. } = self.waiting.at_mut(place);
            self.policy.select(rng, decision);
            *clicks = Clicks::new(decision.action.len());
            if place > self.wait {
                self.waiting.at_mut(0).is_closed = true;
                self.learn();
            }
            self.waiting.len() - 1
        });
        &self.waiting.at(place).decision.action
    }

    /// Takes a click on a position, from 0.
    pub fn click(&mut self, id: &D, position: usize) -> Taken {
        let Some(place) = self.waiting.find(id) else { return Taken::Unknown };
        let waiting = self.waiting.at_mut(place);
        if position >= waiting.clicks.len() {
            return Taken::NoSuchPosition;
        }
        if waiting.clicks.get(position) {
            return Taken::Repeated;
        }
        waiting.clicks = waiting.clicks.with(position);
        Taken::Counted
    }

    /// Closes a decision: no further clicks are expected, and those that come before its turn still
    /// count.
    pub fn close(&mut self, id: &D) -> Taken {
        let Some(place) = self.waiting.find(id) else { return Taken::Unknown };
        let was_closed = std::mem::replace(&mut self.waiting.at_mut(place).is_closed, true);
        self.learn();
        if was_closed { Taken::Repeated } else { Taken::Counted }
    }

    fn learn(&mut self) {
        while self.waiting.in_order().next().is_some_and(|(_, first)| first.is_closed) {
            if let Some((_, PendingDecision { decision, clicks, .. })) = self.waiting.remove_oldest() {
                self.policy.update(&decision, &I::read(clicks, decision.action.len()));
            }
        }
    }
}

/// The policy is last: its own last field may be missing in older states.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct State<W, P> {
    wait: usize,
    waiting: Vec<W>,
    policy: P,
}

impl<I, P, D> Serialize for InOrder<I, P, D>
where
    P: Select<Ranking> + Serialize,
    D: Clone + Eq + Hash + Serialize,
{
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let waiting = self.waiting.in_order().collect();
        State { wait: self.wait, waiting, policy: &self.policy }.serialize(serializer)
    }
}

impl<'de, I, P, D> Deserialize<'de> for InOrder<I, P, D>
where
    P: Select<Ranking> + Deserialize<'de>,
    D: Clone + Eq + Hash + Deserialize<'de>,
{
    fn deserialize<S: Deserializer<'de>>(deserializer: S) -> Result<Self, S::Error> {
        let State { wait, waiting, policy } =
            State::<(D, PendingDecision<P::Note>), P>::deserialize(deserializer)?;
        let first_is_closed = waiting.first().is_some_and(|(_, first)| first.is_closed);
        if first_is_closed || waiting.len() > wait.saturating_add(1) {
            return Err(S::Error::custom(SavedError::Decision));
        }
        let is_sound =
            |waiting: &PendingDecision<P::Note>| waiting.clicks.len() == waiting.decision.action.len();
        let waiting = OpenDecisions::restore(waiting, usize::MAX, is_sound).map_err(S::Error::custom)?;
        Ok(Self { policy, wait, waiting, protocol: PhantomData })
    }
}
