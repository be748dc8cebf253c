//! The names of an enum's variants and their fields, so that a message can list them.
//!
//! Serde passes the names to the deserializer. The deserializers here have no data: they take the names and stop with an "error".

use serde::de::{
    DeserializeOwned, DeserializeSeed, EnumAccess, IntoDeserializer as _, VariantAccess, Visitor,
};
use serde::forward_to_deserialize_any;
use std::fmt;

/// Names of the variants of an enum; empty for any other type.
pub(crate) fn variants<T: DeserializeOwned>() -> &'static [&'static str] {
    T::deserialize(AskVariants).err().and_then(|found| found.0).unwrap_or_default()
}

/// Names of the fields of a struct variant; empty for any other kind of variant.
pub(crate) fn fields<T: DeserializeOwned>(variant: &str) -> &'static [&'static str] {
    T::deserialize(AskFields(variant)).err().and_then(|found| found.0).unwrap_or_default()
}

/// The "error" that carries the names.
#[derive(Debug)]
struct AskedNames(Option<&'static [&'static str]>);

impl fmt::Display for AskedNames {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "asked for names only")
    }
}

impl std::error::Error for AskedNames {}

impl serde::de::Error for AskedNames {
    fn custom<T: fmt::Display>(_: T) -> Self {
        Self(None)
    }
}

struct AskVariants;

impl<'de> serde::Deserializer<'de> for AskVariants {
    type Error = AskedNames;

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, AskedNames> {
        Err(AskedNames(None))
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        variants: &'static [&'static str],
        _: V,
    ) -> Result<V::Value, AskedNames> {
        Err(AskedNames(Some(variants)))
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct seq tuple tuple_struct map struct identifier ignored_any
    }
}

struct AskFields<'name>(&'name str);

impl<'de> serde::Deserializer<'de> for AskFields<'_> {
    type Error = AskedNames;

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, AskedNames> {
        Err(AskedNames(None))
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, AskedNames> {
        visitor.visit_enum(self)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct seq tuple tuple_struct map struct identifier ignored_any
    }
}

impl<'de> EnumAccess<'de> for AskFields<'_> {
    type Error = AskedNames;
    type Variant = Self;

    fn variant_seed<V: DeserializeSeed<'de>>(self, seed: V) -> Result<(V::Value, Self), AskedNames> {
        Ok((seed.deserialize(self.0.into_deserializer())?, self))
    }
}

impl<'de> VariantAccess<'de> for AskFields<'_> {
    type Error = AskedNames;

    fn unit_variant(self) -> Result<(), AskedNames> {
        Err(AskedNames(None))
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, _: T) -> Result<T::Value, AskedNames> {
        Err(AskedNames(None))
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, _: V) -> Result<V::Value, AskedNames> {
        Err(AskedNames(None))
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        fields: &'static [&'static str],
        _: V,
    ) -> Result<V::Value, AskedNames> {
        Err(AskedNames(Some(fields)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use policies::catalogue::PolicySpec;

    #[test]
    fn names_of_policies_and_parameters_are_found() {
        assert!(variants::<PolicySpec>().contains(&"pbm-ucb"));
        assert_eq!(fields::<PolicySpec>("pbm-ucb"), ["epsilon"]);
        assert_eq!(fields::<PolicySpec>("pbm-ts"), [""; 0]);
        assert_eq!(fields::<PolicySpec>("no such policy"), [""; 0]);
        assert_eq!(variants::<u64>(), [""; 0]);
    }
}
