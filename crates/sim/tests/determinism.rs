//! A tournament's result depends only on the seed and the contenders.

use click_models::{ClickModel, ItemId, ListShape, PbmKnown, PositionBased, RandomSemiBandit, Ranking};
use confidence::Rate;
use policies::{Fixed, PbmPie, PbmTs, PbmUcb, Pie, PrefixTs, Uniform};
use sim::{Assignment, Contender, Curve, Entry, Outcome, Schedule, Streams, Tournament, oracle};

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

fn run(contenders: Vec<PbmContender>, seed: u64, threads: usize) -> Outcome<Curve> {
    let schedule = Schedule::new(vec![1, 10, 500]).expect("increasing");
    let tournament = Tournament {
        instances: users().into(),
        uncertainty: None,
        runs_per_draw: 1,
        assignment: Assignment::Drawn,
        contenders,
        task: schedule,
        streams: Streams::new(seed),
        runs: 40,
    };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
    pool.install(|| tournament.run())
}

#[test]
fn the_number_of_threads_changes_no_bit() {
    let contenders = || vec![pbm_ts("ts"), pbm_ucb(), pbm_pie()];
    let alone = run(contenders(), 1, 1);
    for threads in [2, 5, 16] {
        assert_eq!(alone, run(contenders(), 1, threads), "{threads} threads");
    }
}

#[test]
fn another_seed_changes_every_result() {
    let (one, two) = (run(vec![pbm_ts("ts")], 1, 2), run(vec![pbm_ts("ts")], 2, 2));
    assert_ne!(one.drawn, two.drawn);
    assert!(one.records[0].iter().zip(&two.records[0]).all(|(a, b)| a.regret[2] != b.regret[2]));
}

#[test]
fn other_contenders_and_their_order_change_no_result() {
    let alone = run(vec![pbm_ucb()], 1, 2);
    let among = run(vec![pbm_pie(), pbm_ts("ts"), pbm_ucb()], 1, 2);
    assert_eq!(alone.records[0], among.records[2]);
}

#[test]
fn a_label_selects_a_stream() {
    let twins = run(vec![pbm_ts("one"), pbm_ts("two")], 1, 2);
    assert_ne!(twins.records[0], twins.records[1]);
}

/// Two contenders that show the same list in every round see the same clicks: the users do not
/// depend on the contender.
#[test]
fn all_contenders_meet_the_same_users() {
    let oracles: [PbmContender; 2] = [oracle("a"), oracle("b")];
    let outcome = run(oracles.into(), 3, 2);
    assert_eq!(outcome.records[0], outcome.records[1]);
    assert!(outcome.records[0].iter().all(|curve| curve.regret == [0.0; 3] && curve.clicks[2] > 0.0));
}

/// The users of later rounds do not depend on the lists shown before: after 300 rounds of different
/// lists, the generator of the environment has the same state.
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

/// Each block of three has every instance once, in an order of its own: all six orders occur about
/// equally often. Of 6,000 blocks each count is binomial with a standard deviation of 29, and 150
/// from the mean has probability 2e-7. Orders that are all the same, drawn with replacement, or of
/// two swapped instances only are rejected with certainty. Where the blocks begin does not matter.
#[test]
fn each_block_takes_every_instance_once_in_a_drawn_order() {
    let (streams, n) = (Streams::new(5), 3);
    let drawn = Assignment::Drawn.instances(n, streams, 0..18_000);
    let mut counts = std::collections::BTreeMap::new();
    drawn.chunks(n).for_each(|order| *counts.entry(order).or_insert(0_u64) += 1);
    assert_eq!(counts.len(), 6, "{counts:?}");
    let is_whole = |order: &&[usize]| (0..n).all(|instance| order.contains(&instance));
    assert!(
        counts.keys().all(is_whole) && counts.values().all(|count| count.abs_diff(1_000) < 150),
        "{counts:?}"
    );
    assert_eq!(Assignment::Drawn.instances(n, streams, 100..107), drawn[100..107]);
    assert_ne!(Assignment::Drawn.instances(n, Streams::new(6), 0..99), drawn[..99]);
    assert_eq!(Assignment::InTurn.instances(n, streams, 4..9), [1, 2, 0, 1, 2]);

    let schedule = Schedule::new(vec![1]).expect("increasing");
    let tournament = Tournament {
        instances: users().into(),
        uncertainty: None,
        runs_per_draw: 2,
        assignment: Assignment::Drawn,
        contenders: vec![pbm_ucb()],
        task: schedule,
        streams,
        runs: 40,
    };
    let of_draws = Assignment::Drawn.instances(2, streams, 0..20);
    let of_runs: Vec<usize> = of_draws.iter().flat_map(|&instance| [instance; 2]).collect();
    assert_eq!(tournament.run().drawn, of_runs);
    assert_eq!(tournament.draw_instances(7..30), of_runs[7..30]);
}

/// A policy that shows the best item at all positions would have negative regret; the round loop
/// panics.
#[test]
#[should_panic(expected = "round 1: the policy plays")]
fn a_list_with_a_repeated_item_panics() {
    let users = &users()[0];
    let mut policy: Fixed<Ranking> = Fixed::new([0, 0, 0].map(ItemId::new).into_iter().collect());
    let schedule = Schedule::new(vec![10]).expect("increasing");
    let streams = Streams::new(1);
    sim::play(users, &mut policy, &schedule, &mut streams.environment(0), &mut streams.policy("twice", 0));
}
