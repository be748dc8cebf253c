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

/// The next value of a format, which is read by its type.
pub(super) struct Reader<'a, 'de>(pub(super) &'a mut dyn Deserializer<'de>);

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
    Variant(Scalar),
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
        let fields = if let Kind::Struct(_, fields) = kind { fields } else { &[] };
        let visitor = PartsVisitor { expected, fields, read };
        match kind {
            Kind::Option => self.0.deserialize_option(visitor),
            Kind::List => self.0.deserialize_seq(visitor),
            Kind::Tuple(len) => self.0.deserialize_tuple(len, visitor),
            Kind::Struct(name, fields) => self.0.deserialize_struct(name, fields, visitor),
            Kind::Enum(name, variants) => self.0.deserialize_enum(name, variants, visitor),
        }
    }
}

fn not_asked_for<T>() -> Result<T, Error> {
    Err(Error::custom("a policy has no such values"))
}

/// Reads numbers as the format does.
macro_rules! numbers {
    ($($deserialize:ident),+) => {$(
        fn $deserialize<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
            match self.0.$deserialize(ScalarVisitor(&visitor))? {
                Scalar::Bool(value) => visitor.visit_bool(value),
                Scalar::Unsigned(value) => visitor.visit_u64(value),
                Scalar::Signed(value) => visitor.visit_i64(value),
                Scalar::Float(value) => visitor.visit_f64(value),
                Scalar::Text(value) => visitor.visit_string(value),
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
        deserialize_bool, deserialize_u8, deserialize_u16, deserialize_u32, deserialize_u64, deserialize_i8,
        deserialize_i16, deserialize_i32, deserialize_i64, deserialize_f32, deserialize_f64
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
            Parts::Variant(Scalar::Text(text)) => visitor.visit_enum(StringDeserializer::new(text)),
            Parts::Variant(Scalar::Unsigned(number)) => {
                visitor.visit_enum(U32Deserializer::new(u32::try_from(number).unwrap_or(u32::MAX)))
            }
            _ => not_asked_for(),
        })
    }

    fn is_human_readable(&self) -> bool {
        self.0.is_human_readable()
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
        let is_there = value.is_some();
        self.missing = (!is_there).then_some(field);
        self.is_whole &= is_there;
        let found = read(Reader(&mut <dyn Deserializer<'_>>::erase(value.unwrap_or_default())));
        // An option is none, another field has its default, if there is one.
        if is_there { found.map(|()| true) } else { Ok(found.is_ok()) }
    }
}

/// The visitor of all parts that a format is asked for.
struct PartsVisitor<'a, 'de> {
    /// The expected value, for messages.
    expected: String,
    /// The fields of a struct.
    fields: &'static [&'static str],
    read: ReadParts<'a, 'de>,
}

impl<'de> Visitor<'de> for PartsVisitor<'_, 'de> {
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
        (self.read)(Parts::List(&mut Elements(seq))).map_err(A::Error::custom)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let (fields, mut values) = (self.fields, Map::new());
        while let Some((name, value)) = map.next_entry()? {
            let field = match name {
                Scalar::Text(field) => field,
                Scalar::Unsigned(number) => {
                    let field = usize::try_from(number).ok().and_then(|number| fields.get(number));
                    field.map_or("", |field| field).to_owned()
                }
                _ => String::new(),
            };
            values.insert(field, value);
        }
        let values = InOrder { fields, n_read: 0, values, missing: None, is_whole: true };
        values.read(self.read).map_err(A::Error::custom)
    }

    fn visit_enum<A: EnumAccess<'de>>(self, data: A) -> Result<(), A::Error> {
        let (name, content) = data.variant()?;
        content.unit_variant()?;
        (self.read)(Parts::Variant(name)).map_err(A::Error::custom)
    }
}

/// A format's access to the elements of a list.
struct Elements<A>(A);

impl<'de, A: SeqAccess<'de>> List<'de> for Elements<A> {
    fn next(&mut self, read: Read<'_, 'de>) -> Result<bool, Error> {
        Ok(self.0.next_element_seed(ElementSeed(read)).map_err(Error::custom)?.is_some())
    }
}

/// Has a value read.
struct ElementSeed<'a, 'de>(Read<'a, 'de>);

impl<'de> DeserializeSeed<'de> for ElementSeed<'_, 'de> {
    type Value = ();

    fn deserialize<D: serde::Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        let deserializer = &mut <dyn Deserializer<'_>>::erase(deserializer);
        (self.0)(Reader(deserializer)).map_err(D::Error::custom)
    }
}

/// A number as a format gives it, or the name or number of a field or variant.
pub(super) enum Scalar {
    Bool(bool),
    Unsigned(u64),
    Signed(i64),
    Float(f64),
    Text(String),
}

/// The visitor of all scalars, with the expected one for messages.
struct ScalarVisitor<'a>(&'a dyn Expected);

impl Visitor<'_> for ScalarVisitor<'_> {
    type Value = Scalar;

    fn expecting(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Scalar, E> {
        Ok(Scalar::Bool(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Scalar, E> {
        Ok(Scalar::Unsigned(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Scalar, E> {
        Ok(Scalar::Signed(value))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Scalar, E> {
        Ok(Scalar::Float(value))
    }

    fn visit_str<E>(self, value: &str) -> Result<Scalar, E> {
        Ok(Scalar::Text(value.to_owned()))
    }

    fn visit_bytes<E>(self, value: &[u8]) -> Result<Scalar, E> {
        Ok(Scalar::Text(String::from_utf8_lossy(value).into_owned()))
    }
}

/// Reads the name or number of a field or variant.
impl<'de> Deserialize<'de> for Scalar {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_identifier(ScalarVisitor(&"a name or its number"))
    }
}

#[cfg(test)]
mod tests;
