//! A tournament's result depends only on the seed and the contenders.

use click_models::{ClickModel, ItemId, ListShape, PbmKnown, PositionBased, RandomSemiBandit, Ranking};
use confidence::Rate;
use policies::{Fixed, PbmPie, PbmTs, PbmUcb, Pie, PrefixTs, Uniform};
use sim::{Assignment, Contender, Curve, Entry, Oracle, Outcome, Schedule, Silent, Streams, Tournament};

type PbmContender = Box<dyn Contender<PositionBased>>;

fn users() -> [PositionBased; 2] {
    [
        PositionBased::from_values(&[0.45, 0.35, 0.25, 0.15, 0.05], &[0.9, 0.6, 0.3]).expect("valid"),
        PositionBased::from_values(&[0.1, 0.2, 0.15, 0.2], &[1.0, 0.5]).expect("valid"),
    ]
}

fn pbm_ts(label: &str) -> PbmContender {
    Box::new(Entry::new(label, |known: PbmKnown<'_>| PbmTs::new(known)))
}

fn pbm_ucb() -> PbmContender {
    Box::new(Entry::new("ucb", |known: PbmKnown<'_>| PbmUcb::new(known, Rate::LOG)))
}

fn pbm_pie() -> PbmContender {
    Box::new(Entry::new("pie", |known: PbmKnown<'_>| PbmPie::new(known, Rate::LOG)))
}

fn run(contenders: &[PbmContender], seed: u64, threads: usize) -> Outcome<Curve> {
    let schedule = Schedule::new(vec![1, 10, 500]).expect("increasing");
    let (instances, streams) = (users(), Streams::new(seed));
    let tournament = Tournament {
        instances: &instances,
        uncertainty: None,
        runs_per_draw: 1,
        assignment: Assignment::Drawn,
        contenders,
        task: &schedule,
        streams,
        runs: 40,
    };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
    pool.install(|| tournament.run(&Silent))
}

#[test]
fn the_number_of_threads_changes_no_bit() {
    let contenders = [pbm_ts("ts"), pbm_ucb(), pbm_pie()];
    let alone = run(&contenders, 1, 1);
    for threads in [2, 5, 16] {
        assert_eq!(alone, run(&contenders, 1, threads), "{threads} threads");
    }
}

#[test]
fn another_seed_changes_every_result() {
    let (one, two) = (run(&[pbm_ts("ts")], 1, 2), run(&[pbm_ts("ts")], 2, 2));
    assert_ne!(one.drawn, two.drawn);
    assert!(one.records[0].iter().zip(&two.records[0]).all(|(a, b)| a.regret[2] != b.regret[2]));
}

#[test]
fn other_contenders_and_their_order_change_no_result() {
    let alone = run(&[pbm_ucb()], 1, 2);
    let among = run(&[pbm_pie(), pbm_ts("ts"), pbm_ucb()], 1, 2);
    assert_eq!(alone.records[0], among.records[2]);
}

#[test]
fn a_label_selects_a_stream() {
    let twins = run(&[pbm_ts("one"), pbm_ts("two")], 1, 2);
    assert_ne!(twins.records[0], twins.records[1]);
}

/// Two contenders that show the same list in every round see the same clicks: the users do not depend on the contender.
#[test]
fn all_contenders_meet_the_same_users() {
    let oracles: [PbmContender; 2] = [Box::new(Oracle::new("a")), Box::new(Oracle::new("b"))];
    let outcome = run(&oracles, 3, 2);
    assert_eq!(outcome.records[0], outcome.records[1]);
    assert!(outcome.records[0].iter().all(|curve| curve.regret == [0.0; 3] && curve.clicks[2] > 0.0));
}

/// The users of later rounds do not depend on the lists shown before: after 300 rounds of different lists, the generator of the
/// environment has the same state.
#[test]
fn shown_lists_do_not_change_later_users() {
    let users = RandomSemiBandit::from_values(&[0.6, 0.5, 0.4, 0.3], &[1.0, 0.7, 0.2]).expect("valid");
    let schedule = Schedule::new(vec![300]).expect("increasing");
    let mut left = Vec::new();
    for label in ["uniform", "ts", "pie"] {
        let mut environment = Streams::new(9).environment(0);
        let mut randomness = Streams::new(9).policy(label, 0);
        let shape: ListShape = users.known();
        match label {
            "uniform" => {
                sim::play(&users, &mut Uniform::new(shape), &schedule, &mut environment, &mut randomness)
            }
            "ts" => {
                sim::play(&users, &mut PrefixTs::new(shape), &schedule, &mut environment, &mut randomness)
            }
            _ => {
                let mut policy = Pie::last(shape, Rate::LOG);
                sim::play(&users, &mut policy, &schedule, &mut environment, &mut randomness)
            }
        };
        left.push(environment);
    }
    assert!(left.iter().all(|generator| *generator == left[0]));
}

/// Every instance is drawn about equally often: 2,000 draws of two are within 5.3 standard deviations of a half, with a false alarm of
/// one in ten million.
#[test]
fn instances_are_drawn_uniformly() {
    let (instances, contenders) = (users(), [pbm_ucb()]);
    let schedule = Schedule::new(vec![1]).expect("increasing");
    let streams = Streams::new(5);
    let tournament = Tournament {
        instances: &instances,
        uncertainty: None,
        runs_per_draw: 1,
        assignment: Assignment::Drawn,
        contenders: &contenders,
        task: &schedule,
        streams,
        runs: 2_000,
    };
    let second = (0..2_000).filter(|&replication| tournament.draw_instance(replication) == 1).count();
    assert!(second.abs_diff(1_000) < 119, "{second}");
    let in_turn = Tournament { assignment: Assignment::InTurn, runs: 5, ..tournament };
    assert_eq!(in_turn.run(&Silent).drawn, [0, 1, 0, 1, 0]);
}

/// A policy that shows the best item at all positions would have negative regret; the round loop panics.
#[test]
#[should_panic(expected = "round 1: the policy plays")]
fn a_list_with_a_repeated_item_panics() {
    let users = &users()[0];
    let mut policy: Fixed<Ranking> = Fixed::new([0, 0, 0].map(ItemId::new).into_iter().collect());
    let schedule = Schedule::new(vec![10]).expect("increasing");
    let streams = Streams::new(1);
    sim::play(users, &mut policy, &schedule, &mut streams.environment(0), &mut streams.policy("twice", 0));
}
