//! One parameter of the instances, sorted from the largest to the smallest number: one line for
//! each instance.

use super::{FigureData, Kind, Plot, PolicyStyles};
use crate::axis::{Axis, Scale};
use crate::keys::required;
use crate::reading::KindReader;
use crate::svg::{self, Chart, Curve, CurveStyle};
use documents::toml_reader::{Error, choice};
use itertools::Itertools as _;
use spec::models::{InstanceTable, for_readers, lists};
use spec::schema::names;
use std::sync::Arc;

pub(super) static KIND: Kind = Kind {
    name: "parameters",
    says: "one parameter of the users, its numbers from the largest to the smallest; a line an instance",
    keys: &[required(
        "parameter",
        || names(&lists().collect::<Vec<_>>()),
        "the name of a list parameter in specs, such as `theta` or `kappa`",
    )],
    relations: Vec::new,
    needs: &[],
    read,
};

/// Up to this number of ranks, every rank is a category with a marker.
const FEW: usize = 20;

/// One parameter of every instance, sorted.
#[derive(Debug, Clone, PartialEq)]
pub struct Parameters {
    /// The parameter's name for readers.
    pub parameter: &'static str,
    /// The name of each instance, and its numbers. They are stored here because results do not have
    /// them.
    pub numbers: Vec<(String, Vec<f64>)>,
}

fn read(reading: &KindReader<'_, '_>) -> Result<Arc<dyn Plot>, Error> {
    let (panel, table) = (reading.panel()?, reading.table);
    let known = panel.variants.iter().flat_map(|variant| variant.experiment.instances().lists());
    let known = known.unique().map(|key| (key, key)).collect_vec();
    let field = table.field("parameter").ok_or_else(|| {
        let names = known.iter().map(|(name, _)| format!("{name:?}")).join(", ");
        table.missing("parameter", &format!("one of {names}"))
    })?;
    let key = choice(&field, &known, "parameter")?;
    let numbers = |one: InstanceTable| one.list(key).map(|list| (one.name.clone(), list.to_vec()));
    let numbers = panel.instances().into_iter().filter_map(numbers).collect();
    Ok(Arc::new(Parameters { parameter: for_readers(key), numbers }))
}

impl Plot for Parameters {
    fn draw(&self, title: Option<&str>, _: FigureData<'_>, _: &PolicyStyles) -> Option<String> {
        Some(svg::render(&chart(self, title)))
    }
}

pub(super) fn chart(figure: &Parameters, title: Option<&str>) -> Chart {
    let longest = figure.numbers.iter().map(|(_, numbers)| numbers.len()).max().unwrap_or(0);
    let named = longest <= FEW;
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
        x: if named {
            Axis::new(Scale::Linear, -0.5, longest as f64 - 0.5)
        } else {
            Axis::new(Scale::Linear, 0.0, longest as f64)
        },
        x_label: "rank".to_owned(),
        y: Axis::rounded(values().fold(0.0, f64::min), values().fold(0.0, f64::max)),
        y_label: figure.parameter.to_owned(),
        categories: if named { (1..=longest).map(|rank| rank.to_string()).collect() } else { Vec::new() },
        curves,
    }
}
