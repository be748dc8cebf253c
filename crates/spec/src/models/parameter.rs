//! The parameters of an instance, by their names in files and by their names for readers.

use super::calibration::Calibration;
use super::context::Contexts;
use super::dueling::Arms;
use confidence::Probability;
use serde::{Serialize, Serializer};

/// The parameters of an instance by their names in files.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Parameters {
    /// Name, if the file gives one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Keys and values, in the order in which they are written.
    #[serde(flatten, serialize_with = "as_map")]
    pub values: Vec<(&'static str, Parameter)>,
}

fn as_map<S: Serializer>(values: &[(&'static str, Parameter)], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(values.iter().map(|(key, value)| (key, value)))
}

/// The value of a parameter.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Parameter {
    /// One number for each item or position.
    Numbers(Vec<f64>),
    /// One number.
    Number(f64),
    /// A count.
    Count(usize),
    /// A name.
    Name(String),
    /// The summary from which users were drawn.
    Calibration(Calibration),
    /// One number for each pair of items.
    Matrix(Vec<Vec<f64>>),
    /// Selected items of a matrix.
    Arms(Arms),
    /// Users who differ.
    Context(Contexts),
}

impl Parameter {
    /// The numbers of a list; empty for any other value.
    pub fn numbers(&self) -> &[f64] {
        if let Self::Numbers(numbers) = self { numbers } else { &[] }
    }
}

impl From<&[Probability]> for Parameter {
    fn from(list: &[Probability]) -> Self {
        Self::Numbers(list.iter().map(|probability| probability.get()).collect())
    }
}

impl From<usize> for Parameter {
    fn from(count: usize) -> Self {
        Self::Count(count)
    }
}

impl From<f64> for Parameter {
    fn from(number: f64) -> Self {
        Self::Number(number)
    }
}

impl From<&str> for Parameter {
    fn from(name: &str) -> Self {
        Self::Name(name.to_owned())
    }
}

/// The parameters of an instance, for readers.
#[derive(Debug, Clone, PartialEq)]
pub struct InstanceTable {
    /// The instance's name, or `instance N`.
    pub name: String,
    /// Number of items.
    pub n_items: usize,
    /// Names for readers and values of the parameters, attractions first.
    pub parameters: Vec<(&'static str, Parameter)>,
    /// The list parameters by their names in files. Calibrated users have lists too, although their
    /// file has only the summary.
    pub(super) lists: Vec<(&'static str, Parameter)>,
}

impl InstanceTable {
    /// The numbers of a list parameter, by its name in files.
    pub fn list(&self, key: &str) -> Option<&[f64]> {
        self.lists.iter().find(|(other, _)| *other == key).map(|(_, list)| list.numbers())
    }

    /// Returns whether the users were drawn to match a summary instead of being measured.
    pub fn is_calibrated(&self) -> bool {
        self.parameters.iter().any(|(_, parameter)| matches!(parameter, Parameter::Calibration(_)))
    }
}
