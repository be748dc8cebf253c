use super::*;
use crate::{
    Assignment, Book, DrawUsers, Outcome, Pause, PlayOne, PlayTogether, Silent, SimRng, Streams, Tournament,
    play,
};
use click_models::ClickModel;
use confidence::Rate;
use policies::{Decision, Policy, Select, Update};
use rand::{Rng, RngExt, SeedableRng};
use std::array;
use std::ops::Range;
use std::sync::Mutex;

type Build = fn(PbmKnown<'_>) -> PbmUcb;

fn entry() -> Entry<Build, Saves> {
    let build: Build = |known| PbmUcb::new(known, Rate::LOG);
    Entry::new("pbm-ucb", build).saved()
}

/// Loops for both kinds of vectors, as far as the processor has them.
fn kinds() -> [LockstepEntry<Build>; 2] {
    [Arch::Scalar, Arch::new()].map(|arch| LockstepEntry { entry: entry(), arch })
}

/// Random users: attractions are often equal, 0 or 1, and positions come in the order of `order`.
fn users(rng: &mut SimRng, order: &[usize], n_items: usize) -> PositionBased {
    const ATTRACTIONS: [f64; 6] = [0.0, 0.1, 0.1, 0.3, 0.5, 1.0];
    let attraction: Vec<f64> = (0..n_items).map(|_| ATTRACTIONS[rng.random_range(0..6)]).collect();
    let mut examination = vec![0.0; order.len()];
    for (rank, &position) in order.iter().enumerate() {
        let is_last = rank + 1 == order.len();
        examination[position] =
            if is_last && rng.random() { 0.0 } else { 1.0 - rng.random_range(0.15..0.2) * rank as f64 };
    }
    PositionBased::from_values(&attraction, &examination).unwrap()
}

fn shuffled(rng: &mut SimRng, n: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..n).collect();
    for place in 1..n {
        order.swap(place, rng.random_range(0..=place));
    }
    order
}

/// Users for every lane, of `L` positions.
fn users_of_lanes<const L: usize>(rng: &mut SimRng) -> [PositionBased; LANES] {
    let order = shuffled(rng, L);
    array::from_fn(|_| {
        let n_items = rng.random_range(L..=L + 5);
        users(rng, &order, n_items)
    })
}

fn replications(users: &[PositionBased; LANES], first: u64) -> [Replication<'_, PositionBased>; LANES] {
    array::from_fn(|lane| Replication::new(&users[lane], Streams::new(5), first + lane as u64))
}

fn schedule(rng: &mut SimRng) -> Schedule {
    let mut checkpoints: Vec<u64> = (0..4).map(|_| rng.random_range(1..2_500)).collect();
    checkpoints.sort_unstable();
    checkpoints.dedup();
    Schedule::new(checkpoints).unwrap()
}

/// Curves and policies of lanes and of replications played alone have the same bits.
fn assert_same<const L: usize>(seed: u64) {
    let mut rng = SimRng::seed_from_u64(seed);
    let users = users_of_lanes::<L>(&mut rng);
    let (replications, schedule) = (replications(&users, seed), schedule(&mut rng));
    let mut alone = users.each_ref().map(|users| PbmUcb::new(users.known(), Rate::LOG));
    let curves: [Curve; LANES] = array::from_fn(|lane| {
        let one = &replications[lane];
        let (mut environment, mut randomness) = (one.environment(), one.policy("x"));
        play(one.users, &mut alone[lane], &schedule, &mut environment, &mut randomness)
    });
    let saved = |policy: &PbmUcb| postcard::to_allocvec(policy).unwrap();
    let alone = (curves, alone.each_ref().map(saved));
    for arch in [Arch::Scalar, Arch::new()] {
        let fresh = users.each_ref().map(|users| PbmUcb::new(users.known(), Rate::LOG));
        let lanes = PbmUcbLanes::<L>::new(fresh).unwrap();
        let (curves, lanes) =
            play_lanes(arch, lanes, &replications, "x", &schedule, &mut KeepsNothing).unwrap();
        let policies = array::from_fn(|lane| saved(&lanes.policy(lane).unwrap()));
        assert!((curves, policies) == alone, "{L} positions, seed {seed}, {arch:?}");
    }
}

#[test]
fn lanes_have_the_curves_and_policies_of_replications_alone() {
    for seed in 0..12 {
        assert_same::<1>(seed);
        assert_same::<2>(seed);
        assert_same::<3>(seed);
        assert_same::<4>(seed);
        assert_same::<5>(seed);
    }
}

/// PBM-UCB with ties broken otherwise: by a key of its own.
struct OtherTies(PbmUcb);

impl Select<click_models::Ranking> for OtherTies {
    type Note = ();

    fn select<R: Rng + ?Sized>(&mut self, rng: &mut R, out: &mut Decision<click_models::Ranking>) {
        rng.next_u64();
        self.0.select(&mut SimRng::seed_from_u64(0), out);
    }
}

impl Update<click_models::Ranking, click_models::PbmFeedback> for OtherTies {
    fn update(&mut self, decision: &Decision<click_models::Ranking>, feedback: &click_models::PbmFeedback) {
        self.0.update(decision, feedback);
    }
}

/// Ties matter in these instances: a policy that breaks them by the same key in every round has other curves.
#[test]
fn wrong_ties_are_noticed() {
    fn played<P: Policy<click_models::Pbm>>(mut policy: P, one: &Replication<'_, PositionBased>) -> Curve {
        let (mut environment, mut randomness) = (one.environment(), one.policy("pbm-ucb"));
        let schedule = Schedule::new(vec![2_000]).unwrap();
        play(one.users, &mut policy, &schedule, &mut environment, &mut randomness)
    }
    let mut rng = SimRng::seed_from_u64(3);
    let users = users_of_lanes::<3>(&mut rng);
    let replications = replications(&users, 0);
    let differ = replications.iter().filter(|one| {
        let fresh = || PbmUcb::new(one.users.known(), Rate::LOG);
        played(OtherTies(fresh()), one) != played(fresh(), one)
    });
    assert!(differ.count() >= 6);
}

#[test]
fn a_tournament_plays_in_lockstep_what_fits_and_the_rest_alone() {
    let mut rng = SimRng::seed_from_u64(8);
    let same: Vec<PositionBased> = (0..3).map(|_| users(&mut rng, &[0, 1, 2], 5)).collect();
    let sizes: Vec<PositionBased> = (0..3).map(|index| users(&mut rng, &[0, 1, 2], 4 + index)).collect();
    let orders: Vec<PositionBased> = (0..3)
        .map(|_| shuffled(&mut rng, 3))
        .map(|order| users(&mut SimRng::seed_from_u64(1), &order, 5))
        .collect();
    let positions: Vec<PositionBased> =
        (2..5).map(|n| users(&mut rng, &(0..n).collect::<Vec<_>>(), 6)).collect();
    let large = vec![users(&mut rng, &[0, 1, 2], 17)];
    let task = schedule(&mut rng);
    for (instances, uncertainty) in [
        (&same, None),
        (&sizes, None),
        (&orders, None),
        (&positions, None),
        (&large, None),
        (&same, Some((Fades, 1))),
        (&same, Some((Fades, 3))),
    ] {
        let outcome = |contender: Box<dyn Contender<PositionBased>>, threads: usize| {
            let contenders = [contender, Box::new(entry())];
            let tournament = Tournament {
                instances,
                uncertainty: uncertainty.as_ref().map(|(fades, _)| fades as &dyn DrawUsers<_>),
                runs_per_draw: uncertainty.as_ref().map_or(1, |(_, runs)| *runs),
                assignment: Assignment::Drawn,
                contenders: &contenders,
                task: &task,
                streams: Streams::new(2),
                runs: 37,
            };
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| tournament.run(&Silent))
        };
        let alone: Outcome<Curve> = outcome(Box::new(entry()), 1);
        for threads in [1, 2, 7] {
            for contender in kinds() {
                assert!(outcome(Box::new(contender), threads) == alone);
            }
        }
    }
}

/// Users who click less than the policy is told.
struct Fades;

impl DrawUsers<PositionBased> for Fades {
    fn draw(&self, instance: usize, rng: &mut SimRng) -> PositionBased {
        let factor = rng.random_range(0.5..1.0);
        PositionBased::from_values(
            &[0.5 * factor, 0.4, 0.3, 0.2 * factor, 0.1],
            &[1.0, 0.5, 0.1 * instance as f64],
        )
        .unwrap()
    }
}

/// Notes what was played together, and has recorded or begun some replications before.
struct Notes {
    together: Mutex<Vec<Range<u64>>>,
    alone: Mutex<Vec<u64>>,
}

impl Book<Curve> for Notes {
    type Error = StateError;

    fn is_recorded(&self, _contender: usize, replication: u64) -> bool {
        replication == 3
    }

    fn has_state(&self, _contender: usize, replication: u64) -> bool {
        replication == 11
    }

    fn record(
        &self,
        _contender: usize,
        replication: u64,
        play: &PlayOne<'_, Curve>,
    ) -> Result<(), StateError> {
        self.alone.lock().unwrap().push(replication);
        play(None, &mut KeepsNothing).map(drop)
    }

    fn record_together(
        &self,
        _contender: usize,
        replications: Range<u64>,
        play: &PlayTogether<'_, Curve>,
    ) -> Result<(), StateError> {
        assert_eq!(play(&mut KeepsNothing)?.len() as u64, replications.end - replications.start);
        self.together.lock().unwrap().push(replications);
        Ok(())
    }
}

#[test]
fn replications_that_are_recorded_or_begun_are_not_played_together() {
    let instances = [users(&mut SimRng::seed_from_u64(1), &[0, 1, 2], 5)];
    let contenders: [Box<dyn Contender<PositionBased>>; 1] = [Box::new(LockstepEntry::new(entry()))];
    let task = Schedule::new(vec![50]).unwrap();
    let tournament = Tournament {
        instances: &instances,
        uncertainty: None,
        runs_per_draw: 1,
        assignment: Assignment::InTurn,
        contenders: &contenders,
        task: &task,
        streams: Streams::new(2),
        runs: 38,
    };
    let played = |threads: usize| {
        let notes = Notes { together: Mutex::default(), alone: Mutex::default() };
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| tournament.play_into(2..38, &notes)).unwrap();
        let (mut together, mut alone) =
            (notes.together.into_inner().unwrap(), notes.alone.into_inner().unwrap());
        together.sort_by_key(|range| range.start);
        alone.sort_unstable();
        (together, alone)
    };
    // Blocks of eight from the first one: number 3 is recorded, 11 has a state, and the last block is not full.
    let (together, alone) = played(2);
    assert_eq!(together, [18..26, 26..34]);
    assert_eq!(alone, [vec![2], (4..18).collect(), (34..38).collect()].concat());
    // With blocks, five threads would be idle for most of the time.
    let (together, alone) = played(5);
    assert_eq!((together.len(), alone.len()), (0, 35));
}

/// Stops after a number of pauses.
struct Stops(u64);

impl Keeper for Stops {
    fn pause(&mut self, rounds: u64) -> Pause {
        if rounds < self.0 { Pause::GoOn } else { Pause::Stop }
    }

    fn keep(&mut self, _state: &[u8]) {
        panic!("there are no states in lockstep");
    }
}

#[test]
fn lanes_stop_when_they_are_told() {
    let users = users_of_lanes::<3>(&mut SimRng::seed_from_u64(1));
    let (replications, schedule) = (replications(&users, 0), Schedule::new(vec![1_000, 5_000]).unwrap());
    let [contender, _] = kinds();
    let stopped = contender.play_together(&replications, &schedule, &mut Stops(2_048));
    assert_eq!(stopped, Err(StateError::Stopped));
    assert!(contender.play_together(&replications, &schedule, &mut Stops(5_000)).is_ok());
    assert_eq!(contender.lockstep(&schedule).map(Lockstep::lanes), Some(LANES));
    assert!(contender.lockstep(&Schedule::new(vec![LONGEST + 1]).unwrap()).is_none());
}
