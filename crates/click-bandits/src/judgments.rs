//! `judgments`: ratings of items from a fit, as the tools of search teams import them.

use crate::destination::Destination;
use crate::fit::PARAMETERS_PARQUET;
use crate::terminal;
use crate::usage::{Usage, integer};
use anyhow::{Context as _, Result, anyhow, bail};
use clap::Args;
use click_logs::fit::Model;
use click_logs::judgments::{Judgment, JudgmentForm, Scale, of_attraction, over_expected, write};
use click_logs::parameters::Parameters;
use click_logs::study::with_users;
use click_logs::{Format, Reader};
use experiment::read_own;
use std::path::{Path, PathBuf};

/// Where ratings come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum By {
    /// Attraction of the chosen model, its posterior mean
    Attraction,
    /// Clicks over expected clicks, those at the mean rate of each position
    Coec,
}

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// A directory of fit
    #[arg(value_name = "DIR")]
    dir: PathBuf,
    /// Form of the file: quepid, workbench, trec (qrels), ltr or csv
    #[arg(long = "as", value_name = "FORM", value_parser = form)]
    form: JudgmentForm,
    /// Where ratings come from
    #[arg(long, value_enum, default_value = "attraction")]
    by: By,
    /// Model of the attractions [default: the one that the fit chose]
    #[arg(long, value_name = "M", value_parser = model)]
    model: Option<Model>,
    /// Range of ratings, relative to the largest: 0-1, or 0-3 in whole grades [default: as they are;
    /// trec 0-3]
    #[arg(long, value_name = "RANGE", value_parser = scale)]
    scale: Option<Scale>,
    /// Only items with at least N impressions
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = integer::<u64>(0..=u64::MAX))]
    min_impressions: u64,
    /// File to write; - is standard output
    #[arg(long, value_name = "FILE", default_value = "-")]
    out: PathBuf,
    /// Replace the file
    #[arg(long)]
    force: bool,
}

fn form(text: &str) -> Result<JudgmentForm, String> {
    let found = JudgmentForm::ALL.iter().find(|(name, _)| *name == text);
    let names = JudgmentForm::ALL.map(|(name, _)| name).join(", ");
    found.map(|(_, form)| *form).ok_or_else(|| format!("expected one of {names}"))
}

fn model(text: &str) -> Result<Model, String> {
    Model::from_name(text).ok_or_else(|| "no such model".to_owned())
}

fn scale(text: &str) -> Result<Scale, String> {
    match text {
        "0-1" => Ok(Scale::ToOne),
        "0-3" => Ok(Scale::Grades),
        _ => Err("expected 0-1 or 0-3".to_owned()),
    }
}

/// Reads a fit, and writes its judgments.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let destination = Destination::of(Some(&arguments.out), arguments.force)?;
    let judgments = match arguments.by {
        By::Attraction => of_model(arguments)?,
        By::Coec if arguments.model.is_some() => {
            bail!(Usage("--model: only for --by attraction".to_owned()));
        }
        By::Coec => {
            let counts = Reader::new(Format::counts()).read_files(&[arguments.dir.join("counts.csv")]);
            let counts = counts.map_err(|error| anyhow!("{error}"))?.counts;
            let (judgments, without) = over_expected(&counts, arguments.min_impressions);
            if without > 0 {
                let items = experiment::number::counted(without, "item");
                terminal::tell(&format_args!("{items} without expected clicks have no rating"));
            }
            judgments
        }
    };
    if judgments.is_empty() {
        bail!("no item has {} impressions and a rating", arguments.min_impressions);
    }
    let name = arguments.dir.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let text = write(&judgments, arguments.form, arguments.scale.unwrap_or(Scale::Plain), &name)
        .map_err(|error| anyhow!("--as: {error}"))?;
    destination.write(|out| Ok(out.write_all(text.as_bytes())?))
}

/// The attractions of a model.
fn of_model(arguments: &Arguments) -> Result<Vec<Judgment>> {
    let parameters = Parameters::read(&arguments.dir.join("parameters.json"))?;
    let chosen = arguments.model.map_or_else(|| chosen(&arguments.dir), |model| Ok(Some(model)))?;
    if arguments.dir.join(PARAMETERS_PARQUET).exists() {
        bail!(
            "{}: the attractions are in {PARAMETERS_PARQUET}: fit with --parameters json",
            arguments.dir.display()
        );
    }
    let find = |model: Model| parameters.models.iter().find(|record| record.model == model);
    // Without a comparison, the simplest model.
    let record = match chosen {
        Some(model) => find(model).with_context(|| format!("the fit has no model {model}"))?,
        None => with_users().find_map(find).context("the fit has no model with attractions")?,
    };
    let of_query = |query: &click_logs::parameters::QueryRecord| {
        let of_item = |item| of_attraction(&query.query, item, arguments.min_impressions);
        query.items.iter().filter_map(of_item).collect::<Vec<_>>()
    };
    Ok(record.queries.iter().flat_map(of_query).collect())
}

/// The model that the fit chose, if it compared several.
fn chosen(dir: &Path) -> Result<Option<Model>> {
    let path = dir.join("comparison.json");
    let bytes = read_own(&path).with_context(|| path.display().to_string())?;
    let record: serde_json::Value =
        serde_json::from_slice(&bytes).with_context(|| path.display().to_string())?;
    let choice = ["users", "choice"].iter().find_map(|key| record[*key]["model"].as_str());
    Ok(choice.and_then(Model::from_name))
}
