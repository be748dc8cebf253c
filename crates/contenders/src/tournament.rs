//! Tournaments whose users and task have lost their types.

use sim::{Curve, Identification, Objective, StateError, StateStore, Tournament};
use std::ops::Range;

/// The record of a replication of any task.
#[derive(Debug, Clone, PartialEq)]
pub enum Record {
    /// Regret and clicks at the checkpoints.
    Curve(Curve),
    /// The answer at the end.
    Answer(Identification),
}

impl From<Curve> for Record {
    fn from(curve: Curve) -> Self {
        Self::Curve(curve)
    }
}

impl From<Identification> for Record {
    fn from(answer: Identification) -> Self {
        Self::Answer(answer)
    }
}

/// A [`Tournament`] on users of any model, with any task.
pub trait AnyTournament: Sync {
    /// The labels of the contenders.
    fn labels(&self) -> Vec<&str>;

    /// Returns whether another process can continue a replication of a contender.
    fn is_saved(&self, contender: usize) -> bool;

    /// [`Tournament::draw_instances`].
    fn draw_instances(&self, replications: Range<u64>) -> Vec<usize>;

    /// [`Tournament::play`].
    ///
    /// # Errors
    ///
    /// Fails as [`Tournament::play`] does.
    fn play(
        &self,
        contender: usize,
        replication: u64,
        instance: usize,
        state: Option<&[u8]>,
        store: &mut dyn StateStore,
    ) -> Result<Record, StateError>;
}

impl<M, T> AnyTournament for Tournament<'_, M, T>
where
    M: Clone + Send + Sync,
    T: Objective<Record: Into<Record>>,
{
    fn labels(&self) -> Vec<&str> {
        self.contenders.iter().map(|contender| contender.label()).collect()
    }

    fn is_saved(&self, contender: usize) -> bool {
        self.contenders[contender].is_saved()
    }

    fn draw_instances(&self, replications: Range<u64>) -> Vec<usize> {
        Tournament::draw_instances(self, replications)
    }

    fn play(
        &self,
        contender: usize,
        replication: u64,
        instance: usize,
        state: Option<&[u8]>,
        store: &mut dyn StateStore,
    ) -> Result<Record, StateError> {
        Tournament::play(self, contender, replication, instance, state, store).map(Into::into)
    }
}
