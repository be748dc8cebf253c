//! Runs that end with an answer: their length, the number of observations, and whether the answer
//! is right.

use click_models::{CascadeFeedback, CascadeModel, ItemId, ListShape, ObservedPrefix, Ranking};
use confidence::lil_radius;
use policies::{CascadeBai, Decision, Delta, Pulls, Recommend, Select, Stop, Update};
use rand::Rng;
use sim::{
    Assignment, Contender, Entry, Identification, Outcome, Replication, Streams, Tournament, UntilStopped,
    WithBudget,
};
use std::ops::ControlFlow;

/// Always shows the same list, and gives it as the answer after `rounds` rounds.
struct Stubborn {
    list: Vec<u32>,
    rounds: u64,
}

impl Stubborn {
    fn items(&self) -> impl Iterator<Item = ItemId> + '_ {
        self.list.iter().copied().map(ItemId::new)
    }
}

impl Select<Ranking> for Stubborn {
    type Note = ();

    fn select<R: Rng + ?Sized>(&mut self, _rng: &mut R, out: &mut Decision<Ranking>) {
        out.action = self.items().collect();
    }
}

impl Update<Ranking, CascadeFeedback> for Stubborn {
    fn update(&mut self, _decision: &Decision<Ranking>, feedback: &CascadeFeedback) {
        assert!(feedback.observed_clicks().len() <= self.list.len());
        self.rounds = self.rounds.saturating_sub(1);
    }
}

impl Stop for Stubborn {
    type Answer = Vec<ItemId>;

    fn check(&self) -> ControlFlow<Vec<ItemId>> {
        if self.rounds == 0 { ControlFlow::Break(self.items().collect()) } else { ControlFlow::Continue(()) }
    }
}

impl Recommend<Ranking> for Stubborn {
    fn recommend<R: Rng + ?Sized>(&self, _rng: &mut R, out: &mut Ranking) {
        *out = self.items().collect();
    }
}

fn stubborn(list: &[u32], rounds: u64) -> Entry<impl Fn(ListShape) -> Stubborn + Send + Sync + use<>> {
    let list = list.to_vec();
    Entry::new("stubborn", move |_| Stubborn { list: list.clone(), rounds })
}

fn until_stopped(
    contender: &impl Contender<CascadeModel, UntilStopped>,
    attraction: &[f64],
    n_positions: usize,
    max_steps: u64,
) -> Identification {
    let users = CascadeModel::from_values(attraction, n_positions).expect("valid");
    contender.replicate(Replication::new(&users, Streams::new(1), 0), &UntilStopped { max_steps })
}

#[test]
fn steps_and_observations_are_counted_separately() {
    // Always a click at the top: one observation per step.
    let top = until_stopped(&stubborn(&[0, 1], 7), &[1.0, 0.0, 0.0], 2, 100);
    assert_eq!(top, Identification { steps: 7, observations: 7, answered: true, correct: true });
    // Always a click at the second position: two observations per step. Never a click: the whole
    // list.
    let below = until_stopped(&stubborn(&[1, 0], 7), &[1.0, 0.0, 0.0], 2, 100);
    assert_eq!((below.steps, below.observations), (7, 14));
    let nothing = until_stopped(&stubborn(&[1, 2, 0], 7), &[0.0; 4], 3, 100);
    assert_eq!((nothing.steps, nothing.observations), (7, 21));
}

#[test]
fn a_policy_that_does_not_stop_is_capped_without_an_answer() {
    let attraction = [1.0, 0.5, 0.0];
    let capped = until_stopped(&stubborn(&[0, 1], 101), &attraction, 2, 100);
    assert_eq!((capped.steps, capped.answered, capped.correct), (100, false, false));
    // A policy that stops in the last step still answers.
    let just = until_stopped(&stubborn(&[0, 1], 100), &attraction, 2, 100);
    assert_eq!((just.steps, just.answered, just.correct), (100, true, true));
    // Two equally good items, one of which has to be found: no policy can distinguish them.
    let twins = Entry::new("bai", |shape| CascadeBai::new(shape, Delta::default()));
    let capped = until_stopped(&twins, &[0.5, 0.5], 1, 20_000);
    assert_eq!((capped.steps, capped.answered, capped.correct), (20_000, false, false));
}

#[test]
fn a_solved_problem_takes_no_step() {
    let all = Entry::new("bai", |shape| CascadeBai::new(shape, Delta::default()));
    let found = until_stopped(&all, &[0.5, 0.2], 2, 10);
    assert_eq!(found, Identification { steps: 0, observations: 0, answered: true, correct: true });
}

#[test]
fn an_answer_may_be_epsilon_worse() {
    let attraction = [0.5, 0.4, 0.3, 0.25];
    let correct = |entry: &dyn Contender<CascadeModel, UntilStopped>| {
        let users = CascadeModel::from_values(&attraction, 2).expect("valid");
        entry.replicate(Replication::new(&users, Streams::new(1), 0), &UntilStopped { max_steps: 5 }).correct
    };
    assert!(correct(&stubborn(&[1, 0], 1)) && !correct(&stubborn(&[0, 2], 1)));
    // .4 - .3 counts as a tenth in spite of rounding; .25 is further away.
    assert!(correct(&stubborn(&[2, 0], 1).within(0.1)) && !correct(&stubborn(&[0, 3], 1).within(0.1)));
}

/// Two items, one of which always attracts and one never, and a list of one position. The policy
/// shows them in turn, knows both means from the second step on, and stops in the first step in
/// which `1 - C(T) > 0 + C(T')`.
#[test]
fn cascade_bai_stops_at_the_computed_step() {
    let rho = (0.1_f64 / (12.0 * 2.0)).sqrt();
    let sure = |steps: u64| lil_radius(steps.div_ceil(2), rho) + lil_radius(steps / 2, rho) < 1.0;
    let expected = (2..10_000).find(|&steps| sure(steps)).expect("some step");
    // C(318) + C(319) = 4 sqrt(ln(9.313 / .06455) / 318) + ... is just below 1.
    assert!((600..700).contains(&expected), "{expected}");
    let entry = Entry::new("bai", |shape| CascadeBai::new(shape, Delta::default()));
    let found = until_stopped(&entry, &[0.0, 1.0], 1, 10_000);
    let (steps, observations) = (expected, expected);
    assert_eq!(found, Identification { steps, observations, answered: true, correct: true });
    assert!(!until_stopped(&entry, &[0.0, 1.0], 1, expected - 1).answered);
}

#[test]
fn full_feedback_shows_every_item_of_the_list() {
    let attraction = [0.9, 0.8, 0.1, 0.05, 0.02];
    for (pulls, n_shown, per_step) in [(Pulls::List, usize::MAX, 2), (Pulls::One, 1, 1)] {
        let build = Entry::new("bat-rac", move |shape| CascadeBai::bat_rac(shape, pulls, Delta::default()));
        let found = until_stopped(&build.with_full_feedback(n_shown), &attraction, 2, 100_000);
        assert!(found.answered && found.correct, "{found:?}");
        assert_eq!(found.observations, per_step * found.steps);
    }
}

#[test]
fn a_budget_ends_with_a_recommendation() {
    let users = CascadeModel::from_values(&[0.9, 0.1, 0.05], 1).expect("valid");
    let ask = |contender: &dyn Contender<CascadeModel, WithBudget>, horizon| {
        contender.replicate(Replication::new(&users, Streams::new(1), 0), &WithBudget { horizon })
    };
    let right = Identification { steps: 12, observations: 12, answered: true, correct: true };
    assert_eq!(ask(&stubborn(&[0], 0), 12), right);
    assert_eq!(ask(&stubborn(&[1], 99), 12), Identification { correct: false, ..right });
    let bai = Entry::new("bai", |shape| CascadeBai::new(shape, Delta::default()));
    assert!(ask(&bai, 300).correct);
}

/// An answer that is not a set of items of the catalogue is wrong, and causes no panic.
#[test]
fn an_answer_that_is_not_a_set_is_wrong() {
    for answer in [&[0, 0][..], &[0, 9], &[0], &[0, 1, 2], &[]] {
        let users = CascadeModel::from_values(&[0.9, 0.8, 0.1], 2).expect("valid");
        let items: Vec<ItemId> = answer.iter().copied().map(ItemId::new).collect();
        assert!(!users.are_best(&items, 1.0), "{answer:?}");
    }
}

fn run(labels: &[&str], threads: usize) -> Outcome<Identification> {
    let instances = vec![
        CascadeModel::from_values(&[0.9, 0.8, 0.1, 0.05], 2).expect("valid"),
        CascadeModel::from_values(&[0.2, 0.8, 0.7], 1).expect("valid"),
    ];
    let contenders: Vec<Box<dyn Contender<CascadeModel, UntilStopped>>> = labels
        .iter()
        .map(|&label| -> Box<dyn Contender<CascadeModel, UntilStopped>> {
            Box::new(Entry::new(label, |shape| CascadeBai::new(shape, Delta::default())))
        })
        .collect();
    let tournament = Tournament {
        instances,
        uncertainty: None,
        runs_per_draw: 1,
        assignment: Assignment::Drawn,
        contenders,
        task: UntilStopped { max_steps: 10_000 },
        streams: Streams::new(3),
        runs: 12,
    };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
    pool.install(|| tournament.run())
}

#[test]
fn threads_and_other_contenders_change_no_run() {
    let alone = run(&["a"], 1);
    // Some runs stop and some are capped.
    assert!(
        alone.records[0].iter().any(|run| run.answered) && alone.records[0].iter().any(|run| !run.answered)
    );
    for threads in [2, 5] {
        let among = run(&["b", "a"], threads);
        assert_eq!(alone.records[0], among.records[1]);
        assert_ne!(among.records[0], among.records[1]);
    }
}
