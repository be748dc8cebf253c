//! What an experiment is given besides its file.

use super::Overrides;
use crate::models::{Instances, MODELS, MatrixFile, Model};
use crate::queries::Queries;
use crate::toml_reader::{Error, Field};
use std::sync::Arc;

/// What an experiment is given besides its file.
#[derive(Debug, Clone, Copy, Default)]
pub struct SpecContext<'a> {
    /// What `instances = "data"` stands for.
    pub queries: DataInstances<'a>,
    /// Whether the queries also stand for instances that panels share.
    pub replace_shared: bool,
    /// What stands for every preference matrix from a file.
    pub matrix: Option<&'a Arc<MatrixFile>>,
    /// What the command line says in the place of the file, whose value is not looked at then.
    pub overrides: Overrides,
}

/// What `instances = "data"` stands for.
#[derive(Debug, Clone, Copy, Default)]
pub enum DataInstances<'a> {
    /// Nothing: a spec says itself what its users are.
    #[default]
    Refused,
    /// Queries that are not given: what is read with them is never run.
    Awaited,
    /// These queries.
    Known(&'a Queries),
}

impl DataInstances<'_> {
    /// The users of an experiment that says `instances = "data"` in this field; `model` is how they are read.
    pub(crate) fn instances(self, field: &Field<'_>, model: Option<&Model>) -> Result<Instances, Error> {
        let none = Queries::default();
        let queries = match self {
            DataInstances::Refused => {
                return Err(field.error(
                    "data are given to `reproduce`, for a panel of an experiment: expected tables, [[instances]]",
                ));
            }
            DataInstances::Awaited => &none,
            DataInstances::Known(queries) => queries,
        };
        model.and_then(|model| model.of_queries(queries)).unwrap_or_else(|| {
            let able = MODELS.iter().filter(|model| model.takes_queries());
            let able: Vec<String> = able.map(|model| format!("{:?}", model.name())).collect();
            let (last, others) = able.split_last().map_or(("", &[][..]), |(last, others)| (last, others));
            Err(field.error(format!(
                "data are attractions and examination: expected model = {} or {last} beside it",
                others.join(", ")
            )))
        })
    }
}
