//! Reads the state of a policy from any format.
//!
//! `erased-serde` compiles 27 functions for every type that it reads, and serde's derived code is
//! longer for fields in any order than for a list. So a [`Reader`] gives each type the functions
//! that it asks for, and the fields of a struct in the order of their declaration. A state consists
//! of numbers, options, lists, structs, and enums without content; other types are refused.

use erased_serde::{Deserializer, Error};
use serde::de::value::{StringDeserializer, U32Deserializer};
use serde::de::{
    DeserializeSeed, EnumAccess, Error as _, Expected, MapAccess, SeqAccess, VariantAccess, Visitor,
};
use serde::{Deserialize, Deserializer as _, forward_to_deserialize_any};
use serde_json::{Map, Value};
use std::fmt::{self, Formatter};

/// A value that is read by its type.
pub(super) enum Reader<'a, 'de> {
    /// A value of a format that describes itself.
    Value(Value),
    /// The next value of another format.
    Format(&'a mut dyn Deserializer<'de>),
}

/// Reads a value that it is given.
pub(super) type Read<'a, 'de> = &'a mut dyn FnMut(Reader<'_, 'de>) -> Result<(), Error>;

/// Reads the parts that it is given.
type ReadParts<'a, 'de> = &'a mut dyn FnMut(Parts<'_, 'de>) -> Result<(), Error>;

/// A kind of values with parts: serde's name of a type, and those of its fields or variants.
#[derive(Clone, Copy)]
pub(super) enum Kind {
    Option,
    List,
    Tuple(usize),
    Struct(&'static str, &'static [&'static str]),
    Enum(&'static str, &'static [&'static str]),
}

/// The parts of a value.
pub(super) enum Parts<'a, 'de> {
    None,
    Some(Reader<'a, 'de>),
    List(&'a mut (dyn List<'de> + 'a)),
    Variant(Name),
}

/// The name of a field or a variant; its number in formats without names.
pub(super) enum Name {
    Number(u32),
    Text(String),
}

/// Elements one by one: `false` if there is none.
pub(super) trait List<'de> {
    fn next(&mut self, read: Read<'_, 'de>) -> Result<bool, Error>;
}

impl<'de> Reader<'_, 'de> {
    /// Reads the parts with the functions of `visitor` that `visit` calls.
    fn read_parts<V: Visitor<'de>>(
        self,
        kind: Kind,
        visitor: V,
        visit: impl Fn(V, Parts<'_, 'de>) -> Result<V::Value, Error>,
    ) -> Result<V::Value, Error> {
        let expected = (&visitor as &dyn Expected).to_string();
        let (mut visitor, mut value) = (Some(visitor), None);
        self.take_apart(kind, expected, &mut |parts| {
            value = visitor.take().map(|visitor| visit(visitor, parts)).transpose()?;
            Ok(())
        })?;
        value.ok_or_else(|| Error::custom("a value without content"))
    }

    fn read_list<V: Visitor<'de>>(self, kind: Kind, visitor: V) -> Result<V::Value, Error> {
        self.read_parts(kind, visitor, |visitor, parts| match parts {
            Parts::List(list) => visitor.visit_seq(list),
            _ => not_asked_for(),
        })
    }

    /// Reads the parts; `expected` is the value in words.
    pub(super) fn take_apart(
        self,
        kind: Kind,
        expected: String,
        read: ReadParts<'_, 'de>,
    ) -> Result<(), Error> {
        let format = match self {
            Self::Value(value) => return take_value_apart(value, kind, expected, read),
            Self::Format(format) => format,
        };
        let fields = if let Kind::Struct(_, fields) = kind { fields } else { &[] };
        let ask = Ask { expected, fields, read };
        match kind {
            Kind::Option => format.deserialize_option(ask),
            Kind::List => format.deserialize_seq(ask),
            Kind::Tuple(len) => format.deserialize_tuple(len, ask),
            Kind::Struct(name, fields) => format.deserialize_struct(name, fields, ask),
            Kind::Enum(name, variants) => format.deserialize_enum(name, variants, ask),
        }
    }
}

fn take_value_apart(
    value: Value,
    kind: Kind,
    expected: String,
    read: ReadParts<'_, '_>,
) -> Result<(), Error> {
    match (kind, value) {
        (Kind::Option, Value::Null) => read(Parts::None),
        (Kind::Option, value) => read(Parts::Some(Reader::Value(value))),
        (Kind::Struct(_, fields), Value::Object(values)) => InOrder::new(fields, values).read(read),
        (Kind::List | Kind::Tuple(_) | Kind::Struct(..), Value::Array(values)) => {
            let (n_values, mut values) = (values.len(), values.into_iter());
            read(Parts::List(&mut values))?;
            let is_whole = values.len() == 0;
            is_whole.then_some(()).ok_or_else(|| Error::invalid_length(n_values, &"fewer elements"))
        }
        (Kind::Enum(..), Value::String(name)) => read(Parts::Variant(Name::Text(name))),
        (_, value) => value.deserialize_any(Other(expected)).map_err(Error::custom),
    }
}

fn not_asked_for<T>() -> Result<T, Error> {
    Err(Error::custom("a policy has no such values"))
}

/// Reads numbers as the format does.
macro_rules! numbers {
    ($($deserialize:ident $name:literal),+) => {$(
        fn $deserialize<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
            match self {
                Self::Value(value) => value.$deserialize(visitor).map_err(Error::custom),
                Self::Format(format) => match format.$deserialize(Numbers($name))? {
                    Number::Bool(value) => visitor.visit_bool(value),
                    Number::Unsigned(value) => visitor.visit_u64(value),
                    Number::Signed(value) => visitor.visit_i64(value),
                    Number::Float(value) => visitor.visit_f64(value),
                },
            }
        }
    )+};
}

impl<'de> serde::Deserializer<'de> for Reader<'_, 'de> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Error> {
        not_asked_for()
    }

    numbers! {
        deserialize_bool "a boolean", deserialize_u8 "u8", deserialize_u16 "u16", deserialize_u32 "u32",
        deserialize_u64 "u64", deserialize_i8 "i8", deserialize_i16 "i16", deserialize_i32 "i32",
        deserialize_i64 "i64", deserialize_f32 "f32", deserialize_f64 "f64"
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.read_parts(Kind::Option, visitor, |visitor, parts| match parts {
            Parts::None => visitor.visit_none(),
            Parts::Some(reader) => visitor.visit_some(reader),
            _ => not_asked_for(),
        })
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.read_list(Kind::List, visitor)
    }

    fn deserialize_tuple<V: Visitor<'de>>(self, len: usize, visitor: V) -> Result<V::Value, Error> {
        self.read_list(Kind::Tuple(len), visitor)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.read_list(Kind::Struct(name, fields), visitor)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.read_parts(Kind::Enum(name, variants), visitor, |visitor, parts| match parts {
            Parts::Variant(Name::Number(number)) => visitor.visit_enum(U32Deserializer::new(number)),
            Parts::Variant(Name::Text(text)) => visitor.visit_enum(StringDeserializer::new(text)),
            _ => not_asked_for(),
        })
    }

    fn is_human_readable(&self) -> bool {
        match self {
            Self::Value(_) => true,
            Self::Format(format) => format.is_human_readable(),
        }
    }

    forward_to_deserialize_any! {
        i128 u128 char str string bytes byte_buf unit unit_struct newtype_struct tuple_struct map identifier
        ignored_any
    }
}

impl<'de> SeqAccess<'de> for dyn List<'de> + '_ {
    type Error = Error;

    // Not inlined, so that it is compiled for each type and not for each field.
    #[inline(never)]
    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Error> {
        let (mut seed, mut value) = (Some(seed), None);
        self.next(&mut |reader| {
            value = seed.take().map(|seed| seed.deserialize(reader)).transpose()?;
            Ok(())
        })?;
        Ok(value)
    }
}

impl<'de> List<'de> for std::vec::IntoIter<Value> {
    fn next(&mut self, read: Read<'_, 'de>) -> Result<bool, Error> {
        Iterator::next(self).map_or(Ok(false), |value| read(Reader::Value(value)).map(|()| true))
    }
}

/// The values of a struct in the order of its fields. Other values are ignored if no field is
/// absent: otherwise one of them may be the field's, with its name misspelt.
struct InOrder {
    fields: &'static [&'static str],
    n_read: usize,
    values: Map<String, Value>,
    /// The last field, if it has no value.
    missing: Option<&'static str>,
    is_whole: bool,
}

impl InOrder {
    fn new(fields: &'static [&'static str], values: Map<String, Value>) -> Self {
        Self { fields, n_read: 0, values, missing: None, is_whole: true }
    }

    fn read(mut self, read: ReadParts<'_, '_>) -> Result<(), Error> {
        let fields = read(Parts::List(&mut self));
        fields.map_err(|error| self.missing.map_or(error, Error::missing_field))?;
        match self.values.keys().next() {
            Some(name) if !self.is_whole => Err(Error::unknown_field(name, self.fields)),
            _ => Ok(()),
        }
    }
}

impl<'de> List<'de> for InOrder {
    fn next(&mut self, read: Read<'_, 'de>) -> Result<bool, Error> {
        let Some(&field) = self.fields.get(self.n_read) else { return Ok(false) };
        self.n_read += 1;
        let value = self.values.remove(field);
        self.missing = value.is_none().then_some(field);
        self.is_whole &= value.is_some();
        match value {
            Some(value) => read(Reader::Value(value)).map(|()| true),
            // An option is none, another field has its default, if there is one.
            None => Ok(read(Reader::Value(Value::Null)).is_ok()),
        }
    }
}

/// The visitor of all parts that a format is asked for.
struct Ask<'a, 'de> {
    /// The expected value, for messages.
    expected: String,
    /// The fields of a struct.
    fields: &'static [&'static str],
    read: ReadParts<'a, 'de>,
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
        (self.read)(Parts::Some(Reader::Format(deserializer))).map_err(D::Error::custom)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<(), A::Error> {
        (self.read)(Parts::List(&mut Of(seq))).map_err(A::Error::custom)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let mut values = Map::new();
        while let Some((name, value)) = map.next_entry()? {
            let field = match name {
                Name::Text(field) => field,
                Name::Number(number) => self.fields.get(number as usize).map_or("", |field| field).to_owned(),
            };
            values.insert(field, value);
        }
        InOrder::new(self.fields, values).read(self.read).map_err(A::Error::custom)
    }

    fn visit_enum<A: EnumAccess<'de>>(self, data: A) -> Result<(), A::Error> {
        let (name, content) = data.variant()?;
        content.unit_variant()?;
        (self.read)(Parts::Variant(name)).map_err(A::Error::custom)
    }
}

/// A format's access to the elements of a list.
struct Of<A>(A);

impl<'de, A: SeqAccess<'de>> List<'de> for Of<A> {
    fn next(&mut self, read: Read<'_, 'de>) -> Result<bool, Error> {
        Ok(self.0.next_element_seed(Seed(read)).map_err(Error::custom)?.is_some())
    }
}

/// Has a value read.
struct Seed<'a, 'de>(Read<'a, 'de>);

impl<'de> DeserializeSeed<'de> for Seed<'_, 'de> {
    type Value = ();

    fn deserialize<D: serde::Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        let deserializer = &mut <dyn Deserializer<'_>>::erase(deserializer);
        (self.0)(Reader::Format(deserializer)).map_err(D::Error::custom)
    }
}

/// Accepts nothing: a value is of another type than expected.
struct Other(String);

impl Visitor<'_> for Other {
    type Value = ();

    fn expecting(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A number as a format gives it.
enum Number {
    Bool(bool),
    Unsigned(u64),
    Signed(i64),
    Float(f64),
}

/// The visitor of all numbers, with the name of their type for messages.
struct Numbers(&'static str);

impl Visitor<'_> for Numbers {
    type Value = Number;

    fn expecting(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }

    fn visit_bool<E: serde::de::Error>(self, value: bool) -> Result<Number, E> {
        Ok(Number::Bool(value))
    }

    fn visit_u64<E: serde::de::Error>(self, value: u64) -> Result<Number, E> {
        Ok(Number::Unsigned(value))
    }

    fn visit_i64<E: serde::de::Error>(self, value: i64) -> Result<Number, E> {
        Ok(Number::Signed(value))
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<Number, E> {
        Ok(Number::Float(value))
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

#[cfg(test)]
mod tests;
