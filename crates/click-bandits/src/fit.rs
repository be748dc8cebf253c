//! `fit`: fits click models to a click log and compares them (`click_logs::study`), and answers
//! what today's ranking loses (`answer`). Files do not depend on the number of threads.

mod answer;
mod arguments;
mod context;
mod figures;
pub(crate) mod inputs;
mod measured;
mod overview;
mod page;
mod parameters;
mod records;
pub(crate) mod source;
mod tables;
mod transfer;

pub(crate) use self::arguments::{Arguments, ONLY_UBI, SettingSource, format_parser, note_ubi};
pub(crate) use self::measured::queries_of_log;
pub(crate) use self::tables::ranking;

use self::inputs::Inputs;
use self::overview::Overview;
use self::parameters::{Form, Parameters};
use self::records::ComparisonRecord;
use self::source::Source;
use crate::output::Output;
use crate::progress::RunCounter;
use crate::terminal::{json, say, tell, telling};
use ::answer::{Answer, Decision, FittedUsers, HALVES, LOGGED, PARAMETERS, Settings};
use anyhow::{Context as _, Result};
use click_logs::fit::{Comparison, Fit, Model};
use click_logs::study::{Checks, Study};
use documents::number::counted;
use documents::sha256;
use experiment::manifest::Moment;
use std::fs;

/// The files that a fit may write. Some figures and the spec are written only for some models.
const FILES: [&str; 16] = [
    PARAMETERS,
    PARAMETERS_CSV,
    PARAMETERS_PARQUET,
    COUNTS,
    COMPARISON_JSON,
    COMPARISON_CSV,
    SPEC,
    EXAMINATION,
    ATTRACTION,
    LOGGED,
    DECISION,
    RECOMMENDED,
    HALVES[0],
    HALVES[1],
    ANSWER,
    PAGE,
];
/// The form of the parameters and the answer decide which of these files a fit writes.
const BY_FORM: [&str; 3] = [PARAMETERS_CSV, PARAMETERS_PARQUET, RECOMMENDED];
/// The option that leaves out sessions with more clicks.
const MAX_CLICKS: &str = "--max-clicks";
const PARAMETERS_CSV: &str = "parameters.csv";
pub(crate) const PARAMETERS_PARQUET: &str = "parameters.parquet";
const COUNTS: &str = "counts.csv";
const COMPARISON_JSON: &str = "comparison.json";
const COMPARISON_CSV: &str = "comparison.csv";
const SPEC: &str = "spec.toml";
const EXAMINATION: &str = "examination.svg";
const ATTRACTION: &str = "attraction.svg";
const DECISION: &str = "decision.toml";
const RECOMMENDED: &str = "recommended.csv";
const ANSWER: &str = "answer.json";
const PAGE: &str = "index.html";

/// The fits that were made and written.
#[derive(Debug)]
pub(crate) struct Outcome<'a> {
    source: Source<'a>,
    study: Study,
    checks: Checks,
    /// The answer, or why there is none.
    answer: Result<Answer, String>,
    /// The number of parameters, if they were written as Parquet.
    in_table: Option<u64>,
    /// SHA-256 of `parameters.json`, in hexadecimal.
    parameters: String,
}

/// Fits, writes, and prints an overview.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    if arguments.context.context {
        return context::run(arguments);
    }
    let outcome = fit_and_write(arguments, &|_| Ok(()))?;
    // Even a quiet fit does not hide its doubts.
    let doubts = outcome.checks.sentences(MAX_CLICKS).into_iter();
    doubts.filter(|_| arguments.quiet).for_each(|sentence| tell(&sentence));
    say(&Overview { arguments, outcome: &outcome })
}

/// Fits, and writes if `may_write` agrees; it gets the SHA-256 of the parameters.
fn fit_and_write<'a>(
    arguments: &'a Arguments,
    may_write: &dyn Fn(&str) -> Result<()>,
) -> Result<Outcome<'a>> {
    let started = Moment::now();
    Form::check(arguments.parameters)?;
    let source = Source::new(arguments)?;
    let tell: &dyn Fn(&str) = &telling(arguments.quiet);
    let inputs = Inputs::open(arguments.files(), arguments.quiet, tell)?;
    let settings = arguments.settings(&inputs);
    let claim = || Output::claim(&arguments.out, &settings, started, &FILES, &BY_FORM);
    // For an experiment, `may_write` first checks the report's directory with the parameters.
    let claimed = (arguments.settings_from == SettingSource::CommandLine).then(claim).transpose()?;

    let options = arguments.settings.options();
    let study = source.study(&inputs, tell)?;
    let checks = Checks::new(&study, &options).context("checking the log")?;
    let fitted_users = FittedUsers::new(&study);
    let parameters = Parameters::new(arguments.parameters, &study, &options)?;
    let Study { log, fits, comparison, .. } = &study;
    let shown = fitted_users.map_or_else(|| first_or_best(fits, comparison.as_ref()), FittedUsers::fit);
    let compared = ComparisonRecord::new(arguments, &study, &checks);
    let sha256_of_parameters = sha256(&parameters.json);
    may_write(&sha256_of_parameters)?;
    let output = claimed.map_or_else(claim, Ok)?;
    let (in_table, table) = (parameters.in_table, parameters.table.0);
    let mut files: Vec<(&str, Vec<u8>)> = vec![
        (PARAMETERS, parameters.json),
        parameters.table,
        (COUNTS, tables::counts(&log.counts)?),
        (COMPARISON_JSON, json(&compared)?.into_bytes()),
        (COMPARISON_CSV, tables::comparison(comparison.as_ref())?),
    ];
    let spec =
        fitted_users.map(|users| users.spec(log, &arguments.named(), arguments.settings.seed)).transpose()?;
    files.extend(spec.map(|spec| (SPEC, spec.into_bytes())));
    if let Some(pbm) = fits.iter().find(|fit| fit.model() == Model::Pbm) {
        files.push((EXAMINATION, figures::examination(pbm, log).into_bytes()));
    }
    let drawn = figures::attraction(shown, log);
    let decision = if arguments.answer > 0 {
        tell("simulating today's ranking and policies on users as uncertain as the log leaves them");
        let progress = RunCounter::new("decision", arguments.quiet);
        let settings = Settings {
            n_queries: arguments.answer.into(),
            seed: arguments.settings.seed,
            threads: arguments.reading.threads.map(usize::from),
            observer: &progress,
            stop: None,
        };
        // The fit is written, whatever the simulation of its users meets.
        Decision::new(&study, &checks, &options, &settings)
            .map_err(|error| format!("its users cannot be simulated: {:#}", anyhow::Error::from(error)))
            .flatten()
    } else {
        Err("none was asked for (--answer 0)".to_owned())
    };
    let answer = decision.as_ref().map(|decision| decision.answer.clone()).map_err(Clone::clone);
    if arguments.settings_from == SettingSource::CommandLine {
        let figures: Vec<&str> = files
            .iter()
            .filter(|(name, _)| *name == EXAMINATION)
            .map(|(_, svg)| std::str::from_utf8(svg))
            .chain([Ok(drawn.as_str())])
            .collect::<Result<_, _>>()?;
        let page = page::page(arguments, &study, &checks, answer.as_ref(), &figures, table);
        files.push((PAGE, page.into_bytes()));
    }
    if let Ok(decision) = decision {
        files.push((ANSWER, json(&decision.answer)?.into_bytes()));
        files.push((DECISION, decision.spec.into_bytes()));
        let lists = decision.answer.recommended().map(|(query, list)| (&*query.query, &*list.items));
        files.extend(tables::ranking(lists)?.map(|table| (RECOMMENDED, table)));
        files.extend(decision.files);
    }
    files.push((ATTRACTION, drawn.into_bytes()));
    let files: Vec<(&str, &[u8])> = files.iter().map(|(name, content)| (*name, content.as_slice())).collect();
    output.write(source.threads, &files)?;
    let others = fs::read_dir(&arguments.out).map_or(0, Iterator::count).saturating_sub(files.len() + 1);
    if others > 0 {
        let (out, others) = (arguments.out.display(), counted(others as u64, "other file"));
        tell(&format!("{out}: also has {others}, left alone"));
    }
    Ok(Outcome { source, study, checks, answer, in_table, parameters: sha256_of_parameters })
}

/// The fit with the best predictions of the held-out part; without a comparison the first.
fn first_or_best<'a>(fits: &'a [Fit], comparison: Option<&Comparison>) -> &'a Fit {
    let mut best_first = comparison.into_iter().flat_map(|comparison| &comparison.scores);
    // At least one model is always fitted.
    best_first.find_map(|score| fits.iter().find(|fit| fit.model() == score.model)).unwrap_or(&fits[0])
}
