//! Figures of an experiment, or of several variants of one. Every kind of figure has a row and a file.

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
mod reading;
mod summary;

pub use curves::{Band, Rounds};
pub use policy_styles::PolicyStyles;

pub(crate) use reading::{Reading, Requirement, SCALES};

use self::accuracy::Accuracy;
use self::click_through_rate::ClickThroughRate;
use self::final_values::FinalValues;
use self::regret::Regret;
use crate::schema::Keys;
use crate::series::Simulated;
use anyhow::Result;
use experiment::result::ResultFile;
use experiment::toml_reader::{Error, Field, choice};
use experiment::{Task, number};
use std::any::Any;
use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

/// Every kind of figure: one row and one file for each.
pub static KINDS: [&Kind; 8] = [
    &regret::KIND,
    &click_through_rate::KIND,
    &accuracy::KIND,
    &final_values::KIND,
    &heat_map::KIND,
    &parameters::KIND,
    &subsets::KIND,
    &fit::KIND,
];

/// A kind of figure.
#[derive(Debug, Clone, Copy)]
pub struct Kind {
    /// Its name in file names and experiments.
    pub name: &'static str,
    /// A description, in Markdown.
    pub shows: &'static str,
    /// Whether it needs the whole width of a page.
    pub is_wide: bool,
    /// Requirements on the panel.
    needs: &'static [Requirement],
    /// Its keys for the schema of the file.
    pub(crate) schema: fn() -> Keys,
    /// Reads the settings of a figure.
    read: fn(&Reading<'_, '_>) -> Result<Arc<dyn Plot>, Error>,
}

impl Kind {
    /// Reads the kind that a field names.
    pub(crate) fn named(field: &Field<'_>) -> Result<&'static Self, Error> {
        choice(field, &KINDS.map(|kind| (kind.name, kind)), "kind")
    }

    /// Reads a figure of this kind, and refuses every other key of its table.
    pub(crate) fn read(&self, reading: &Reading<'_, '_>) -> Result<Figure, Error> {
        self.needs.iter().try_for_each(|need| need.check(reading))?;
        let title = reading.table.optional("title")?;
        let plot = (self.read)(reading)?;
        reading.table.finish()?;
        Ok(Figure { title, plot })
    }
}

/// A figure to draw.
#[derive(Debug, Clone)]
pub struct Figure {
    /// Heading; the default of the kind if absent.
    pub title: Option<String>,
    /// The kind, with its settings.
    pub plot: Arc<dyn Plot>,
}

/// A kind of figure with its settings.
pub trait Plot: Any + fmt::Debug + Send + Sync {
    /// Its kind.
    fn kind(&self) -> &'static Kind;

    /// Draws the figure. `None` if it compares variants, and there is one result.
    ///
    /// # Errors
    ///
    /// See [`crate::svg::render`].
    fn draw(&self, title: Option<&str>, shown: Shown<'_>, styles: &PolicyStyles) -> Result<Option<String>>;
}

/// What a figure shows.
#[derive(Debug, Clone, Copy)]
pub enum Shown<'a> {
    /// One result.
    Result(&'a ResultFile),
    /// The variants of an experiment.
    Variants(&'a [Simulated]),
}

impl Figure {
    /// A figure with the default heading of its kind.
    pub fn of(plot: impl Plot) -> Self {
        Self { title: None, plot: Arc::new(plot) }
    }

    /// The default figures of an experiment. `duels`: whether users compare two items; then there is no click-through rate to show.
    pub fn defaults(task: Task, duels: bool) -> Vec<Self> {
        match task {
            Task::Regret if duels => vec![Self::of(Regret::default()), Self::of(Accuracy::default())],
            Task::Regret => vec![Self::of(Regret::default()), Self::of(ClickThroughRate::default())],
            Task::Identify | Task::Budget => vec![Self::of(FinalValues::default())],
        }
    }

    /// The default figures of an experiment with variants.
    pub fn defaults_of_variants(task: Task) -> Vec<Self> {
        match task {
            Task::Regret => vec![Self::of(Regret::default()), Self::of(FinalValues::default())],
            Task::Identify | Task::Budget => vec![Self::of(FinalValues::default())],
        }
    }
}

/// The file names of figures: the name of the kind, with a number from the second figure of a kind on.
pub fn file_names(figures: &[Figure]) -> Vec<String> {
    let kind = |figure: &Figure| figure.plot.kind().name;
    let name = |(index, figure): (usize, &Figure)| {
        let before = figures[..index].iter().filter(|other| kind(other) == kind(figure)).count();
        let number = if before > 0 { format!("-{}", before + 1) } else { String::new() };
        format!("{}{number}.svg", kind(figure))
    };
    figures.iter().enumerate().map(name).collect()
}

/// Draws figures: the file name and the picture of each. Figures that compare variants are left
/// out for a single result.
///
/// # Errors
///
/// See [`crate::svg::render`].
pub fn draw(figures: &[Figure], shown: Shown<'_>, styles: &PolicyStyles) -> Result<Vec<(String, String)>> {
    let named = file_names(figures).into_iter().zip(figures);
    let picture = |(name, figure): (String, &Figure)| {
        let picture = figure.plot.draw(figure.title.as_deref(), shown, styles).transpose()?;
        Some(picture.map(|picture| (name, picture)))
    };
    named.filter_map(picture).collect()
}

/// The common unit of regret of some results; "reward" if they differ.
fn unit_of<'a>(results: impl Iterator<Item = &'a ResultFile>) -> &'static str {
    let units: BTreeSet<&str> = results.map(|result| result.unit).collect();
    match units.into_iter().collect::<Vec<_>>()[..] {
        [unit] => unit,
        _ => "reward",
    }
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
