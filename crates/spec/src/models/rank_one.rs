//! `rank-one`: users click on a cell if its row and its column both succeed.

use super::calibration::Calibration;
use super::fields::{Part, required_list};
use super::keys::SIZE;
use super::{Instance, Instances, LowerBound, Member, Model, Parameter};
use crate::fields::read_size;
use crate::key::Key;
use crate::schema::{integer, list, of_keys, probability};
use click_models::{RankOneModel, TableShape};
use confidence::Probability;
use documents::toml_reader::{Error, Field, FromToml as _, Table, all, collect};
use policies::catalogue::Protocol;

pub(super) static MODEL: Model = Model {
    name: "rank-one",
    protocol: Protocol::RankOne,
    sentence: "A click on a cell occurs if its row and its column both succeed.",
    parameters: &[("rows", "Rows"), ("columns", "Columns"), ("calibrated", "Calibrated, not measured")],
    keys: &[
        Key::required(
            "rows",
            || list(&probability(), "row"),
            "The probability of success of each row.",
            "[0.8, 0.5, 0.4, 0.2]",
        ),
        Key::required(
            "columns",
            || list(&probability(), "column"),
            "The probability of success of each column.",
            "[0.9, 0.5, 0.3]",
        ),
        Key::required(
            "needle",
            || of_keys(NEEDLE),
            "One row and one column that are better than all others, which are equal.",
            "{ rows = 32, columns = 32, base = 0.25, gap = 0.5 }",
        )
        .in_place_of(&["rows", "columns"]),
        Key::required(
            "calibrated",
            || of_keys(CALIBRATED),
            "Rows and columns drawn to match a printed summary of users that were not published.",
            "{ items = 50, positions = 10, mu = 0.13, p_max = 0.85, seed = 1 }",
        )
        .in_place_of(&["rows", "columns"]),
    ],
    first_choices: &["uts", "rank1-gibbs"],
    names_best_items: false,
    read: |tables, _| {
        let list: Vec<Instance<RankOneModel>> = collect(tables.iter().map(read))?;
        Ok(Instances::from_users(list))
    },
    of_queries: Some(|queries| Ok(Instances::named(queries.each(RankOneModel::new)?))),
    of_posterior: None,
};

/// The keys of `needle`.
const NEEDLE: &[Key] = &[
    Key::required("rows", SIZE, "The number of rows.", "32"),
    Key::required("columns", SIZE, "The number of columns.", "32"),
    Key::required("base", probability, "The probability of every row and column except the best.", "0.25"),
    Key::required("gap", probability, "By how much the first row and the first column exceed it.", "0.5"),
];

/// The keys of `calibrated`.
const CALIBRATED: &[Key] = &[
    Key::required("items", SIZE, "The number of rows.", "50"),
    Key::required("positions", SIZE, "The number of columns.", "10"),
    Key::required("mu", probability, "The mean probability of the rows.", "0.13"),
    Key::required("p_max", probability, "The largest probability.", "0.85"),
    Key::required("seed", || integer(&(0..=u64::MAX)), "The seed of the draw.", "1"),
];

impl Member for RankOneModel {
    const MODEL: &'static Model = &MODEL;
    const LOWER_BOUND: Option<LowerBound<Self>> = Some(("lower bound (rank-one bandits)", Self::lower_bound));

    fn parameters(instance: &Instance<Self>) -> Vec<(&'static str, Parameter)> {
        match instance.calibration {
            Some(calibration) => vec![("calibrated", Parameter::Calibration(calibration))],
            None => Self::lists(instance),
        }
    }

    fn lists(instance: &Instance<Self>) -> Vec<(&'static str, Parameter)> {
        let users = &instance.model;
        vec![("rows", Parameter::of(users.rows())), ("columns", Parameter::of(users.columns()))]
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
    let (needle, calibrated) = (table.field("needle"), table.field("calibrated"));
    let (kind, field) = match (&needle, &calibrated) {
        (Some(field), _) => ("needle", field),
        (None, Some(field)) => ("calibrated", field),
        (None, None) => return Ok(Instance::new(name, read_sides(table)?)),
    };
    for key in ["rows", "columns", "calibrated"] {
        if let Some(other) = table.field(key).filter(|_| key != kind) {
            let message = format!("`{kind}` already gives the rows and columns: expected one or the other");
            return Err(other.error(message));
        }
    }
    table.finish()?;
    if kind == "needle" {
        return Ok(Instance::new(name, read_needle(field)?));
    }
    let (calibration, model) = Calibration::read(field)?;
    Ok(Instance { calibration: Some(calibration), ..Instance::new(name, model) })
}

fn read_sides(table: &Table<'_>) -> Result<RankOneModel, Error> {
    let (rows, columns, ()) = all((
        required_list(table, "rows", "row"),
        required_list(table, "columns", "column"),
        table.finish(),
    ))?;
    RankOneModel::new(rows.value, columns.value).map_err(|error| {
        let no_rows = matches!(error, click_models::Error::NoCells { n_rows: 0, .. });
        if no_rows { &rows.field } else { &columns.field }.error(error.to_string())
    })
}

/// Reads `needle`, which saves a file from listing hundreds of equal numbers: the numbers of rows
/// and columns, the probability `base` of each, and the `gap` by which the first row and the first
/// column exceed it.
fn read_needle(field: &Field<'_>) -> Result<RankOneModel, Error> {
    let table: Table<'_> = field.get()?;
    let (rows, columns, base, gap, ()) = all((
        read_size(&table, "rows"),
        read_size(&table, "columns"),
        table.required::<Probability>("base"),
        Part::<Probability>::required(&table, "gap", &Probability::expected()),
        table.finish(),
    ))?;
    let (base, above, gap) = (base.get(), gap.value.get(), gap.field);
    let shape = TableShape::new(rows, columns).map_err(|error| field.error(error.to_string()))?;
    RankOneModel::needle(shape, (base, above), (base, above))
        .map_err(|_| gap.error(format!("{base} + {above} is not a probability: expected at most 1 together")))
}
