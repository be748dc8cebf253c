//! Several replications of PBM-UCB at once, each in a lane of the vector registers.
//!
//! The loop is compiled for the baseline of the processor's family and for AVX2, and the better one that the processor has is taken. Both
//! compute every number by the same operations in the same order, as the loop of a single replication does, so records have the same bits.

mod rounds;
mod streams;

use crate::contender::FROM_THE_BEGINNING;
use crate::{
    Contender, Curve, Entry, Keeper, KeepsNothing, Lockstep, Replication, Saves, Schedule, StateError,
};
use click_models::{ClickModel, PbmKnown, PositionBased};
use policies::{LANES, PbmUcb, PbmUcbLanes};
use pulp::Arch;
use rounds::play_lanes;

/// The longest replication that is played in lockstep. No state is kept in between, so a batch should end within a few seconds.
const LONGEST: u64 = 10_000_000;

/// A contender that plays [`PbmUcb`] on small instances in lockstep, and otherwise as its [`Entry`] does.
///
/// # Examples
///
/// ```
/// use click_models::{PbmKnown, PositionBased};
/// use confidence::Rate;
/// use policies::PbmUcb;
/// use sim::{Assignment, Contender, Entry, LockstepEntry, Schedule, Silent, Streams, Tournament};
///
/// let users = [PositionBased::from_values(&[0.45, 0.35, 0.25, 0.15, 0.05], &[0.9, 0.6, 0.3])?];
/// let entry = || Entry::new("pbm-ucb", |known: PbmKnown<'_>| PbmUcb::new(known, Rate::LOG)).saved();
/// let curves = |contender: Box<dyn Contender<PositionBased>>| {
///     let (contenders, task) = ([contender], Schedule::new(vec![100, 1_000])?);
///     let (streams, assignment) = (Streams::new(1), Assignment::Drawn);
///     let tournament = Tournament {
///         instances: &users, uncertainty: None, runs_per_draw: 1, assignment, contenders: &contenders, task: &task, streams, runs: 20,
///     };
///     Ok::<_, sim::ScheduleError>(tournament.run(&Silent).records)
/// };
/// assert_eq!(curves(Box::new(LockstepEntry::new(entry())))?, curves(Box::new(entry()))?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct LockstepEntry<F> {
    entry: Entry<F, Saves>,
    arch: Arch,
}

impl<F> LockstepEntry<F> {
    /// Plays the replications of this entry in lockstep where that is faster.
    pub fn new(entry: Entry<F, Saves>) -> Self {
        Self { entry, arch: Arch::new() }
    }
}

impl<F: Fn(PbmKnown<'_>) -> PbmUcb + Send + Sync> LockstepEntry<F> {
    /// Plays all replications in lockstep; `None` if the policies cannot go in lockstep.
    fn play<const L: usize>(
        &self,
        replications: &[Replication<'_, PositionBased>; LANES],
        schedule: &Schedule,
        keeper: &mut dyn Keeper,
    ) -> Option<Result<[Curve; LANES], StateError>> {
        let build =
            |replication: &Replication<'_, PositionBased>| (self.entry.build())(replication.told.known());
        let policies = PbmUcbLanes::<L>::new(replications.each_ref().map(build))?;
        let played = play_lanes(self.arch, policies, replications, self.entry.name(), schedule, keeper);
        Some(played.map(|(curves, _)| curves))
    }
}

/// The largest number of positions of a list in lockstep.
const MAX_POSITIONS: usize = 5;

impl<F: Fn(PbmKnown<'_>) -> PbmUcb + Send + Sync> Contender<PositionBased> for LockstepEntry<F> {
    fn label(&self) -> &str {
        self.entry.name()
    }

    fn replicate(&self, replication: Replication<'_, PositionBased>, schedule: &Schedule) -> Curve {
        self.resume(replication, schedule, None, &mut KeepsNothing).expect(FROM_THE_BEGINNING)
    }

    fn is_saved(&self) -> bool {
        true
    }

    fn resume(
        &self,
        replication: Replication<'_, PositionBased>,
        schedule: &Schedule,
        state: Option<&[u8]>,
        keeper: &mut dyn Keeper,
    ) -> Result<Curve, StateError> {
        Contender::<PositionBased>::resume(&self.entry, replication, schedule, state, keeper)
    }

    fn lockstep(&self, schedule: &Schedule) -> Option<&dyn Lockstep<PositionBased>> {
        (schedule.horizon() <= LONGEST).then_some(self as _)
    }
}

impl<F: Fn(PbmKnown<'_>) -> PbmUcb + Send + Sync> Lockstep<PositionBased> for LockstepEntry<F> {
    fn lanes(&self) -> usize {
        LANES
    }

    fn go_together(&self, replications: &[Replication<'_, PositionBased>]) -> bool {
        let n_positions = replications[0].users.shape().n_positions();
        n_positions <= MAX_POSITIONS
            && replications.iter().all(|replication| {
                let shape = replication.users.shape();
                shape.n_positions() == n_positions && shape.n_items() <= PbmUcbLanes::<1>::MAX_ITEMS
            })
    }

    fn play_together(
        &self,
        replications: &[Replication<'_, PositionBased>],
        schedule: &Schedule,
        keeper: &mut dyn Keeper,
    ) -> Result<Vec<Curve>, StateError> {
        let in_lockstep = replications.try_into().ok().and_then(|lanes: &[_; LANES]| {
            match lanes[0].users.shape().n_positions() {
                1 => self.play::<1>(lanes, schedule, keeper),
                2 => self.play::<2>(lanes, schedule, keeper),
                3 => self.play::<3>(lanes, schedule, keeper),
                4 => self.play::<4>(lanes, schedule, keeper),
                MAX_POSITIONS => self.play::<MAX_POSITIONS>(lanes, schedule, keeper),
                _ => None,
            }
        });
        match in_lockstep {
            Some(curves) => curves.map(Vec::from),
            // Told of orders of positions that differ: one after the other.
            None => replications.iter().map(|&one| self.resume(one, schedule, None, keeper)).collect(),
        }
    }
}

#[cfg(test)]
mod tests;
