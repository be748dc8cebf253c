//! What the catalogue says of a policy.

use super::Kind;
use super::parameters::ParameterType;
use std::fmt::{self, Display, Formatter};

/// A policy of the catalogue.
#[derive(Debug, Clone, Copy)]
pub struct Row {
    /// Its name in files and on command lines.
    pub name: &'static str,
    /// A sentence that says what it is.
    pub sentence: &'static str,
    /// Its parameters; all have defaults.
    pub parameters: &'static [ParameterRow],
    pub(super) parameter_names: &'static [&'static str],
    /// What it plays.
    pub families: &'static [Family],
    /// What becomes of answers that are late, lost or doubled.
    pub answers: Answers,
    /// What its memory allows.
    pub limit: Limit,
    /// What a round costs, with K items and L positions; for best arm identification L items and K positions.
    pub cost: &'static str,
    /// What is proven of it.
    pub guarantee: &'static str,
    /// Where it comes from.
    pub source: &'static str,
}

/// A parameter of a policy.
#[derive(Debug, Clone, Copy)]
pub struct ParameterRow {
    /// Its key.
    pub name: &'static str,
    /// What it may be.
    pub kind: Kind,
    /// The type of its values.
    pub(super) of_type: ParameterType,
    /// What it means.
    pub meaning: &'static str,
}

/// Policies that are told the same, read the same answers, and are asked for the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Family {
    /// Told sizes and examination; reads the clicks of every position.
    PositionBased,
    /// Told sizes, and the order of positions if that is not from the top down; reads an observed prefix.
    Prefix,
    /// Told sizes; reads any list's clicks.
    AnyList,
    /// Told sizes; reads an observed prefix, and stops when it is sure of the best items.
    Stopping,
    /// As [`Stopping`](Self::Stopping), on users who look at every item shown.
    FullFeedback,
    /// Told sizes and the number of rounds; reads an observed prefix, and names the best items at the end.
    Budgeted,
    /// Told the numbers of rows and columns; reads a click or none on a cell.
    Cells,
    /// Told the number of items; reads which of two is preferred.
    Pairs,
    /// Told the users themselves: a reference that only simulations have.
    Reference,
}

/// What a policy sees of its users' answers, by the model that offers it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Protocol {
    /// Known examination probabilities; the clicks of every position.
    PositionBased,
    /// The shape of the list; the clicks of the positions that the user looked at.
    SemiBandit,
    /// The shape of the list; the first click, down to which the user looked.
    Cascade,
    /// The shape of the list and where leaving is most likely; the clicks, down to the last of which the user surely looked.
    Dcm,
    /// The numbers of rows and columns; a click or none on the one cell that was chosen.
    RankOne,
    /// The number of items; which of the two that were compared was preferred.
    Dueling,
}

/// What becomes of answers that are late, lost or doubled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answers {
    /// A late answer counts when it comes, a lost one tells nothing.
    Late,
    /// The policy decides for good: answers may be late or lost only if that does not depend on the click.
    IndependentOfClicks,
}

/// What the memory of a policy allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limit {
    /// It grows with items and positions.
    None,
    /// It grows with the cells of a table, some hundred bytes each: at most this number.
    Cells(usize),
    /// It grows with pairs of items: at most this number of items.
    Items(usize),
}

/// What a policy is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Task {
    /// Little regret.
    Regret,
    /// To stop when it is sure of the best items.
    Stopping,
    /// To name the best items at the end.
    Recommending,
}

/// Cells for which there is memory.
pub(crate) const CELLS: Limit = Limit::Cells(1 << 22);
/// Items for which there is memory: two numbers for every pair are a quarter of a gibibyte.
pub(crate) const ITEMS: Limit = Limit::Items(4096);

impl Protocol {
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::PositionBased, Self::SemiBandit, Self::Cascade, Self::Dcm, Self::RankOne, Self::Dueling];

    /// Its name in files: that of the model whose users speak it.
    pub fn name(self) -> &'static str {
        match self {
            Self::PositionBased => "pbm",
            Self::SemiBandit => "semi-bandit",
            Self::Cascade => "cascade",
            Self::Dcm => "dcm",
            Self::RankOne => "rank-one",
            Self::Dueling => "dueling",
        }
    }

    /// Whether users are shown lists.
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
            Self::RankOne => "rank-one",
            Self::Dueling => "dueling",
        })
    }
}

impl Family {
    /// Whose users its policies can be played on.
    pub fn protocols(self) -> &'static [Protocol] {
        use Protocol::{Cascade, Dcm, Dueling, PositionBased, RankOne, SemiBandit};
        match self {
            Self::PositionBased => &[PositionBased],
            Self::Prefix => &[SemiBandit, Cascade, Dcm],
            Self::AnyList => &[PositionBased, SemiBandit, Cascade, Dcm],
            Self::Stopping | Self::FullFeedback | Self::Budgeted => &[Cascade],
            Self::Cells => &[RankOne],
            Self::Pairs => &[Dueling],
            Self::Reference => &[PositionBased, SemiBandit, Cascade, Dcm, RankOne, Dueling],
        }
    }

    /// What its policies are asked for.
    pub fn task(self) -> Task {
        match self {
            Self::Stopping | Self::FullFeedback => Task::Stopping,
            Self::Budgeted => Task::Recommending,
            _ => Task::Regret,
        }
    }

    /// What its policies are told, in words.
    pub fn told(self) -> &'static str {
        match self {
            Self::PositionBased => "sizes, examination of every position",
            Self::Prefix => "sizes, order of positions",
            Self::AnyList | Self::Stopping | Self::FullFeedback | Self::Budgeted => "sizes",
            Self::Cells => "rows, columns",
            Self::Pairs => "number of items",
            Self::Reference => "the users",
        }
    }
}

impl Row {
    /// Whether it can be played on users of this protocol.
    pub fn speaks(&self, protocol: Protocol) -> bool {
        self.family_on(protocol).is_some()
    }

    /// As what it is played on users of this protocol.
    pub fn family_on(&self, protocol: Protocol) -> Option<Family> {
        self.families.iter().copied().find(|family| family.protocols().contains(&protocol))
    }

    /// Whose users it can be played on.
    pub fn protocols(&self) -> impl Iterator<Item = Protocol> {
        Protocol::ALL.into_iter().filter(|&protocol| self.speaks(protocol))
    }

    /// What it is asked for.
    pub fn task(&self) -> Task {
        self.families.first().map_or(Task::Regret, |family| family.task())
    }
}
