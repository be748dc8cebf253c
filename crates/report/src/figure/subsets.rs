//! The shares of subsets of the items of a preference matrix that have a Condorcet winner, or are in a total order, by size.

use super::{Kind, Plot, PolicyStyles, Reading, Requirement, Shown};
use crate::axis::{Axis, Scale};
use crate::schema::Keys;
use crate::subset_shares::shares;
use crate::svg::{self, Chart, Curve, CurveStyle};
use anyhow::Result;
use click_models::PreferenceMatrix;
use experiment::toml_reader::Error;
use std::sync::Arc;

pub(super) static KIND: Kind = Kind {
    name: "subsets",
    shows: "of dueling users: how often a random subset of the items has a Condorcet winner (exact), and how often it is in a total order (100,000 subsets of each size)",
    is_wide: false,
    needs: &[Requirement::Duels],
    schema: || Keys::none(),
    read: |reading| Ok(Arc::new(read(reading)?)),
};

/// The shares of subsets of items that have a winner, or are in order.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Subsets {
    /// The preferences. The shares are computed when the figure is drawn, because for hundreds of items that takes seconds.
    pub matrix: Option<PreferenceMatrix>,
}

fn read(reading: &Reading<'_, '_>) -> Result<Subsets, Error> {
    let matrix = reading.panel.matrix().ok_or_else(|| reading.kind.error("the panel has no preferences"))?;
    Ok(Subsets { matrix: Some(matrix.clone()) })
}

impl Plot for Subsets {
    fn kind(&self) -> &'static Kind {
        &KIND
    }

    fn draw(&self, title: Option<&str>, _: Shown<'_>, _: &PolicyStyles) -> Result<Option<String>> {
        svg::render(&chart(self, title)?).map(Some)
    }
}

fn chart(figure: &Subsets, title: Option<&str>) -> Result<Chart> {
    let shares = figure.matrix.as_ref().map(shares).transpose()?;
    let named = shares.map_or_else(Vec::new, |shares| {
        vec![
            ("Condorcet winner (exact)", shares.condorcet),
            ("total order (100,000 subsets of each size)", shares.ordered),
        ]
    });
    let largest = named.iter().map(|(_, shares)| shares.len()).max().unwrap_or(1);
    let curve = |(number, (name, shares)): (usize, &(&str, Vec<f64>))| Curve {
        label: (*name).to_owned(),
        style: CurveStyle::Policy(number),
        points: (1..).zip(shares).map(|(size, share): (u32, &f64)| (f64::from(size), *share)).collect(),
        band: Vec::new(),
        dots: Vec::new(),
    };
    Ok(Chart {
        title: title.unwrap_or("Random subsets of the items").to_owned(),
        subtitle: "share of the subsets of each size".to_owned(),
        summary: String::new(),
        x: Axis::new(Scale::Linear, 0.0, largest as f64),
        x_label: "items in the subset".to_owned(),
        y: Axis::rounded(0.0, 1.0),
        y_label: "share of subsets".to_owned(),
        categories: Vec::new(),
        curves: named.iter().enumerate().map(curve).collect(),
    })
}
