//! Policies from serde's data: `{ "pbm-pie": { "level": "log-horizon" } }`.
//!
//! One visitor reads every row. A derived one would be compiled for each policy, and again for each
//! format.

use super::parameters::ParameterValue;
use super::{ParameterRow, PolicySpec, Row, find, rows};
use serde::de::{
    DeserializeSeed, EnumAccess, Error, MapAccess, SeqAccess, Unexpected, VariantAccess as _, Visitor,
};
use serde::{Deserialize, Deserializer};
use std::fmt::{self, Formatter};

impl<'de> Deserialize<'de> for PolicySpec {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_enum("PolicySpec", Self::NAMES, SpecVisitor)
    }
}

struct SpecVisitor;

impl<'de> Visitor<'de> for SpecVisitor {
    type Value = PolicySpec;

    fn expecting(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "a policy and its parameters")
    }

    fn visit_enum<A: EnumAccess<'de>>(self, access: A) -> Result<PolicySpec, A::Error> {
        let (row, parameters) = access.variant_seed(Name)?;
        parameters.struct_variant(row.parameter_names, Parameters(row))
    }
}

/// Reads a policy's name.
struct Name;

impl<'de> DeserializeSeed<'de> for Name {
    type Value = &'static Row;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<&'static Row, D::Error> {
        deserializer.deserialize_identifier(self)
    }
}

impl Visitor<'_> for Name {
    type Value = &'static Row;

    fn expecting(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "the name of a policy")
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<&'static Row, E> {
        find(name).ok_or_else(|| E::unknown_variant(name, PolicySpec::NAMES))
    }

    fn visit_bytes<E: Error>(self, name: &[u8]) -> Result<&'static Row, E> {
        self.visit_str(&String::from_utf8_lossy(name))
    }

    /// The number of the row, in formats without names.
    fn visit_u64<E: Error>(self, number: u64) -> Result<&'static Row, E> {
        let row = usize::try_from(number).ok().and_then(|number| rows().get(number));
        row.ok_or_else(|| E::invalid_value(Unexpected::Unsigned(number), &self))
    }
}

/// Reads a policy's parameters.
struct Parameters(&'static Row);

impl Parameters {
    fn spec<E: Error>(&self, values: &[(&str, ParameterValue)]) -> Result<PolicySpec, E> {
        PolicySpec::from_values(self.0.name, values)
            .ok_or_else(|| E::unknown_variant(self.0.name, PolicySpec::NAMES))
    }
}

impl<'de> Visitor<'de> for Parameters {
    type Value = PolicySpec;

    fn expecting(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "the parameters of `{}`", self.0.name)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<PolicySpec, A::Error> {
        let mut values: Vec<(&str, ParameterValue)> = Vec::new();
        while let Some(parameter) = map.next_key_seed(Key(self.0))? {
            if values.iter().any(|(name, _)| *name == parameter.name) {
                return Err(A::Error::duplicate_field(parameter.name));
            }
            values.push((parameter.name, map.next_value_seed(parameter.of_type)?));
        }
        self.spec(&values)
    }

    /// The values in the order of the row, in formats without names; those that are missing at the
    /// end are the default ones.
    fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<PolicySpec, A::Error> {
        let mut values: Vec<(&str, ParameterValue)> = Vec::new();
        for parameter in self.0.parameters {
            let Some(value) = sequence.next_element_seed(parameter.of_type)? else { break };
            values.push((parameter.name, value));
        }
        self.spec(&values)
    }
}

/// Reads the name of a parameter.
struct Key(&'static Row);

impl<'de> DeserializeSeed<'de> for Key {
    type Value = &'static ParameterRow;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<&'static ParameterRow, D::Error> {
        deserializer.deserialize_identifier(self)
    }
}

impl Visitor<'_> for Key {
    type Value = &'static ParameterRow;

    fn expecting(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "a parameter of `{}`", self.0.name)
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<&'static ParameterRow, E> {
        let parameter = self.0.parameters.iter().find(|parameter| parameter.name == name);
        parameter.ok_or_else(|| E::unknown_field(name, self.0.parameter_names))
    }

    fn visit_bytes<E: Error>(self, name: &[u8]) -> Result<&'static ParameterRow, E> {
        self.visit_str(&String::from_utf8_lossy(name))
    }

    /// The number of the parameter, in formats without names.
    fn visit_u64<E: Error>(self, number: u64) -> Result<&'static ParameterRow, E> {
        let parameter = usize::try_from(number).ok().and_then(|number| self.0.parameters.get(number));
        parameter.ok_or_else(|| E::invalid_value(Unexpected::Unsigned(number), &self))
    }
}
