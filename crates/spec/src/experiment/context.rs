//! The inputs of an experiment besides its file: data, a preference matrix, the command line.

use super::Overrides;
use crate::models::{Instances, MODELS, MatrixFile, Model};
use crate::queries::Queries;
use crate::schema::names;
use documents::toml_reader::{Error, Field, words};
use std::sync::Arc;

/// The inputs of an experiment besides its file.
#[derive(Debug, Clone, Copy, Default)]
pub struct SpecContext<'a> {
    /// The meaning of `instances = "data"`.
    pub queries: DataInstances<'a>,
    /// Whether the queries also replace instances that panels share.
    pub replace_shared: bool,
    /// A matrix that replaces every preference matrix from a file.
    pub matrix: Option<&'a Arc<MatrixFile>>,
    /// Values of the command line. They replace values of the file, which are then not read.
    pub overrides: Overrides,
}

/// The meaning of `instances = "data"`.
#[derive(Debug, Clone, Copy, Default)]
pub enum DataInstances<'a> {
    /// An error: the file has to list its users.
    #[default]
    Refused,
    /// Queries that are missing. The experiment can be read, but not run.
    Awaited,
    /// These queries.
    Known(&'a Queries),
}

impl DataInstances<'_> {
    /// The users of an experiment with `instances = "data"` in this field; `model` is their model.
    pub(crate) fn instances(self, field: &Field<'_>, model: Option<&Model>) -> Result<Instances, Error> {
        let none = Queries::default();
        let queries = match self {
            DataInstances::Refused => {
                return Err(field.error(
                    "only `reproduce` takes data, for a panel of an experiment: expected tables, [[instances]]",
                ));
            }
            DataInstances::Awaited => &none,
            DataInstances::Known(queries) => queries,
        };
        if let Some(users) = model.and_then(|model| model.of_queries) {
            return users(queries);
        }
        let able = MODELS.iter().filter(|model| model.of_queries.is_some()).map(|model| model.name);
        let able = words(&names(&able.collect::<Vec<_>>()));
        Err(field.error(format!(
            "data have attraction and examination probabilities: expected model = {able} beside it"
        )))
    }
}
