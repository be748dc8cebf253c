//! Figures of an experiment or of several variants of one: a kind of figure is a row and a file.

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

pub use curves::{Band, Rounds};
pub use policy_styles::PolicyStyles;

pub(crate) use reading::{Reading, Requirement};

use self::accuracy::Accuracy;
use self::click_through_rate::ClickThroughRate;
use self::final_values::FinalValues;
use self::regret::Regret;
use crate::series::Simulated;
use anyhow::Result;
use experiment::result::ResultFile;
use experiment::toml_reader::{Error, Field, choice};
use experiment::{Task, number};
use std::any::Any;
use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

/// Every kind of figure: a row each, in a file of its own.
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
    /// What it shows, in Markdown.
    pub shows: &'static str,
    /// Whether it needs the whole width of a page.
    pub is_wide: bool,
    /// What a panel has to have.
    needs: &'static [Requirement],
    /// How a figure's settings are read.
    read: fn(&Reading<'_, '_>) -> Result<Arc<dyn Plot>, Error>,
}

impl Kind {
    /// The kind that a field names.
    pub(crate) fn named(field: &Field<'_>) -> Result<&'static Self, Error> {
        choice(field, &KINDS.map(|kind| (kind.name, kind)), "kind")
    }

    /// Reads a figure of this kind; every key of its table that is not the kind's is refused.
    pub(crate) fn read(&self, reading: &Reading<'_, '_>) -> Result<Figure, Error> {
        self.needs.iter().try_for_each(|need| need.check(reading))?;
        let title = reading.table.optional("title")?;
        let plot = (self.read)(reading)?;
        reading.table.finish()?;
        Ok(Figure { title, plot })
    }
}

/// A figure to draw of a result.
#[derive(Debug, Clone)]
pub struct Figure {
    /// Heading; the kind's own words when absent.
    pub title: Option<String>,
    /// What it shows.
    pub plot: Arc<dyn Plot>,
}

/// What a figure shows: one kind, with its settings.
pub trait Plot: Any + fmt::Debug + Send + Sync {
    /// Its kind.
    fn kind(&self) -> &'static Kind;

    /// The picture of one result under a heading; none of what only variants have.
    ///
    /// # Errors
    ///
    /// See [`crate::svg::render`].
    fn of_result(
        &self,
        title: Option<&str>,
        result: &ResultFile,
        styles: &PolicyStyles,
    ) -> Result<Option<String>>;

    /// The picture of the variants of an experiment under a heading.
    ///
    /// # Errors
    ///
    /// See [`crate::svg::render`].
    fn of_variants(
        &self,
        title: Option<&str>,
        variants: &[Simulated],
        styles: &PolicyStyles,
    ) -> Result<String>;
}

impl Figure {
    /// A figure under its kind's own words.
    pub fn of(plot: impl Plot) -> Self {
        Self { title: None, plot: Arc::new(plot) }
    }

    /// The figures of an experiment that says nothing about figures; `duels`: of users who compare two items, and so always prefer one.
    pub fn defaults(task: Task, duels: bool) -> Vec<Self> {
        match task {
            Task::Regret if duels => vec![Self::of(Regret::default()), Self::of(Accuracy::default())],
            Task::Regret => vec![Self::of(Regret::default()), Self::of(ClickThroughRate::default())],
            Task::Identify | Task::Budget => vec![Self::of(FinalValues::default())],
        }
    }

    /// Those of an experiment with variants.
    pub fn defaults_of_variants(task: Task) -> Vec<Self> {
        match task {
            Task::Regret => vec![Self::of(Regret::default()), Self::of(FinalValues::default())],
            Task::Identify | Task::Budget => vec![Self::of(FinalValues::default())],
        }
    }
}

/// Names of the files of figures: the kind's name, numbered from the second of a kind on.
pub fn file_names(figures: &[Figure]) -> Vec<String> {
    let kind = |figure: &Figure| figure.plot.kind().name;
    let name = |(index, figure): (usize, &Figure)| {
        let before = figures[..index].iter().filter(|other| kind(other) == kind(figure)).count();
        let number = if before > 0 { format!("-{}", before + 1) } else { String::new() };
        format!("{}{number}.svg", kind(figure))
    };
    figures.iter().enumerate().map(name).collect()
}

/// Draws the figures of a result: the file name and the picture of each. Those that only variants have are left out.
///
/// # Errors
///
/// See [`crate::svg::render`].
pub fn draw(figures: &[Figure], result: &ResultFile, styles: &PolicyStyles) -> Result<Vec<(String, String)>> {
    let named = file_names(figures).into_iter().zip(figures);
    let picture = |(name, figure): (String, &Figure)| {
        let picture = figure.plot.of_result(figure.title.as_deref(), result, styles).transpose()?;
        Some(picture.map(|picture| (name, picture)))
    };
    named.filter_map(picture).collect()
}

/// Draws the figures of the variants of an experiment: the file name and the picture of each.
///
/// # Errors
///
/// See [`crate::svg::render`].
pub fn draw_variants(
    figures: &[Figure],
    variants: &[Simulated],
    styles: &PolicyStyles,
) -> Result<Vec<(String, String)>> {
    let named = file_names(figures).into_iter().zip(figures);
    let picture = |figure: &Figure| figure.plot.of_variants(figure.title.as_deref(), variants, styles);
    named.map(|(name, figure)| Ok((name, picture(figure)?))).collect()
}

/// What the regrets of a figure are counted in: "reward" where results differ.
fn unit_of<'a>(results: impl Iterator<Item = &'a ResultFile>) -> &'static str {
    let units: BTreeSet<&str> = results.map(|result| result.unit).collect();
    match units.into_iter().collect::<Vec<_>>()[..] {
        [unit] => unit,
        _ => "reward",
    }
}

/// How many runs: "one run", "mean of 20 runs", "mean of 20 to 100 runs".
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
