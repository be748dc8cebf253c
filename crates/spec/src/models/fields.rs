//! Readers that several models share.

use super::Instance;
use super::keys::POSITIONS;
use crate::key::{Key, Part};
use documents::toml_reader::{Error, Field, Table, choice, collect};

/// Reads the instances of tables. Their `model` and `name` have been checked before.
pub(super) fn read_each<M>(
    tables: &[Table<'_>],
    model: impl Fn(&Table<'_>) -> Result<M, Error>,
) -> Result<Vec<Instance<M>>, Error> {
    let read = |table: &Table<'_>| Ok(Instance::new(table.optional("name")?, model(table)?));
    collect(tables.iter().map(read))
}

/// The key `positions`, for models without a parameter for each position.
pub(super) fn read_positions<'doc>(table: &Table<'doc>) -> Result<Part<'doc, usize>, Error> {
    let Part { field, .. } = POSITIONS.read::<Field<'_>>(table)?;
    let value = usize::try_from(field.integer_in(&(0..=u64::from(u32::MAX)))?).unwrap_or(usize::MAX);
    Ok(Part { value, field })
}

/// The name of one of the `known` values; the default one if the key is absent.
pub(super) fn choice_or_default<T: Copy + Default>(
    table: &Table<'_>,
    key: &Key,
    known: &[(&str, T)],
) -> Result<T, Error> {
    table.field(key.name).map_or_else(|| Ok(T::default()), |field| choice(&field, known, key.name))
}

/// The name of one of the `known` values.
pub(super) fn name_of<T: Copy + PartialEq>(known: &[(&'static str, T)], value: T) -> &'static str {
    known.iter().find(|(_, other)| *other == value).map_or("", |(name, _)| name)
}

/// An error of a click model at its place: the items, the positions, or one of the positions.
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
