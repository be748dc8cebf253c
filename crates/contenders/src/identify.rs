//! Policies that identify the best items of cascading users.

use crate::live::Late;
use crate::{CannotPlay, Entrant};
use click_models::{Cascade, CascadeModel, ItemId, ListShape, Ranking, SemiBandit};
use confidence::NonNegative;
use policies::catalogue::{PolicySpec, WithBudgeted, WithStopping};
use policies::{Error, Policy, Pulls, Recommend, Stop};
use serde::{Serialize, de::DeserializeOwned};
use sim::{Contender, Delays, Entry, Saves, UntilStopped, WithBudget};
use std::marker::PhantomData;

/// Enters a policy under its own type, for the task `T`.
struct EnterIdentification<'a, T> {
    entrant: &'a Entrant,
    horizon: u64,
    task: PhantomData<fn() -> T>,
}

impl<'a, T> EnterIdentification<'a, T> {
    fn new(entrant: &'a Entrant, horizon: u64) -> Self {
        Self { entrant, horizon, task: PhantomData }
    }

    fn entry<P>(
        self,
        build: impl Fn(ListShape, u64) -> Result<P, Error> + Send + Sync + 'static,
    ) -> Entry<impl Fn(ListShape) -> P + Send + Sync + 'static, Saves> {
        let horizon = self.horizon;
        let build = move |shape| build(shape, horizon).expect("a policy for any list");
        Entry::new(self.entrant.label.clone(), build).saved()
    }
}

/// Enters a policy under its own type, on users who examine every shown item.
struct EnterWithFullFeedback<'a, T>(EnterIdentification<'a, T>);

/// Expands to both tasks, since each has its own type of contender.
macro_rules! stopping {
    ($($task:ty),*) => {$(
        impl WithStopping for EnterIdentification<'_, $task> {
            type Output = Box<dyn Contender<CascadeModel, $task>>;

            fn with<P, F>(self, build: F, tolerance: NonNegative) -> Self::Output
            where
                P: Policy<Cascade> + Recommend<Ranking> + Stop<Answer: AsRef<[ItemId]>> + Serialize + DeserializeOwned,
                F: Fn(ListShape, u64) -> Result<P, Error> + Send + Sync + 'static,
            {
                Box::new(self.entry(build).within(tolerance.get()))
            }
        }

        impl WithStopping for EnterWithFullFeedback<'_, $task> {
            type Output = Box<dyn Contender<CascadeModel, $task>>;

            fn with<P, F>(self, build: F, tolerance: NonNegative) -> Self::Output
            where
                P: Policy<SemiBandit> + Recommend<Ranking> + Stop<Answer: AsRef<[ItemId]>> + Serialize + DeserializeOwned,
                F: Fn(ListShape, u64) -> Result<P, Error> + Send + Sync + 'static,
            {
                let n_shown = match self.0.entrant.spec {
                    PolicySpec::Batrac { pulls: Pulls::One, .. } => 1,
                    _ => usize::MAX,
                };
                Box::new(self.0.entry(build).within(tolerance.get()).with_full_feedback(n_shown))
            }
        }
    )*};
}
stopping!(UntilStopped, WithBudget);

impl WithBudgeted for EnterIdentification<'_, WithBudget> {
    type Output = Box<dyn Contender<CascadeModel, WithBudget>>;

    fn with<P, F>(self, build: F) -> Self::Output
    where
        P: Policy<Cascade> + Recommend<Ranking> + Serialize + DeserializeOwned,
        F: Fn(ListShape, u64) -> Result<P, Error> + Send + Sync + 'static,
    {
        Box::new(self.entry(build))
    }
}

/// Contenders that play until they stop.
///
/// # Errors
///
/// If a policy never stops.
pub fn stopping_contenders(
    entrants: &[Entrant],
    delays: &Delays,
) -> Result<Vec<Box<dyn Contender<CascadeModel, UntilStopped>>>, CannotPlay> {
    let enter = |entrant: &Entrant| {
        if !delays.is_none() || entrant.live.is_some() {
            return late(entrant, delays).ok_or_else(|| CannotPlay::new(entrant, CannotPlay::LIVE));
        }
        let visitor = || EnterIdentification::<UntilStopped>::new(entrant, 0);
        let spec = &entrant.spec;
        let entered = spec.with_stopping(visitor());
        let entered = entered.or_else(|| spec.with_full_feedback(EnterWithFullFeedback(visitor())));
        entered.ok_or_else(|| CannotPlay::new(entrant, CannotPlay::IDENTIFICATION))
    };
    entrants.iter().map(enter).collect()
}

/// Enters a policy whose answers come late.
fn late(entrant: &Entrant, delays: &Delays) -> Option<Box<dyn Contender<CascadeModel, UntilStopped>>> {
    // Any shape shows whether the policy can play.
    Late::new(entrant, ListShape::new(2, 1).ok()?, delays).filter(|_| entrant.spec.stops())?;
    let (one, delays, tolerance) = (entrant.clone(), *delays, entrant.spec.epsilon_of_answer());
    let build = move |shape| Late::new(&one, shape, &delays).expect("a policy for any list");
    Some(Box::new(Entry::new(entrant.label.clone(), build).saved().within(tolerance)))
}

/// Contenders that recommend the best items at the end of a budget.
///
/// # Errors
///
/// If a policy gives no answer.
pub fn recommending_contenders(
    entrants: &[Entrant],
    horizon: u64,
) -> Result<Vec<Box<dyn Contender<CascadeModel, WithBudget>>>, CannotPlay> {
    let enter = |entrant: &Entrant| {
        let visitor = || EnterIdentification::<WithBudget>::new(entrant, horizon);
        let spec = &entrant.spec;
        let entered = spec.with_stopping(visitor());
        let entered = entered.or_else(|| spec.with_full_feedback(EnterWithFullFeedback(visitor())));
        let entered = entered.or_else(|| spec.with_budgeted(visitor()));
        entered.ok_or_else(|| CannotPlay::new(entrant, CannotPlay::IDENTIFICATION))
    };
    entrants.iter().map(enter).collect()
}
