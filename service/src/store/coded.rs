//! Events in the small form of rows: names of queries and items are numbers of a table of the
//! store, and UUIDs are 16 bytes.

use crate::event::{
    AllowedItems, Choice, Context, Decision, Event, LaunchedDecision, Name, Propensities, whole,
};
use crate::names::{Names, SmallName};
use serde::{Deserialize, Serialize};

/// The name of an item that need not be in the catalogue.
#[derive(Serialize, Deserialize)]
enum AnyItem {
    Number(u32),
    Text(Name),
}

#[derive(Serialize, Deserialize)]
enum CodedItems {
    All,
    Only(Vec<AnyItem>),
    Except(Vec<AnyItem>),
}

#[derive(Serialize, Deserialize)]
struct CodedChoice {
    allowed: CodedItems,
    positions: Option<u8>,
    propensities: Option<Propensities>,
}

#[derive(Serialize, Deserialize)]
pub(super) struct CodedDecision {
    id: SmallName,
    query: u32,
    list: Vec<u32>,
    chosen: Option<CodedChoice>,
    user: Option<SmallName>,
    context: Option<Context>,
}

/// An event in its small form. Only events of which there are many have one.
#[derive(Serialize, Deserialize)]
pub(super) enum Coded {
    Decided(Box<CodedDecision>),
    Clicked {
        id: SmallName,
        position: u8,
    },
    Closed {
        id: SmallName,
        seen: Option<u8>,
    },
    Other(Event),
    Launched {
        decision: Box<CodedDecision>,
        compared: Option<u32>,
        agreement: [u8; 2],
        length: u8,
        is_first: bool,
    },
}

impl Coded {
    pub(super) fn new(event: &Event, names: &mut Names) -> Self {
        match event {
            Event::Decided(decision) => Self::Decided(Box::new(CodedDecision::new(decision, names))),
            Event::Clicked { id, position } => Self::Clicked { id: id.into(), position: *position },
            Event::Closed { id, seen } => Self::Closed { id: id.into(), seen: *seen },
            Event::Launched(launched) => {
                let LaunchedDecision { decision, compared, agreement, length, is_first } = &**launched;
                let decision = Box::new(CodedDecision::new(decision, names));
                let (compared, agreement, length, is_first) = (*compared, *agreement, *length, *is_first);
                Self::Launched { decision, compared, agreement, length, is_first }
            }
            other => Self::Other(other.clone()),
        }
    }

    /// The largest number of a name in it, if there is any.
    pub(super) fn last_name(&self) -> Option<u32> {
        let (Self::Decided(decision) | Self::Launched { decision, .. }) = self else { return None };
        let allowed = match decision.chosen.as_ref().map(|chosen| &chosen.allowed) {
            Some(CodedItems::Only(items) | CodedItems::Except(items)) => &items[..],
            _ => &[],
        };
        let allowed = allowed.iter().filter_map(|item| match item {
            AnyItem::Number(number) => Some(*number),
            AnyItem::Text(_) => None,
        });
        decision.list.iter().copied().chain(allowed).chain([decision.query]).max()
    }

    pub(super) fn event(self, names: &Names) -> Result<Event, String> {
        Ok(match self {
            Self::Decided(decision) => Event::Decided(Box::new(decision.decision(names)?)),
            Self::Clicked { id, position } => Event::Clicked { id: (&id).into(), position },
            Self::Closed { id, seen } => Event::Closed { id: (&id).into(), seen },
            Self::Other(event) => event,
            Self::Launched { decision, compared, agreement, length, is_first } => {
                let decision = decision.decision(names)?;
                let launched = LaunchedDecision { decision, compared, agreement, length, is_first };
                Event::Launched(Box::new(launched))
            }
        })
    }

    pub(super) fn read(bytes: &[u8]) -> Result<Self, String> {
        whole(bytes)
    }
}

fn name(names: &Names, number: u32) -> Result<Name, String> {
    names.get(number).cloned().ok_or_else(|| format!("name {number} is missing"))
}

impl CodedDecision {
    fn new(decision: &Decision, names: &mut Names) -> Self {
        let Decision { id, query, list, chosen, user, context } = decision;
        let query = names.intern(query);
        let list = list.iter().map(|item| names.intern(item)).collect();
        // Clients may name items that no catalogue has: those get no numbers.
        let any = |items: &[Name]| {
            let item =
                |item: &Name| names.find(item).map_or_else(|| AnyItem::Text(item.clone()), AnyItem::Number);
            items.iter().map(item).collect()
        };
        let chosen = chosen.as_ref().map(|Choice { allowed, positions, propensities }| CodedChoice {
            allowed: match allowed {
                AllowedItems::All => CodedItems::All,
                AllowedItems::Only(items) => CodedItems::Only(any(items)),
                AllowedItems::Except(items) => CodedItems::Except(any(items)),
            },
            positions: *positions,
            propensities: propensities.clone(),
        });
        let (user, context) = (user.as_ref().map(SmallName::from), context.clone());
        Self { id: id.into(), query, list, chosen, user, context }
    }

    fn decision(self, names: &Names) -> Result<Decision, String> {
        let any = |items: Vec<AnyItem>| {
            let item = |item| match item {
                AnyItem::Number(number) => name(names, number),
                AnyItem::Text(text) => Ok(text),
            };
            items.into_iter().map(item).collect::<Result<Vec<_>, _>>()
        };
        let chosen = self.chosen.map(|CodedChoice { allowed, positions, propensities }| {
            let allowed = match allowed {
                CodedItems::All => AllowedItems::All,
                CodedItems::Only(items) => AllowedItems::Only(any(items)?),
                CodedItems::Except(items) => AllowedItems::Except(any(items)?),
            };
            Ok::<_, String>(Choice { allowed, positions, propensities })
        });
        Ok(Decision {
            id: (&self.id).into(),
            query: name(names, self.query)?,
            list: self.list.into_iter().map(|number| name(names, number)).collect::<Result<_, _>>()?,
            chosen: chosen.transpose()?,
            user: self.user.as_ref().map(Name::from),
            context: self.context,
        })
    }
}
