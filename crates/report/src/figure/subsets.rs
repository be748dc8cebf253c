//! The shares of subsets of the items of a preference matrix that have a Condorcet winner, or are
//! in a total order, by size.

use super::{FigureData, Kind, Plot, PolicyStyles};
use crate::axis::{Axis, Scale};
use crate::reading::{KindReader, Requirement};
use crate::subset_shares::{Shares, shares};
use crate::svg::{self, Chart, Curve, CurveStyle};
use click_models::PreferenceMatrix;
use documents::toml_reader::Error;
use std::sync::Arc;

pub(super) static KIND: Kind = Kind {
    name: "subsets",
    says: "of dueling users: how often a random subset of the items has a Condorcet winner (exact), and how often it is in a total order (100,000 subsets of each size)",
    keys: &[],
    relations: Vec::new,
    needs: &[Requirement::Duels],
    read,
};

/// The shares of subsets of items that have a winner, or are in order.
#[derive(Debug, Clone, PartialEq)]
pub struct Subsets {
    /// The preferences. The shares are computed when the figure is drawn, which takes seconds for
    /// hundreds of items.
    pub matrix: PreferenceMatrix,
}

fn read(reading: &KindReader<'_, '_>) -> Result<Arc<dyn Plot>, Error> {
    let matrix =
        reading.panel()?.matrix().ok_or_else(|| reading.kind.error("the panel has no preferences"))?;
    Ok(Arc::new(Subsets { matrix: matrix.clone() }))
}

impl Plot for Subsets {
    fn draw(&self, title: Option<&str>, _: FigureData<'_>, _: &PolicyStyles) -> Option<String> {
        Some(svg::render(&chart(title, &shares(&self.matrix))))
    }
}

/// The chart of the shares of a matrix.
pub fn chart(title: Option<&str>, shares: &Shares) -> Chart {
    let curve = |number: usize, name: &str, shares: &[f64]| {
        let points = (1..).zip(shares).map(|(size, share): (u32, &f64)| (f64::from(size), *share));
        Curve::line(name.to_owned(), CurveStyle::Policy(number), points.collect())
    };
    Chart {
        title: title.unwrap_or("Random subsets of the items").to_owned(),
        subtitle: "share of the subsets of each size".to_owned(),
        x: Axis::new(Scale::Linear, 0.0, shares.condorcet.len() as f64),
        x_label: "items in the subset".to_owned(),
        y: Axis::rounded(0.0, 1.0),
        y_label: "share of subsets".to_owned(),
        categories: Vec::new(),
        curves: vec![
            curve(0, "Condorcet winner (exact)", &shares.condorcet),
            curve(1, "total order (100,000 subsets of each size)", &shares.ordered),
        ],
    }
}
