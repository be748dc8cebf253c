//! How often a random subset of the items of a preference matrix has a Condorcet winner, and how often it is in a total order, by its size.

use super::Figure;
use crate::axis::{Axis, Scale};
use crate::svg::{Chart, Curve, Look};

/// The chart of a figure of kind [`super::Kind::Subsets`].
pub(super) fn chart(figure: &Figure) -> Chart {
    let largest = figure.numbers.iter().map(|(_, shares)| shares.len()).max().unwrap_or(1);
    let curve = |(number, (name, shares)): (usize, &(String, Vec<f64>))| Curve {
        label: name.clone(),
        look: Look::Policy(number),
        points: (1..).zip(shares).map(|(size, share): (u32, &f64)| (f64::from(size), *share)).collect(),
        band: Vec::new(),
        dots: Vec::new(),
    };
    Chart {
        title: figure.title.clone().unwrap_or_else(|| "Random subsets of the items".to_owned()),
        subtitle: "share of the subsets of each size".to_owned(),
        x: Axis::new(Scale::Linear, 0.0, largest as f64),
        x_label: "items in the subset".to_owned(),
        y: Axis::rounded(0.0, 1.0),
        y_label: "share of subsets".to_owned(),
        categories: Vec::new(),
        curves: figure.numbers.iter().enumerate().map(curve).collect(),
    }
}
