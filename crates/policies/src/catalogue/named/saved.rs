//! Saving and restoring a policy by name.

use super::super::erased::{BoxedPolicy, Maker};
use super::super::reader::Reader;
use super::super::{PolicySpec, Protocol};
use super::{AnyPolicy, Calls, CatalogueProtocol, Knowledge, ProtocolPolicy, fresh};
use serde::de::{self, DeserializeSeed, SeqAccess, Visitor};
use serde::ser::SerializeTuple as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::fmt::{self, Display, Formatter};

/// Version of the format.
const FORMAT: u32 = 1;

impl<I: CatalogueProtocol, C: Calls> ProtocolPolicy<I, C> {
    /// Restores `saved` if it is a state of the same policy, parameters and knowledge.
    ///
    /// # Errors
    ///
    /// The data are no saved policy, or the state of another one.
    pub fn restore<'de, D: Deserializer<'de>>(&self, saved: D) -> Result<Self, D::Error> {
        let name = self.spec.name();
        let restored = Self::deserialize(saved)
            .map_err(|error| de::Error::custom(format!("`{name}` cannot be restored: {error}")))?;
        if restored.spec != self.spec {
            let (found, expected) = (restored.spec, self.spec);
            return Err(de::Error::custom(format!("the saved policy is `{found}`, expected `{expected}`")));
        }
        if restored.knowledge != self.knowledge {
            let difference = restored.knowledge.difference(&self.knowledge);
            return Err(de::Error::custom(format!("the saved policy `{}` was told {difference}", self.spec)));
        }
        Ok(restored)
    }
}

/// The saved policy in human-readable formats.
#[derive(Serialize)]
struct Readable<'a> {
    format: u32,
    policy: &'static str,
    parameters: Map<String, Value>,
    told: &'a Knowledge,
    state: &'a dyn erased_serde::Serialize,
}

impl<I, C> Serialize for ProtocolPolicy<I, C> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.policy.serialize(serializer)
    }
}

impl<'de, I: CatalogueProtocol, C: Calls> Deserialize<'de> for ProtocolPolicy<I, C> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::try_from(AnyPolicy::read(I::PROTOCOL, deserializer)?).map_err(de::Error::custom)
    }
}

impl Serialize for AnyPolicy {
    /// A map in human-readable formats, a tuple (format, text, knowledge, state) in binary ones.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { spec, knowledge, policy, .. } = self;
        let state = policy.state();
        if serializer.is_human_readable() {
            let (name, parameters) = (spec.name(), spec.parameters());
            return Readable { format: FORMAT, policy: name, parameters, told: knowledge, state }
                .serialize(serializer);
        }
        let mut tuple = serializer.serialize_tuple(4)?;
        tuple.serialize_element(&FORMAT)?;
        tuple.serialize_element(&spec.to_string())?;
        tuple.serialize_element(knowledge)?;
        tuple.serialize_element(state)?;
        tuple.end()
    }
}

impl AnyPolicy {
    /// Reads a policy that was saved, for users of this protocol.
    ///
    /// # Errors
    ///
    /// The data are no saved policy, a damaged one, or one of other users.
    pub fn read<'de, D: Deserializer<'de>>(protocol: Protocol, saved: D) -> Result<Self, D::Error> {
        if saved.is_human_readable() {
            return Self::from_map(protocol, Map::deserialize(saved)?).map_err(de::Error::custom);
        }
        saved.deserialize_tuple(4, Compact(protocol))
    }

    fn from_map(protocol: Protocol, saved: Map<String, Value>) -> Result<Self, String> {
        let (spec, knowledge, state) = parts(saved)?;
        let state = &mut <dyn erased_serde::Deserializer<'_>>::erase(state);
        let policy = (maker(&spec, protocol)?.saved)(Reader(state));
        let policy = policy.map_err(|error| format!("`state` of `{}`: {error}", spec.name()))?;
        Self { protocol, spec, knowledge, policy }.checked()
    }

    /// Refuses a state if its sizes or settings are not those of the named policy.
    fn checked(mut self) -> Result<Self, String> {
        let Self { protocol, spec, knowledge, policy } = &self;
        // Checked first: building a fresh policy of the saved sizes may take much memory.
        check_sizes(spec, knowledge, policy.sizes())?;
        let fresh = fresh(spec, knowledge, *protocol).map_err(|error| error.to_string())?;
        check_settings(spec, &policy.settings(), fresh.state(), policy.state())?;
        _ = self.valued();
        Ok(self)
    }
}

/// The policy, its knowledge and its state in a human-readable format.
fn parts(mut saved: Map<String, Value>) -> Result<(PolicySpec, Knowledge, Value), String> {
    let mut take =
        |key: &str| saved.remove(key).ok_or_else(|| format!("a saved policy has `{key}`: none found"));
    check_format(&take("format")?)?;
    let (name, parameters) = (take("policy")?, take("parameters")?);
    let name = name.as_str().ok_or_else(|| format!("`policy` is {name}, expected a name"))?;
    let parameters = match parameters {
        Value::Object(parameters) => parameters,
        other => return Err(format!("`parameters` of `{name}` is {other}, expected a map")),
    };
    let spec = PolicySpec::from_parameters(name, &parameters).map_err(|error| error.to_string())?;
    let knowledge =
        Knowledge::deserialize(take("told")?).map_err(|error| format!("`told` of `{name}`: {error}"))?;
    let state = take("state")?;
    match saved.keys().next() {
        Some(key) => Err(format!("a saved policy has no `{key}`")),
        None => Ok((spec, knowledge, state)),
    }
}

fn check_sizes(spec: &PolicySpec, knowledge: &Knowledge, sizes: [usize; 2]) -> Result<(), String> {
    if sizes == knowledge.sizes {
        return Ok(());
    }
    let (name, told) = (spec.name(), knowledge.sizes);
    Err(format!("the saved policy `{name}` was told the sizes {told:?}, but has {sizes:?}"))
}

fn check_settings(
    spec: &PolicySpec,
    settings: &[Cow<'static, str>],
    fresh: &dyn erased_serde::Serialize,
    found: &dyn erased_serde::Serialize,
) -> Result<(), String> {
    let [expected, found] = [fresh, found].map(|state| serde_json::to_value(state).unwrap_or_default());
    for setting in settings {
        let [expected, found] = [&expected, &found].map(|state| state.pointer(setting));
        if expected.is_none() || found != expected {
            let [expected, found] =
                [expected, found].map(|value| value.map_or_else(|| "nothing".to_owned(), Value::to_string));
            let (name, setting) = (spec.name(), setting.trim_start_matches('/'));
            return Err(format!(
                "the state of the saved policy `{name}` has {setting} = {found}, expected {expected}"
            ));
        }
    }
    Ok(())
}

fn check_format(format: &impl Display) -> Result<(), String> {
    let format = format.to_string();
    if format == FORMAT.to_string() {
        return Ok(());
    }
    Err(format!("a saved policy of format {format}: expected {FORMAT}"))
}

/// As [`maker`](super::maker), with the fault if there is none.
fn maker(spec: &PolicySpec, users: Protocol) -> Result<Maker, String> {
    let name = spec.name();
    super::maker(spec, users)
        .ok_or_else(|| format!("the saved policy `{name}` cannot read the answers of {users} users"))
}

/// Reads the tuple of binary formats.
struct Compact(Protocol);

/// Reads the state, given the policy that was read before.
struct ReadState<'a>(&'a PolicySpec, Protocol);

impl<'de> Visitor<'de> for Compact {
    type Value = AnyPolicy;

    fn expecting(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "a saved policy: format, policy, what it was told, state")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut saved: A) -> Result<AnyPolicy, A::Error> {
        let short = || de::Error::custom("a saved policy that ends too early");
        let format: u32 = saved.next_element()?.ok_or_else(short)?;
        check_format(&format).map_err(de::Error::custom)?;
        let spec: String = saved.next_element()?.ok_or_else(short)?;
        let spec: PolicySpec = spec.parse().map_err(de::Error::custom)?;
        let (protocol, knowledge) = (self.0, saved.next_element()?.ok_or_else(short)?);
        let policy = saved.next_element_seed(ReadState(&spec, protocol))?.ok_or_else(short)?;
        AnyPolicy { protocol, spec, knowledge, policy }.checked().map_err(de::Error::custom)
    }
}

impl<'de> DeserializeSeed<'de> for ReadState<'_> {
    type Value = BoxedPolicy;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        let format = &mut <dyn erased_serde::Deserializer<'_>>::erase(deserializer);
        let maker = maker(self.0, self.1).map_err(de::Error::custom)?;
        (maker.saved)(Reader(format)).map_err(de::Error::custom)
    }
}
