//! `click-bandits reproduce`: runs the experiment of a paper, judges its claims, and writes a
//! report.

mod all;
mod folder;
#[cfg(feature = "logs")]
mod log;
mod part;

#[cfg(feature = "logs")]
pub(crate) fn check_log(directory: &Path, allowed: &[PathBuf]) -> Result<(), documents::toml_reader::Error> {
    log::how_to_read(&Place::Directory(directory.to_owned()), allowed).map(|_| ())
}

#[cfg(feature = "logs")]
pub(crate) use log::schema as schema_of_log;

/// A program without click logs reads none.
#[cfg(not(feature = "logs"))]
#[expect(clippy::unnecessary_wraps, reason = "the other program finds errors")]
pub(crate) fn check_log(_: &Path, _: &[PathBuf]) -> Result<(), documents::toml_reader::Error> {
    Ok(())
}

pub(crate) use part::PartOfReproduction;

use crate::embedded::{Place, bare_name};
use crate::simulation::{Options, finished_part, play_part, simulate};
use crate::terminal::{self, say};
use crate::usage::{AllowedArguments, SpecErrors, Usage, integer, threads};
use anyhow::{Context, Result, bail};
use documents::number;
use experiment::{Parts, ResultDir, Runner, Shard};
use itertools::Itertools as _;
use report::figure::{self, Figure, PolicyStyles};
use report::index::Summary;
use report::report_dir::{self, Owner};
use report::reproduction::{Extent, Inputs, Reproduction, Variant};
use report::{Drawing, PanelRun, Report};
use spec::models::{Duels, Group, MatrixFile};
use spec::{Experiment, Overrides, Queries};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

/// The arguments of `reproduce` as they are typed.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct CommandLine {
    #[command(flatten)]
    arguments: Arguments,
    /// Directory for the report and the results [default: REPORTS/NAME, or REPORTS/NAME-quick and
    /// the like; REPORTS for several experiments]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Directory for the reports of experiments without --out
    #[arg(long, value_name = "DIR", default_value = "reproduced", conflicts_with = "out")]
    reports: PathBuf,
}

#[derive(Debug, Clone, Default, clap::Args)]
pub(crate) struct Arguments {
    /// Name of an experiment (`click-bandits experiments` lists them), `all`, or a directory with
    /// experiment.toml and claims.toml; a directory has a separator in its name: ./NAME
    pub(crate) experiment: PathBuf,
    /// Further experiments: each gets a folder in OUT, and OUT gets an index of all
    #[arg(value_name = "EXPERIMENT", conflicts_with_all = ["data", "matrix", "panel"])]
    pub(crate) more: Vec<PathBuf>,
    /// Run only the panels that take measured queries, on these data: a JSON file of queries (its
    /// name ends in .json), or a click log, to which queries are first fitted (into OUT/fitted)
    #[arg(long, value_name = "FILE", visible_alias = "log")]
    pub(crate) data: Option<PathBuf>,
    /// Run only the panels with a preference matrix from a file, on this matrix (text) instead
    #[arg(long, value_name = "FILE", conflicts_with = "data")]
    pub(crate) matrix: Option<PathBuf>,
    /// Directory for the report and the results.
    #[arg(skip)]
    pub(crate) out: PathBuf,
    /// Run a check of about a minute, with fewer runs and, for some claims, smaller instances; it
    /// fails if more than a tenth of the claims stay open, but not with --panel, --seed, --runs,
    /// --data or --matrix
    #[arg(long)]
    pub(crate) quick: bool,
    /// Number of threads [default: one per core]
    #[arg(long, value_name = "N", value_parser = threads)]
    pub(crate) threads: Option<u16>,
    /// Run only this panel and its claims
    #[arg(long, value_name = "NAME")]
    pub(crate) panel: Option<String>,
    /// Replace the master seed of every panel
    #[arg(long, value_name = "S", value_parser = integer::<u64>(0..=u64::MAX))]
    pub(crate) seed: Option<u64>,
    /// Replace the number of runs of every panel; those of each instance if the panel has
    /// `per-instance`
    #[arg(long, value_name = "N", value_parser = integer::<u64>(0..=u64::MAX))]
    pub(crate) runs: Option<u64>,
    #[command(flatten)]
    pub(crate) allowed: AllowedArguments,
    /// Play only this share of the runs of every panel (2/8: the second of eight), to be joined
    /// with `merge`
    #[arg(long, value_name = "I/N")]
    pub(crate) shard: Option<Shard>,
    /// Play everything again, even if the directory has runs of this experiment
    #[arg(long)]
    pub(crate) fresh: bool,
    /// Print no progress
    #[arg(long)]
    pub(crate) quiet: bool,
}

/// A panel, or a variant of one, to run.
#[derive(Debug)]
pub(crate) struct Job<'a> {
    pub(crate) experiment: &'a Experiment,
    pub(crate) directory: PathBuf,
    pub(crate) figures: &'a [Figure],
    pub(crate) styles: &'a PolicyStyles,
    /// Parts from which to take the runs.
    pub(crate) parts: Option<&'a Parts>,
    /// The title of its variant in a quick check.
    pub(crate) shown: &'a str,
}

pub(crate) fn run(line: &CommandLine) -> Result<ExitCode> {
    let mut arguments = line.arguments.clone();
    let experiments = all::experiments(&arguments)?;
    let is_one = experiments.len() == 1;
    arguments.out = match &line.out {
        Some(out) => out.clone(),
        None if is_one => line.reports.join(folder::of(&arguments)?),
        None => line.reports.clone(),
    };
    let arguments = &arguments;
    tell_of_directories(&experiments);
    if !is_one {
        return all::run(arguments, &experiments);
    }
    if let Some(shard) = arguments.shard {
        play_parts(arguments, shard)?;
        return Ok(ExitCode::SUCCESS);
    }
    let summary = reproduce(arguments, None, simulated(arguments))?;
    Ok(if summary.ok { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Says how to name a directory in whose place an experiment of the program is run.
fn tell_of_directories(experiments: &[PathBuf]) {
    for experiment in experiments.iter().filter(|experiment| bare_name(experiment).is_some()) {
        if experiment.join("experiment.toml").is_file() {
            terminal::tell(&format_args!(
                "{name}: the experiment of the program; the directory of this name is ./{name}",
                name = experiment.display()
            ));
        }
    }
}

/// Joins the parts of a reproduction in these directories, with the arguments of its parts.
pub(crate) fn merge(arguments: &Arguments, first: &PartOfReproduction, dirs: &[PathBuf]) -> Result<ExitCode> {
    part::check_all(first, dirs)?;
    let summary = reproduce(arguments, Some((first, dirs)), simulated(arguments))?;
    Ok(if summary.ok { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn simulated(arguments: &Arguments) -> impl FnMut(&Job<'_>) -> Result<PanelRun> {
    let options = options(arguments);
    move |job| {
        let options = Options { parts: job.parts, shown: job.shown, ..options };
        let drawing = Drawing::of_part(job.figures, job.styles);
        simulate(job.experiment, &job.directory, &drawing, options).map(|(ran, _)| ran)
    }
}

fn options(arguments: &Arguments) -> Options<'static> {
    let &Arguments { threads, quiet, fresh, .. } = arguments;
    Options { threads: threads.map(usize::from), quiet, fresh, ..Options::default() }
}

fn play_parts(arguments: &Arguments, shard: Shard) -> Result<()> {
    let given = Changes::read(arguments)?;
    let reproduction = read(arguments, given.queries.as_ref(), given.matrix.as_ref())?;
    let experiments = experiments(&reproduction, arguments)?;
    let (out, options) = (&arguments.out, options(arguments));
    let described = PartOfReproduction::new(arguments, &given.owner(&reproduction, arguments), shard)?;
    described.check(out, arguments.fresh)?;
    let claim = options.claim(Vec::new());
    for (folder, experiment) in folders(&reproduction, &experiments) {
        Runner::new(experiment).check_part(&out.join(folder), shard, &claim)?;
    }
    described.write(out)?;
    for (folder, experiment) in folders(&reproduction, &experiments) {
        play_part(experiment, &out.join(folder), shard, options)?;
    }
    if arguments.quiet { Ok(()) } else { say(&finished_part(out, shard)) }
}

/// The folder of every simulation in the directory of the report, with its experiment.
fn folders<'a>(
    reproduction: &Reproduction,
    experiments: &'a [Vec<Experiment>],
) -> Vec<(String, &'a Experiment)> {
    let of_panels = reproduction.panels.iter().zip(experiments);
    let all = of_panels.flat_map(|(panel, experiments)| {
        panel
            .variants
            .iter()
            .zip(experiments)
            .map(|(variant, experiment)| (variant.folder(&panel.name), experiment))
    });
    all.collect()
}

/// The settings of an experiment on the command line.
#[derive(Default)]
struct Changes {
    queries: Option<Queries>,
    /// The matrix that replaces every matrix from a file.
    matrix: Option<Arc<MatrixFile>>,
}

impl Changes {
    fn read(arguments: &Arguments) -> Result<Self> {
        let queries = given_queries(arguments)?;
        let matrix = arguments.matrix.as_deref().map(MatrixFile::read).transpose().context("--matrix")?;
        Ok(Self { queries, matrix: matrix.map(Arc::new) })
    }

    fn owner(&self, reproduction: &Reproduction, arguments: &Arguments) -> Owner {
        Owner {
            schema: report_dir::SCHEMA,
            experiment: reproduction.name.clone(),
            quick: arguments.quick,
            panel: arguments.panel.clone(),
            seed: arguments.seed,
            runs: arguments.runs,
            data: self.queries.as_ref().map(|queries| queries.sha256.clone()),
            matrix: self.matrix.as_ref().map(|matrix| matrix.sha256.clone()),
        }
    }
}

/// Runs the experiment of a paper, prints the verdicts, and returns the summary of the report.
/// `simulate` runs a panel, or a variant of one, and writes its files.
fn reproduce(
    arguments: &Arguments,
    parts: Option<(&PartOfReproduction, &[PathBuf])>,
    mut simulate: impl FnMut(&Job<'_>) -> Result<PanelRun>,
) -> Result<Summary> {
    let given = Changes::read(arguments)?;
    let reproduction = read(arguments, given.queries.as_ref(), given.matrix.as_ref())?;
    let experiments = experiments(&reproduction, arguments)?;
    let out = &arguments.out;
    let owner = given.owner(&reproduction, arguments);
    report_dir::check(out, &owner, &reproduction.figures_of_variants())?;
    PartOfReproduction::refuse(out)?;
    if let Some((part, [first, ..])) = parts {
        part.check_inputs(first, arguments, &owner)?;
    }
    let parts_of = |folder: &str| -> Result<Option<Parts>> {
        let dirs = parts.map(|(_, dirs)| dirs.iter().map(|dir| dir.join(folder)).collect::<Vec<_>>());
        Ok(dirs.map(|dirs| Parts::read(&dirs)).transpose()?)
    };
    for (panel, experiments) in reproduction.panels.iter().zip(&experiments) {
        for (variant, experiment) in panel.variants.iter().zip(experiments) {
            let folder = variant.folder(&panel.name);
            // A link would lead the files of the panel out of the report's directory.
            let mut inside = out.clone();
            for name in Path::new(&folder) {
                inside.push(name);
                anyhow::ensure!(!inside.is_symlink(), "{}: is a link: give another --out", inside.display());
            }
            let parts = parts_of(&folder)?;
            let options = Options { parts: parts.as_ref(), ..options(arguments) };
            ResultDir::claim(
                &Runner::new(experiment),
                &out.join(folder),
                options.claim(figure::file_names(panel.own_figures())),
            )?;
        }
    }

    let is_whole = arguments.panel.is_none()
        && arguments.seed.is_none()
        && arguments.runs.is_none()
        && reproduction.measured.is_none();
    let mut report = Report::begin(&reproduction, arguments.quick, is_whole);
    for (panel, experiments) in reproduction.panels.iter().zip(&experiments) {
        let mut ran = Vec::new();
        for (variant, experiment) in panel.variants.iter().zip(experiments) {
            let folder = variant.folder(&panel.name);
            let (directory, figures, parts) = (out.join(&folder), panel.own_figures(), parts_of(&folder)?);
            let (styles, parts) = (&report.styles, parts.as_ref());
            let shown = if arguments.quick { variant.title.as_str() } else { "" };
            ran.push(simulate(&Job { experiment, directory, figures, styles, parts, shown })?);
        }
        report.add(panel, ran);
    }
    report.write(out, &owner)?;
    say(&verdicts(&report, out))?;
    let folder = out.file_name().unwrap_or_default().to_string_lossy();
    Ok(Summary::new(&report, &folder))
}

/// Reads the experiment, or only the panel that `--panel` names.
fn read(
    arguments: &Arguments,
    queries: Option<&Queries>,
    matrix: Option<&Arc<MatrixFile>>,
) -> Result<Reproduction> {
    let extent = if arguments.quick { Extent::Quick } else { Extent::Full };
    let place = Place::of(&arguments.experiment)?;
    let experiment = place.source("experiment.toml", &arguments.allowed.allow)?;
    let claims = place.source("claims.toml", &arguments.allowed.allow)?;
    let panel = arguments.panel.as_deref();
    let inputs = Inputs { queries, matrix, panel, overrides: overrides(arguments) };
    let read = |inputs| Reproduction::from_sources(&experiment, &claims, inputs, extent);
    let mut reproduction = match (read(inputs), matrix) {
        (Ok(reproduction), _) => reproduction,
        // Right with its own matrix: the places of the errors are not where the fault is.
        (Err(error), Some(matrix)) if read(Inputs { matrix: None, ..inputs }).is_ok() => {
            let needed = rankers_needed(&read(Inputs { matrix: None, ..inputs })?, panel).unwrap_or(0);
            let found = matrix.matrix.shape().n_items();
            if found < needed {
                let fewer = if arguments.quick { "" } else { ", with --quick fewer" };
                let name = matrix.name();
                bail!(
                    "--matrix: {name}: has {found} rankers: expected at least {needed}, which are drawn from it{fewer}"
                );
            }
            let why = error.all().into_iter().map(|error| error.message().to_owned()).unique().join("; ");
            bail!("--matrix: {}: the experiment cannot take this matrix: {why}", matrix.name());
        }
        (Err(error), _) => return Err(SpecErrors::from(error).into()),
    };
    if let Some(panel) = &arguments.panel {
        reproduction
            .keep_only(panel)
            .map_err(anyhow::Error::msg)
            .with_context(|| Usage(format!("--panel {panel}")))?;
    }
    Ok(reproduction)
}

/// How many rankers the panels draw from a matrix, or only this panel.
fn rankers_needed(reproduction: &Reproduction, panel: Option<&str>) -> Option<usize> {
    let panels = reproduction.panels.iter().filter(|one| panel.is_none_or(|name| one.name == name));
    let variants = panels.flat_map(|panel| &panel.variants);
    let duels = variants.filter_map(|variant| variant.experiment.instances().duels());
    duels.flat_map(Duels::groups).filter_map(Group::drawn_from_file).max()
}

/// The values of the command line that replace those of the experiment.
fn overrides(arguments: &Arguments) -> Overrides {
    Overrides { seed: arguments.seed, runs: arguments.runs, ..Overrides::default() }
}

fn given_queries(arguments: &Arguments) -> Result<Option<Queries>> {
    // Read first, so that an error in `[log]` is reported even without a log.
    #[cfg(feature = "logs")]
    let how = log::how_to_read(&Place::of(&arguments.experiment)?, &arguments.allowed.allow)?;
    let Some(file) = &arguments.data else { return Ok(None) };
    if file.extension().is_some_and(|end| end.eq_ignore_ascii_case("json")) {
        return Queries::read(file).map(Some).context("--data");
    }
    #[cfg(feature = "logs")]
    return log::fitted_queries(arguments, file, how).map(Some);
    #[cfg(not(feature = "logs"))]
    anyhow::bail!(
        "--data: {}: this program was built without click logs: expected measured queries, in a file that ends in .json, or a program with \
         the feature `logs`",
        file.display()
    );
}

/// The experiments of every panel, one for each variant, with the values of the command line.
fn experiments(reproduction: &Reproduction, arguments: &Arguments) -> Result<Vec<Vec<Experiment>>> {
    let as_run = |variant: &Variant| -> Result<Experiment> {
        let mut experiment = variant.experiment.clone();
        experiment.apply(overrides(arguments)).map_err(|error| SpecErrors(vec![error.into()]))?;
        Ok(experiment)
    };
    reproduction.panels.iter().map(|panel| panel.variants.iter().map(as_run).collect()).collect()
}

fn verdicts(report: &Report<'_>, out: &Path) -> String {
    let mut rows = vec![["  claim", "found", "known", "measured"].map(str::to_owned)];
    for judged in &report.claims {
        let mark = if judged.agreement.fails(report.quick) { "! " } else { "  " };
        rows.push([
            format!("{mark}{}", judged.claim.name),
            judged.finding.verdict.words().to_owned(),
            judged.claim.known_words(),
            judged.finding.summary.clone(),
        ]);
    }
    let mut text = terminal::table(&rows, 0..0);
    let scale = if report.quick { " (quick)" } else { "" };
    let mark = if report.is_as_known() { "" } else { " (marked with !)" };
    let _ = writeln!(
        text,
        "{}{scale}: {}{mark}. Report: {}",
        terminal::in_line(&report.reproduction.name),
        report.outcome(),
        out.join("index.html").display()
    );
    if let Some(seconds) = report.cpu_seconds() {
        let _ = writeln!(text, "simulated in {} CPU-seconds", number::significant(seconds, 3));
    }
    text
}

#[cfg(test)]
mod tests;
