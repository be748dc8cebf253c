//! Runs an experiment into its directory, with figures and a page: what the command `simulate`
//! writes.

use crate::figure::{self, Figure, FigureData, Picture, PolicyStyles};
use crate::leaderboard::Leaderboard;
use crate::page;
use crate::panel::{Extent, Panel, Variant};
use crate::report_dir::PAGE;
use crate::reproduction_report::{PanelReport, PanelRun, VariantReport};
use experiment::{Claim, JournalError, Measurement, ResultDir, RunError, Runner};
use spec::Experiment;
use std::path::Path;

/// The figures beside a result, and the page of an experiment of its own.
#[derive(Debug, Clone)]
pub struct Drawing<'a> {
    figures: Vec<Figure>,
    styles: PolicyStyles,
    page_of: Option<&'a Experiment>,
}

impl<'a> Drawing<'a> {
    /// The default figures of an experiment's task, and a page.
    pub fn of(runner: &Runner<'a>) -> Self {
        let experiment = runner.experiment();
        Self {
            figures: Figure::defaults(experiment.task(), experiment.has_duels()),
            styles: PolicyStyles::of(runner.labels()),
            page_of: Some(experiment),
        }
    }

    /// Figures of a simulation that is part of a report: the report has the page.
    pub fn of_part(figures: &[Figure], styles: &PolicyStyles) -> Self {
        Self { figures: figures.to_vec(), styles: styles.clone(), page_of: None }
    }

    /// The names of the files. The claim on a directory has to name them (`extra`).
    pub fn files(&self) -> Vec<String> {
        figure::file_names(&self.figures).into_iter().chain(self.page_of.map(|_| PAGE.to_owned())).collect()
    }

    /// The page, if there is one. It has nothing that differs from machine to machine: no times.
    fn page(&self, measured: &Measurement, pictures: &[Picture]) -> Result<Option<String>, JournalError> {
        let Some(experiment) = self.page_of else { return Ok(None) };
        let leaderboard = Leaderboard::of_runs(measured)?;
        let mut from_best_to_worst = VariantReport {
            timing: None,
            // The manifest lists the page with its hash, so the page cannot contain the manifest.
            ..VariantReport::new("", &self.figures, measured, None)
        };
        let place = |label: &str| leaderboard.places.iter().position(|place| place.label == label);
        from_best_to_worst.result.policies.sort_by_key(|policy| place(&policy.label));
        let found = PanelReport { pictures: pictures.to_vec(), variants: vec![from_best_to_worst] };
        let variant = Variant {
            name: None,
            title: String::new(),
            size: None,
            experiment: experiment.clone(),
            extent: Extent::Full,
        };
        let panel = Panel::of(variant, self.figures.clone());
        Ok(Some(page::of_one(&panel, &found, &leaderboard, &self.styles)))
    }
}

/// Runs an experiment and writes to `dir`: the files of [`Runner::run_into`], the default figures
/// of its task, and `index.html`, a page with figures and final values that needs no other files.
///
/// # Errors
///
/// The errors of [`Runner::run_into`].
///
/// # Examples
///
/// ```
/// use click_models::CascadeModel;
/// use experiment::Runner;
/// use spec::{Experiment, Instances};
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
pub fn run_into(runner: &Runner<'_>, dir: &Path) -> Result<Measurement, RunError> {
    let drawing = Drawing::of(runner);
    let claimed = ResultDir::claim(runner, dir, Claim { extra: drawing.files(), ..Claim::default() })?;
    let measured = runner.run_in(&claimed)?;
    Ok(write_simulation(claimed, measured, &drawing)?.0.measured)
}

/// Writes the files of a result, and the drawing's, to its directory. Returns whether they are new:
/// otherwise the directory had them all.
///
/// # Errors
///
/// The runs cannot be read; a file cannot be written.
pub fn write_simulation(
    claimed: ResultDir<'_>,
    measured: Measurement,
    drawing: &Drawing<'_>,
) -> Result<(PanelRun, bool), RunError> {
    let figures = figure::draw(&drawing.figures, FigureData::Result(&measured.result), &drawing.styles);
    let page = drawing.page(&measured, &figures)?.map(|page| (PAGE.to_owned(), page));
    let drawn = figures.iter().map(|picture| (picture.file.clone(), picture.svg.clone()));
    let files = drawn.chain(page).map(|(name, content)| (name, content.into_bytes())).collect();
    let (manifest, is_new) = claimed.write(&measured, files)?;
    Ok((PanelRun { measured, figures, manifest }, is_new))
}
