//! Every policy of the catalogue on every model, in every task: a replication that is continued
//! from a state has the record of one that was not interrupted, and bytes that are no state of it
//! give an error or a record, but no panic.

use click_models::{
    CascadeModel, ClickChain, DbnReward, DcmReward, DependentClick, DuelingModel, DynamicBayesian, ItemId,
    Personal, PositionBased, PreferenceMatrix, RandomSemiBandit, RandomUsers, RankOneModel, UserBrowsing,
    WithAttraction,
};
use confidence::Probability;
use contenders::{
    Beliefs, Entrant, FittedPriors, LiveUse, LoggedLists, Play, recommending_contenders, stopping_contenders,
};
use documents::InputFile;
use live::Skips;
use policies::catalogue::{Family, Live, PolicySpec, Protocol, rows};
use policies::{Logged, PbmPrior};
use sim::{
    Availability, Churn, Conditions, Contender, Delay, Delays, Drift, Identification, NewAttraction,
    Objective, Pause, Replication, Schedule, Start, StateError, StateStore, Streams, UntilStopped,
    WithBudget,
};
use std::fmt::Debug;
use std::sync::Arc;

const HORIZON: u64 = 3_000;

/// Numbers of items and positions, or of rows and columns, of the users of a test; those of the
/// second replication are larger.
const SIZES: [(usize, usize); 2] = [(6, 3), (9, 4)];

/// Keeps every state.
#[derive(Default)]
struct Kept(Vec<Vec<u8>>);

impl StateStore for Kept {
    fn pause(&mut self, _rounds: u64) -> Pause {
        Pause::Keep
    }

    fn keep(&mut self, state: &[u8]) {
        self.0.push(state.to_vec());
    }
}

/// Close to each other, so that no policy has found the best items within the horizon.
fn probabilities(n: usize) -> Vec<f64> {
    (0..n).map(|number| 0.5 - 0.002 * number as f64).collect()
}

fn falling(n: usize) -> Vec<f64> {
    (0..n).map(|number| 0.9 - 0.2 * number as f64).collect()
}

fn checked(values: &[f64]) -> Vec<Probability> {
    values.iter().map(|&value| Probability::new(value).expect("a probability")).collect()
}

fn both<M>(users: impl Fn(usize, usize) -> Result<M, click_models::Error>) -> [M; 2] {
    SIZES.map(|(first, second)| users(first, second).expect("users"))
}

/// All policies, each with the users' own feedback and read as each other protocol.
fn entrants(examination: &[f64]) -> Vec<Entrant> {
    let mut entrants: Vec<Entrant> = rows().iter().map(|row| Entrant::new(row.name, row.spec())).collect();
    for protocol in [Protocol::PositionBased, Protocol::SemiBandit, Protocol::Cascade, Protocol::Dcm] {
        entrants.extend(rows().iter().filter(|row| row.speaks(protocol)).map(|row| {
            Entrant {
                label: format!("{} as {protocol}", row.name),
                read_as: Some(protocol),
                examination: (protocol == Protocol::PositionBased
                    && row.families.contains(&Family::PositionBased))
                .then(|| checked(examination)),
                ..Entrant::new(row.name, row.spec())
            }
        }));
    }
    let list = |items: [u32; 3]| items.map(ItemId::new).into_iter().collect();
    let logged = Logged::new(vec![(list([0, 1, 2]), 3), (list([5, 0, 4]), 1)]).expect("two lists");
    let lists = LoggedLists {
        file: InputFile::new("", vec![]),
        of_instances: vec![logged],
        clicks: None,
        of_log: None,
    };
    entrants.push(Entrant { lists: Some(Arc::new(lists)), ..Entrant::new("logged", PolicySpec::Logged {}) });
    entrants
}

/// Returns whether a contender can play on users of other sizes too.
fn plays_any_size(entrant: &Entrant) -> bool {
    entrant.examination.is_none() && entrant.lists.is_none()
}

/// Checks one contender. `stranger` is the state of another contender on the same users. Returns a
/// state.
fn check<M, T: Objective<Record: PartialEq + Debug>>(
    contender: &dyn Contender<M, T>,
    task: &T,
    [users, larger]: [&M; 2],
    is_any_size: bool,
    stranger: &[u8],
) -> Vec<u8> {
    let (label, streams) = (contender.label(), Streams::new(7));
    assert!(contender.is_saved(), "{label}");
    let replication = Replication::new(users, streams, 3);
    let from = |replication, state: Option<&[u8]>, store: &mut Kept| {
        contender.resume(Start { replication, state, store }, task)
    };
    let resume = |state: &[u8]| from(replication, Some(state), &mut Kept::default());

    let mut kept = Kept::default();
    let record = contender.replicate(replication, task);
    assert_eq!(from(replication, None, &mut kept).as_ref(), Ok(&record), "{label}");
    assert!(!kept.0.is_empty(), "{label}: no state");
    for state in &kept.0 {
        assert_eq!(resume(state).as_ref(), Ok(&record), "{label}");
    }

    let state = kept.0.pop().expect("the last state");
    let cuts = (0..16).map(|part| state.len() * part / 16).chain([state.len() - 1]);
    for length in cuts {
        let error = resume(&state[..length]).err();
        assert!(matches!(error, Some(StateError::NotAState { .. })), "{label}: {length} bytes");
    }
    let longer = [&state[..], &[0]].concat();
    assert!(resume(&longer).is_err(), "{label}: a byte more");
    for part in 0..FLIPS {
        let mut flipped = state.clone();
        flipped[state.len() * part / FLIPS] ^= 1 << (part % 8);
        let _ = resume(&flipped);
    }
    let _ = resume(stranger);
    if is_any_size {
        let of_larger = Replication::new(larger, streams, 3);
        let mut kept = Kept::default();
        from(of_larger, None, &mut kept).expect("a record");
        let _ = resume(kept.0.last().expect("a state"));
        let _ = from(of_larger, Some(&state), &mut Kept::default());
    }
    state
}

/// Bits that are flipped, one at a time.
const FLIPS: usize = 24;

/// Checks all policies that can play on these users. Returns the number of those that play by
/// themselves, and of those that read the feedback as that of another protocol.
fn check_regret<M: Play>([users, larger]: [M; 2]) -> [usize; 2] {
    // One checkpoint is at a pause.
    let schedule = Schedule::new(vec![1, 1_000, 1_024, 1_500, HORIZON]).expect("increasing");
    let (mut n_checked, mut stranger) = ([0, 0], vec![]);
    for entrant in entrants(&falling(SIZES[0].1)) {
        let is_any_size = plays_any_size(&entrant);
        let is_reading = usize::from(entrant.read_as.is_some());
        let Ok(contenders) = M::contenders(&[entrant], HORIZON) else { continue };
        stranger = check(&*contenders[0], &schedule, [&users, &larger], is_any_size, &stranger);
        n_checked[is_reading] += 1;
    }
    n_checked
}

/// Checks all policies in live use on these users. Returns the number of those that learn from a
/// table, and of those that learn from whole answers, as they come and in order.
fn check_live<M: Play>([users, larger]: [M; 2]) -> [usize; 2] {
    let schedule = Schedule::new(vec![1, 1_024, HORIZON]).expect("increasing");
    let delay =
        Delays { click: Delay::Geometric(20.0), skip: Delay::Rounds(60), lost_click: 0.1, lost_skip: 0.2 };
    let drift = Some(Drift::Jumps { jumps: 700, share: 0.5, prior: NewAttraction::Instance });
    let whole = Conditions { delay, drift, ..Conditions::default() };
    let prior = NewAttraction::Beta(0.5, 3.0);
    let every = Conditions {
        availability: Some(Availability { share: 0.4, rounds: 3 }),
        churn: Some(Churn { rate: 1e-3, prior, returning: 0.3 }),
        ..whole
    };
    let windowed = LiveUse { window: Some(50), explore: 0.1, skips: Skips::AtOnce, ..LiveUse::default() };
    let in_order = LiveUse { wait: Some(100), ..LiveUse::default() };
    let (mut n_checked, mut stranger) = ([0, 0], vec![]);
    for (conditions, live, kind) in [(every, Some(windowed), 0), (whole, None, 1), (whole, Some(in_order), 1)]
    {
        for row in rows() {
            let entrant = Entrant { live, ..Entrant::new(row.name, row.spec()) };
            let contenders = M::live_contenders(&[entrant], HORIZON, &conditions);
            let Ok(contenders) = contenders else { continue };
            stranger = check(&*contenders[0], &schedule, [&users, &larger], true, &stranger);
            n_checked[kind] += 1;
        }
    }
    n_checked
}

/// The numbers that [`check_live`] returns.
fn n_live(protocol: Protocol) -> [usize; 2] {
    let tables = rows().iter().filter(|row| row.speaks(protocol) && row.live == Live::Table);
    // Neither the oracle nor a log's lists learn.
    [tables.count(), 2 * (n_players(protocol) - 2)]
}

#[test]
fn values_of_items() {
    fn check_valued<M: Play>([users, larger]: [M; 2], own: Protocol, names: &[&str]) {
        let schedule = Schedule::new(vec![1, 1_024, HORIZON]).expect("increasing");
        for (name, read_as) in names.iter().flat_map(|name| [(name, None), (name, Some(own))]) {
            let spec: PolicySpec = name.parse().expect("a policy");
            let entrant = Entrant { read_as, ..Entrant::new(*name, spec) };
            let contenders = M::contenders(&[entrant], HORIZON).expect("it plays");
            check(&*contenders[0], &schedule, [&users, &larger], true, &[]);
        }
    }
    let values = |n: usize| -> Vec<f64> { (0..n).map(|number| 1.0 + number as f64).collect() };
    check_valued(
        both(|n, m| PositionBased::from_values(&probabilities(n), &falling(m))?.with_values(&values(n))),
        Protocol::PositionBased,
        &["pbm-ts", "bc-mp-ts", "pbm-gibbs", "pbm-pie"],
    );
    check_valued(
        both(|n, m| CascadeModel::from_values(&probabilities(n), m)?.with_values(&values(n))),
        Protocol::Cascade,
        &["cascade-ts", "rsf-ts", "dcm-ts", "cascade-kl-ucb"],
    );
    check_valued(
        both(|n, m| {
            let users = DependentClick::from_values(&probabilities(n), &vec![0.3; m], DcmReward::Clicks)?;
            users.with_values(&values(n))
        }),
        Protocol::Dcm,
        &["dcm-ts(continuation=0.7)", "dcm-ts"],
    );
}

#[test]
fn live_use() {
    let users = both(|n, m| PositionBased::from_values(&probabilities(n), &falling(m)));
    assert_eq!(check_live(users), n_live(Protocol::PositionBased));
    let users = both(|n, m| RandomSemiBandit::from_values(&probabilities(n), &falling(m)));
    assert_eq!(check_live(users), n_live(Protocol::SemiBandit));
    let users = both(|n, m| CascadeModel::from_values(&probabilities(n), m));
    assert_eq!(check_live(users), n_live(Protocol::Cascade));
    let users = both(|n, m| DependentClick::from_values(&probabilities(n), &falling(m), DcmReward::Clicks));
    assert_eq!(check_live(users), n_live(Protocol::Dcm));
    let users = both(|n, m| {
        DynamicBayesian::from_values(&probabilities(n), &probabilities(n), 0.9, m, DbnReward::default())
    });
    assert_eq!(check_live(users), [0, 0]);
}

/// The number of policies that play a protocol for regret.
fn n_players(protocol: Protocol) -> usize {
    rows()
        .iter()
        .filter(|row| row.speaks(protocol) && row.purpose() == policies::catalogue::Purpose::Regret)
        .count()
}

/// The number of policies that can read the feedback of lists as that of each of these protocols;
/// all but `logged`.
fn n_readers() -> usize {
    let readers = |protocol| rows().iter().filter(move |row| row.speaks(protocol)).count() - 1;
    [Protocol::PositionBased, Protocol::SemiBandit, Protocol::Cascade, Protocol::Dcm]
        .map(readers)
        .iter()
        .sum()
}

#[test]
fn position_based() {
    let users = both(|n, m| PositionBased::from_values(&probabilities(n), &falling(m)));
    assert_eq!(check_regret(users), [n_players(Protocol::PositionBased), n_readers()]);
}

/// `pbm-gibbs` from the fit of a log, on its own users and on others whose clicks it reads as those
/// of its own.
#[test]
fn a_fitted_prior() {
    let belief = |mean: f64| Some((mean, 0.05));
    let prior =
        PbmPrior::new([belief(0.3), None, belief(0.4)], [Some((1.0, 0.0)), belief(0.6)]).expect("beliefs");
    let priors =
        FittedPriors { file: InputFile::new("", vec![]), beliefs: Beliefs::OfInstances(vec![prior]) };
    for (name, read_as) in [("known", None), ("unknown", Some(Protocol::PositionBased))] {
        let spec: PolicySpec = format!("pbm-gibbs(order={name})").parse().expect("a policy");
        let entrant =
            Entrant { priors: Some(Arc::new(priors.clone())), read_as, ..Entrant::new("pbm-gibbs", spec) };
        let schedule = Schedule::new(vec![1, 1_024, HORIZON]).expect("increasing");
        if read_as.is_none() {
            let [users, larger] = both(|n, m| PositionBased::from_values(&probabilities(n), &falling(m)));
            let contenders = PositionBased::contenders(&[entrant], HORIZON).expect("it plays them");
            check(&*contenders[0], &schedule, [&users, &larger], true, &[]);
            let dear = |users: PositionBased| {
                let values: Vec<f64> = (0..users.shape().n_items()).map(|n| 1.0 + n as f64).collect();
                users.with_values(&values).expect("values")
            };
            check(&*contenders[0], &schedule, [&dear(users), &dear(larger)], true, &[]);
        } else {
            let [users, larger] = both(|n, m| CascadeModel::from_values(&probabilities(n), m));
            let contenders = CascadeModel::contenders(&[entrant], HORIZON).expect("it plays them");
            check(&*contenders[0], &schedule, [&users, &larger], true, &[]);
        }
    }
}

#[test]
fn semi_bandit() {
    let users = both(|n, m| RandomSemiBandit::from_values(&probabilities(n), &falling(m)));
    assert_eq!(check_regret(users), [n_players(Protocol::SemiBandit), n_readers()]);
}

#[test]
fn cascade() {
    let users = both(|n, m| CascadeModel::from_values(&probabilities(n), m));
    assert_eq!(check_regret(users), [n_players(Protocol::Cascade), n_readers()]);
}

#[test]
fn dependent_click() {
    let users =
        both(|n, m| DependentClick::from_values(&probabilities(n), &falling(m), DcmReward::Satisfaction));
    assert_eq!(check_regret(users), [n_players(Protocol::Dcm), n_readers()]);
}

#[test]
fn dynamic_bayesian() {
    let users = both(|n, m| {
        DynamicBayesian::from_values(&probabilities(n), &probabilities(n), 0.9, m, DbnReward::default())
    });
    assert_eq!(check_regret(users), [n_players(Protocol::ClicksOnly), n_readers()]);
}

#[test]
fn click_chain() {
    let users = both(|n, m| ClickChain::from_values(&probabilities(n), [0.9, 0.7, 0.2], m));
    assert_eq!(check_regret(users), [n_players(Protocol::ClicksOnly), n_readers()]);
}

#[test]
fn user_browsing() {
    let examination = |m: usize| (0..m).map(|position| falling(position + 1)).collect::<Vec<_>>();
    let users = both(|n, m| {
        let rows = examination(m);
        UserBrowsing::from_values(&probabilities(n), &rows.iter().map(Vec::as_slice).collect::<Vec<_>>())
    });
    assert_eq!(check_regret(users), [n_players(Protocol::ClicksOnly), n_readers()]);
}

#[test]
fn rank_one() {
    let users = both(|n, m| RankOneModel::from_values(&probabilities(n), &falling(m)));
    assert_eq!(check_regret(users)[0], n_players(Protocol::RankOne));
}

#[test]
fn dueling() {
    let better = |row: usize, column: usize| 0.5 + 0.002 * (column as f64 - row as f64);
    let users = SIZES.map(|(n, _)| {
        let rows: Vec<Vec<f64>> =
            (0..n).map(|row| (0..n).map(|column| better(row, column)).collect()).collect();
        DuelingModel::new(PreferenceMatrix::new(&rows).expect("preferences"))
    });
    assert_eq!(check_regret(users)[0], n_players(Protocol::Dueling));
}

/// Users who differ, in two segments.
fn differing<M: WithAttraction>(model: &M) -> Result<Personal<M>, click_models::Error> {
    let random = RandomUsers {
        users: 20,
        items: model.attraction().len(),
        share: 5,
        segments: 2,
        user_features: 1,
        item_features: 1,
        mean: 0.0,
        interaction: 0.02,
        segment: 0.01,
        ..RandomUsers::default()
    };
    random.draw(model, &mut Streams::new(3).instance(0))
}

/// The number of policies that play users of a protocol who differ, with default parameters.
fn n_for_users(protocol: Protocol) -> usize {
    let plays = |spec: PolicySpec| spec.speaks(protocol) || spec.sees_contexts(protocol);
    let all = rows().iter().filter(|row| row.is_built_from_knowledge() && plays(row.spec()));
    all.filter(|row| row.purpose() == policies::catalogue::Purpose::Regret).count()
}

#[test]
fn users_who_differ() {
    let users = both(|n, m| differing(&PositionBased::from_values(&probabilities(n), &falling(m))?));
    assert_eq!(check_regret(users), [n_for_users(Protocol::PositionBased), 0]);
    let users = both(|n, m| differing(&CascadeModel::from_values(&probabilities(n), m)?));
    assert_eq!(check_regret(users), [n_for_users(Protocol::Cascade), 0]);
    let users = both(|n, m| {
        differing(&DependentClick::from_values(&probabilities(n), &falling(m), DcmReward::Clicks)?)
    });
    assert_eq!(check_regret(users), [n_for_users(Protocol::Dcm), 0]);
}

/// Checks the contenders of a task that identifies the best items; returns their number.
fn check_identification<T: Objective<Record = Identification>>(
    task: &T,
    enter: impl Fn(&[Entrant]) -> Option<Vec<Box<dyn Contender<CascadeModel, T>>>>,
) -> usize {
    let [users, larger] = both(|n, m| CascadeModel::from_values(&probabilities(n), m));
    let (mut n_checked, mut stranger) = (0, vec![]);
    for row in rows() {
        let Some(contenders) = enter(&[Entrant::new(row.name, row.spec())]) else { continue };
        stranger = check(&*contenders[0], task, [&users, &larger], true, &stranger);
        n_checked += 1;
    }
    n_checked
}

#[test]
fn until_stopped() {
    let task = UntilStopped { max_steps: HORIZON };
    let n_checked =
        check_identification(&task, |entrants| stopping_contenders(entrants, &sim::Delays::default()).ok());
    assert_eq!(n_checked, rows().iter().filter(|row| row.spec().stops()).count());
}

#[test]
fn with_budget() {
    let task = WithBudget { horizon: HORIZON };
    let n_checked = check_identification(&task, |entrants| recommending_contenders(entrants, HORIZON).ok());
    assert_eq!(n_checked, rows().iter().filter(|row| row.spec().recommends()).count());
}
