//! One parameter of the instances, sorted from the largest to the smallest number: one line for each instance.

use super::{Kind, Plot, PolicyStyles, Reading, Shown};
use crate::axis::{Axis, Scale};
use crate::reproduction::Panel;
use crate::schema::{Keys, scale};
use crate::svg::{self, Chart, Curve, CurveStyle};
use anyhow::Result;
use experiment::models::{InstanceTable, for_readers};
use experiment::schema;
use experiment::toml_reader::{Error, Table, choice};
use itertools::Itertools as _;
use std::sync::Arc;

pub(super) static KIND: Kind = Kind {
    name: "parameters",
    shows: "one parameter of the users, its numbers from the largest to the smallest; a line an instance",
    is_wide: false,
    needs: &[],
    schema: || {
        let lists = schema::choice(&experiment::models::lists().map(|name| (name, "")).collect::<Vec<_>>());
        Keys::required([("parameter", lists)]).optional([("scale", scale())])
    },
    read: |reading| Ok(Arc::new(read(reading)?)),
};

/// Up to this number of ranks, every rank is a category with a marker.
const FEW: usize = 20;

/// One parameter of every instance, sorted.
#[derive(Debug, Clone, PartialEq)]
pub struct Parameters {
    /// The parameter's name for readers.
    pub parameter: &'static str,
    /// The name of each instance, and its numbers. They are stored here because results do not have them.
    pub numbers: Vec<(String, Vec<f64>)>,
    /// The scale of the horizontal axis.
    pub scale: Scale,
}

fn read(reading: &Reading<'_, '_>) -> Result<Parameters, Error> {
    let scale = reading.scale("scale")?.unwrap_or(Scale::Linear);
    let key = read_parameter(reading.table, reading.panel)?;
    let numbers = |one: InstanceTable| one.list(key).map(|list| (one.name.clone(), list.to_vec()));
    let numbers = reading.panel.instances().into_iter().filter_map(numbers).collect();
    Ok(Parameters { parameter: for_readers(key), numbers, scale })
}

/// Reads the name in files of a list parameter that some instance has.
fn read_parameter(table: &Table<'_>, panel: &Panel) -> Result<&'static str, Error> {
    let lists = panel.variants.iter().flat_map(|variant| variant.experiment.instances().lists());
    let known: Vec<(&str, &'static str)> = lists.map(|key| (key, key)).unique().collect();
    let field = table.field("parameter").ok_or_else(|| {
        let names = known.iter().map(|(name, _)| format!("{name:?}")).join(", ");
        table.missing("parameter", &format!("one of {names}"))
    })?;
    choice(&field, &known, "parameter")
}

impl Plot for Parameters {
    fn kind(&self) -> &'static Kind {
        &KIND
    }

    fn draw(&self, title: Option<&str>, _: Shown<'_>, _: &PolicyStyles) -> Result<Option<String>> {
        svg::render(&chart(self, title)).map(Some)
    }
}

pub(super) fn chart(figure: &Parameters, title: Option<&str>) -> Chart {
    let longest = figure.numbers.iter().map(|(_, numbers)| numbers.len()).max().unwrap_or(0);
    let named = figure.scale == Scale::Linear && longest <= FEW;
    // Categories count from zero, ranks from one.
    let first = if named { 0.0 } else { 1.0 };
    let curve = |(number, (name, numbers)): (usize, &(String, Vec<f64>))| {
        let mut sorted: Vec<f64> = numbers.iter().copied().filter(|value| value.is_finite()).collect();
        sorted.sort_by(|a, b| b.total_cmp(a));
        let points = sorted.into_iter().enumerate().map(|(rank, value)| (first + rank as f64, value));
        Curve::line(name.clone(), CurveStyle::Policy(number), points.collect())
    };
    let curves: Vec<Curve> = figure.numbers.iter().enumerate().map(curve).collect();
    let values = || curves.iter().flat_map(|curve| curve.points.iter().map(|point| point.1));
    Chart {
        title: title.map_or_else(|| format!("{}, sorted", figure.parameter), str::to_owned),
        subtitle: "the numbers of each instance, from the largest to the smallest".to_owned(),
        x: match figure.scale {
            Scale::Linear if named => Axis::new(Scale::Linear, -0.5, longest as f64 - 0.5),
            Scale::Linear => Axis::new(Scale::Linear, 0.0, longest as f64),
            Scale::Log => Axis::new(Scale::Log, 1.0, longest as f64),
        },
        summary: String::new(),
        x_label: "rank".to_owned(),
        y: Axis::rounded(values().fold(0.0, f64::min), values().fold(0.0, f64::max)),
        y_label: figure.parameter.to_owned(),
        categories: if named { (1..=longest).map(|rank| rank.to_string()).collect() } else { Vec::new() },
        curves,
    }
}
