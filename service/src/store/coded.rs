//! Events in the small form of rows: names of queries and items are numbers of a table of the
//! store, and UUIDs are 16 bytes.

use crate::event::{AllowedItems, Choice, Decision, Event, LaunchedDecision, Name, Terms, whole};
use crate::names::{Names, SmallName};
use serde::{Deserialize, Serialize};
use std::cell::RefCell;

/// The name of an item that need not be in the catalogue.
#[derive(Serialize, Deserialize)]
pub(super) enum AnyItem {
    Number(u32),
    Text(Name),
}

type CodedDecision = Decision<u32, SmallName, AnyItem>;

/// An event in its small form. Only events of which there are many have one.
#[derive(Serialize, Deserialize)]
pub(super) enum Coded {
    Decided(Box<CodedDecision>),
    Clicked { id: SmallName, position: u8 },
    Closed { id: SmallName, seen: Option<u8> },
    Other(Event),
    Launched(Box<LaunchedDecision<CodedDecision>>),
}

impl Coded {
    pub(super) fn new(event: &Event, names: &mut Names) -> Self {
        match event {
            Event::Decided(decision) => Self::Decided(Box::new(coded(decision, names))),
            Event::Clicked { id, position } => Self::Clicked { id: id.into(), position: *position },
            Event::Closed { id, seen } => Self::Closed { id: id.into(), seen: *seen },
            Event::Launched(of) => Self::Launched(Box::new(launched(of, coded(&of.decision, names)))),
            other => Self::Other(other.clone()),
        }
    }

    /// The largest number of a name in it, if there is any.
    pub(super) fn last_name(&self) -> Option<u32> {
        let decision = match self {
            Self::Decided(decision) => decision,
            Self::Launched(of) => &of.decision,
            _ => return None,
        };
        let allowed = decision.chosen.as_ref().map(|chosen| &chosen.allowed);
        let terms = allowed.and_then(|allowed| allowed.parts().1).into_iter();
        let of_terms = terms.flat_map(|terms| {
            terms.values.iter().map(|(item, _)| item).chain(terms.pins.iter().map(|(_, item)| item))
        });
        let allowed = allowed.map_or(&[][..], AllowedItems::named).iter().chain(of_terms);
        let allowed = allowed.filter_map(|item| match item {
            AnyItem::Number(number) => Some(*number),
            AnyItem::Text(_) => None,
        });
        decision.list.iter().copied().chain(allowed).chain([decision.query]).max()
    }

    pub(super) fn event(self, names: &[Name]) -> Result<Event, String> {
        Ok(match self {
            Self::Decided(decision) => Event::Decided(Box::new(named(&decision, names)?)),
            Self::Clicked { id, position } => Event::Clicked { id: (&id).into(), position },
            Self::Closed { id, seen } => Event::Closed { id: (&id).into(), seen },
            Self::Other(event) => event,
            Self::Launched(of) => Event::Launched(Box::new(launched(&of, named(&of.decision, names)?))),
        })
    }

    pub(super) fn read(bytes: &[u8]) -> Result<Self, String> {
        whole(bytes)
    }
}

/// A decision of a launch with its decision in another form.
fn launched<D, E>(of: &LaunchedDecision<D>, decision: E) -> LaunchedDecision<E> {
    let LaunchedDecision { compared, agreement, length, is_first, .. } = *of;
    LaunchedDecision { decision, compared, agreement, length, is_first }
}

fn coded(decision: &Decision, names: &mut Names) -> CodedDecision {
    let names = RefCell::new(names);
    // Clients may name items that no catalogue has: those get no numbers.
    let any =
        |item: &Name| names.borrow().find(item).map_or_else(|| AnyItem::Text(item.clone()), AnyItem::Number);
    let coded = in_form(decision, |name| Ok(names.borrow_mut().intern(name)), |item| Ok(any(item)));
    coded.expect("every name has a form")
}

fn named(decision: &CodedDecision, names: &[Name]) -> Result<Decision, String> {
    let name = |number: &u32| {
        names.get(*number as usize).cloned().ok_or_else(|| format!("name {number} is missing"))
    };
    in_form(decision, name, |item| match item {
        AnyItem::Number(number) => name(number),
        AnyItem::Text(text) => Ok(text.clone()),
    })
}

/// A decision in another form, by the forms of its names.
fn in_form<N, S, I, M, T, J>(
    Decision { id, query, list, chosen, user, context }: &Decision<N, S, I>,
    mut name: impl FnMut(&N) -> Result<M, String>,
    any: impl Fn(&I) -> Result<J, String>,
) -> Result<Decision<M, T, J>, String>
where
    T: for<'a> From<&'a S>,
{
    let (query, list) = (name(query)?, list.iter().map(name).collect::<Result<_, _>>()?);
    let chosen = chosen.as_ref().map(|Choice { allowed, positions, propensities }| {
        let allowed = allowed_in_form(allowed, &any)?;
        Ok::<_, String>(Choice { allowed, positions: *positions, propensities: propensities.clone() })
    });
    let (id, user) = (id.into(), user.as_ref().map(T::from));
    Ok(Decision { id, query, list, chosen: chosen.transpose()?, user, context: context.clone() })
}

fn allowed_in_form<I, J>(
    allowed: &AllowedItems<I>,
    any: &impl Fn(&I) -> Result<J, String>,
) -> Result<AllowedItems<J>, String> {
    let all = |items: &[I]| items.iter().map(any).collect::<Result<Vec<J>, _>>();
    Ok(match allowed {
        AllowedItems::All => AllowedItems::All,
        AllowedItems::Only(items) => AllowedItems::Only(all(items)?),
        AllowedItems::Except(items) => AllowedItems::Except(all(items)?),
        AllowedItems::OnTerms(items, Terms { values, most, pins }) => {
            let values = values.iter().map(|(item, value)| Ok((any(item)?, *value)));
            let pins = pins.iter().map(|(position, item)| Ok((*position, any(item)?)));
            let (values, pins) =
                (values.collect::<Result<_, String>>()?, pins.collect::<Result<_, String>>()?);
            let terms = Terms { values, most: *most, pins };
            AllowedItems::OnTerms(Box::new(allowed_in_form(items, any)?), terms)
        }
    })
}
