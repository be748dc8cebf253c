//! The bodies of requests and answers, and refusals. Positions count from 1.

use crate::engine::DecisionView;
use crate::event::{Context, Decision, Name, side};
use crate::store::StoreError;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Error as _, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::marker::PhantomData;
use std::str::FromStr;

/// A value that a client sends as an object. Serde would also take an array of its fields, in
/// their order.
#[derive(Debug, Clone)]
pub struct Object<T>(pub T);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Object<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Fields<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for Fields<T> {
            type Value = T;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<T, A::Error> {
                T::deserialize(MapAccessDeserializer::new(map))
            }
        }
        deserializer.deserialize_map(Fields(PhantomData)).map(Self)
    }
}

/// A position, or a number of them, from `LEAST` to 255: `2.0` is 2, as in CSV.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(try_from = "f64")]
pub struct Whole<const LEAST: u8>(pub u8);

impl<const LEAST: u8> TryFrom<f64> for Whole<LEAST> {
    type Error = String;

    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is whole and in range")]
    fn try_from(found: f64) -> Result<Self, String> {
        let is_one = found.fract() == 0.0 && (f64::from(LEAST)..=255.0).contains(&found);
        is_one.then_some(Self(found as u8)).ok_or(format!("expected a whole number from {LEAST} to 255"))
    }
}

impl<const LEAST: u8> FromStr for Whole<LEAST> {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        text.parse().map_err(|_| format!("{text:?} is no number")).and_then(f64::try_into)
    }
}

/// The value of an item or a click.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(try_from = "f64")]
pub struct Price(pub f64);

impl TryFrom<f64> for Price {
    type Error = String;

    fn try_from(found: f64) -> Result<Self, String> {
        let is_one = (0.0..=policies::MAX_VALUE).contains(&found);
        is_one.then_some(Self(found)).ok_or(format!("expected a number from 0 to {}", policies::MAX_VALUE))
    }
}

/// A client's number of a value, a whole one below 2^53.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(try_from = "f64")]
pub struct Revision(pub u64);

impl TryFrom<f64> for Revision {
    type Error = &'static str;

    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is whole and in range")]
    fn try_from(found: f64) -> Result<Self, &'static str> {
        let is_one = found.fract() == 0.0 && (0.0..9_007_199_254_740_992.0).contains(&found);
        is_one.then_some(Self(found as u64)).ok_or("expected a whole number from 0 on, below 2^53")
    }
}

/// The fields of an object in their order, each once.
#[derive(Debug, Clone)]
pub struct Fields<K, V>(pub Vec<(K, V)>);

impl<'de, K: FromStr<Err: fmt::Display> + Ord + Clone, V: Deserialize<'de>> Deserialize<'de>
    for Fields<K, V>
{
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Each<K, V>(PhantomData<(K, V)>);
        impl<'de, K: FromStr<Err: fmt::Display> + Ord + Clone, V: Deserialize<'de>> Visitor<'de> for Each<K, V> {
            type Value = Vec<(K, V)>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let (mut fields, mut known) = (vec![], BTreeSet::new());
                while let Some(text) = map.next_key::<String>()? {
                    let key: K = text.parse().map_err(A::Error::custom)?;
                    if !known.insert(key.clone()) {
                        return Err(A::Error::custom(format!("`{text}` is there twice")));
                    }
                    fields.push((key, map.next_value()?));
                }
                Ok(fields)
            }
        }
        deserializer.deserialize_map(Each(PhantomData)).map(Self)
    }
}

/// Asks for a list.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DecideBody {
    /// The client's name of the decision. Asked again, the list is the same.
    pub id: Name,
    /// A search query, a placement or a page; each one learns by itself.
    pub query: Option<Name>,
    /// The items that may be shown.
    pub only: Option<Vec<Name>>,
    /// The items that must not be shown.
    pub except: Option<Vec<Name>>,
    /// The most positions of the list.
    pub positions: Option<Whole<1>>,
    /// The user, for the log.
    pub user: Option<Name>,
    /// The user's segment and features.
    pub context: Option<Object<Context>>,
    /// Today's list, from the top; required in a launch.
    pub baseline: Option<Vec<Name>>,
    /// Values of items for this list, in place of those that they have.
    pub values: Option<Fields<Name, Price>>,
    /// The most items of a group.
    pub most: Option<Whole<1>>,
    /// Items that have positions of the list already.
    pub pins: Option<Fields<Whole<1>, Name>>,
}

/// Tells of a list that was shown without asking.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ShowBody {
    /// The client's name of the decision.
    pub id: Name,
    /// As in [`DecideBody::query`].
    pub query: Option<Name>,
    /// The items, from the top.
    pub items: Vec<Name>,
    /// The user, for the log.
    pub user: Option<Name>,
    /// The user's segment and features.
    pub context: Option<Object<Context>>,
}

/// Tells what became of a list.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AnswerBody {
    /// The decision.
    pub id: Name,
    /// Positions that were clicked.
    pub clicks: Option<Vec<Whole<1>>>,
    /// Items that were clicked.
    pub items: Option<Vec<Name>>,
    /// Whether no further click is expected; later ones still count.
    pub close: Option<bool>,
    /// Closes the decision: the number of positions that were seen; 0 if the list was not shown.
    pub seen: Option<Whole<0>>,
    /// Values of the metrics that the launch watches; they replace earlier ones.
    pub metrics: Option<BTreeMap<String, f64>>,
    /// The value of the click, if the answer has one.
    pub value: Option<Price>,
    /// Values of clicks by position; they replace earlier ones.
    pub values: Option<Fields<Whole<1>, Price>>,
    /// A number of the values: that of the largest holds, whenever it comes.
    pub revision: Option<Revision>,
}

/// Changes a launch by hand.
#[derive(Debug, Clone, Deserialize)]
#[serde(try_from = "LaunchFields")]
pub enum LaunchBody {
    /// The share of users on the policy's side.
    Share(f64),
    /// Whether the share stays below the next step.
    Hold(bool),
    /// Begins again at the first step after a stop, if true.
    Resume(bool),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LaunchFields {
    #[serde(default, deserialize_with = "given")]
    share: Option<f64>,
    #[serde(default, deserialize_with = "given")]
    hold: Option<bool>,
    #[serde(default, deserialize_with = "given")]
    resume: Option<bool>,
}

/// A field that is not null.
fn given<'de, T: Deserialize<'de>, D: Deserializer<'de>>(deserializer: D) -> Result<Option<T>, D::Error> {
    T::deserialize(deserializer).map(Some)
}

impl TryFrom<LaunchFields> for LaunchBody {
    type Error = &'static str;

    fn try_from(found: LaunchFields) -> Result<Self, &'static str> {
        match found {
            LaunchFields { share: Some(share), hold: None, resume: None } => Ok(Self::Share(share)),
            LaunchFields { share: None, hold: Some(is_held), resume: None } => Ok(Self::Hold(is_held)),
            LaunchFields { share: None, hold: None, resume: Some(is_asked) } => Ok(Self::Resume(is_asked)),
            _ => Err("expected one of `share`, `hold` and `resume`"),
        }
    }
}

/// An answer as one to its list: positions from 0, each once.
#[derive(Debug)]
pub(crate) struct Told {
    pub(crate) clicks: Vec<u8>,
    pub(crate) closes: bool,
    pub(crate) seen: Option<u8>,
    pub(crate) values: Vec<(u8, f64)>,
}

impl AnswerBody {
    /// An answer that tells nothing.
    pub(crate) fn to(id: Name) -> Self {
        let (clicks, items, close, seen, metrics) = (None, None, None, None, None);
        Self { id, clicks, items, close, seen, metrics, value: None, values: None, revision: None }
    }

    /// Reads the answer as one to this list.
    pub(crate) fn told<'a>(
        &self,
        list: &(impl ExactSizeIterator<Item = &'a Name> + Clone),
    ) -> Result<Told, Refusal> {
        let length = list.len();
        let mut clicks = Vec::new();
        for (place, &Whole(position)) in self.clicks.iter().flatten().enumerate() {
            if usize::from(position) > length {
                return Err(Refusal::no_such_position(position, length, format!("clicks[{place}]")));
            }
            clicks.push(position - 1);
        }
        for (place, item) in self.items.iter().flatten().enumerate() {
            let position = list.clone().position(|other| other == item);
            let position = position.and_then(|position| u8::try_from(position).ok());
            let unknown = || Refusal::unknown_item(item, format!("items[{place}]"));
            clicks.push(position.ok_or_else(unknown)?);
        }
        let seen = self.seen.map(|Whole(seen)| seen);
        if let Some(seen) = seen.filter(|&seen| usize::from(seen) > length) {
            return Err(Refusal::no_such_position(seen, length, "seen".into()));
        }
        let mut values = vec![];
        for &(Whole(position), Price(value)) in self.values.iter().flat_map(|Fields(values)| values) {
            if usize::from(position) > length {
                return Err(Refusal::no_such_position(position, length, format!("values.{position}")));
            }
            values.push((position - 1, value));
        }
        match (self.value, &clicks[..]) {
            (None, _) => {}
            (Some(_), [position]) if values.iter().any(|(named, _)| named == position) => {
                return Err(Refusal::other_terms("`values` has one for its position", "value"));
            }
            (Some(Price(value)), [position]) => values.push((*position, value)),
            _ => return Err(Refusal::other_terms("an answer with one click has one: see `values`", "value")),
        }
        if self.revision.is_some() && values.is_empty() {
            return Err(Refusal::other_terms("it is that of `value` or `values`", "revision"));
        }
        // Few positions may be named often: each costs the thread that answers everybody.
        let mut named = 0_u64;
        clicks.retain(|position| {
            let (bit, before) = (1 << position, named);
            named |= bit;
            named != before
        });
        Ok(Told { clicks, closes: self.close == Some(true) || seen.is_some(), seen, values })
    }
}

/// A change of an item that a request asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ItemChange {
    /// Adds an item or brings it back.
    Add,
    /// Takes an item out; what is known of it stays.
    Retire,
    /// Takes an item out and forgets what is known of it.
    Forget,
    /// Tells the value and the group of an item that is known.
    Update,
}

/// Changes an item.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ItemBody {
    /// The item.
    pub item: Name,
    /// The query whose item it is; all queries by default.
    pub query: Option<Name>,
    /// The change.
    pub change: Option<ItemChange>,
    /// Its features, if it is added and the configuration names some.
    pub features: Option<Vec<f64>>,
    /// The value of a click on it, if that is told.
    pub value: Option<Price>,
    /// Its group, of which `most` limits the items of a list.
    pub group: Option<Name>,
}

/// An item of a list.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Slot {
    /// The item.
    pub item: Name,
    /// Its position.
    pub position: usize,
    /// The probability with which this position shows this item, if that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub propensity: Option<f64>,
}

/// A list.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Answer {
    /// The decision.
    pub id: Name,
    /// The list, from the top. Empty if no item may be shown.
    pub items: Vec<Slot>,
    /// Names in `only` or `except` that the query did not know.
    #[serde(skip_serializing_if = "<[Name]>::is_empty")]
    pub unknown: Box<[Name]>,
    /// In a launch: whose list it is, `policy` or `baseline`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub side: Option<&'static str>,
    /// Number of events that the choice rests on.
    pub version: u64,
    /// `false` if the store did not answer, and has the list later.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stored: Option<bool>,
}

fn slots<'a>(list: impl Iterator<Item = &'a Name>, propensities: Option<&[f64]>) -> Vec<Slot> {
    let propensity = |place: usize| propensities.map(|of| of[place]);
    let slots = list.cloned().enumerate();
    slots.map(|(at, item)| Slot { item, position: at + 1, propensity: propensity(at) }).collect()
}

impl Answer {
    /// The list of a decision that the store has later.
    pub(crate) fn deferred(decision: &Decision, unknown: Box<[Name]>, version: u64) -> Self {
        let propensities = decision.chosen.as_ref().and_then(|choice| choice.propensities.as_ref());
        let items = slots(decision.list.iter(), propensities.map(|of| &of.items[..]));
        Self { id: decision.id.clone(), items, unknown, side: None, version, stored: Some(false) }
    }

    /// The list of a decision, as the API names its items.
    pub(crate) fn new(open: DecisionView<'_>) -> Self {
        Self {
            id: open.id(),
            items: slots(open.list(), open.propensities()),
            unknown: open.unknown().into(),
            side: open.shows_policy().map(side),
            version: open.version,
            stored: None,
        }
    }
}

/// The outcome of a request, for counts.
pub trait Outcomes {
    /// Its name.
    fn outcome(&self) -> &'static str;
}

impl Outcomes for Answer {
    fn outcome(&self) -> &'static str {
        match self.stored {
            Some(false) => "deferred",
            _ if self.items.is_empty() => "empty",
            _ => "decided",
        }
    }
}

impl Outcomes for Receipt {
    fn outcome(&self) -> &'static str {
        match self.outcome {
            _ if self.stored == Some(false) => "deferred",
            Outcome::Counted => "counted",
            Outcome::Repeated => "repeated",
        }
    }
}

impl Outcomes for Value {
    fn outcome(&self) -> &'static str {
        "done"
    }
}

impl<T: Outcomes> Outcomes for Result<T, Refusal> {
    fn outcome(&self) -> &'static str {
        self.as_ref().map_or_else(Refusal::code, T::outcome)
    }
}

/// The effect of an answer or a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// Something was new.
    Counted,
    /// All was known.
    Repeated,
}

/// The outcome for a decision or an item.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Receipt {
    /// The decision or the item.
    pub id: Name,
    /// The effect.
    pub outcome: Outcome,
    /// As in [`Answer::stored`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stored: Option<bool>,
}

impl Receipt {
    /// The outcome of what is stored.
    pub(crate) fn new(id: Name, outcome: Outcome) -> Self {
        Self { id, outcome, stored: None }
    }
}

/// Why a request is refused.
#[derive(Debug, Clone)]
pub enum Refusal {
    /// The store, for no fault of the client.
    Store(StoreError),
    /// A fault of the client, or load.
    Client {
        /// The status of HTTP.
        status: u16,
        /// The kind of fault, for programs.
        code: &'static str,
        /// The fault, in words.
        message: String,
        /// The part of the request that is at fault.
        at: String,
    },
}

impl From<StoreError> for Refusal {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl Refusal {
    /// A fault of the client, or load.
    pub fn new(status: u16, code: &'static str, message: impl Into<String>, at: impl Into<String>) -> Self {
        Self::Client { status, code, message: message.into(), at: at.into() }
    }

    /// A body that cannot be read.
    pub fn malformed(message: &str, at: &str) -> Self {
        Self::new(400, "malformed", message, at)
    }

    /// A number of features that the configuration does not name.
    pub(crate) fn not_features(found: usize, names: &[Name], at: &str) -> Self {
        let names: Vec<&str> = names.iter().map(|name| &**name).collect();
        let expected = if names.is_empty() { "none".into() } else { names.join(", ") };
        let message = format!("{found} features, and the configuration names {expected}");
        Self::new(409, "other_features", message, at)
    }

    /// The policy's refusal of a value, a group or a pin.
    pub(crate) fn of_terms(error: &live::Error, at: impl Into<String>) -> Self {
        match error {
            live::Error::Value(_) => Self::new(400, "malformed", error.to_string(), at),
            other => Self::other_terms(other.to_string(), at),
        }
    }

    /// Values, groups or pins that are not possible as things are.
    pub(crate) fn other_terms(what: impl Into<String>, at: impl Into<String>) -> Self {
        Self::new(409, "other_terms", what, at)
    }

    /// The store does not answer, and memory does not have what is asked for.
    pub(crate) fn not_in_memory() -> Self {
        Self::Store(StoreError::Unavailable("it is not in memory".into()))
    }

    /// The status of HTTP.
    pub fn status(&self) -> u16 {
        match self {
            Self::Store(_) => 503,
            Self::Client { status, .. } => *status,
        }
    }

    /// The kind of fault, for programs.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Store(_) => "unavailable",
            Self::Client { code, .. } => code,
        }
    }

    /// `{"error": {"code", "message", "at"}}`. Faults of the store are told without its internals.
    pub fn to_json(&self) -> Value {
        let (message, at) = match self {
            Self::Store(_) => ("the store is not available: ask again", ""),
            Self::Client { message, at, .. } => (message.as_str(), at.as_str()),
        };
        json!({ "error": { "code": self.code(), "message": message, "at": at } })
    }
}

/// Declares the refusals whose codes are their names: status, message, and what is at fault.
macro_rules! refusals {
    ($($status:literal $code:ident($($told:ident: $of:ty),*) $message:literal at $at:expr;)+) => {
        impl Refusal {
            $(pub(crate) fn $code($($told: $of),*) -> Self {
                Self::new($status, stringify!($code), format!($message), $at)
            })+
        }
    };
}

refusals! {
    403 too_many(what: &str, most: impl fmt::Display) "at most {most} {what} are kept" at "";
    404 no_launch() "the configuration has no [launch]" at "";
    404 no_such_position(found: u8, length: usize, at: String) "position {found} of a list of {length}" at at;
    404 unknown_decision(id: &Name) "decision `{id}` was not made here" at "id";
    404 unknown_item(item: &Name, at: impl Into<String>) "item `{item}` is not in the catalogue" at at;
    404 unknown_query(query: &Name) "query `{query}` has not been used" at "query";
    // Its policy has learned from the decision as it was then.
    409 closed(id: &Name, at: &str) "decision `{id}` was closed, and its policy has learned from it whole" at at;
    409 other_features(item: &Name) "item `{item}` has other features: forget it first" at "features";
    409 other_query(id: &Name, query: &Name) "decision `{id}` was made for query `{query}`" at "query";
    // The other request may have another list.
    409 other_request(id: &Name) "decision `{id}` was made for another `only`, `except`, `positions`, \
        `context`, `items`, `values`, `most` or `pins`" at "id";
    410 archived(first: u64) "the first event that is kept has number {first}" at "from";
    410 dropped_query(id: &Name, query: &Name) "decision `{id}` was made for query `{query}`, which is \
        forgotten" at "id";
    410 too_old(id: &Name) "decision `{id}` can no longer be answered" at "id";
    429 too_many_new() "the token has made its queries of this minute" at "query";
    503 busy() "too many requests wait" at "";
}
