//! A policy and its users as one object, whatever their protocol. The tests of all policies are
//! compiled once, and a policy's rounds once for every protocol.

use super::users::Users;
use crate::support::{choose, generator, learn};
use click_models::{
    Action, Cascade, Cell, CellClick, ClickModel, Clicks, ClicksOnly, Dcm, DuelOutcome, Dueling, Feedback,
    Interaction, ItemId, ListProtocol, Pair, Pbm, PositionBased, RandomSemiBandit, RankOne, Ranking,
    SemiBandit,
};
use confidence::NonNegative;
use policies::catalogue::{Kind, PolicySpec, Protocol, Row, rows};
use policies::{Decision, Fixed, MergeDts, PrefixTs, Pulls, ReadAs, Select, Update};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, VecDeque};
use std::fmt::Debug;
use std::rc::Rc;
use std::sync::LazyLock;

/// An event for a policy.
#[derive(Debug, Clone)]
pub(crate) enum Event {
    /// It decides a round.
    Select,
    /// The answer to one of the decisions so far arrives, for the first time or again.
    Answer { decision: u8, answer: Answer },
    /// An answer arrives to an action that it never chose, of items that may not exist.
    Strange { numbers: Vec<u32>, answer: Answer },
}

/// Clicks on a list of any length. For a cell the first counts; for a duel the first three tell
/// whether the better one lost.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Answer {
    pub(crate) bits: u64,
    pub(crate) len: usize,
}

/// A policy and its users, with their random numbers.
pub(crate) trait Trial {
    /// Which policy and which users, written when it is asked for.
    fn name(&self) -> String;
    fn copy(&self) -> Box<dyn Trial>;
    /// Starts the random numbers of the policy and of its users anew.
    fn reseed(&mut self, seed: u64);
    /// The policy decides a round.
    fn decide(&mut self);
    /// One round: decide, show, learn. Gives the regret.
    fn round(&mut self) -> f64;
    /// The same with answers that come `delay` rounds late, and one in ten not at all.
    fn late_round(&mut self, delay: usize) -> f64;
    /// Items from the top down, row and column, or the two that are compared, of the last decision.
    fn choice(&self) -> Vec<usize>;
    /// Returns whether users can be shown the last decision.
    fn is_admitted(&self) -> bool;
    /// Something happens. False if the policy decides, or recommends, what there is not.
    fn happens(&mut self, event: &Event) -> bool;
    /// The items that it would recommend, of a policy that recommends.
    fn recommended(&self) -> Option<Vec<usize>>;
    fn saved(&self) -> Value;
    /// The policy as saved, with these users and random numbers.
    fn restored(&self, saved: Value) -> Result<Box<dyn Trial>, String>;
    /// The same in the bytes of a format that skips nothing and names nothing.
    fn bytes(&self) -> Vec<u8>;
    fn restored_from(&self, bytes: &[u8]) -> Box<dyn Trial>;
    /// The last decision with its note, and the random numbers that come next.
    fn moment(&self) -> (Value, [Xoshiro256PlusPlus; 2]);
}

/// A policy's recommendation, as users would see it.
type Recommended<P, A> = fn(&P) -> Option<A>;

/// A decision with its answer.
type Answered<M, P> = (Decision<Action<M>, <P as Select<Action<M>>>::Note>, Feedback<M>);

struct Played<M: ClickModel, P: Select<Action<M>>> {
    /// Name of the policy.
    name: Rc<str>,
    users: Rc<M>,
    policy: P,
    recommended: Recommended<P, Action<M>>,
    /// One item at a time is no list of theirs.
    is_short: bool,
    random: [Xoshiro256PlusPlus; 2],
    decision: Decision<Action<M>, P::Note>,
    /// Decisions that may be answered, and answers that have not come.
    past: Vec<Decision<Action<M>, P::Note>>,
    waiting: VecDeque<Answered<M, P>>,
    rounds: u64,
}

impl<M: ClickModel, P> Played<M, P>
where
    P: Update<Action<M>, Feedback<M>> + Clone,
    Action<M>: Default + Clone,
{
    fn new(name: &str, users: &Rc<M>, policy: P, recommended: Recommended<P, Action<M>>) -> Self {
        Self {
            name: name.into(),
            users: Rc::clone(users),
            policy,
            recommended,
            is_short: false,
            random: [1, 2].map(generator),
            decision: Decision::default(),
            past: vec![],
            waiting: VecDeque::new(),
            rounds: 0,
        }
    }

    fn with(&self, policy: P) -> Self {
        Self {
            name: Rc::clone(&self.name),
            users: Rc::clone(&self.users),
            policy,
            recommended: self.recommended,
            is_short: self.is_short,
            random: self.random.clone(),
            decision: self.decision.clone(),
            past: vec![],
            waiting: VecDeque::new(),
            rounds: self.rounds,
        }
    }

    fn choose(&mut self) {
        choose(&mut self.policy, &mut self.random[0], &mut self.decision);
    }
}

impl<M, P> Trial for Played<M, P>
where
    M: ClickModel<Interaction: Plain> + Debug + 'static,
    Action<M>: Default + Clone + Serialize,
    P: Update<Action<M>, Feedback<M>> + Serialize + DeserializeOwned + Clone + 'static,
{
    fn name(&self) -> String {
        format!("{} on {:?}", self.name, self.users)
    }

    fn copy(&self) -> Box<dyn Trial> {
        Box::new(self.with(self.policy.clone()))
    }

    fn reseed(&mut self, seed: u64) {
        self.random = [seed, seed + 1].map(generator);
    }

    fn decide(&mut self) {
        self.choose();
    }

    fn round(&mut self) -> f64 {
        self.choose();
        let answer = self.users.respond(&self.decision.action, &mut self.random[1]);
        learn(&mut self.policy, &self.decision, &answer);
        self.users.gap(&self.decision.action)
    }

    fn late_round(&mut self, delay: usize) -> f64 {
        self.choose();
        let answer = self.users.respond(&self.decision.action, &mut self.random[1]);
        if !self.rounds.is_multiple_of(10) {
            self.waiting.push_back((self.decision.clone(), answer));
        }
        self.rounds += 1;
        if self.waiting.len() > delay
            && let Some((decision, answer)) = self.waiting.pop_front()
        {
            learn(&mut self.policy, &decision, &answer);
        }
        self.users.gap(&self.decision.action)
    }

    fn choice(&self) -> Vec<usize> {
        M::Interaction::numbers(&self.decision.action)
    }

    fn is_admitted(&self) -> bool {
        self.is_short || self.users.admits(&self.decision.action)
    }

    fn happens(&mut self, event: &Event) -> bool {
        let strange;
        let (decision, answer) = match event {
            Event::Select => {
                // In a used buffer of any length.
                self.choose();
                self.past.push(self.decision.clone());
                return self.is_admitted();
            }
            Event::Answer { decision, answer } => {
                let which = usize::from(*decision) % self.past.len().max(1);
                let Some(decision) = self.past.get(which) else { return true };
                (decision, answer)
            }
            Event::Strange { numbers, answer } => {
                // With a note that fits, or with none.
                let note = self.past.last().map(|decision| decision.note.clone()).unwrap_or_default();
                strange = Decision { action: M::Interaction::action(numbers), note };
                (&strange, answer)
            }
        };
        let answer = M::Interaction::answer(&decision.action, *answer);
        learn(&mut self.policy, decision, &answer);
        (self.recommended)(&self.policy).is_none_or(|action| self.users.admits(&action))
    }

    fn recommended(&self) -> Option<Vec<usize>> {
        (self.recommended)(&self.policy).map(|action| M::Interaction::numbers(&action))
    }

    fn saved(&self) -> Value {
        serde_json::to_value(&self.policy).expect("a policy can be saved")
    }

    fn restored(&self, saved: Value) -> Result<Box<dyn Trial>, String> {
        let policy: P = serde_json::from_value(saved).map_err(|error| error.to_string())?;
        Ok(Box::new(self.with(policy)))
    }

    fn bytes(&self) -> Vec<u8> {
        postcard::to_allocvec(&self.policy).expect("a policy can be saved")
    }

    fn restored_from(&self, bytes: &[u8]) -> Box<dyn Trial> {
        Box::new(self.with(postcard::from_bytes(bytes).expect("a saved policy can be restored")))
    }

    fn moment(&self) -> (Value, [Xoshiro256PlusPlus; 2]) {
        (serde_json::to_value(&self.decision).expect("a decision can be saved"), self.random.clone())
    }
}

/// Actions and answers made of numbers.
pub(crate) trait Plain: Interaction {
    fn numbers(action: &Self::Action) -> Vec<usize>;
    fn action(numbers: &[u32]) -> Self::Action;
    fn answer(action: &Self::Action, answer: Answer) -> Self::Feedback;
}

macro_rules! plain_lists {
    ($($Interaction:ident),+) => {$(
        impl Plain for $Interaction {
            fn numbers(action: &Ranking) -> Vec<usize> {
                action.iter().map(ItemId::index).collect()
            }

            fn action(numbers: &[u32]) -> Ranking {
                numbers.iter().copied().map(ItemId::new).collect()
            }

            fn answer(_: &Ranking, Answer { bits, len }: Answer) -> Self::Feedback {
                let bits = if len < 64 { bits & ((1 << len) - 1) } else { bits };
                Self::read(Clicks::from_bits(bits, len).expect("below the length"), len)
            }
        }
    )+};
}

plain_lists!(Pbm, SemiBandit, Cascade, Dcm, ClicksOnly);

fn two(numbers: &[u32]) -> [u32; 2] {
    [0, 1].map(|at| numbers.get(at).copied().unwrap_or(0))
}

impl Plain for RankOne {
    fn numbers(action: &Cell) -> Vec<usize> {
        vec![action.row as usize, action.column as usize]
    }

    fn action(numbers: &[u32]) -> Cell {
        let [row, column] = two(numbers);
        Cell::new(row, column)
    }

    fn answer(_: &Cell, Answer { bits, .. }: Answer) -> CellClick {
        CellClick { clicked: bits & 1 == 1 }
    }
}

impl Plain for Dueling {
    fn numbers(action: &Pair) -> Vec<usize> {
        vec![action.first.index(), action.second.index()]
    }

    fn action(numbers: &[u32]) -> Pair {
        let [first, second] = two(numbers).map(ItemId::new);
        Pair::new(first, second)
    }

    /// Mostly the same winner, so that something is found out.
    fn answer(action: &Pair, Answer { bits, .. }: Answer) -> DuelOutcome {
        let is_upset = bits % 8 == 0;
        if (action.first > action.second) == is_upset {
            DuelOutcome::SecondWon
        } else {
            DuelOutcome::FirstWon
        }
    }
}

/// Parameters that matter only together: with small radii the policies for the best items decide
/// within a test, so that their tolerance and the order of their lists show in what they choose.
const TOGETHER: [&str; 9] = [
    "cascade-bai(radius_scale=0.3,order=mean-asc)",
    "cascade-bai(radius_scale=0.3,order=upper-desc)",
    "batrac(radius_scale=0.3,epsilon=0.1)",
    "cascade-kl(test=item,order=least-observed,epsilon=0.1)",
    "kl-lucb(epsilon=0.1,levels=mixture)",
    "pbm-pie(epsilon=0.1,level=log-horizon)",
    "beat-the-mean(gamma=0.5,radius=tight)",
    "pie(position=0,level=log-t-4-log-log-t)",
    "cascade-bai(radius_scale=0.3,epsilon=0.1)",
];

/// By the names of the rows. Made once: every story plays with all of them.
static VARIANTS: LazyLock<BTreeMap<&str, Vec<PolicySpec>>> =
    LazyLock::new(|| rows().iter().map(|row| (row.name, variants(row))).collect());

/// A policy with its defaults, once with another value of every parameter, and with parameters that
/// matter together.
pub(crate) fn variants(row: &Row) -> Vec<PolicySpec> {
    let mut specs = vec![row.spec()];
    let together = TOGETHER.iter().map(|text| text.parse::<PolicySpec>().expect("a policy"));
    specs.extend(together.filter(|spec| spec.name() == row.name));
    for parameter in row.parameters {
        let values: Vec<Value> = match parameter.kind {
            Kind::Number(_) => vec![0.3.into()],
            Kind::Position => vec![1.into()],
            Kind::Count => vec![2.into()],
            Kind::Choice(names) => names.iter().map(|&name| name.into()).collect(),
            Kind::Flag => vec![true.into(), false.into()],
            // The second keeps a list in its notes.
            Kind::ListPolicy => vec!["pbm-ts".into(), "rba-kl-ucb".into()],
            kind => panic!("no value of {kind} is known"),
        };
        for value in values {
            let parameters = Map::from_iter([(parameter.name.to_owned(), value)]);
            let spec = PolicySpec::from_parameters(row.name, &parameters).expect("a value that it may have");
            // One of the choices is the default.
            if !specs.contains(&spec) {
                specs.push(spec);
            }
        }
    }
    specs
}

/// The policies of the catalogue that learn from the users of a protocol, or show anything at all
/// to them.
pub(crate) fn rows_for(protocol: Protocol) -> impl Iterator<Item = &'static Row> {
    rows().iter().filter(move |row| row.is_built_from_knowledge() && row.speaks(protocol))
}

/// A trial of a policy of any type, its random numbers from the seeds 1 and 2.
pub(crate) fn trial<M, P>(name: &str, users: &Rc<M>, policy: P) -> Box<dyn Trial>
where
    M: ClickModel<Interaction: Plain> + Debug + 'static,
    Action<M>: Default + Clone + Serialize,
    P: Update<Action<M>, Feedback<M>> + Serialize + DeserializeOwned + Clone + 'static,
{
    Box::new(Played::new(name, users, policy, |_| None))
}

/// Users for whom the catalogue has policies.
pub(crate) trait Playable: Sized {
    /// Their protocol.
    const PROTOCOL: Protocol;

    /// A trial of a policy of the catalogue.
    fn trial(users: &Rc<Self>, spec: PolicySpec, horizon: u64) -> Box<dyn Trial>;

    /// A trial of a policy of the catalogue that sees who asks; with features of items if it is one
    /// of several variants. `None` if these users show no lists.
    fn trial_for(
        _users: &Rc<Self>,
        _spec: PolicySpec,
        _horizon: u64,
        _extent: Extent,
    ) -> Option<Box<dyn Trial>> {
        None
    }

    /// The same by the text that names the policy.
    fn named(users: &Rc<Self>, policy: &str, horizon: u64) -> Box<dyn Trial> {
        Self::trial(users, policy.parse().unwrap_or_else(|error| panic!("{error}")), horizon)
    }
}

/// The trial of a policy of the catalogue, with the specification `spec`.
pub(crate) fn trial_of_row<M, P>(
    spec: PolicySpec,
    users: &Rc<M>,
    policy: P,
    recommended: Recommended<P, Action<M>>,
) -> Box<dyn Trial>
where
    M: ClickModel<Interaction: Plain> + Debug + 'static,
    Action<M>: Default + Clone + Serialize,
    P: Update<Action<M>, Feedback<M>> + Serialize + DeserializeOwned + Clone + 'static,
{
    let mut trial = Played::new(&spec.to_string(), users, policy, recommended);
    trial.is_short = matches!(spec, PolicySpec::Batrac { pulls: Pulls::One, .. });
    Box::new(trial)
}

/// Which policies play.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Extent {
    /// Each with its defaults.
    Defaults,
    /// On the first users of every protocol, each also with other parameters.
    Variants,
}

/// Every policy on every one of the users whose answers it reads, told that there are `horizon`
/// rounds.
pub(crate) fn trials(users: Users, extent: Extent, horizon: u64) -> Vec<Box<dyn Trial>> {
    let mut trials = vec![];
    users.add_trials(&mut trials, extent, horizon);
    trials
}

/// Adds the trials on users of one model.
pub(crate) fn add<M: Playable>(trials: &mut Vec<Box<dyn Trial>>, all: Vec<M>, extent: Extent, horizon: u64) {
    for (number, users) in all.into_iter().enumerate() {
        let users = Rc::new(users);
        let n_specs = if extent == Extent::Variants && number == 0 { usize::MAX } else { 1 };
        let specs = rows_for(M::PROTOCOL).flat_map(|row| VARIANTS[row.name].iter().take(n_specs));
        trials.extend(specs.map(|&spec| M::trial(&users, spec, horizon)));
        let specs = rows().iter().flat_map(|row| VARIANTS[row.name].iter().take(n_specs));
        let specs = specs.filter(|spec| spec.sees_contexts(M::PROTOCOL));
        trials.extend(specs.filter_map(|&spec| M::trial_for(&users, spec, horizon, extent)));
    }
}

/// Policies for lists that are no rows: one list for ever, and one that reads clicks as those of
/// other users.
pub(crate) fn trials_without_a_row() -> Vec<Box<dyn Trial>> {
    let users = Rc::new(Users::first().position_based.remove(0));
    let read_as: ReadAs<SemiBandit, _> = ReadAs::new(PrefixTs::new(users.shape()));
    let duels = Rc::new(Users::first().dueling.remove(0));
    let alpha = NonNegative::new(0.3).expect("not negative");
    let merge_dts = MergeDts::with_parameters(duels.known(), alpha, 1000, 3);
    vec![
        trial("fixed", &users, Fixed::new(users.optimal_action())),
        trial("prefix-ts as on a semi-bandit", &users, read_as),
        // Small batches, without the head start of the default: items leave, and batches are merged
        // in the meantime.
        trial("merge-dts in small batches", &duels, merge_dts),
    ]
}

/// Thompson sampling on 520 items, where it is thinned.
pub(crate) fn large_trials() -> Vec<Box<dyn Trial>> {
    let attraction: Vec<f64> = (0..520_u32).map(|item| f64::from(item % 40) / 100.0).collect();
    let examination = [0.9, 0.6, 0.3];
    let semi_bandit = Rc::new(RandomSemiBandit::from_values(&attraction, &examination).expect("valid"));
    let position_based = Rc::new(PositionBased::from_values(&attraction, &examination).expect("valid"));
    vec![
        RandomSemiBandit::named(&semi_bandit, "rsf-ts", 6000),
        PositionBased::named(&position_based, "bc-mp-ts", 6000),
        PositionBased::named(&position_based, "pbm-ts", 6000),
    ]
}
