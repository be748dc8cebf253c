//! Policies that look for the best items of cascading users.

use crate::{CannotPlay, Entrant};
use click_models::CascadeModel;
use policies::spec::PolicySpec;
use policies::{CascadeBai, CascadeKl, KlLucb, Pulls, SuccessiveRejects};
use sim::{Contender, Entry, FullFeedbackEntry, UntilStopped, WithBudget};

/// Enters a policy that looks for the best items of cascading users and stops, for any task. A macro, since every task is another
/// type of contender.
macro_rules! stopping {
    ($task:ty, $entrant:expr) => {{
        let (entrant, label) = ($entrant, $entrant.label.clone());
        let allowed = entrant.spec.epsilon_of_answer();
        let entered: Option<Box<dyn Contender<CascadeModel, $task>>> = match entrant.spec {
            PolicySpec::CascadeBai { delta, epsilon, radius_scale, order } => {
                let build = Entry::new(label, move |shape| {
                    CascadeBai::new(shape, delta)
                        .with_epsilon(epsilon)
                        .with_radius_scale(radius_scale)
                        .with_order(order)
                });
                Some(Box::new(build.within(allowed)))
            }
            PolicySpec::Batrac { delta, epsilon, radius_scale, order, pulls } => {
                let build = Entry::new(label, move |shape| {
                    CascadeBai::bat_rac(shape, pulls, delta)
                        .with_epsilon(epsilon)
                        .with_radius_scale(radius_scale)
                        .with_order(order)
                });
                let n_shown = match pulls {
                    Pulls::List => usize::MAX,
                    Pulls::One => 1,
                };
                Some(Box::new(FullFeedbackEntry::new(build.within(allowed), n_shown)))
            }
            PolicySpec::CascadeKl { delta, epsilon, test, order } => {
                let build = Entry::new(label, move |shape| {
                    CascadeKl::new(shape, delta).with_epsilon(epsilon).with_test(test).with_order(order)
                });
                Some(Box::new(build.within(allowed)))
            }
            PolicySpec::KlLucb { delta, epsilon } => {
                let build = Entry::new(label, move |shape| KlLucb::new(shape, delta).with_epsilon(epsilon));
                Some(Box::new(build.within(allowed)))
            }
            _ => None,
        };
        entered.ok_or_else(|| CannotPlay::identification(entrant))
    }};
}

/// Contenders that are played until they stop.
///
/// # Errors
///
/// A policy that never stops.
pub fn stopping_contenders(
    entrants: &[Entrant],
) -> Result<Vec<Box<dyn Contender<CascadeModel, UntilStopped>>>, CannotPlay> {
    entrants.iter().map(|entrant| stopping!(UntilStopped, entrant)).collect()
}

/// Contenders that are asked for the best items at the end.
///
/// # Errors
///
/// A policy that has no answer.
pub fn recommending_contenders(
    entrants: &[Entrant],
    horizon: u64,
) -> Result<Vec<Box<dyn Contender<CascadeModel, WithBudget>>>, CannotPlay> {
    let enter = |entrant: &Entrant| {
        if let PolicySpec::SuccessiveRejects {} = entrant.spec {
            let build = move |shape| SuccessiveRejects::new(shape, horizon);
            let entered: Box<dyn Contender<CascadeModel, WithBudget>> =
                Box::new(Entry::new(entrant.label.clone(), build));
            Ok(entered)
        } else {
            stopping!(WithBudget, entrant)
        }
    };
    entrants.iter().map(enter).collect()
}
