//! Readers that several models share.

use super::keys::{POSITIONS, VALUES};
use super::{Instance, Member};
use crate::key::{Key, Part};
use click_models::value::log_normal;
use documents::toml_reader::{Error, Field, InFiles, Table, all, collect};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use sim::Streams;

/// Reads the instances of tables, with the values of their items if the model has some. Their
/// `model` and `name` have been checked before.
pub(super) fn read_each<M: Member>(
    tables: &[Table<'_>],
    model: impl Fn(&Table<'_>) -> Result<M, Error>,
) -> Result<Vec<Instance<M>>, Error> {
    let read = |table: &Table<'_>| {
        let name = table.optional("name")?;
        let given = M::WITH_VALUES.and_then(|with_values| Some((with_values, table.field(VALUES.name)?)));
        let Some((with_values, field)) = given else { return Ok(Instance::new(name, model(table)?)) };
        let is_table = field.get::<Table<'_>>().is_ok();
        let values = if is_table { field.build().map(Err) } else { field.get::<Vec<f64>>().map(Ok) };
        let (users, values) = all((model(table), values))?;
        let draw = |of: LogNormal| {
            log_normal(of.log_normal, users.n_items(), &mut Streams::new(of.seed).instance(0))
        };
        let values = values.unwrap_or_else(draw);
        let users = with_values(users, &values).map_err(|error| at_fault(&error, &field, &field))?;
        Ok(Instance::new(name, users))
    };
    collect(tables.iter().map(read))
}

/// The key `positions`, for models without a parameter for each position.
pub(super) fn read_positions<'doc>(table: &Table<'doc>) -> Result<Part<'doc, usize>, Error> {
    let Part { field, .. } = POSITIONS.read::<Field<'_>>(table)?;
    let value = usize::try_from(field.integer_in(&(0..=u64::from(u32::MAX)))?).unwrap_or(usize::MAX);
    Ok(Part { value, field })
}

/// Values of items that are drawn.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct LogNormal {
    /// The standard deviation of the logarithm of a value; the median is 1.
    #[schemars(range(min = 0, max = 2), example = 0.8)]
    log_normal: f64,
    /// The seed of the draw.
    #[schemars(example = 1)]
    seed: u64,
}

/// A word for a `T`; the default one if the key is absent.
pub(super) fn word_or_default<T: InFiles + Default>(table: &Table<'_>, key: &Key) -> Result<T, Error> {
    table.field(key.name).map_or_else(|| Ok(T::default()), |field| field.build())
}

/// The word for a value.
pub(super) fn name_of(value: impl Serialize) -> String {
    json!(value).as_str().unwrap_or_default().to_owned()
}

/// An error of a click model at its place: the items, the positions, or one of the positions.
pub(super) fn at_fault(error: &click_models::Error, items: &Field<'_>, positions: &Field<'_>) -> Error {
    use click_models::Error as Fault;
    let entry = match error {
        Fault::NoItems | Fault::TooManyItems(_) => return items.error(error.to_string()),
        Fault::ExaminationRises { position, .. } | Fault::WeightsRise { position, .. } => Some(*position),
        Fault::NotAWeight { index, .. } | Fault::NotAValue { index, .. } => Some(*index),
        _ => None,
    };
    let entries: Vec<Field<'_>> = positions.get().unwrap_or_default();
    entry.and_then(|index| entries.get(index)).unwrap_or(positions).error(error.to_string())
}
