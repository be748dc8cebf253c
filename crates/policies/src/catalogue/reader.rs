//! Reads the state of a policy from any format.
//!
//! `erased-serde` compiles 27 functions for every type that it reads: more than half of this crate.
//! A [`Reader`] has it read numbers, names and the parts of values only, and a type is compiled
//! with the functions that it asks for. A state consists of numbers, options, lists, structs, and
//! enums without content; other types are refused.

use erased_serde::{Deserializer, Error};
use serde::de::value::{StringDeserializer, U32Deserializer};
use serde::de::{
    DeserializeSeed, EnumAccess, Error as _, Expected, IgnoredAny, IntoDeserializer, MapAccess, SeqAccess,
    VariantAccess, Visitor,
};
use serde::{Deserialize, forward_to_deserialize_any};
use std::fmt::{self, Formatter};

/// A value that is read by its type.
pub(super) struct Reader<'a, 'de>(pub(super) &'a mut dyn Deserializer<'de>);

/// Reads a value that it is given.
type Read<'a, 'de> = &'a mut dyn FnMut(Reader<'_, 'de>) -> Result<(), Error>;

/// The parts of a value.
enum Parts<'a, 'de> {
    None,
    Some(Reader<'a, 'de>),
    List(&'a mut (dyn List<'de> + 'a)),
    Fields(&'a mut (dyn Fields<'de> + 'a)),
    Variant(Name),
}

/// The name of a field or a variant; its number in formats without names.
enum Name {
    Number(u32),
    Text(String),
}

/// Elements one by one: `false` at the end.
trait List<'de> {
    fn next(&mut self, read: Read<'_, 'de>) -> Result<bool, Error>;
}

/// Names and values one by one.
trait Fields<'de> {
    fn name(&mut self) -> Result<Option<Name>, Error>;
    fn value(&mut self, read: Read<'_, 'de>) -> Result<(), Error>;
}

/// Reads the parts that `ask` gets from the format, with the functions of `visitor` that `visit`
/// calls.
fn read_parts<'de, V: Visitor<'de>>(
    visitor: V,
    ask: impl FnOnce(Ask<'_, 'de>) -> Result<(), Error>,
    visit: impl Fn(V, Parts<'_, 'de>) -> Result<V::Value, Error>,
) -> Result<V::Value, Error> {
    let expected = (&visitor as &dyn Expected).to_string();
    let (mut visitor, mut value) = (Some(visitor), None);
    let mut read = |parts: Parts<'_, 'de>| {
        value = visitor.take().map(|visitor| visit(visitor, parts)).transpose()?;
        Ok(())
    };
    ask(Ask { expected, read: &mut read })?;
    value.ok_or_else(|| Error::custom("a value without content"))
}

fn not_asked_for<T>() -> Result<T, Error> {
    Err(Error::custom("a policy has no such values"))
}

/// Reads numbers as the format does.
macro_rules! numbers {
    ($($deserialize:ident $visit:ident),+) => {$(
        fn $deserialize<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
            visitor.$visit(erased_serde::deserialize(self.0)?)
        }
    )+};
}

impl<'de> serde::Deserializer<'de> for Reader<'_, 'de> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Error> {
        not_asked_for()
    }

    numbers! {
        deserialize_bool visit_bool, deserialize_u8 visit_u8, deserialize_u16 visit_u16,
        deserialize_u32 visit_u32, deserialize_u64 visit_u64, deserialize_i8 visit_i8,
        deserialize_i16 visit_i16, deserialize_i32 visit_i32, deserialize_i64 visit_i64,
        deserialize_f32 visit_f32, deserialize_f64 visit_f64
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        let _: IgnoredAny = erased_serde::deserialize(self.0)?;
        visitor.visit_unit()
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        read_parts(
            visitor,
            |ask| self.0.deserialize_option(ask),
            |visitor, parts| match parts {
                Parts::None => visitor.visit_none(),
                Parts::Some(reader) => visitor.visit_some(reader),
                _ => not_asked_for(),
            },
        )
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        read_parts(visitor, |ask| self.0.deserialize_seq(ask), visit_list)
    }

    fn deserialize_tuple<V: Visitor<'de>>(self, len: usize, visitor: V) -> Result<V::Value, Error> {
        read_parts(visitor, |ask| self.0.deserialize_tuple(len, ask), visit_list)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        read_parts(
            visitor,
            |ask| self.0.deserialize_struct(name, fields, ask),
            |visitor, parts| match parts {
                Parts::Fields(fields) => visitor.visit_map(fields),
                parts => visit_list(visitor, parts),
            },
        )
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        read_parts(
            visitor,
            |ask| self.0.deserialize_enum(name, variants, ask),
            |visitor, parts| match parts {
                Parts::Variant(Name::Number(number)) => visitor.visit_enum(U32Deserializer::new(number)),
                Parts::Variant(Name::Text(text)) => visitor.visit_enum(StringDeserializer::new(text)),
                _ => not_asked_for(),
            },
        )
    }

    fn is_human_readable(&self) -> bool {
        serde::Deserializer::is_human_readable(&self.0)
    }

    forward_to_deserialize_any! {
        i128 u128 char str string bytes byte_buf unit unit_struct newtype_struct tuple_struct map identifier
    }
}

fn visit_list<'de, V: Visitor<'de>>(visitor: V, parts: Parts<'_, 'de>) -> Result<V::Value, Error> {
    match parts {
        Parts::List(list) => visitor.visit_seq(list),
        _ => not_asked_for(),
    }
}

impl<'de> SeqAccess<'de> for dyn List<'de> + '_ {
    type Error = Error;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Error> {
        let (mut seed, mut value) = (Some(seed), None);
        self.next(&mut |reader| {
            value = seed.take().map(|seed| seed.deserialize(reader)).transpose()?;
            Ok(())
        })?;
        Ok(value)
    }
}

impl<'de> MapAccess<'de> for dyn Fields<'de> + '_ {
    type Error = Error;

    fn next_key_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Error> {
        Ok(match self.name()? {
            None => None,
            Some(Name::Number(number)) => Some(seed.deserialize(number.into_deserializer())?),
            Some(Name::Text(text)) => Some(seed.deserialize(text.into_deserializer())?),
        })
    }

    fn next_value_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<T::Value, Error> {
        let (mut seed, mut value) = (Some(seed), None);
        self.value(&mut |reader| {
            value = seed.take().map(|seed| seed.deserialize(reader)).transpose()?;
            Ok(())
        })?;
        value.ok_or_else(|| Error::custom("a field without a value"))
    }
}

/// The visitor of all parts that a format is asked for.
struct Ask<'a, 'de> {
    /// The expected value, for messages.
    expected: String,
    read: &'a mut (dyn FnMut(Parts<'_, 'de>) -> Result<(), Error> + 'a),
}

impl<'de> Visitor<'de> for Ask<'_, 'de> {
    type Value = ();

    fn expecting(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(&self.expected)
    }

    fn visit_none<E: serde::de::Error>(self) -> Result<(), E> {
        (self.read)(Parts::None).map_err(E::custom)
    }

    fn visit_unit<E: serde::de::Error>(self) -> Result<(), E> {
        self.visit_none()
    }

    fn visit_some<D: serde::Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        let deserializer = &mut <dyn Deserializer<'_>>::erase(deserializer);
        (self.read)(Parts::Some(Reader(deserializer))).map_err(D::Error::custom)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<(), A::Error> {
        (self.read)(Parts::List(&mut Of(seq))).map_err(A::Error::custom)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<(), A::Error> {
        (self.read)(Parts::Fields(&mut Of(map))).map_err(A::Error::custom)
    }

    fn visit_enum<A: EnumAccess<'de>>(self, data: A) -> Result<(), A::Error> {
        let (name, content) = data.variant()?;
        content.unit_variant()?;
        (self.read)(Parts::Variant(name)).map_err(A::Error::custom)
    }
}

/// A format's access to parts.
struct Of<A>(A);

impl<'de, A: SeqAccess<'de>> List<'de> for Of<A> {
    fn next(&mut self, read: Read<'_, 'de>) -> Result<bool, Error> {
        Ok(self.0.next_element_seed(Seed(read)).map_err(Error::custom)?.is_some())
    }
}

impl<'de, A: MapAccess<'de>> Fields<'de> for Of<A> {
    fn name(&mut self) -> Result<Option<Name>, Error> {
        self.0.next_key().map_err(Error::custom)
    }

    fn value(&mut self, read: Read<'_, 'de>) -> Result<(), Error> {
        self.0.next_value_seed(Seed(read)).map_err(Error::custom)
    }
}

/// Has a value read.
struct Seed<'a, 'de>(Read<'a, 'de>);

impl<'de> DeserializeSeed<'de> for Seed<'_, 'de> {
    type Value = ();

    fn deserialize<D: serde::Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        let deserializer = &mut <dyn Deserializer<'_>>::erase(deserializer);
        (self.0)(Reader(deserializer)).map_err(D::Error::custom)
    }
}

impl<'de> Deserialize<'de> for Name {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Names;

        impl Visitor<'_> for Names {
            type Value = Name;

            fn expecting(&self, f: &mut Formatter<'_>) -> fmt::Result {
                f.write_str("a name or its number")
            }

            fn visit_u64<E: serde::de::Error>(self, number: u64) -> Result<Name, E> {
                u32::try_from(number).map(Name::Number).map_err(E::custom)
            }

            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Name, E> {
                Ok(Name::Text(text.to_owned()))
            }

            fn visit_bytes<E: serde::de::Error>(self, text: &[u8]) -> Result<Name, E> {
                Ok(Name::Text(String::from_utf8_lossy(text).into_owned()))
            }
        }

        deserializer.deserialize_identifier(Names)
    }
}
