//! The parameters of users, by their names in files and as readers see them.

use super::calibration::Calibration;
use super::dueling::Arms;
use confidence::Probability;
use serde::{Serialize, Serializer};

/// The parameters of one kind of user by their names in files.
#[derive(Debug, Clone, PartialEq)]
pub struct Parameters {
    /// Name, when the file gives one.
    pub name: Option<String>,
    /// Keys and values, in the order in which they are written.
    pub values: Vec<(&'static str, Parameter)>,
}

/// What a parameter of a model is.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Parameter {
    /// One number an item or a position.
    Numbers(Vec<f64>),
    /// How many.
    Count(usize),
    /// One of several names.
    Name(String),
    /// What was drawn instead of being measured.
    Calibration(Calibration),
    /// A number a pair of items.
    Matrix(Vec<Vec<f64>>),
    /// Which items of a matrix.
    Arms(Arms),
}

impl Parameter {
    pub(super) fn of(list: &[Probability]) -> Self {
        Self::Numbers(list.iter().map(|probability| probability.get()).collect())
    }

    /// The numbers of a list; none of anything else.
    pub fn numbers(&self) -> &[f64] {
        match self {
            Self::Numbers(numbers) => numbers,
            Self::Count(_) | Self::Name(_) | Self::Calibration(_) | Self::Matrix(_) | Self::Arms(_) => &[],
        }
    }
}

/// The parameters of one kind of user, for readers.
#[derive(Debug, Clone, PartialEq)]
pub struct InstanceTable {
    /// The instance's name, or its number.
    pub name: String,
    /// How many items there are to choose from.
    pub n_items: usize,
    /// What each parameter is, and its value: the attractions first.
    pub parameters: Vec<(&'static str, Parameter)>,
    /// Those that are lists, by their names in files; also where the file gives only what they are drawn to.
    pub(super) lists: Vec<(&'static str, Parameter)>,
}

impl InstanceTable {
    /// The numbers of a parameter that is a list, by its name in files.
    pub fn list(&self, key: &str) -> Option<&[f64]> {
        self.lists.iter().find(|(other, _)| *other == key).map(|(_, list)| list.numbers())
    }

    /// Whether it was drawn to a summary instead of being measured.
    pub fn is_calibrated(&self) -> bool {
        self.parameters.iter().any(|(_, parameter)| matches!(parameter, Parameter::Calibration(_)))
    }
}

/// Name, if there is one, and parameters of an instance, in one map.
pub(crate) struct CanonicalInstance(pub(crate) Parameters);

impl Serialize for CanonicalInstance {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeMap as _;
        let Self(Parameters { name, values }) = self;
        let mut map = serializer.serialize_map(None)?;
        if let Some(name) = name {
            map.serialize_entry("name", name)?;
        }
        for (key, value) in values {
            map.serialize_entry(key, value)?;
        }
        map.end()
    }
}
