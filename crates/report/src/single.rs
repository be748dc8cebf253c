//! Runs one experiment, and writes its results, figures and page.

use crate::figure::{self, Figure, PolicyStyles};
use crate::page;
use crate::reproduction::{Extent, Panel, Variant};
use crate::reproduction_report::{PanelReport, Picture, VariantReport};
use anyhow::Result;
use experiment::{Claim, Measured, ResultDir, Runner};
use std::path::Path;

/// The file of the page.
const PAGE: &str = "index.html";

/// Runs an experiment and writes to `dir`: the files of [`Runner::run_into`], the default figures of its task, and `index.html`, a page
/// with figures and final values that needs no other files.
///
/// # Errors
///
/// The errors of [`Runner::run_into`]; a figure cannot be drawn.
///
/// # Examples
///
/// ```
/// use click_models::CascadeModel;
/// use experiment::{Experiment, Instances, Runner};
///
/// let users = CascadeModel::from_values(&[0.4, 0.2, 0.1], 2)?;
/// let experiment = Experiment::builder("first-steps", Instances::of([users]))
///     .horizon(100)
///     .runs(3)
///     .policy("cascade-ts")
///     .policy("cascade-kl-ucb")
///     .build()?;
/// let dir = tempfile::tempdir()?;
/// report::run_into(&Runner::new(&experiment), dir.path())?;
/// let page = std::fs::read_to_string(dir.path().join("index.html"))?;
/// assert!(page.contains("cascade-kl-ucb") && dir.path().join("regret.svg").is_file());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn run_into(runner: &Runner<'_>, dir: &Path) -> Result<Measured> {
    let experiment = runner.experiment();
    let figures = Figure::defaults(experiment.task(), experiment.has_duels());
    let styles = PolicyStyles::of(runner.labels());
    let names = figure::file_names(&figures);
    let extra: Vec<String> = names.iter().cloned().chain([PAGE.to_owned()]).collect();
    let claimed = ResultDir::claim(runner, dir, Claim { extra, ..Claim::default() })?;
    let measured = runner.run_in(&claimed)?;
    let drawn = figure::draw(&figures, &measured.result, &styles)?;

    let variant = Variant {
        name: None,
        title: String::new(),
        size: None,
        experiment: experiment.clone(),
        extent: Extent::Full,
    };
    let picture = |((file, svg), figure): (&(String, String), &Figure)| Picture {
        file: file.clone(),
        svg: svg.clone(),
        is_wide: figure.plot.kind().is_wide,
    };
    let found = PanelReport {
        pictures: drawn.iter().zip(&figures).map(picture).collect(),
        // The manifest lists the page with its hash, so the page cannot contain the manifest.
        variants: vec![VariantReport::new("", &figures, measured.clone(), None)],
    };
    let panel = Panel::of(variant, figures);
    let page = page::of_one(&panel, &found, &styles);
    let mut files: Vec<(String, Vec<u8>)> =
        drawn.into_iter().map(|(name, drawing)| (name, drawing.into_bytes())).collect();
    files.push((PAGE.to_owned(), page.into_bytes()));
    claimed.write(&measured, files)?;
    Ok(measured)
}
