//! The round loop of live use: beside the plain one, and continued from its states.

use click_models::{
    Cascade, CascadeModel, ClickModel, Dcm, DcmKnown, DcmReward, DependentClick, ListShape, Pbm, PbmKnown,
    PositionBased, RandomSemiBandit, SemiBandit,
};
use confidence::Rate;
use live::{Settings, Skips};
use policies::{PbmUcb, PrefixKlUcb, PrefixTs, PrefixUcb, TopRank};
use sim::{
    Availability, Churn, Conditions, Contender, Curve, Delay, Delays, Drift, Entry, InWhole, NewAttraction,
    OnTable, Pause, Replication, Schedule, Start, StateStore, Streams,
};

const ATTRACTION: [f64; 8] = [0.5, 0.05, 0.35, 0.1, 0.2, 0.15, 0.02, 0.3];

fn cascade() -> CascadeModel {
    CascadeModel::from_values(&ATTRACTION, 3).expect("valid")
}

fn dcm() -> DependentClick {
    DependentClick::from_values(&ATTRACTION, &[0.3, 0.6, 0.1], DcmReward::Clicks).expect("valid")
}

fn semi_bandit() -> RandomSemiBandit {
    RandomSemiBandit::from_values(&ATTRACTION, &[1.0, 0.7, 0.4]).expect("valid")
}

fn position_based() -> PositionBased {
    PositionBased::from_values(&ATTRACTION, &[0.5, 1.0, 0.3]).expect("valid")
}

fn schedule() -> Schedule {
    Schedule::new(vec![10, 1_000, 4_000]).expect("increasing")
}

fn curve<M: ClickModel>(users: &M, contender: &impl Contender<M>) -> Curve {
    contender.replicate(Replication::new(users, Streams::new(3), 5), &schedule())
}

/// The policy of the expression on the table of live use, and as a plain contender.
macro_rules! same_curve {
    ($users:expr, $Protocol:ty, $Known:ty, $policy:expr) => {{
        let (users, build): (_, fn($Known) -> _) = ($users, $policy);
        let none = Conditions::default();
        let live = Entry::live("a", none, |known: $Known| {
            OnTable::<$Protocol, _>::new(build(known), Settings::default(), &none.delay).expect("valid")
        });
        let in_order =
            Entry::live("a", none, |known: $Known| InWhole::<$Protocol, _>::new(build(known), Some(10)));
        let plain = curve(&users, &Entry::new("a", build));
        assert_eq!(curve(&users, &live), plain, "{}", stringify!($policy));
        assert_eq!(curve(&users, &in_order), plain, "{}", stringify!($policy));
    }};
}

/// Deterministic policies: Thompson sampling among all items has another stream than without a
/// choice.
#[test]
fn undisturbed_it_is_the_plain_loop() {
    same_curve!(cascade(), Cascade, ListShape, |known| PrefixUcb::cascade(known));
    same_curve!(dcm(), Dcm, DcmKnown<'_>, |known| PrefixKlUcb::new(known, Rate::LOG));
    same_curve!(semi_bandit(), SemiBandit, ListShape, |known| PrefixUcb::cascade(known));
    same_curve!(semi_bandit(), SemiBandit, ListShape, |known| PrefixKlUcb::new(known, Rate::LOG));
    same_curve!(position_based(), Pbm, PbmKnown<'_>, |known| PbmUcb::new(known, Rate::LOG));
}

#[test]
fn whole_answers_undisturbed_are_the_plain_loop() {
    let late = Entry::live("a", Conditions::default(), |known: ListShape| {
        InWhole::<Cascade, _>::new(TopRank::new(known, 4_000), None)
    });
    let plain = Entry::new("a", |known: ListShape| TopRank::new(known, 4_000));
    assert_eq!(curve(&cascade(), &late), curve(&cascade(), &plain));
}

/// Everything at once.
fn everything() -> Conditions {
    Conditions {
        availability: Some(Availability { share: 0.4, rounds: 3 }),
        churn: Some(Churn { rate: 1e-3, prior: NewAttraction::Beta(0.5, 3.0), returning: 0.3 }),
        drift: Some(Drift::Jumps { jumps: 700, share: 0.5, prior: NewAttraction::Instance }),
        delay: Delays {
            click: Delay::Geometric(20.0),
            skip: Delay::Rounds(60),
            lost_click: 0.1,
            lost_skip: 0.2,
        },
    }
}

/// Keeps every state.
#[derive(Default)]
struct All(Vec<Vec<u8>>);

impl StateStore for All {
    fn pause(&mut self, _rounds: u64) -> Pause {
        Pause::Keep
    }

    fn keep(&mut self, state: &[u8]) {
        self.0.push(state.to_vec());
    }
}

fn continues<M: ClickModel>(users: &M, contender: &impl Contender<M>) {
    let replication = Replication::new(users, Streams::new(3), 5);
    let mut states = All::default();
    let from = |state, store: &mut All| contender.resume(Start { replication, state, store }, &schedule());
    let curve = from(None, &mut states).expect("played");
    assert!(states.0.len() > 2 && curve.regret[2] > 0.0);
    for state in &states.0 {
        let resumed = from(Some(state), &mut All::default());
        assert_eq!(resumed.expect("its own state"), curve);
        for length in (0..state.len()).step_by(13) {
            // An error, or by chance another state; never a panic.
            let cut = from(Some(&state[..length]), &mut All::default());
            assert!(cut.is_err(), "{length} of {} bytes", state.len());
        }
    }
}

#[test]
fn a_replication_is_continued_from_its_states() {
    let settings = Settings { window: Some(50), estimate_prior: true, explore: 0.1, ..Settings::default() };
    let conditions = everything();
    let table = |known: ListShape| {
        OnTable::<Cascade, _>::new(PrefixTs::new(known), settings, &conditions.delay).expect("valid")
    };
    continues(&cascade(), &Entry::live("a", conditions, table));
    let settings = Settings { skips: Skips::AtOnce, ..Settings::default() };
    let waves = Conditions { drift: Some(Drift::Waves { waves: 900, height: 1.0 }), ..conditions };
    let table = |known: PbmKnown<'_>| {
        OnTable::<Pbm, _>::new(PbmUcb::new(known, Rate::LOG), settings, &waves.delay).expect("valid")
    };
    continues(&position_based(), &Entry::live("a", waves, table));
    let late = Conditions { availability: None, churn: None, ..conditions };
    for wait in [None, Some(100)] {
        let whole = move |known: ListShape| InWhole::<Cascade, _>::new(TopRank::new(known, 4_000), wait);
        continues(&cascade(), &Entry::live("a", late, whole));
    }
}

/// Late answers change only what is learned, not the users of a round and the best list.
#[test]
fn all_policies_meet_the_same_catalogue() {
    let conditions = everything();
    // Two policies that show the same lists whatever they learn have the same regret.
    let never = Delays { lost_click: 1.0, lost_skip: 1.0, ..conditions.delay };
    let run = |delay| {
        let conditions = Conditions { delay, ..conditions };
        let table = move |known: ListShape| {
            let policy = policies::Uniform::new(known);
            OnTable::<Cascade, _>::new(policy, Settings::default(), &delay).expect("valid")
        };
        curve(&cascade(), &Entry::live("a", conditions, table))
    };
    assert_eq!(run(never), run(conditions.delay));
}

/// With delay, decisions in order wait as long as `live::InOrder` does.
#[test]
fn in_order_is_that_of_live_use() {
    in_order_with(2, 7);
    // Decisions are closed before their clicks are known.
    in_order_with(9, 20);
}

fn in_order_with(late_click: u64, late_skip: u64) {
    let (click, skip) = (Delay::Rounds(late_click), Delay::Rounds(late_skip));
    let delay = Delays { click, skip, ..Delays::default() };
    let conditions = Conditions { delay, ..Conditions::default() };
    let users = cascade();
    let entry = Entry::live("a", conditions, |known: ListShape| {
        InWhole::<Cascade, _>::new(PrefixUcb::cascade(known), Some(5))
    });
    let found = curve(&users, &entry);

    let replication = Replication::new(&users, Streams::new(3), 5);
    let (mut environment, mut randomness) = (replication.environment(), replication.policy("a"));
    let mut policy = live::InOrder::<Cascade, _>::new(PrefixUcb::cascade(users.known()), 5);
    let (mut regret, mut due) = (0.0, std::collections::VecDeque::new());
    for round in 1..=4_000_u64 {
        due.retain(|&(known, decision, click): &(u64, u64, Option<usize>)| {
            if known >= round {
                return true;
            }
            if let Some(position) = click {
                let _ = policy.click(&decision, position);
            }
            let _ = policy.close(&decision);
            false
        });
        let list = policy.decide(&round, &mut randomness).clone();
        regret += users.gap(&list);
        let click = users.respond(&list, &mut environment).click();
        due.push_back((round + if click.is_some() { late_click } else { late_skip }, round, click));
    }
    assert_eq!(found.regret[2], regret);
}
