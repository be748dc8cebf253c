//! Readers that several models share.

use super::Instance;
use crate::toml_reader::{Error, Field, Table};
use confidence::Probability;

/// Reads the instances of tables. Their `model` and `name` have been checked before.
pub(super) fn read_each<M>(
    tables: &[Table<'_>],
    model: impl Fn(&Table<'_>) -> Result<M, Error>,
) -> Result<Vec<Instance<M>>, Error> {
    let read = |table: &Table<'_>| Ok(Instance::new(table.optional("name")?, model(table)?));
    tables.iter().map(read).collect()
}

/// The field of an array of probabilities, one for each item, position or the like (`each`).
pub(super) fn required_list<'doc>(table: &Table<'doc>, key: &str, each: &str) -> Result<Field<'doc>, Error> {
    table
        .field(key)
        .ok_or_else(|| table.missing(key, &format!("an array of probabilities, one for each {each}")))
}

/// One probability; `of` says of what.
pub(super) fn probability(table: &Table<'_>, key: &str, of: &str) -> Result<Probability, Error> {
    let field = table.field(key).ok_or_else(|| table.missing(key, &format!("the probability {of}")))?;
    field.get()
}

/// The number of positions of a list, with its field.
pub(super) struct Positions<'doc> {
    pub(super) value: usize,
    pub(super) field: Field<'doc>,
}

/// The key `positions`, for models without a parameter for each position.
pub(super) fn required_positions<'doc>(table: &Table<'doc>) -> Result<Positions<'doc>, Error> {
    let field: Field<'_> = table
        .field("positions")
        .ok_or_else(|| table.missing("positions", "the number of positions of a list"))?;
    let value = usize::try_from(field.integer_in(&(0..=u64::from(u32::MAX)))?).unwrap_or(usize::MAX);
    Ok(Positions { value, field })
}

/// An error of a click model at its place: in the field of the items, of the positions, or in a list with one entry for each item.
pub(super) fn at_field(
    error: &click_models::Error,
    items: &Field<'_>,
    positions: &Field<'_>,
    of_each_item: &Field<'_>,
) -> Error {
    match error {
        click_models::Error::OneForEachItem { .. } => of_each_item.error(error.to_string()),
        _ => at_fault(error, items, positions),
    }
}

/// An error of a click model at its place: in the field of the items, of the positions, or at one entry of the latter.
pub(super) fn at_fault(error: &click_models::Error, items: &Field<'_>, positions: &Field<'_>) -> Error {
    use click_models::Error as Fault;
    let entry = match error {
        Fault::NoItems | Fault::TooManyItems(_) => return items.error(error.to_string()),
        Fault::ExaminationRises { position, .. } | Fault::WeightsRise { position, .. } => Some(*position),
        Fault::NotAWeight { index, .. } => Some(*index),
        _ => None,
    };
    let entries: Vec<Field<'_>> = positions.get().unwrap_or_default();
    entry.and_then(|index| entries.get(index)).unwrap_or(positions).error(error.to_string())
}
