//! Answers in the order of decisions, for policies that cannot take them as they come.

use crate::Taken;
use click_models::{Clicks, ListProtocol, Ranking};
use policies::{Decision, Policy, Select};
use rand::Rng;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
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
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(
    deny_unknown_fields,
    bound(
        serialize = "P: Serialize, D: Serialize",
        deserialize = "P: Deserialize<'de>, D: Deserialize<'de>"
    )
)]
pub struct InOrder<I, P: Select<Ranking>, D = u64> {
    policy: P,
    wait: usize,
    waiting: VecDeque<Waiting<D, P::Note>>,
    #[serde(skip)]
    protocol: PhantomData<fn() -> I>,
}

/// A decision whose answer, or that of an earlier one, is incomplete.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Waiting<D, N> {
    id: D,
    decision: Decision<Ranking, N>,
    clicks: Clicks,
    is_closed: bool,
}

impl<I, P, D> InOrder<I, P, D>
where
    I: ListProtocol,
    P: Policy<I>,
    D: Clone + Eq,
{
    /// An open decision is closed as it is after `wait` later ones.
    pub fn new(policy: P, wait: usize) -> Self {
        Self { policy, wait, waiting: VecDeque::new(), protocol: PhantomData }
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
        let place = self.find(id).unwrap_or_else(|| {
            let mut decision = Decision::default();
            self.policy.select(rng, &mut decision);
            let clicks = Clicks::new(decision.action.len());
            self.waiting.push_back(Waiting { id: id.clone(), decision, clicks, is_closed: false });
            if self.waiting.len() > self.wait.saturating_add(1)
                && let Some(first) = self.waiting.front_mut()
            {
                first.is_closed = true;
                self.learn();
            }
            self.waiting.len() - 1
        });
        &self.waiting[place].decision.action
    }

    /// Takes a click on a position, from 0.
    pub fn click(&mut self, id: &D, position: usize) -> Taken {
        let Some(place) = self.find(id) else { return Taken::Unknown };
        let waiting = &mut self.waiting[place];
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
        let Some(place) = self.find(id) else { return Taken::Unknown };
        let was_closed = std::mem::replace(&mut self.waiting[place].is_closed, true);
        self.learn();
        if was_closed { Taken::Repeated } else { Taken::Counted }
    }

    fn find(&self, id: &D) -> Option<usize> {
        self.waiting.iter().rposition(|waiting| waiting.id == *id)
    }

    fn learn(&mut self) {
        while let Some(first) = self.waiting.front().filter(|first| first.is_closed) {
            let feedback = I::read(first.clicks, first.decision.action.len());
            self.policy.update(&first.decision, &feedback);
            self.waiting.pop_front();
        }
    }
}
