//! The events that are kept: decisions, answers and changes of the catalogue, in the order in which
//! they were committed.

use postcard::de_flavors::Slice;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, de};
use std::collections::BTreeMap;
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

/// The longest name, in characters.
pub const LONGEST_NAME: usize = 128;

/// The query of a decision that names none.
pub const DEFAULT_QUERY: &str = "default";

/// A name that a client chose: of a decision, a query, an item or a user. From 1 to
/// [`LONGEST_NAME`] characters, without control characters.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, JsonSchema)]
#[schemars(with = "String")]
pub struct Name(Arc<str>);

impl Name {
    /// Checks a name; an error says what is wrong with it.
    pub fn new(text: &str) -> Result<Self, &'static str> {
        match text {
            "" => Err("a name is empty"),
            _ if text.chars().count() > LONGEST_NAME => Err("a name has more than 128 characters"),
            _ if text.chars().any(char::is_control) => Err("a name has a control character"),
            _ => Ok(Self(text.into())),
        }
    }

    /// The query of a decision that names none.
    pub fn default_query() -> Self {
        Self(DEFAULT_QUERY.into())
    }

    /// The query whose lists those get that are not known.
    pub(crate) fn other_query() -> Self {
        Self("other".into())
    }

    /// In place of a query, in snapshots that older programs read: what is known of the requests.
    /// No client can have it, for its control character.
    pub(crate) fn of_requests() -> Self {
        Self("\u{1}requests".into())
    }
}

impl Deref for Name {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self)
    }
}

impl std::str::FromStr for Name {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::new(text)
    }
}

impl std::borrow::Borrow<str> for Name {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl<'de> Deserialize<'de> for Name {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Text;
        impl de::Visitor<'_> for Text {
            type Value = Name;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "a name")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Name, E> {
                Name::new(text).map_err(E::custom)
            }
        }
        deserializer.deserialize_str(Text)
    }
}

/// The items that a list may have.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum AllowedItems<I = Name> {
    /// All present ones.
    All,
    /// These, if they are present.
    Only(Vec<I>),
    /// All present ones but these.
    Except(Vec<I>),
    /// Such items on terms. Only stores with small rows have it.
    OnTerms(Box<Self>, Terms<I>),
}

impl<I> AllowedItems<I> {
    /// The items, and the terms if there are any.
    pub(crate) fn parts(&self) -> (&Self, Option<&Terms<I>>) {
        match self {
            Self::OnTerms(items, terms) => (items, Some(terms)),
            items => (items, None),
        }
    }

    /// The items that are named.
    pub(crate) fn named(&self) -> &[I] {
        match self.parts().0 {
            Self::Only(items) | Self::Except(items) => items,
            _ => &[],
        }
    }
}

/// The terms that a list has to keep beside its items.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Terms<I = Name> {
    /// Values of the moment.
    pub values: Vec<(I, f64)>,
    /// The most items of a group.
    pub most: Option<u8>,
    /// Items that have positions already.
    pub pins: Vec<(u8, I)>,
}

/// The user of a decision, as the client describes them.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Context {
    /// The part of the users to which this one belongs.
    pub segment: Option<Name>,
    /// Numbers that describe the user, in the order in which the configuration names them.
    #[serde(default)]
    pub features: Vec<f64>,
}

/// How probable a list was, given the draws of its decision.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Propensities {
    /// Propensity of the item at each position.
    pub items: Vec<f64>,
    /// Propensity of the items down to each position.
    pub prefixes: Vec<f64>,
}

/// A list that was shown: with names, or in the small form of rows, where names of queries and
/// items, of decisions and users, and of items that are allowed have types of their own.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Decision<N = Name, S = Name, I = Name> {
    /// The client's name of it.
    pub id: S,
    /// The query that it answers.
    pub query: N,
    /// The items, from the top.
    pub list: Vec<N>,
    /// The items that the policy chose from; `None` if the list was shown without asking.
    pub chosen: Option<Choice<I>>,
    /// The user, if the client names users.
    pub user: Option<S>,
    /// The user's segment and features.
    pub context: Option<Context>,
}

/// How a policy came to a list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Choice<I = Name> {
    /// The items that the list may have.
    pub allowed: AllowedItems<I>,
    /// The most positions of the list; `None` for all of the policy.
    pub positions: Option<u8>,
    /// How probable the list was, if that was asked for.
    pub propensities: Option<Propensities>,
}

/// The name of a side of a launch.
pub(crate) fn side(is_policy: bool) -> &'static str {
    if is_policy { "policy" } else { "baseline" }
}

/// A list that was shown in a launch, and that the policy was asked for in any case.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LaunchedDecision<D = Decision> {
    /// The list that was shown.
    pub decision: D,
    /// The user's group and side, as [`Compared`](interleaving::launch::Compared) tells them;
    /// `None` if today's list was shown and is not compared.
    pub compared: Option<u32>,
    /// Items that today's list and the policy's have at the same position, and that both have.
    pub agreement: [u8; 2],
    /// Items of today's list.
    pub length: u8,
    /// Whether the query was too new to be compared.
    pub is_first: bool,
}

impl LaunchedDecision {
    /// Whether the policy's list was shown.
    pub fn shows_policy(&self) -> bool {
        self.compared.is_some_and(|bits| interleaving::launch::Compared::from(bits).side)
    }

    /// Whose list was shown, as the API names it.
    pub fn side(&self) -> &'static str {
        side(self.shows_policy())
    }
}

/// A change of the catalogue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Change {
    /// Adds an item or brings it back.
    Add,
    /// Takes an item out; what is known of it stays.
    Retire,
    /// Takes an item out and forgets what is known of it.
    Forget,
}

/// Something that happened. `id` names a decision. Positions count from 0 here, and from 1 in the
/// API.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "fields are described where their names do not say all")]
pub enum Event {
    /// A list was shown.
    Decided(Box<Decision>),
    /// A click on a position of a decision.
    Clicked { id: Name, position: u8 },
    /// A decision was closed.
    Closed {
        id: Name,
        /// The positions that were seen; `None` for all.
        seen: Option<u8>,
    },
    /// The catalogue changed.
    Item {
        item: Name,
        /// The query whose item it is; `None` for all queries.
        query: Option<Name>,
        change: Change,
        /// Its features, if it was added and the configuration names some.
        features: Vec<f64>,
    },
    /// A new store begins with the fit of a log.
    Began {
        /// The query; `None` for the queries that the log does not have.
        query: Option<Name>,
        /// The shapes of the Beta prior of its items.
        prior: Option<[f64; 2]>,
        /// Its items, with displays and clicks.
        items: Vec<(Name, u64, u64)>,
    },
    /// A request that changed nothing made a query, or made it follow the items of all queries.
    Used { query: Name },
    /// A new store begins with the fit of a log of users who differ.
    BeganForUsers {
        query: Name,
        /// The content of context.json.
        fit: Vec<u8>,
    },
    /// A query begins with what a log counted at each position, for a policy that counts positions
    /// apart. It has begun with the items and the prior.
    BeganAtPositions {
        query: Name,
        /// Its items, with displays and clicks at each position from the top.
        items: Vec<(Name, Vec<(u64, u64)>)>,
    },
    /// Settings that hold from here on. Only stores with small rows have it.
    Settings {
        /// The settings of all policies, in JSON.
        settings: String,
        /// The items of the configuration; the changes of items follow as events.
        items: Vec<Name>,
    },
    /// A query is forgotten. Only stores with small rows have it.
    Dropped { query: Name },
    /// A list was shown in a launch. Only stores with small rows have this and what follows.
    Launched(Box<LaunchedDecision>),
    /// The share of a launch changed, or a week of it ended.
    Launch(Box<interleaving::launch::Change>),
    /// The share of a launch is held, or not any more.
    Held { is_held: bool },
    /// Metrics of a decision, which replace earlier values.
    Measured {
        id: Name,
        /// Values by metric.
        metrics: BTreeMap<String, f64>,
    },
    /// An item has a value or a group from now on. Only stores with small rows have this and what
    /// follows.
    Worth {
        item: Name,
        /// The query whose item it is; `None` for all queries.
        query: Option<Name>,
        /// Its value and its group, if they change.
        worth: Worth,
    },
    /// A click has a value, which replaces the one before.
    Valued {
        id: Name,
        position: u8,
        value: f64,
        /// The client's number of the value.
        revision: Option<u64>,
        /// By how much the values of the decision grow.
        gained: f64,
    },
}

/// The value of an item and its group, as far as they are told.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Worth {
    /// The value.
    pub value: Option<f64>,
    /// The group.
    pub group: Option<Name>,
}

impl Worth {
    /// With what it does not tell taken from another one.
    pub(crate) fn or(self, other: &Self) -> Self {
        Self { value: self.value.or(other.value), group: self.group.or_else(|| other.group.clone()) }
    }
}

impl Event {
    /// The decision, if a list was shown.
    pub fn decision(&self) -> Option<&Decision> {
        match self {
            Self::Decided(decision) => Some(decision),
            Self::Launched(launched) => Some(&launched.decision),
            _ => None,
        }
    }

    /// Kind and decision of an event, for those who query a table of events.
    pub(crate) fn columns(&self) -> (&'static str, Option<&Name>) {
        match self {
            Self::Decided(_) | Self::Launched(_) => ("decided", self.decision().map(|of| &of.id)),
            Self::Measured { id, .. } => ("measured", Some(id)),
            Self::Valued { id, .. } => ("valued", Some(id)),
            Self::Worth { .. } => ("worth", None),
            Self::Launch(_) | Self::Held { .. } => ("launch", None),
            Self::Clicked { id, .. } => ("clicked", Some(id)),
            Self::Closed { id, .. } => ("closed", Some(id)),
            Self::Item { .. } => ("item", None),
            Self::Began { .. } | Self::BeganForUsers { .. } | Self::BeganAtPositions { .. } => {
                ("began", None)
            }
            Self::Used { .. } => ("used", None),
            Self::Settings { .. } => ("settings", None),
            Self::Dropped { .. } => ("dropped", None),
        }
    }
}

/// The events of one commit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Batch {
    /// When they happened, in milliseconds since 1970.
    pub time: u64,
    /// The events, in order.
    pub events: Vec<Event>,
}

/// Version of the form in which batches are kept.
const FORMAT: u8 = 2;

/// The form in which an event or a batch is kept.
pub fn to_bytes<T: Serialize>(value: &T) -> Vec<u8> {
    postcard::to_extend(value, vec![FORMAT]).expect("events are plain data")
}

/// Reads what [`to_bytes`] wrote. An error says what is wrong with it.
pub fn from_bytes<'a, T: Deserialize<'a>>(bytes: &'a [u8]) -> Result<T, String> {
    match bytes.split_first() {
        Some((&FORMAT, rest)) => whole(rest),
        Some((other, _)) => Err(format!("it has format {other}, expected {FORMAT}")),
        None => Err("it is empty".into()),
    }
}

/// Reads a value from bytes that have nothing else.
pub(crate) fn whole<'a, T: Deserialize<'a>>(bytes: &'a [u8]) -> Result<T, String> {
    whole_by(bytes, |reader| T::deserialize(reader))
}

/// As [`whole`], of a value that `read` reads.
pub(crate) fn whole_by<'a, T>(
    bytes: &'a [u8],
    read: impl FnOnce(&mut postcard::Deserializer<'a, Slice<'a>>) -> postcard::Result<T>,
) -> Result<T, String> {
    let mut reader = postcard::Deserializer::from_bytes(bytes);
    let value = read(&mut reader).map_err(|error| error.to_string())?;
    match reader.finalize().map_err(|error| error.to_string())? {
        [] => Ok(value),
        rest => Err(format!("it has {} bytes too many", rest.len())),
    }
}
