//! Readers that figures and claims of a panel share.

use super::{Panel, Variant};
use experiment::Task;
use experiment::result::{EndValue, Quantity};
use experiment::spec::title_fault;
use experiment::toml_reader::{Error, Field, Table, choice, one_of};
use itertools::Itertools as _;

/// Reads a label, heading or name for readers.
pub(super) fn read_title(field: &Field<'_>) -> Result<String, Error> {
    let title: String = field.get()?;
    title_fault(&title).map_or(Ok(title), |fault| Err(field.error(fault)))
}

/// Reads the tables of `[[key]]`, at least one.
pub(super) fn tables<'doc>(table: &Table<'doc>, key: &str) -> Result<Vec<Table<'doc>>, Error> {
    let Some(field) = table.field(key) else {
        return Err(table.missing(key, &format!("at least one table, written [[{key}]]")));
    };
    let list: Vec<Table<'doc>> = field.get()?;
    if list.is_empty() {
        Err(field.error(format!("none given: expected at least one table, [[{key}]]")))
    } else {
        Ok(list)
    }
}

/// Reads the power of the variants' sizes in a fitted curve. The panel needs at least three variants, each with a size.
pub(crate) fn read_power(table: &Table<'_>, kind: &Field<'_>, panel: &Panel) -> Result<f64, Error> {
    if panel.variants.len() < 3 || panel.variants.iter().any(|variant| variant.size.is_none()) {
        return Err(kind.error(format!(
            "{} needs at least three variants, each with a `size`, the number by which they differ",
            kind.describe()
        )));
    }
    let Some(field) = table.field("power") else { return Ok(1.0) };
    let power: f64 = field.get()?;
    if power != 0.0 && power.abs() <= 10.0 {
        return Ok(power);
    }
    Err(field.error(format!("{} is not a power: expected a number from −10 to 10, not 0", field.describe())))
}

/// Reads the label of a policy that all variants have.
pub(crate) fn read_label(table: &Table<'_>, key: &str, panel: &Panel) -> Result<String, Error> {
    let field: Field<'_> = table.required(key)?;
    let label = read_reference(&field, panel)?;
    let all = panel.series();
    let has =
        |variant: &Variant| all.iter().any(|series| series.variant == variant.name && series.policy == label);
    match panel.variants.iter().find(|variant| !has(variant)) {
        None => Ok(label),
        Some(variant) => Err(field.error(format!("variant {:?} does not have {label:?}", variant.title))),
    }
}

/// Reads the label of a policy of some variant, with which others are compared.
pub(crate) fn read_reference(field: &Field<'_>, panel: &Panel) -> Result<String, Error> {
    let series = panel.series();
    let known: Vec<&str> = series.iter().map(|series| series.policy.as_str()).unique().collect();
    one_of(field, &known, "policy")
}

/// Reads `quantity`, a value of whole runs; `None` for the main value of the task.
pub(crate) fn read_quantity(table: &Table<'_>, panel: &Panel) -> Result<Option<EndValue>, Error> {
    let Some(field) = table.field("quantity") else { return Ok(None) };
    let known: &[Quantity] = match panel.task() {
        Task::Regret if panel.has_duels() => {
            let known = [("regret", EndValue::Regret), ("accuracy", EndValue::Accuracy)];
            return Ok(Some(choice(&field, &known, "quantity")?));
        }
        Task::Regret => return Err(field.error("the panel records regret: leave it out")),
        Task::Identify => &Quantity::ALL,
        Task::Budget => &[Quantity::Observations, Quantity::Wrong],
    };
    let known: Vec<(&str, Quantity)> = known.iter().map(|quantity| (quantity.name(), *quantity)).collect();
    Ok(Some(EndValue::Answer(choice(&field, &known, "quantity")?)))
}
