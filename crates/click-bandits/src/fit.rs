//! `fit`: from a click log to click models with intervals, a comparison on what no fit has seen, and a simulation of the log's users.
//!
//! The log is read twice: whole, for the parameters that are written; and without one session in so many, drawn by its place in the log,
//! for the comparison, which is made on those. A file of counts is read once, and its impressions are drawn instead. Everything that is
//! written is the same for any number of threads.

mod arguments;
mod figures;
mod measured;
mod overview;
mod parquet;
mod records;
mod simulation;
mod source;
mod tables;

pub(crate) use self::arguments::{Arguments, FormatName, HowToRead};
pub(crate) use self::measured::queries_of_log;

use self::overview::Overview;
use self::records::{Comparison, Parameters};
use self::simulation::Simulable;
use self::source::{Apart, Source, Whole};
use crate::manifest::{Manifest, Moment, sha256};
use crate::output::OutputDir;
use crate::stdout::say;
use anyhow::{Context as _, Result};
use click_logs::fit::{Fit, Model, Options, Score, compare, fit};
use std::io::Write as _;

/// Files that every fit writes; the figures and the spec only where a model has what they show.
const FILES: [&str; 8] =
    [PARAMETERS_JSON, PARAMETERS_CSV, COUNTS, COMPARISON_JSON, COMPARISON_CSV, SPEC, EXAMINATION, ATTRACTION];
const PARAMETERS_JSON: &str = "parameters.json";
const PARAMETERS_CSV: &str = "parameters.csv";
const COUNTS: &str = "counts.csv";
const COMPARISON_JSON: &str = "comparison.json";
const COMPARISON_CSV: &str = "comparison.csv";
const SPEC: &str = "spec.toml";
const EXAMINATION: &str = "examination.svg";
const ATTRACTION: &str = "attraction.svg";

/// What every model has to beat.
const BASELINES: [Model; 3] = [Model::CtrDocument, Model::CtrRank, Model::CtrGlobal];

/// What was fitted and written.
#[derive(Debug)]
pub(crate) struct Outcome {
    source: Source,
    whole: Whole,
    fits: Vec<Fit>,
    /// The best first.
    scores: Vec<Score>,
    /// SHA-256 of the file of parameters, in hexadecimal.
    parameters: String,
}

/// Fits, writes, and gives an overview.
///
/// # Errors
///
/// Those of [`fit_and_write`].
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let outcome = fit_and_write(arguments, |_| Ok(()))?;
    if !arguments.quiet {
        let Outcome { source, whole, fits, scores, .. } = &outcome;
        let simulable = Simulable::best(fits, scores);
        let overview = Overview { arguments, source, whole, fits, scores, simulable };
        say(&overview)?;
    }
    Ok(())
}

/// Fits and writes, unless `may_write` refuses: it is told the SHA-256 of the parameters.
///
/// # Errors
///
/// What is asked for cannot be; the log cannot be read; nothing passes the filter; an unusable directory, which is found out before the
/// log is read.
fn fit_and_write(arguments: &Arguments, may_write: impl FnOnce(&str) -> Result<()>) -> Result<Outcome> {
    let started = Moment::now();
    let source = Source::new(arguments)?;
    let settings = arguments.settings();
    let identity = sha256(settings.to_string().as_bytes());
    let name = settings["name"].as_str().unwrap_or_default();
    let output = OutputDir::claim(&arguments.out, &identity, name, &FILES)?;
    let tell = |what: &str| {
        if !arguments.quiet {
            let _ = writeln!(std::io::stderr(), "{what}");
        }
    };

    tell(&format!("reading {}", arguments.named()));
    let whole = source.whole()?;
    let options = arguments.options();
    let mut fits = Vec::new();
    for &model in source.models() {
        tell(&format!("fitting {model}"));
        fits.push(fitted(model, &whole, &options)?);
    }
    tell("comparing on what is held out");
    let scores = match source.apart(&whole)? {
        Some(apart) => scores(source.models(), &apart, &options)?,
        None => Vec::new(),
    };

    let simulable = Simulable::best(&fits, &scores);
    let shown = simulable.map_or_else(|| first_or_best(&fits, &scores), Simulable::fit);
    let comparison = Comparison::new(arguments, &scores);
    let parameters = records::to_json(&Parameters::new(&whole, &fits, &options))?;
    let sha256_of_parameters = sha256(&parameters);
    may_write(&sha256_of_parameters)?;
    let mut files: Vec<(&str, Vec<u8>)> = vec![
        (PARAMETERS_JSON, parameters),
        (PARAMETERS_CSV, tables::parameters(&whole.counts, &fits)?),
        (COUNTS, tables::counts(&whole.counts)?),
        (COMPARISON_JSON, records::to_json(&comparison)?),
        (COMPARISON_CSV, tables::comparison(&scores)?),
    ];
    let spec = simulable.map(|simulable| simulable.spec(arguments, &whole)).transpose()?;
    files.extend(spec.map(|spec| (SPEC, spec.into_bytes())));
    if let Some(pbm) = fits.iter().find(|fit| fit.model() == Model::Pbm) {
        files.push((EXAMINATION, figures::examination(pbm, &whole)?.into_bytes()));
    }
    files.push((ATTRACTION, figures::attraction(shown, &whole)?.into_bytes()));
    let files: Vec<(&str, &[u8])> = files.iter().map(|(name, content)| (*name, content.as_slice())).collect();
    let manifest = Manifest::of(identity, settings, started, source.threads(), &files);
    output.write_all(&manifest.to_json(), &files)?;
    Ok(Outcome { source, whole, fits, scores, parameters: sha256_of_parameters })
}

fn fitted(model: Model, whole: &Whole, options: &Options) -> Result<Fit> {
    fit(model, &whole.counts, &whole.sessions, options).with_context(|| format!("fitting {model}"))
}

/// How well each model, fitted to the rest, foretells what is held out; the best first.
fn scores(models: &[Model], apart: &Apart, options: &Options) -> Result<Vec<Score>> {
    let score = |&model: &Model| {
        let fit = fit(model, &apart.counts, &apart.sessions, options)?;
        compare(&fit, &apart.held_out)
    };
    let compared: Result<Vec<Score>, _> = models.iter().chain(&BASELINES).map(score).collect();
    let mut scores = compared.context("comparing the models")?;
    scores.sort_by(|a, b| b.log_likelihood.total_cmp(&a.log_likelihood));
    Ok(scores)
}

/// The fit that was the best on what is held out; without a comparison the first.
fn first_or_best<'a>(fits: &'a [Fit], scores: &[Score]) -> &'a Fit {
    let of_score = |score: &Score| fits.iter().find(|fit| fit.model() == score.model);
    // There is a model whatever was asked for.
    scores.iter().find_map(of_score).unwrap_or(&fits[0])
}
