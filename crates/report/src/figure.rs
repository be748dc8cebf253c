//! Figures of an experiment, or of several variants of one. Every kind of figure has a row and a
//! file.

pub mod accuracy;
pub mod click_through_rate;
pub mod final_values;
pub mod fit;
pub mod heat_map;
pub mod parameters;
pub mod regret;
pub mod subsets;

mod curves;
mod end_values;
mod policy_styles;

pub use curves::{Band, Rounds};
pub use policy_styles::PolicyStyles;

use self::accuracy::Accuracy;
use self::click_through_rate::ClickThroughRate;
use self::final_values::FinalValues;
use self::regret::Regret;
use crate::reading::KindReader;
use crate::series::VariantRuns;
use documents::number;
use documents::toml_reader::Error;
use experiment::result::ResultFile;
use itertools::Itertools as _;
use spec::Task;
use std::any::Any;
use std::fmt;
use std::sync::Arc;

pub(crate) type Kind = crate::keys::Kind<dyn Plot>;

/// Every kind of figure: one row and one file for each.
pub(crate) static KINDS: [&Kind; 8] = [
    &regret::KIND,
    &click_through_rate::KIND,
    &accuracy::KIND,
    &final_values::KIND,
    &heat_map::KIND,
    &parameters::KIND,
    &subsets::KIND,
    &fit::KIND,
];

/// A figure to draw.
#[derive(Debug, Clone)]
pub struct Figure {
    /// The name of its kind in files.
    pub kind: &'static str,
    /// Heading; the default of the kind if absent.
    pub title: Option<String>,
    /// Its settings.
    pub plot: Arc<dyn Plot>,
}

/// A kind of figure with its settings.
pub trait Plot: Any + fmt::Debug + Send + Sync {
    /// Returns whether it needs the whole width of a page.
    fn is_wide(&self) -> bool {
        false
    }

    /// Draws the figure. `None` if it compares variants, and there is one result.
    fn draw(&self, title: Option<&str>, shown: FigureData<'_>, styles: &PolicyStyles) -> Option<String>;
}

/// A figure that was drawn.
#[derive(Debug, Clone)]
pub struct Picture {
    /// The name of its file.
    pub file: String,
    /// The content of its file.
    pub svg: String,
    /// Whether it needs the whole width of a page.
    pub is_wide: bool,
}

/// The data that a figure shows.
#[derive(Debug, Clone, Copy)]
pub enum FigureData<'a> {
    /// One result.
    Result(&'a ResultFile),
    /// The variants of an experiment.
    Variants(&'a [VariantRuns]),
}

impl Figure {
    pub(crate) fn read(reading: &KindReader<'_, '_>) -> Result<Self, Error> {
        let title = reading.table.optional("title")?;
        let (kind, plot) = Kind::read(&KINDS, reading)?;
        Ok(Self { kind, title, plot })
    }

    /// A figure with the default heading of its kind.
    fn of(kind: &Kind, plot: impl Plot) -> Self {
        Self { kind: kind.name, title: None, plot: Arc::new(plot) }
    }

    /// The default figures of an experiment. `duels`: whether users compare two items; then there
    /// is no click-through rate to show.
    pub fn defaults(task: Task, duels: bool) -> Vec<Self> {
        let regret = Self::of(&regret::KIND, Regret::default());
        match task {
            Task::Regret if duels => vec![regret, Self::of(&accuracy::KIND, Accuracy::default())],
            Task::Regret => {
                vec![regret, Self::of(&click_through_rate::KIND, ClickThroughRate::default())]
            }
            Task::Identify | Task::Budget => vec![Self::of(&final_values::KIND, FinalValues::default())],
        }
    }

    /// The default figures of an experiment with variants.
    pub fn defaults_of_variants(task: Task) -> Vec<Self> {
        let regret = (task == Task::Regret).then(|| Self::of(&regret::KIND, Regret::default()));
        regret.into_iter().chain([Self::of(&final_values::KIND, FinalValues::default())]).collect()
    }
}

/// The file names of figures: the name of the kind, with a number from the second figure of a kind
/// on.
pub fn file_names(figures: &[Figure]) -> Vec<String> {
    let name = |(index, figure): (usize, &Figure)| {
        let kind = figure.kind;
        match figures[..index].iter().filter(|other| other.kind == kind).count() {
            0 => format!("{kind}.svg"),
            before => format!("{kind}-{}.svg", before + 1),
        }
    };
    figures.iter().enumerate().map(name).collect()
}

/// Draws figures. Those that compare variants are left out for a single result.
pub fn draw(figures: &[Figure], shown: FigureData<'_>, styles: &PolicyStyles) -> Vec<Picture> {
    let picture = |(file, Figure { title, plot, .. }): (String, &Figure)| {
        let svg = plot.draw(title.as_deref(), shown, styles)?;
        Some(Picture { file, svg, is_wide: plot.is_wide() })
    };
    file_names(figures).into_iter().zip(figures).filter_map(picture).collect()
}

/// The common unit of regret of some results; "reward" if they differ.
fn unit_of<'a>(results: impl Iterator<Item = &'a ResultFile>) -> &'static str {
    results.map(|result| result.unit).all_equal_value().unwrap_or("reward")
}

/// The number of runs in words: "one run", "mean of 20 runs", "mean of 20 to 100 runs".
fn runs_in_words<'a>(results: impl Iterator<Item = &'a ResultFile> + Clone) -> String {
    let fewest = results.clone().map(|result| result.runs).min().unwrap_or(0);
    let most = results.map(|result| result.runs).max().unwrap_or(0);
    match (fewest, most) {
        (1, 1) => "one run".to_owned(),
        _ if fewest == most => format!("mean of {} runs", number::grouped(most)),
        _ => format!("mean of {} to {} runs", number::grouped(fewest), number::grouped(most)),
    }
}

#[cfg(test)]
mod tests;
