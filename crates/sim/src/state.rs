//! The state of an unfinished replication: its format, and what is checked when it is read.
//!
//! A state is a version number, the loop that plays the replication, its progress and its policy,
//! in the [postcard](https://docs.rs/postcard) format. Only the bytes of the policy are written by
//! code that is compiled for the policy. A state does not name the experiment, the contender or the
//! replication; the caller stores them beside it. The state of another replication gives an error
//! or a wrong record, and no panic.

use crate::{Curve, ROUNDS_BETWEEN, SimRng};
use click_models::ListShape;
use rand::Rng;
use serde::{Deserialize, Serialize};

/// Version of the format.
const FORMAT: u32 = 1;

/// The loop that plays a replication.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Loop {
    Regret,
    Stages,
    Duels,
    UntilStopped,
    WithBudget,
    Users,
    Live,
}

/// How far a replication has got. The rounds that follow depend on it and on the policy only.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Progress {
    /// Rounds played.
    pub(crate) rounds: u64,
    /// The stream that draws the answers of the users.
    pub(crate) environment: SimRng,
    /// The stream for the choices of the policy.
    pub(crate) randomness: SimRng,
    /// The stream for recommendations, of duels only.
    pub(crate) recommendation: Option<SimRng>,
    /// Regret of all rounds.
    pub(crate) regret: f64,
    /// Clicks of all rounds.
    pub(crate) clicks: f64,
    /// Items observed in all rounds, by tasks that identify the best items.
    pub(crate) observations: u64,
    /// The checkpoints before the round that was played last.
    pub(crate) curve: Curve,
}

impl Progress {
    /// Nothing has been played.
    pub(crate) fn new(environment: SimRng, randomness: SimRng) -> Self {
        Self {
            rounds: 0,
            environment,
            randomness,
            recommendation: None,
            regret: 0.0,
            clicks: 0.0,
            observations: 0,
            curve: Curve::default(),
        }
    }

    /// The next round after which a state may be kept.
    pub(crate) fn next_pause(&self) -> u64 {
        (self.rounds - self.rounds % ROUNDS_BETWEEN).saturating_add(ROUNDS_BETWEEN)
    }

    /// The bytes of a state with this progress and this policy.
    pub(crate) fn encode(&self, played_by: Loop, policy: &[u8]) -> Option<Vec<u8>> {
        postcard::to_allocvec(&(FORMAT, played_by, self, policy)).ok()
    }

    /// The progress of a state of this loop, and the bytes of its policy. An error names the fault.
    pub(crate) fn decode(state: &[u8], played_by: Loop) -> Result<(Self, &[u8]), String> {
        let fault = |error: postcard::Error| error.to_string();
        // The version is read first: what follows may differ in another one.
        let (format, state) = postcard::take_from_bytes::<u32>(state).map_err(fault)?;
        if format != FORMAT {
            return Err(format!("version {format}, expected {FORMAT}"));
        }
        let ((found, progress, policy), rest) =
            postcard::take_from_bytes::<(Loop, Self, &[u8])>(state).map_err(fault)?;
        if found != played_by {
            return Err(format!("the state of another task: {found:?}, expected {played_by:?}"));
        }
        if rest.is_empty() { Ok((progress, policy)) } else { Err("bytes after the state".to_owned()) }
    }

    /// The fault of a progress that was read, in a replication with this horizon.
    pub(crate) fn fault(&self, played_by: Loop, horizon: u64, checkpoints: &[u64]) -> Option<&'static str> {
        let Curve { regret, clicks, accurate } = &self.curve;
        let n_recorded = checkpoints.partition_point(|&checkpoint| checkpoint < self.rounds);
        let recommends = played_by == Loop::Duels;
        let n_recommended = if recommends { n_recorded } else { 0 };
        let streams = [Some(&self.environment), Some(&self.randomness), self.recommendation.as_ref()];
        let sums = [&self.regret, &self.clicks];
        let most_observations = self.rounds.saturating_mul(ListShape::MAX_POSITIONS as u64);
        if self.rounds > horizon {
            Some("more rounds than the task has")
        } else if [regret.len(), clicks.len(), accurate.len()] != [n_recorded, n_recorded, n_recommended] {
            Some("the checkpoints do not go with the rounds played")
        } else if self.recommendation.is_some() != recommends {
            Some("the streams are those of another task")
        } else if streams.into_iter().flatten().any(is_stuck) {
            Some("a stream of zeros")
        } else if sums.into_iter().chain(regret).chain(clicks).any(|sum| !sum.is_finite()) {
            Some("a sum that is not finite")
        } else if self.observations > most_observations {
            Some("more observations than positions")
        } else {
            None
        }
    }
}

/// Returns whether the state of this generator is zero, which yields zeros for ever. Four zeros in
/// a row have no other cause in practice.
fn is_stuck(stream: &SimRng) -> bool {
    let mut stream = stream.clone();
    (0..4).all(|_| stream.next_u64() == 0)
}

#[cfg(test)]
mod tests;
