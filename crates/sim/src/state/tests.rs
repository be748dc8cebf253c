//! States that lack a part give another record, and states with a fault are refused. That a whole
//! state gives the same record is tested for every policy in `contenders`.

use super::*;
use crate::{
    Contender, Entry, NoStore, Objective, Pause, Replication, Schedule, Start, StateError, StateStore,
    Streams, WithBudget,
};
use click_models::{
    CascadeModel, ClickModel, DuelingModel, ItemId, ListShape, PbmKnown, PositionBased, PreferenceMatrix,
    RankOneModel, Ranking, TableShape,
};
use policies::{Decision, Fixed, PbmTs, Rank1Elim, Recommend, Select, UniformPair, Update};
use rand::SeedableRng;
use serde::Serializer;
use std::fmt::Debug;

const HORIZON: u64 = 3_000;

/// Keeps the last state, and the rounds at which it was asked.
#[derive(Default)]
struct Last {
    asked: Vec<u64>,
    state: Vec<u8>,
}

impl StateStore for Last {
    fn pause(&mut self, rounds: u64) -> Pause {
        self.asked.push(rounds);
        if rounds <= HORIZON { Pause::Keep } else { Pause::GoOn }
    }

    fn keep(&mut self, state: &[u8]) {
        self.state = state.to_vec();
    }
}

/// The record of a whole replication, and its last state.
fn kept<M: ClickModel, T: Objective>(
    contender: &impl Contender<M, T>,
    users: &M,
    task: &T,
) -> (T::Record, Vec<u8>) {
    let mut last = Last::default();
    let replication = Replication::new(users, Streams::new(1), 0);
    let record = contender.resume(Start { replication, state: None, store: &mut last }, task);
    (record.expect("a record"), last.state)
}

fn resumed<M: ClickModel, T: Objective>(
    contender: &impl Contender<M, T>,
    users: &M,
    task: &T,
    state: &[u8],
) -> Result<T::Record, StateError> {
    let replication = Replication::new(users, Streams::new(1), 0);
    contender.resume(Start { replication, state: Some(state), store: &mut NoStore }, task)
}

type Parts = (u32, Loop, Progress, Vec<u8>);

type Change<'a> = &'a dyn Fn(&mut Parts);

/// The state with a change.
fn changed(state: &[u8], change: impl FnOnce(&mut Parts)) -> Vec<u8> {
    let mut parts: Parts = postcard::from_bytes(state).expect("a state");
    change(&mut parts);
    postcard::to_allocvec(&parts).expect("bytes")
}

fn other_stream() -> SimRng {
    SimRng::seed_from_u64(1)
}

fn schedule() -> Schedule {
    Schedule::new((1..=30).map(|part| part * HORIZON / 30).collect()).expect("increasing")
}

fn viewers() -> PositionBased {
    PositionBased::from_values(&[0.5, 0.45, 0.4], &[1.0, 0.5]).expect("users")
}

fn thompson() -> impl Contender<PositionBased> {
    Entry::new("pbm-ts", |known: PbmKnown<'_>| PbmTs::new(known)).saved()
}

#[test]
fn no_part_of_a_state_can_be_left_out() {
    let (users, entry, schedule) = (viewers(), thompson(), schedule());
    let (record, state) = kept(&entry, &users, &schedule);
    let fresh = postcard::to_allocvec(&PbmTs::new(users.known())).expect("bytes");
    let forgetting: [(&str, Change<'_>); 6] = [
        ("environment", &|(_, _, progress, _)| progress.environment = other_stream()),
        ("randomness", &|(_, _, progress, _)| progress.randomness = other_stream()),
        ("regret", &|(_, _, progress, _)| progress.regret = 0.0),
        ("clicks", &|(_, _, progress, _)| progress.clicks = 0.0),
        ("checkpoints", &|(_, _, progress, _)| progress.curve.regret.fill(0.0)),
        ("policy", &|(_, _, _, policy)| policy.clone_from(&fresh)),
    ];
    assert_eq!(resumed(&entry, &users, &schedule, &changed(&state, |_| ())).as_ref(), Ok(&record));
    for (part, forget) in forgetting {
        let without = resumed(&entry, &users, &schedule, &changed(&state, forget)).expect("a record");
        assert_ne!(without, record, "{part}");
    }
}

/// 317 checkpoints follow the state, at each of which one of two items is drawn. Two lists of draws
/// agree with probability `2^-317`.
#[test]
fn the_stream_of_recommendations_is_a_part_of_a_state() {
    let preferences = PreferenceMatrix::new(&[vec![0.5, 0.6], vec![0.4, 0.5]]).expect("preferences");
    let users = DuelingModel::new(preferences);
    let schedule = Schedule::new((1..=HORIZON).step_by(3).collect()).expect("increasing");
    let entry = Entry::duels("uniform", |users: &DuelingModel| UniformPair::new(users.known())).saved();
    let (record, state) = kept(&entry, &users, &schedule);
    assert_eq!(resumed(&entry, &users, &schedule, &state).as_ref(), Ok(&record));
    let without = changed(&state, |(_, _, progress, _)| progress.recommendation = Some(other_stream()));
    let without = resumed(&entry, &users, &schedule, &without).expect("a record");
    assert_eq!((&without.regret, &without.clicks), (&record.regret, &record.clicks));
    assert_ne!(without.accurate, record.accurate);
}

#[test]
fn observations_are_a_part_of_a_state() {
    let users = CascadeModel::from_values(&[0.5, 0.45, 0.4], 2).expect("users");
    let entry = Entry::new("uniform", RandomList).saved();
    let task = WithBudget { horizon: HORIZON };
    let (record, state) = kept(&entry, &users, &task);
    assert_eq!(resumed(&entry, &users, &task, &state).as_ref(), Ok(&record));
    let without = changed(&state, |(_, _, progress, _)| progress.observations = 0);
    assert_ne!(resumed(&entry, &users, &task, &without), Ok(record));
    let most = changed(&state, |(_, _, progress, _)| progress.observations = u64::MAX);
    assert_eq!(fault(resumed(&entry, &users, &task, &most)), "more observations than positions");
}

/// Shows random lists, and recommends the first items.
#[derive(Debug, Serialize, Deserialize)]
struct RandomList(ListShape);

impl Select<Ranking> for RandomList {
    type Note = ();

    fn select<R: Rng + ?Sized>(&mut self, rng: &mut R, out: &mut Decision<Ranking>) {
        policies::Uniform::new(self.0).select(rng, out);
    }
}

impl<F> Update<Ranking, F> for RandomList {
    fn update(&mut self, _decision: &Decision<Ranking>, _feedback: &F) {}
}

impl Recommend<Ranking> for RandomList {
    fn recommend<R: Rng + ?Sized>(&self, _rng: &mut R, out: &mut Ranking) {
        *out = (0..).map(ItemId::new).take(self.0.n_positions()).collect();
    }
}

/// The fault of a state.
fn fault<R: Debug>(record: Result<R, StateError>) -> String {
    match record {
        Err(StateError::NotAState { fault, .. }) => fault,
        other => panic!("no fault: {other:?}"),
    }
}

#[test]
fn a_state_with_a_fault_is_refused() {
    let (users, entry, schedule) = (viewers(), thompson(), schedule());
    let (_, state) = kept(&entry, &users, &schedule);
    let zeros = || postcard::from_bytes::<SimRng>(&[0; 4]).expect("a stream");
    let faults: [(Change<'_>, &str); 13] = [
        (&|(format, ..)| *format = 2, "version 2, expected 1"),
        (&|(_, task, ..)| *task = Loop::Stages, "the state of another task: Stages, expected Regret"),
        (&|(_, _, progress, _)| progress.rounds = HORIZON + 1, "more rounds than the task has"),
        (&|(_, _, progress, _)| progress.rounds = 2_200, "the checkpoints do not go with the rounds played"),
        (
            &|(_, _, progress, _)| progress.curve.clicks.truncate(1),
            "the checkpoints do not go with the rounds played",
        ),
        (
            &|(_, _, progress, _)| progress.curve.accurate.push(true),
            "the checkpoints do not go with the rounds played",
        ),
        (
            &|(_, _, progress, _)| progress.recommendation = Some(other_stream()),
            "the streams are those of another task",
        ),
        (&|(_, _, progress, _)| progress.environment = zeros(), "a stream of zeros"),
        (&|(_, _, progress, _)| progress.randomness = zeros(), "a stream of zeros"),
        (&|(_, _, progress, _)| progress.regret = f64::NAN, "a sum that is not finite"),
        (&|(_, _, progress, _)| progress.curve.clicks[0] = f64::INFINITY, "a sum that is not finite"),
        (&|(_, _, _, policy)| policy.push(0), "1 bytes after the policy"),
        (&|(_, _, _, policy)| policy.clear(), "the policy: Hit the end of buffer, expected more data"),
    ];
    for (change, expected) in faults {
        assert_eq!(fault(resumed(&entry, &users, &schedule, &changed(&state, change))), expected);
    }
    let longer = [&state[..], &[0]].concat();
    assert_eq!(fault(resumed(&entry, &users, &schedule, &longer)), "bytes after the state");
    assert!(resumed(&entry, &users, &schedule, &[]).is_err());
}

#[test]
fn a_state_of_other_users_ends_with_an_error() {
    let many = PositionBased::from_values(&[0.5; 9], &[1.0, 0.5]).expect("users");
    let (_, state) = kept(&thompson(), &many, &schedule());
    let fault_of_lists = fault(resumed(&thompson(), &viewers(), &schedule(), &state));
    assert!(fault_of_lists.ends_with("which is no action of the model"), "{fault_of_lists}");

    let table = |n| RankOneModel::from_values(&vec![0.5; n], &vec![0.5; n]).expect("users");
    let entry = Entry::sweeps("rank1-elim", |shape: TableShape| Rank1Elim::kl(shape, HORIZON)).saved();
    // The state is from the end of the second stage, so the next rounds are whole sweeps.
    let schedule = Schedule::new(vec![20_000]).expect("increasing");
    let (_, state) = kept(&entry, &table(9), &schedule);
    let fault_of_cells = fault(resumed(&entry, &table(2), &schedule, &state));
    assert!(fault_of_cells.ends_with("which is no action of the model"), "{fault_of_cells}");
}

#[test]
#[should_panic(expected = "which is no action of the model")]
fn a_fresh_policy_with_such_an_action_is_a_mistake_of_the_caller() {
    let twice: Ranking = [1, 1].map(ItemId::new).into_iter().collect();
    let entry = Entry::new("twice", move |_: PbmKnown<'_>| Fixed::new(twice.clone())).saved();
    let users = viewers();
    let replication = Replication::new(&users, Streams::new(1), 0);
    drop(entry.resume(Start { replication, state: None, store: &mut NoStore }, &schedule()));
}

#[test]
fn the_keeper_is_asked_every_1024_rounds() {
    let (users, entry) = (viewers(), thompson());
    for checkpoints in [vec![HORIZON], vec![1_024, 2_047, HORIZON], (1..=HORIZON).collect()] {
        let schedule = Schedule::new(checkpoints).expect("increasing");
        let mut last = Last::default();
        let replication = Replication::new(&users, Streams::new(1), 0);
        entry.resume(Start { replication, state: None, store: &mut last }, &schedule).expect("a record");
        assert_eq!(last.asked, [1_024, 2_048]);
        let state = std::mem::take(&mut last).state;
        entry
            .resume(Start { replication, state: Some(&state), store: &mut last }, &schedule)
            .expect("a record");
        assert!(last.asked.is_empty());
    }
}

/// A policy that cannot be written.
#[derive(Debug, Deserialize)]
struct Unwritten;

impl Serialize for Unwritten {
    fn serialize<S: Serializer>(&self, _serializer: S) -> Result<S::Ok, S::Error> {
        Err(serde::ser::Error::custom("never"))
    }
}

impl Select<Ranking> for Unwritten {
    type Note = ();

    fn select<R: Rng + ?Sized>(&mut self, _rng: &mut R, out: &mut Decision<Ranking>) {
        out.action = [0, 1].map(ItemId::new).into_iter().collect();
    }
}

impl<F> Update<Ranking, F> for Unwritten {
    fn update(&mut self, _decision: &Decision<Ranking>, _feedback: &F) {}
}

#[test]
fn policies_are_saved_on_request_only() {
    let (users, schedule) = (viewers(), schedule());
    let replication = Replication::new(&users, Streams::new(1), 0);
    let mut last = Last::default();
    let not_saved = |label: &str| Err(StateError::NotSaved(label.to_owned()));

    let entry = Entry::new("pbm-ts", |known: PbmKnown<'_>| PbmTs::new(known));
    assert!(!Contender::<PositionBased>::is_saved(&entry) && thompson().is_saved());
    assert!(
        entry.resume(Start { replication, state: None, store: &mut last }, &schedule).is_ok()
            && last.state.is_empty()
    );
    assert_eq!(
        entry.resume(Start { replication, state: Some(&[1]), store: &mut last }, &schedule),
        not_saved("pbm-ts")
    );

    let entry = Entry::new("unwritten", |_: PbmKnown<'_>| Unwritten).saved();
    assert_eq!(
        entry.resume(Start { replication, state: None, store: &mut last }, &schedule),
        not_saved("unwritten")
    );
    assert!(entry.resume(Start { replication, state: None, store: &mut NoStore }, &schedule).is_ok());
}

#[test]
fn a_replication_is_stopped_with_its_state_and_goes_on_from_there() {
    #[derive(Default)]
    struct StopsAtOnce(Vec<u8>);

    impl StateStore for StopsAtOnce {
        fn pause(&mut self, _rounds: u64) -> Pause {
            Pause::Stop
        }

        fn keep(&mut self, state: &[u8]) {
            self.0 = state.to_vec();
        }
    }

    let users = PositionBased::from_values(&[0.5, 0.4, 0.1], &[0.9, 0.5]).unwrap();
    let entry = || Entry::new("ts", |known: PbmKnown<'_>| PbmTs::new(known));
    let (replication, schedule) =
        (Replication::new(&users, Streams::new(1), 0), Schedule::new(vec![100, HORIZON]).unwrap());
    let whole = entry().replicate(replication, &schedule);
    let mut stops = StopsAtOnce::default();
    let mut state: Option<Vec<u8>> = None;
    // Pauses after 1,024 and 2,048 rounds.
    for _ in 0..2 {
        let stopped = entry()
            .saved()
            .resume(Start { replication, state: state.as_deref(), store: &mut stops }, &schedule);
        assert_eq!(stopped, Err(StateError::Stopped));
        state = Some(stops.0.clone());
    }
    let resumed =
        entry().saved().resume(Start { replication, state: state.as_deref(), store: &mut stops }, &schedule);
    assert_eq!(resumed, Ok(whole));
    // Without saving it also stops, and keeps nothing.
    let mut stops = StopsAtOnce::default();
    let stopped = entry().resume(Start { replication, state: None, store: &mut stops }, &schedule);
    assert_eq!((stopped, stops.0.len()), (Err(StateError::Stopped), 0));
}
