//! `rank-one`: users click on a cell if its row and its column both succeed.

use super::calibration::Calibration;
use super::{Instance, Instances, LowerBound, Member, Model, Parameter};
use crate::fields::LONGEST_LIST;
use crate::key::Key;
use crate::schema::{list, probability};
use click_models::{RankOneModel, TableShape};
use documents::toml_reader::{Error, Field, Table, all, collect, schema};
use policies::catalogue::Protocol;
use schemars::JsonSchema;
use serde::Deserialize;

pub(super) static MODEL: Model = Model {
    name: "rank-one",
    protocol: Protocol::RankOne,
    sentence: "A click on a cell occurs if its row and its column both succeed.",
    keys: &[ROWS, COLUMNS, NEEDLE, CALIBRATED],
    first_choices: &["uts", "rank1-gibbs"],
    names_best_items: false,
    read: |tables, _| {
        let list: Vec<Instance<RankOneModel>> = collect(tables.iter().map(read))?;
        Ok(Instances::from_users(list))
    },
    of_queries: Some(|queries| Ok(Instances::named(queries.each(RankOneModel::new)?))),
    of_posterior: None,
};

const ROWS: Key = Key::required(
    "rows",
    || list(&probability(), "row"),
    "The probability of success of each row.",
    "[0.8, 0.5, 0.4, 0.2]",
)
.called("Rows");

const COLUMNS: Key = Key::required(
    "columns",
    || list(&probability(), "column"),
    "The probability of success of each column.",
    "[0.9, 0.5, 0.3]",
)
.called("Columns");

const NEEDLE: Key = Key::required(
    "needle",
    schema::<Needle>,
    "One row and one column that are better than all others, which are equal.",
    "{ rows = 32, columns = 32, base = 0.25, gap = 0.5 }",
)
.in_place_of(&[ROWS.name, COLUMNS.name]);

const CALIBRATED: Key = Key::required(
    "calibrated",
    schema::<Calibration>,
    "Rows and columns drawn to match a printed summary of users that were not published.",
    "{ items = 50, positions = 10, mu = 0.13, p_max = 0.85, seed = 1 }",
)
.in_place_of(&[ROWS.name, COLUMNS.name])
.called("Calibrated, not measured");

/// Equal rows and columns but for one of each, which saves a file from listing hundreds of equal
/// numbers.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Needle {
    /// The number of rows.
    #[schemars(range(min = 1, max = LONGEST_LIST), example = 32)]
    rows: usize,
    /// The number of columns.
    #[schemars(range(min = 1, max = LONGEST_LIST), example = 32)]
    columns: usize,
    /// The probability of every row and column except the best.
    #[schemars(range(min = 0, max = 1), example = 0.25)]
    base: f64,
    /// By how much the first row and the first column exceed it.
    #[schemars(range(min = 0, max = 1), example = 0.5)]
    gap: f64,
}

impl Member for RankOneModel {
    const MODEL: &'static Model = &MODEL;
    const LOWER_BOUND: Option<LowerBound<Self>> =
        Some(("lower bound (UTS paper, Proposition 1)", Self::lower_bound));

    fn parameters(instance: &Instance<Self>) -> Vec<(&'static str, Parameter)> {
        match instance.calibration {
            Some(calibration) => vec![CALIBRATED.with(Parameter::Calibration(calibration))],
            None => Self::lists(instance),
        }
    }

    fn lists(instance: &Instance<Self>) -> Vec<(&'static str, Parameter)> {
        let users = &instance.model;
        vec![ROWS.with(users.rows()), COLUMNS.with(users.columns())]
    }

    fn n_items(&self) -> usize {
        self.shape().n_rows()
    }

    fn n_cells(&self) -> Option<usize> {
        Some(self.shape().n_cells())
    }
}

/// Reads an instance: rows and columns as lists, as a needle, or drawn to match a summary.
fn read(table: &Table<'_>) -> Result<Instance<RankOneModel>, Error> {
    let name = table.optional("name")?;
    let given = [NEEDLE, CALIBRATED].into_iter().find_map(|key| Some((key.name, table.field(key.name)?)));
    let Some((kind, field)) = given else { return Ok(Instance::new(name, read_sides(table)?)) };
    for key in [ROWS.name, COLUMNS.name, CALIBRATED.name] {
        if let Some(other) = table.field(key).filter(|_| key != kind) {
            let message = format!("`{kind}` already gives the rows and columns: expected one or the other");
            return Err(other.error(message));
        }
    }
    table.finish()?;
    if kind == NEEDLE.name {
        return Ok(Instance::new(name, read_needle(&field)?));
    }
    let calibration: Calibration = field.build()?;
    let model = calibration.users().map_err(|fault| field.error(fault))?;
    Ok(Instance { calibration: Some(calibration), ..Instance::new(name, model) })
}

fn read_sides(table: &Table<'_>) -> Result<RankOneModel, Error> {
    let parts = (ROWS.read::<Vec<_>>(table), COLUMNS.read::<Vec<_>>(table), table.finish());
    let (rows, columns, ()) = all(parts)?;
    RankOneModel::new(rows.value, columns.value).map_err(|error| {
        let no_rows = matches!(error, click_models::Error::NoCells { n_rows: 0, .. });
        if no_rows { &rows.field } else { &columns.field }.error(error.to_string())
    })
}

fn read_needle(field: &Field<'_>) -> Result<RankOneModel, Error> {
    let Needle { rows, columns, base, gap } = field.build()?;
    let shape = TableShape::new(rows, columns).map_err(|error| field.error(error.to_string()))?;
    RankOneModel::needle(shape, (base, gap), (base, gap)).map_err(|_| {
        let fault = format!("{base} + {gap} is not a probability: expected at most 1 together");
        field
            .get::<Table<'_>>()
            .ok()
            .and_then(|table| table.field("gap"))
            .unwrap_or(field.clone())
            .error(fault)
    })
}
