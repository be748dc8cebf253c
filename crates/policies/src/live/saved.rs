//! Live use in a saved policy: its last field, which older states do not have.

use super::Values;
use crate::Prior;
use click_models::ItemId;
use serde::{Deserialize, Serialize};

/// The saved form of a [`LiveState`](super::LiveState), before its items are checked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct SavedLive {
    pub(crate) absent: Vec<ItemId>,
    pub(crate) prior: Prior,
    pub(crate) share: f64,
    pub(crate) drawn: u64,
    pub(crate) shows: Vec<u64>,
    pub(crate) clicks: Vec<u64>,
    #[serde(skip_serializing_if = "Values::is_fresh")]
    pub(crate) values: Values,
}

/// A state without values, as binary formats have it.
type Unvalued = (Vec<ItemId>, Prior, f64, u64, Vec<u64>, Vec<u64>);

impl From<Unvalued> for SavedLive {
    fn from((absent, prior, share, drawn, shows, clicks): Unvalued) -> Self {
        Self { absent, prior, share, drawn, shows, clicks, values: Values::default() }
    }
}

impl Default for SavedLive {
    fn default() -> Self {
        super::LiveState::default().to_save()
    }
}

/// Writes and reads the last field of a policy.
///
/// JSON has `null` if nothing differs from a fresh policy. Binary formats have a number: 0 in this
/// case, 1 before a state without values, 2 before one with them. They cannot leave out a field,
/// but a policy that ends before it is an older one.
pub(crate) mod last {
    use super::{SavedLive, Unvalued};
    use serde::de::{Error as _, SeqAccess, Visitor};
    use serde::ser::SerializeTuple as _;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};
    use std::fmt::{self, Formatter};

    pub(crate) fn serialize<S: Serializer>(live: &SavedLive, serializer: S) -> Result<S::Ok, S::Error> {
        let used = (*live != SavedLive::default()).then_some(live);
        if serializer.is_human_readable() {
            return used.serialize(serializer);
        }
        let mut tuple = serializer.serialize_tuple(1 + usize::from(used.is_some()))?;
        let with_values = u8::from(!live.values.is_fresh());
        tuple.serialize_element(&(u8::from(used.is_some()) + with_values))?;
        if let Some(live) = used {
            tuple.serialize_element(live)?;
        }
        tuple.end()
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<SavedLive, D::Error> {
        if deserializer.is_human_readable() {
            return Option::deserialize(deserializer).map(Option::unwrap_or_default);
        }
        deserializer.deserialize_tuple(2, Last)
    }

    struct Last;

    impl<'de> Visitor<'de> for Last {
        type Value = SavedLive;

        fn expecting(&self, f: &mut Formatter<'_>) -> fmt::Result {
            write!(f, "0, or 1 or 2 and the state of live use")
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut saved: A) -> Result<SavedLive, A::Error> {
            let missing = || A::Error::custom("live use is missing");
            // Reading the number fails at the end of the data alone.
            match saved.next_element::<u8>() {
                Err(_) | Ok(None | Some(0)) => Ok(SavedLive::default()),
                Ok(Some(1)) => Ok(saved.next_element::<Unvalued>()?.ok_or_else(missing)?.into()),
                Ok(Some(2)) => saved.next_element()?.ok_or_else(missing),
                Ok(Some(other)) => Err(A::Error::custom(format!("live use begins with {other}, not 0 to 2"))),
            }
        }
    }
}
