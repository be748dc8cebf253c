//! Names in small forms: those that come again and again by number, and UUIDs by their bytes.

use crate::event::Name;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::sync::Arc;
use uuid::Uuid;

/// Names by number, in the order in which they were first used.
#[derive(Debug, Clone, Default)]
pub(crate) struct Names {
    numbers: HashMap<Name, u32>,
    /// Readers of rows have those of then, and keep the writer waiting no longer.
    names: Arc<Vec<Name>>,
}

impl Names {
    /// The number of a name, which is a new one if the name is new.
    pub(crate) fn intern(&mut self, name: &Name) -> u32 {
        if let Some(number) = self.find(name) {
            return number;
        }
        let number = u32::try_from(self.names.len()).expect("names are fewer than 2^32");
        self.numbers.insert(name.clone(), number);
        Arc::make_mut(&mut self.names).push(name.clone());
        number
    }

    pub(crate) fn find(&self, name: &Name) -> Option<u32> {
        self.numbers.get(name).copied()
    }

    pub(crate) fn get(&self, number: u32) -> Option<&Name> {
        self.names.get(usize::try_from(number).ok()?)
    }

    /// All of them, by number.
    pub(crate) fn all(&self) -> Arc<Vec<Name>> {
        self.names.clone()
    }

    pub(crate) fn len(&self) -> usize {
        self.names.len()
    }

    /// The names with these numbers and later ones, in order.
    pub(crate) fn since(&self, number: usize) -> &[Name] {
        &self.names[number.min(self.names.len())..]
    }

    /// Forgets the names with this number and later ones.
    pub(crate) fn truncate(&mut self, length: usize) {
        if length < self.names.len() {
            for name in Arc::make_mut(&mut self.names).drain(length..) {
                self.numbers.remove(&name);
            }
        }
    }
}

/// A name of which there are many, each once: that of a decision or a user.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) enum SmallName {
    /// A UUID in lower case with hyphens.
    Uuid([u8; 16]),
    Text(Name),
}

impl From<&Name> for SmallName {
    fn from(name: &Name) -> Self {
        // A UUID may be written in other ways, whose text would be lost.
        let is_usual = |uuid: &Uuid| *uuid.as_hyphenated().encode_lower(&mut Uuid::encode_buffer()) == **name;
        let uuid = Uuid::try_parse(name).ok().filter(is_usual);
        uuid.map_or_else(|| Self::Text(name.clone()), |uuid| Self::Uuid(uuid.into_bytes()))
    }
}

impl From<&SmallName> for Name {
    fn from(small: &SmallName) -> Self {
        match small {
            SmallName::Uuid(bytes) => {
                let mut text = Uuid::encode_buffer();
                Self::new(Uuid::from_bytes(*bytes).as_hyphenated().encode_lower(&mut text))
                    .expect("a UUID is a name")
            }
            SmallName::Text(name) => name.clone(),
        }
    }
}
