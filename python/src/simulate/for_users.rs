//! Policies written in Python, for users who differ.

use super::contender::{InPython, PolicyInPython};
use crate::models::PolicyFacts;
use click_models::{Context, Feedback, Personal, Ranking, WithAttraction};
use numpy::{PyArray1, PyArrayMethods};
use policies::catalogue::CatalogueProtocol;
use policies::{Decision, SelectFor, UpdateFor};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use rand::Rng;
use sim::{Contender, Curve, Entry, PersonalKnown, Replication, Schedule, StateError, StateStore};

/// Keyword arguments of `Policy` for these users.
fn known_in<'py, M: PolicyFacts + WithAttraction>(
    users: &Personal<M>,
    py: Python<'py>,
) -> PyResult<Bound<'py, PyDict>> {
    let (arguments, known) = (users.user(0).known_in(py)?, users.known());
    if known.n_item_features() > 0 {
        let features = PyArray1::from_slice(py, known.item_features());
        arguments.set_item("item_features", features.reshape([known.n_items(), known.n_item_features()])?)?;
    }
    arguments.set_item("user_features", known.n_user_features())?;
    arguments.set_item("segments", known.n_segments())?;
    Ok(arguments)
}

impl<M> Contender<Personal<M>> for InPython
where
    M: PolicyFacts<Interaction: CatalogueProtocol> + WithAttraction + Send + Sync,
{
    fn label(&self) -> &str {
        self.name()
    }

    fn resume(
        &self,
        replication: Replication<'_, Personal<M>>,
        schedule: &Schedule,
        state: Option<&[u8]>,
        store: &mut dyn StateStore,
    ) -> Result<Curve, StateError> {
        let (seed, users) = (replication.policy(self.name()).next_u64(), replication.users);
        let entry = Entry::for_users(self.name(), |_known: PersonalKnown<'_, M>| {
            ForUsers(PolicyInPython::new(self, users.user(0), |py| known_in(users, py), seed))
        });
        entry.resume(replication, schedule, state, store)
    }
}

/// A policy that may see who asks.
struct ForUsers<'a, M: PolicyFacts>(PolicyInPython<'a, M>);

impl<M: PolicyFacts<Interaction: CatalogueProtocol> + WithAttraction> SelectFor<Ranking> for ForUsers<'_, M> {
    type Note = ();

    fn select_for<R: Rng + ?Sized>(&mut self, user: &Context, _rng: &mut R, out: &mut Decision<Ranking>) {
        self.0.select_or_stop(Some(user), &mut out.action);
    }
}

impl<M: PolicyFacts<Interaction: CatalogueProtocol> + WithAttraction> UpdateFor<Ranking, Feedback<M>>
    for ForUsers<'_, M>
{
    fn update_for(&mut self, _decision: &Decision<Ranking>, feedback: &Feedback<M>) {
        self.0.learn_or_stop(feedback);
    }
}
