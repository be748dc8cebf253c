//! Facts of the catalogue about a policy.

use super::Kind;
use std::fmt::{self, Display, Formatter};

/// A policy of the catalogue.
#[derive(Debug, Clone, Copy)]
pub struct Row {
    /// Name in files and on command lines.
    pub name: &'static str,
    /// Description in one sentence.
    pub sentence: &'static str,
    /// Parameters; all have defaults.
    pub parameters: &'static [ParameterRow],
    /// Families that it belongs to.
    pub families: &'static [Family],
    /// Effect of late and lost feedback.
    pub answers: Answers,
    /// Use in a service.
    pub live: Live,
    /// Largest problem that fits into memory.
    pub limit: Limit,
    /// Cost of a round: K items, L positions (best arm identification: L items, K positions).
    pub cost: &'static str,
    /// Proven guarantee.
    pub guarantee: &'static str,
    /// A policy with the same knowledge that had less regret in all experiments of this project, if
    /// there is one: the row is kept to compare with.
    pub dominated_by: &'static [&'static str],
    /// Source: paper, section, algorithm.
    pub source: &'static str,
}

/// A parameter of a policy.
#[derive(Debug, Clone, Copy)]
pub struct ParameterRow {
    /// Key in files.
    pub name: &'static str,
    /// Accepted values.
    pub kind: Kind,
    /// Meaning, as a sentence.
    pub meaning: &'static str,
}

/// Policies with the same knowledge, the same feedback and the same task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Family {
    /// Knows sizes and examination; reads the clicks of every position.
    PositionBased,
    /// Knows sizes and at most the order of positions; reads the clicks of every position.
    UnknownExamination,
    /// Knows sizes and the order of positions (default: top down); reads an observed prefix.
    Prefix,
    /// Knows sizes; reads the clicks of any list.
    AnyList,
    /// Knows sizes; reads an observed prefix, and stops when it has identified the best items.
    Stopping,
    /// As [`Stopping`](Self::Stopping), with users who examine every item of the list.
    FullFeedback,
    /// Knows sizes and the number of rounds; reads a prefix, and names the best items at the end.
    Budgeted,
    /// Knows the numbers of rows and columns; reads whether the chosen cell was clicked.
    Cells,
    /// Knows the number of items; reads which item of a pair is preferred.
    Pairs,
    /// Knows sizes, examination, and the features of items; sees who asks for a list, and reads the
    /// clicks of every position.
    PositionContexts,
    /// Knows sizes, the order of positions, and the features of items; sees who asks for a list,
    /// and reads an observed prefix.
    PrefixContexts,
    /// A policy for each segment of users, which it sees; reads what that policy reads.
    Segments,
    /// Knows the lists of a log; reads nothing. Built by [`Logged::new`](crate::Logged::new).
    Logged,
    /// Knows the users: a reference for simulations only.
    Reference,
}

/// A feedback protocol, named after the click model of the users.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Protocol {
    /// Knowledge: sizes, examination or at most the order of positions. Feedback: all clicks.
    PositionBased,
    /// Knowledge: sizes. Feedback: the clicks of the examined positions.
    SemiBandit,
    /// Knowledge: sizes. Feedback: the first click; the user examined the positions down to it.
    Cascade,
    /// Knowledge: sizes and the order of positions by probability of leaving. Feedback: the clicks;
    /// the user examined at least the positions down to the last one.
    Dcm,
    /// Knowledge: sizes. Feedback: the clicks; a missing click may mean anything. For several
    /// models.
    ClicksOnly,
    /// Knowledge: numbers of rows and columns. Feedback: whether the chosen cell was clicked.
    RankOne,
    /// Knowledge: number of items. Feedback: which item of the chosen pair was preferred.
    Dueling,
}

/// Effect of late and lost feedback.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answers {
    /// Late feedback counts on arrival, lost feedback has no effect.
    Late,
    /// Decisions are irrevocable: delay and loss of feedback must not depend on the click.
    IndependentOfClicks,
}

/// Use in a service, whose items and answers come and go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Live {
    /// None.
    No,
    /// Lists of all items; whole answers, in the order of the decisions.
    InOrder,
    /// Lists of the items that may be shown, for users who differ; whole answers:
    /// a [`NamedLive`](super::NamedLive).
    Whole,
    /// Lists of the items that may be shown, and answers that come late, twice or are taken back:
    /// a [`NamedLive`](super::NamedLive).
    Table,
}

impl Display for Live {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::No => "no",
            Self::InOrder => "in order",
            Self::Whole => "whole",
            Self::Table => "table",
        })
    }
}

/// The largest problem that fits into memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limit {
    /// Memory grows with items and positions: no limit.
    None,
    /// Memory grows with cells, some hundred bytes each: at most this number of cells.
    Cells(usize),
    /// Memory grows with pairs of items: at most this number of items.
    Items(usize),
}

/// The purpose of a policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Purpose {
    /// Minimise regret.
    Regret,
    /// Stop with the best items.
    Stopping,
    /// Name the best items at the end.
    Recommending,
}

/// Largest number of cells.
pub(crate) const CELLS: Limit = Limit::Cells(1 << 22);
/// Largest number of items: two numbers for every pair take a quarter of a gibibyte.
pub(crate) const ITEMS: Limit = Limit::Items(4096);

impl Protocol {
    /// All protocols.
    pub const ALL: [Self; 7] = [
        Self::PositionBased,
        Self::SemiBandit,
        Self::Cascade,
        Self::Dcm,
        Self::ClicksOnly,
        Self::RankOne,
        Self::Dueling,
    ];

    /// The name in files: the name of the click model, if only one has this protocol.
    pub fn name(self) -> &'static str {
        match self {
            Self::PositionBased => "pbm",
            Self::SemiBandit => "semi-bandit",
            Self::Cascade => "cascade",
            Self::Dcm => "dcm",
            Self::ClicksOnly => "clicks-only",
            Self::RankOne => "rank-one",
            Self::Dueling => "dueling",
        }
    }

    /// Returns whether the actions are lists.
    pub fn has_lists(self) -> bool {
        !matches!(self, Self::RankOne | Self::Dueling)
    }
}

impl Display for Protocol {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::PositionBased => "position-based",
            Self::SemiBandit => "random semi-bandit",
            Self::Cascade => "cascade",
            Self::Dcm => "dependent-click",
            Self::ClicksOnly => "clicks-only",
            Self::RankOne => "rank-one",
            Self::Dueling => "dueling",
        })
    }
}

impl Family {
    /// The protocols that its policies play, and in words what they know and what they play.
    fn facts(self) -> (&'static [Protocol], &'static str, &'static str) {
        use Protocol::{Cascade, ClicksOnly, Dcm, Dueling, PositionBased, RankOne, SemiBandit};
        const PREFIXES: &[Protocol] = &[SemiBandit, Cascade, Dcm];
        const LISTS: &[Protocol] = &[PositionBased, SemiBandit, Cascade, Dcm, ClicksOnly];
        const FEATURES: &str = "features of items, and of each user";
        match self {
            Self::PositionBased => {
                (&[PositionBased], "sizes, examination of every position", "position-based")
            }
            Self::UnknownExamination => {
                (&[PositionBased], "sizes, at most the order of positions", "position-based")
            }
            Self::Prefix => (PREFIXES, "sizes, order of positions", "prefix"),
            Self::AnyList => (LISTS, "sizes", "any list"),
            Self::Stopping => (&[Cascade], "sizes", "cascade, until it stops"),
            Self::FullFeedback => (&[Cascade], "sizes", "cascade, every item examined, until it stops"),
            Self::Budgeted => (&[Cascade], "sizes", "cascade, then names the best items"),
            Self::Cells => (&[RankOne], "rows, columns", "rank-one"),
            Self::Pairs => (&[Dueling], "number of items", "dueling"),
            Self::PositionContexts => (&[PositionBased], FEATURES, "who differ"),
            Self::PrefixContexts => (PREFIXES, FEATURES, "who differ"),
            Self::Segments => (LISTS, "number of segments, and each user's", "who differ"),
            Self::Logged => (LISTS, "the lists of a log", "any list"),
            Self::Reference => (&Protocol::ALL, "the users", "all, in simulations"),
        }
    }

    /// The protocols that its policies play.
    pub fn protocols(self) -> &'static [Protocol] {
        self.facts().0
    }

    /// The knowledge of its policies, in words.
    pub fn told(self) -> &'static str {
        self.facts().1
    }

    /// The users that its policies play, in words.
    pub(super) fn plays(self) -> &'static str {
        self.facts().2
    }

    /// The purpose of its policies.
    pub fn purpose(self) -> Purpose {
        match self {
            Self::Stopping | Self::FullFeedback => Purpose::Stopping,
            Self::Budgeted => Purpose::Recommending,
            _ => Purpose::Regret,
        }
    }

    /// Returns whether its policies see who asks for a list.
    pub fn sees_contexts(self) -> bool {
        matches!(self, Self::PositionContexts | Self::PrefixContexts | Self::Segments)
    }
}

impl Row {
    /// Returns whether the policy is built from a learner's knowledge of its users alone.
    pub fn is_built_from_knowledge(&self) -> bool {
        !self.families.iter().any(|family| matches!(family, Family::Logged | Family::Reference))
    }

    /// Returns whether the policy plays ordinary users of this protocol.
    pub fn speaks(&self, protocol: Protocol) -> bool {
        self.family_on(protocol).is_some()
    }

    /// Returns whether the policy plays users of this protocol who differ, and sees who asks.
    pub fn sees_contexts(&self, protocol: Protocol) -> bool {
        self.families.iter().any(|family| family.sees_contexts() && family.protocols().contains(&protocol))
    }

    /// The family that plays ordinary users of this protocol, if there is one.
    pub fn family_on(&self, protocol: Protocol) -> Option<Family> {
        let plays = |family: &Family| !family.sees_contexts() && family.protocols().contains(&protocol);
        self.families.iter().copied().find(plays)
    }

    /// The protocols of ordinary users that it plays.
    pub fn protocols(&self) -> impl Iterator<Item = Protocol> {
        Protocol::ALL.into_iter().filter(|&protocol| self.speaks(protocol))
    }

    /// The knowledge of the policy, in words: that of each of its families.
    pub fn told(&self) -> String {
        let mut told: Vec<&str> = Vec::new();
        for words in self.families.iter().map(|family| family.told()) {
            if !told.contains(&words) {
                told.push(words);
            }
        }
        told.join("; ")
    }

    /// The purpose of the policy.
    pub fn purpose(&self) -> Purpose {
        self.families.first().map_or(Purpose::Regret, |family| family.purpose())
    }
}
