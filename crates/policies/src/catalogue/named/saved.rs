//! Saving and restoring a policy by name.

use super::super::PolicySpec;
use super::super::erased::{BoxedPolicy, Erased, Maker};
use super::{Catalogued, Knowledge, NamedPolicy};
use serde::de::{self, DeserializeSeed, SeqAccess, Visitor};
use serde::ser::SerializeTuple as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};
use std::fmt::{self, Display, Formatter};
use std::marker::PhantomData;

/// Version of the format.
const FORMAT: u32 = 1;

impl<I: Catalogued> NamedPolicy<I> {
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
struct Readable<'a, S> {
    format: u32,
    policy: &'static str,
    parameters: Map<String, Value>,
    told: &'a Knowledge,
    state: S,
}

/// The state of a policy.
struct State<'a, I>(&'a dyn Erased<I>);

impl<I: Catalogued> Serialize for State<'_, I> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        erased_serde::serialize(self.0.state(), serializer)
    }
}

impl<I: Catalogued> Serialize for NamedPolicy<I> {
    /// A map in human-readable formats, a tuple (format, text, knowledge, state) in binary ones.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { spec, knowledge, policy } = self;
        let state = State(&**policy);
        if serializer.is_human_readable() {
            let (name, parameters) = (spec.name(), spec.parameters());
            return Readable { format: FORMAT, policy: name, parameters, told: knowledge, state }
                .serialize(serializer);
        }
        let mut tuple = serializer.serialize_tuple(4)?;
        tuple.serialize_element(&FORMAT)?;
        tuple.serialize_element(&spec.to_string())?;
        tuple.serialize_element(knowledge)?;
        tuple.serialize_element(&state)?;
        tuple.end()
    }
}

impl<'de, I: Catalogued> Deserialize<'de> for NamedPolicy<I> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        if deserializer.is_human_readable() {
            return Self::from_map(Map::deserialize(deserializer)?).map_err(de::Error::custom);
        }
        deserializer.deserialize_tuple(4, Compact(PhantomData))
    }
}

impl<I: Catalogued> NamedPolicy<I> {
    fn from_map(mut saved: Map<String, Value>) -> Result<Self, String> {
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
        if let Some(key) = saved.keys().next() {
            return Err(format!("a saved policy has no `{key}`"));
        }
        let policy =
            maker::<I>(&spec)?.saved(state).map_err(|error| format!("`state` of `{name}`: {error}"))?;
        Self::assemble(spec, knowledge, policy)
    }

    /// Refuses a state if its sizes or settings are not those of the named policy.
    fn assemble(spec: PolicySpec, knowledge: Knowledge, policy: BoxedPolicy<I>) -> Result<Self, String> {
        let (name, sizes) = (spec.name(), policy.sizes());
        // Checked first: building a fresh policy of the saved sizes may take much memory.
        if sizes != knowledge.sizes {
            return Err(format!(
                "the saved policy `{name}` was told the sizes {:?}, but has {sizes:?}",
                knowledge.sizes
            ));
        }
        let fresh = Self::fresh(&spec, &knowledge).map_err(|error| error.to_string())?;
        let [expected, found] =
            [&fresh, &policy].map(|policy| serde_json::to_value(State(&**policy)).unwrap_or_default());
        for setting in &policy.settings() {
            let [expected, found] = [&expected, &found].map(|state| state.pointer(setting));
            if expected.is_none() || found != expected {
                let [expected, found] = [expected, found]
                    .map(|value| value.map_or_else(|| "nothing".to_owned(), Value::to_string));
                let setting = setting.trim_start_matches('/');
                return Err(format!(
                    "the state of the saved policy `{name}` has {setting} = {found}, expected {expected}"
                ));
            }
        }
        Ok(Self { spec, knowledge, policy })
    }
}

fn check_format(format: &impl Display) -> Result<(), String> {
    let format = format.to_string();
    if format == FORMAT.to_string() {
        return Ok(());
    }
    Err(format!("a saved policy of format {format}: expected {FORMAT}"))
}

/// Makes the policies of this name, if they play the protocol.
fn maker<I: Catalogued>(spec: &PolicySpec) -> Result<Maker<I>, String> {
    let (name, users) = (spec.name(), I::PROTOCOL);
    I::maker(spec)
        .ok_or_else(|| format!("the saved policy `{name}` cannot read the answers of {users} users"))
}

/// Reads the tuple of binary formats.
struct Compact<I>(PhantomData<fn() -> I>);

/// Reads the state, given the policy that was read before.
struct ReadState<'a, I>(&'a PolicySpec, PhantomData<fn() -> I>);

impl<'de, I: Catalogued> Visitor<'de> for Compact<I> {
    type Value = NamedPolicy<I>;

    fn expecting(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "a saved policy: format, policy, what it was told, state")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut saved: A) -> Result<NamedPolicy<I>, A::Error> {
        let short = || de::Error::custom("a saved policy that ends too early");
        let format: u32 = saved.next_element()?.ok_or_else(short)?;
        check_format(&format).map_err(de::Error::custom)?;
        let spec: String = saved.next_element()?.ok_or_else(short)?;
        let spec: PolicySpec = spec.parse().map_err(de::Error::custom)?;
        let knowledge: Knowledge = saved.next_element()?.ok_or_else(short)?;
        let policy = saved.next_element_seed(ReadState::<I>(&spec, PhantomData))?.ok_or_else(short)?;
        NamedPolicy::assemble(spec, knowledge, policy).map_err(de::Error::custom)
    }
}

impl<'de, I: Catalogued> DeserializeSeed<'de> for ReadState<'_, I> {
    type Value = BoxedPolicy<I>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        maker::<I>(self.0).map_err(de::Error::custom)?.saved(deserializer)
    }
}
