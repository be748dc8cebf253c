//! The round loop of several replications in lockstep.

#![expect(
    clippy::inline_always,
    reason = "only what is inlined is compiled for the vector instructions of the caller"
)]
#![expect(clippy::needless_range_loop, reason = "loops over lanes of several rows at once")]

use super::streams::StreamLanes;
use crate::{Curve, Keeper, Pause, ROUNDS_BETWEEN, Replication, Schedule, StateError};
use click_models::{ClickModel, PositionBased};
use policies::{LANES, PbmUcbLanes};
use pulp::{Arch, Simd, WithSimd};
use std::array;

/// The largest number of items.
const MAX_ITEMS: usize = PbmUcbLanes::<1>::MAX_ITEMS;

/// Plays every replication to the schedule's horizon. Returns the records, and the policies at the end.
pub(super) fn play_lanes<const L: usize>(
    arch: Arch,
    policies: PbmUcbLanes<L>,
    replications: &[Replication<'_, PositionBased>; LANES],
    label: &str,
    schedule: &Schedule,
    keeper: &mut dyn Keeper,
) -> Result<([Curve; LANES], PbmUcbLanes<L>), StateError> {
    let mut lanes = Lanes {
        policies,
        environment: StreamLanes::new(replications.each_ref().map(Replication::environment)),
        randomness: StreamLanes::new(replications.each_ref().map(|one| one.policy(label))),
        clicks_of: Box::new(clicks_of(replications)),
        best: replications.each_ref().map(|one| one.users.optimal_reward()),
        regret: [0.0; LANES],
        clicks: [0.0; LANES],
    };
    let mut curves: [Curve; LANES] = array::from_fn(|_| Curve::default());
    let mut played = 0;
    for &checkpoint in schedule.checkpoints() {
        while played < checkpoint {
            let until = checkpoint.min(played - played % ROUNDS_BETWEEN + ROUNDS_BETWEEN);
            arch.dispatch(Stretch { lanes: &mut lanes, n_rounds: until - played });
            played = until;
            if played.is_multiple_of(ROUNDS_BETWEEN) && keeper.pause(played) == Pause::Stop {
                return Err(StateError::Stopped);
            }
        }
        for (lane, curve) in curves.iter_mut().enumerate() {
            curve.regret.push(lanes.regret[lane]);
            curve.clicks.push(lanes.clicks[lane]);
        }
    }
    Ok((curves, lanes.policies))
}

/// The probability of a click on every item at every position, in every lane; 0 for items that a lane does not have.
fn clicks_of<const L: usize>(
    replications: &[Replication<'_, PositionBased>; LANES],
) -> [[[f64; LANES]; L]; MAX_ITEMS] {
    let users = replications.each_ref().map(|one| one.users);
    let click = |item: usize, position: usize, lane: usize| {
        let attraction = users[lane].attraction().get(item).map_or(0.0, |attraction| attraction.get());
        users[lane].examination()[position].get() * attraction
    };
    let at = |item, position| array::from_fn(|lane| click(item, position, lane));
    array::from_fn(|item| array::from_fn(|position| at(item, position)))
}

/// Replications in lockstep.
struct Lanes<const L: usize> {
    policies: PbmUcbLanes<L>,
    environment: StreamLanes,
    randomness: StreamLanes,
    /// Probability of a click on an item at a position.
    clicks_of: Box<[[[f64; LANES]; L]; MAX_ITEMS]>,
    /// Expected clicks on the best list.
    best: [f64; LANES],
    regret: [f64; LANES],
    clicks: [f64; LANES],
}

/// Some rounds of all lanes. Its callees are always inlined, so it is compiled for the vector instructions of the processor.
struct Stretch<'a, const L: usize> {
    lanes: &'a mut Lanes<L>,
    n_rounds: u64,
}

impl<const L: usize> WithSimd for Stretch<'_, L> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _simd: S) {
        for _ in 0..self.n_rounds {
            self.lanes.play_round();
        }
    }
}

impl<const L: usize> Lanes<L> {
    /// Plays a round, as [`play_round`](crate::run::play_round) does.
    #[inline(always)]
    fn play_round(&mut self) {
        let Self { policies, environment, randomness, clicks_of, best, regret, clicks } = self;
        let mut keys = [0; LANES];
        for lane in 0..LANES {
            keys[lane] = randomness.next(lane);
        }
        let shown = policies.select(&keys);
        let mut click = [[0.0; LANES]; L];
        for position in 0..L {
            for lane in 0..LANES {
                let item = usize::try_from(shown[position][lane]).unwrap_or(0) % MAX_ITEMS;
                click[position][lane] = clicks_of[item][position][lane];
            }
        }
        let mut clicked = [[0.0; LANES]; L];
        for lane in 0..LANES {
            let (mut expected, mut counted) = (0.0, 0.0);
            for position in 0..L {
                let probability = click[position][lane];
                let is_click = if environment.uniform(lane) < probability { 1.0 } else { 0.0 };
                clicked[position][lane] = is_click;
                counted += is_click;
                expected += probability;
            }
            let gap = best[lane] - expected;
            // As `ClickModel::gap`.
            regret[lane] += if gap.abs() < 1e-13 * best[lane] { 0.0 } else { gap };
            clicks[lane] += counted;
        }
        policies.update(&clicked);
    }
}
