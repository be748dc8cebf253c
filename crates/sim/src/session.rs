//! One replication of one contender: where it begins, the loop over its checkpoints, and when its
//! state is kept.
//!
//! All of it is compiled once. The rounds between two checkpoints are compiled for the policy and
//! its users, behind [`Player`].

use crate::state::{Loop, Progress};
use crate::{Curve, Pause, Schedule, StateError, StateStore, Streams};
use std::fmt::Debug;

/// Why a replication ended before its last round.
#[derive(Debug)]
pub(crate) enum EarlyEnd {
    /// The policy played an action that the model does not admit: the message.
    NotAdmitted(String),
    /// The policy cannot be written.
    NotWritten,
    /// The store stopped the replication.
    Stopped,
}

impl EarlyEnd {
    #[cold]
    #[inline(never)]
    pub(crate) fn not_admitted(round: u64, action: &dyn Debug) -> Self {
        Self::NotAdmitted(format!(
            "round {round}: the policy plays {action:?}, which is no action of the model"
        ))
    }

    /// Panics with the message, in a replication that does not come from a state.
    pub(crate) fn panic(self) -> ! {
        match self {
            Self::NotAdmitted(message) => panic!("{message}"),
            Self::NotWritten | Self::Stopped => unreachable!("no store asks for states or stops"),
        }
    }
}

/// A policy on its users, as the loops that are compiled once see it.
pub(crate) trait Player {
    /// Plays at least one round and none after `last`. A player that plays round by round returns
    /// at the next pause at the latest.
    fn advance(&mut self, progress: &mut Progress, last: u64) -> Result<(), EarlyEnd>;

    /// Returns whether the policy's recommendation is a best one, if it recommends anything.
    fn is_right(&self, _progress: &mut Progress) -> Option<bool> {
        None
    }

    /// The policy as bytes.
    fn write(&self) -> Result<Vec<u8>, String>;
}

/// Plays a policy to the last checkpoint: the part of a replication that is compiled once.
type PlayRounds<'a> = dyn FnMut(&mut dyn Player) + 'a;
/// Makes the policy, from these bytes or a new one, and has it played: the part that is compiled
/// for each policy. An error names the fault of the bytes.
pub(crate) type PlayPolicy<'a> = dyn FnMut(Option<&[u8]>, &mut PlayRounds<'_>) -> Result<(), String> + 'a;

/// One replication of one contender, from the beginning or from a state.
pub(crate) struct Session<'a> {
    pub(crate) label: &'a str,
    pub(crate) played_by: Loop,
    /// The largest number of rounds.
    pub(crate) horizon: u64,
    /// The rounds at which a curve is recorded; none for other records.
    pub(crate) checkpoints: &'a [u64],
    pub(crate) state: Option<&'a [u8]>,
    pub(crate) store: &'a mut dyn StateStore,
    /// Whether the policy can be saved.
    pub(crate) is_saved: bool,
}

impl<'a> Session<'a> {
    /// A replication whose record is a curve.
    pub(crate) fn of_curve(
        label: &'a str,
        played_by: Loop,
        schedule: &'a Schedule,
        state: Option<&'a [u8]>,
        store: &'a mut dyn StateStore,
        is_saved: bool,
    ) -> Self {
        let (horizon, checkpoints) = (schedule.horizon(), schedule.checkpoints());
        Self { label, played_by, horizon, checkpoints, state, store, is_saved }
    }

    /// Where the replication of this number begins: the progress in its state, with the bytes of
    /// the policy; without a state, at the beginning of its streams, with a new policy.
    pub(crate) fn begin(
        &self,
        streams: Streams,
        number: u64,
    ) -> Result<(Progress, Option<&'a [u8]>), StateError> {
        let Some(state) = self.state else {
            let mut progress = Progress::new(streams.environment(number), streams.policy(self.label, number));
            if self.played_by == Loop::Duels {
                progress.recommendation = Some(streams.recommendation(self.label, number));
            }
            return Ok((progress, None));
        };
        if !self.is_saved {
            return Err(StateError::NotSaved(self.label.to_owned()));
        }
        let (progress, policy) =
            Progress::decode(state, self.played_by).map_err(|fault| self.not_a_state(fault))?;
        match progress.fault(self.played_by, self.horizon, self.checkpoints) {
            Some(fault) => Err(self.not_a_state(fault)),
            None => Ok((progress, Some(policy))),
        }
    }

    /// Plays to the last checkpoint, and returns the record.
    pub(crate) fn replicate(
        mut self,
        streams: Streams,
        number: u64,
        play_policy: &mut PlayPolicy<'_>,
    ) -> Result<Curve, StateError> {
        let (mut progress, bytes) = self.begin(streams, number)?;
        let mut played = Ok(());
        let read = play_policy(bytes, &mut |player| played = self.play_curve(&mut progress, player));
        read.map_err(|fault| self.not_a_state(fault))?;
        played.map_err(|ended| self.error(ended))?;
        Ok(progress.curve)
    }

    /// Plays from the progress made so far to the last checkpoint. It may be interrupted between
    /// two rounds, also before a checkpoint is recorded.
    pub(crate) fn play_curve(
        &mut self,
        progress: &mut Progress,
        player: &mut dyn Player,
    ) -> Result<(), EarlyEnd> {
        let checkpoints = self.checkpoints;
        let n_recorded = progress.curve.regret.len();
        for of_curve in [&mut progress.curve.regret, &mut progress.curve.clicks] {
            of_curve.reserve_exact(checkpoints.len() - n_recorded);
        }
        for &checkpoint in &checkpoints[n_recorded..] {
            while progress.rounds < checkpoint {
                let due = progress.next_pause();
                player.advance(progress, checkpoint)?;
                if progress.rounds >= due {
                    self.pause(progress, || player.write())?;
                }
            }
            let is_right = player.is_right(progress);
            progress.curve.regret.push(progress.regret);
            progress.curve.clicks.push(progress.clicks);
            progress.curve.accurate.extend(is_right);
        }
        Ok(())
    }

    /// Asks the store, and keeps the state if asked to. `policy` writes the policy.
    pub(crate) fn pause(
        &mut self,
        progress: &Progress,
        policy: impl FnOnce() -> Result<Vec<u8>, String>,
    ) -> Result<(), EarlyEnd> {
        let decided = self.store.pause(progress.rounds);
        if self.is_saved && decided != Pause::GoOn {
            let policy = policy().map_err(|_| EarlyEnd::NotWritten)?;
            self.store.keep(&progress.encode(self.played_by, &policy).ok_or(EarlyEnd::NotWritten)?);
        }
        if decided == Pause::Stop { Err(EarlyEnd::Stopped) } else { Ok(()) }
    }

    pub(crate) fn not_a_state(&self, fault: impl Into<String>) -> StateError {
        StateError::NotAState { label: self.label.to_owned(), fault: fault.into() }
    }

    /// The error of a replication that ended early.
    ///
    /// # Panics
    ///
    /// If the policy is not one from a state and plays an action that the model does not admit.
    pub(crate) fn error(&self, ended: EarlyEnd) -> StateError {
        match ended {
            EarlyEnd::NotWritten => StateError::NotSaved(self.label.to_owned()),
            EarlyEnd::Stopped => StateError::Stopped,
            EarlyEnd::NotAdmitted(fault) if self.state.is_some() => self.not_a_state(fault),
            ended @ EarlyEnd::NotAdmitted(_) => ended.panic(),
        }
    }
}
