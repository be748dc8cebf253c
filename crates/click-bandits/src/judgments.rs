//! `judgments`: ratings of items from a fit, as the tools of search teams import them.

#[cfg(test)]
mod tests;

use crate::destination::Destination;
use crate::fit::PARAMETERS_PARQUET;
use crate::terminal;
use crate::usage::{bail_usage, integer};
use anyhow::{Context as _, Result, anyhow, bail};
use clap::Args;
use click_logs::fit::Model;
use click_logs::judgments::{
    Examinations, Judgment, JudgmentForm, Scale, examinations, lightgbm, of_attraction, over_expected, write,
};
use click_logs::parameters::{EstimateRecord, ItemRecord, Parameters};
use click_logs::study::with_users;
use documents::read_own;
use documents::sha256_of_file;
use experiment::output::MANIFEST;
use log_reader::{Counts, Fault, Format, Input, Reader, RowColumn, TakeRows, Value, read_rows};
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
    /// Form of the file: quepid, workbench, trec (qrels), topics (the words of the queries that
    /// trec and ltr number), ltr, csv, or lightgbm (labels, groups, positions and weights from
    /// clicks and examination)
    #[arg(long = "as", value_name = "FORM", value_parser = form)]
    form: Form,
    /// Where ratings come from
    #[arg(long, value_enum, default_value = "attraction")]
    by: By,
    /// Model of the attractions [default: the one that the fit chose]
    #[arg(long, value_name = "M", value_parser = model)]
    model: Option<Model>,
    /// Range of ratings and their intervals, relative to the largest rating of their query: 0-1, or
    /// 0-3 in whole grades
    /// [default: as they are; trec 0-3]
    #[arg(long, value_name = "RANGE", value_parser = scale)]
    scale: Option<Scale>,
    /// Only items with at least N impressions
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = integer::<u64>(0..=u64::MAX))]
    min_impressions: u64,
    /// Write names that spreadsheets would run as formulas as they are, without an apostrophe
    #[arg(long)]
    keep_formulas: bool,
    /// File to write; - is standard output. Beside a file of trec stands FILE.topics.tsv
    #[arg(long, value_name = "FILE", default_value = "-")]
    out: PathBuf,
    /// Replace the file
    #[arg(long)]
    force: bool,
}

/// Ratings, or what `LightGBM` is trained with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Ratings(JudgmentForm),
    LightGbm,
}

fn form(text: &str) -> Result<Form, String> {
    if text == "lightgbm" {
        return Ok(Form::LightGbm);
    }
    let found = JudgmentForm::ALL.iter().find(|(name, _)| *name == text);
    let names = JudgmentForm::ALL.map(|(name, _)| name).join(", ");
    found.map(|(_, form)| Form::Ratings(*form)).ok_or_else(|| format!("expected one of {names}, lightgbm"))
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
    let is_trec = arguments.form == Form::Ratings(JudgmentForm::Trec);
    let mut topics = arguments.out.clone().into_os_string();
    topics.push(".topics.tsv");
    let beside = (is_trec && arguments.out.as_os_str() != "-")
        .then(|| Destination::of(Some(topics.as_ref()), arguments.force))
        .transpose()?;
    let of_fit = ["comparison.json", "counts.csv", "parameters.json", PARAMETERS_PARQUET];
    if !of_fit.iter().any(|file| arguments.dir.join(file).exists()) {
        bail!("{}: not a directory of `fit`: it has none of {}", arguments.dir.display(), of_fit.join(", "));
    }
    let Form::Ratings(form) = arguments.form else {
        if arguments.by == By::Coec || arguments.scale.is_some() || arguments.min_impressions > 1 {
            bail_usage!("--by, --scale and --min-impressions: not for --as lightgbm, which has no ratings");
        }
        let text = lightgbm(&counts(&arguments.dir)?, &examinations_of(arguments)?);
        let text = text.map_err(|error| anyhow!("--as: {error}"))?;
        return destination.write(|out| Ok(out.write_all(text.as_bytes())?));
    };
    let judgments = match arguments.by {
        By::Attraction => of_model(arguments)?,
        By::Coec if arguments.model.is_some() => {
            bail_usage!("--model: only for --by attraction");
        }
        By::Coec => {
            let (judgments, without) = over_expected(&counts(&arguments.dir)?, arguments.min_impressions);
            if without > 0 {
                let items = documents::number::counted(without, "item");
                terminal::tell(&format_args!("{items} without expected clicks have no rating"));
            }
            judgments
        }
    };
    if judgments.is_empty() {
        bail!("no item has {} impressions and a rating", arguments.min_impressions);
    }
    let name = arguments.dir.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let file = |form| {
        let scale = arguments.scale.unwrap_or(Scale::Plain);
        let written = write(&judgments, form, scale, &name, arguments.keep_formulas);
        written.map_err(|error| anyhow!("--as: {error}"))
    };
    let written = file(form)?;
    for (count, what, note) in [
        (
            written.formulas,
            "name",
            "would be a formula in a spreadsheet, and has an apostrophe before it (--keep-formulas)",
        ),
        (written.without_clicks, "query", "has no clicks: its ratings are those of the prior alone"),
        (written.all_equal, "query", "has ratings that are all equal, and tell nothing about its items"),
    ] {
        if count > 0 {
            terminal::tell(&format_args!("{}: each {note}", documents::number::counted(count as u64, what)));
        }
    }
    match beside {
        Some(beside) => {
            beside.write(|out| Ok(out.write_all(file(JudgmentForm::Topics)?.text.as_bytes())?))?;
        }
        None if is_trec => terminal::tell(&"queries are numbered: --as topics writes their words"),
        None => {}
    }
    destination.write(|out| Ok(out.write_all(written.text.as_bytes())?))
}

fn counts(dir: &Path) -> Result<Counts> {
    check_written(dir, "counts.csv")?;
    let log = Reader::new(Format::counts()).read_files(&[dir.join("counts.csv")]);
    Ok(log.map_err(|error| anyhow!("{error}"))?.counts)
}

/// The examination of positions in the position-based model of a fit.
fn examinations_of(arguments: &Arguments) -> Result<Examinations> {
    if arguments.model.is_some_and(|model| model != Model::Pbm) {
        bail_usage!("--model: examination by position is that of pbm");
    }
    check_written(&arguments.dir, "parameters.json")?;
    Ok(examinations(&Parameters::read(&arguments.dir.join("parameters.json"))?.models))
}

/// The attractions of a model, from either form of the parameters.
fn of_model(arguments: &Arguments) -> Result<Vec<Judgment>> {
    let chosen = arguments.model.map_or_else(|| chosen(&arguments.dir), |model| Ok(Some(model)))?;
    // Without a comparison, the simplest model.
    let wanted: Vec<Model> = chosen.map_or_else(|| with_users().collect(), |model| vec![model]);
    let least = arguments.min_impressions;
    let mut found = Attractions { best: wanted.len(), wanted, least, judgments: Vec::new() };
    let table = arguments.dir.join(PARAMETERS_PARQUET);
    let name = if table.exists() { PARAMETERS_PARQUET } else { "parameters.json" };
    check_written(&arguments.dir, name)?;
    if table.exists() {
        let columns = COLUMNS.map(|name| RowColumn { name, optional: false });
        let read =
            Input::file(&table).and_then(|table| read_rows(&columns, true, vec![table], None, &mut found));
        read.map_err(|error| anyhow!("{error}"))?;
    } else {
        for record in &Parameters::read(&arguments.dir.join(name))?.models {
            for query in &record.queries {
                query.items.iter().for_each(|item| found.take(record.model, &query.query, item));
            }
        }
    }
    match chosen {
        _ if found.best < found.wanted.len() => Ok(found.judgments),
        Some(model) => bail!(
            "the fit has no model {model} with attractions: leave --model out for the one that it chose"
        ),
        None => bail!("the fit has no model with attractions"),
    }
}

/// The attractions of the first wanted model that the fit has.
struct Attractions {
    wanted: Vec<Model>,
    /// The place of the model so far.
    best: usize,
    /// The fewest impressions of an item.
    least: u64,
    judgments: Vec<Judgment>,
}

impl Attractions {
    fn take(&mut self, model: Model, query: &str, item: &ItemRecord) {
        let place = self.wanted.iter().position(|wanted| *wanted == model);
        let Some(place) = place.filter(|place| *place <= self.best) else { return };
        if place < self.best {
            self.best = place;
            self.judgments.clear();
        }
        self.judgments.extend(of_attraction(query, item, self.least));
    }
}

/// The columns of the table that are read.
const COLUMNS: [&str; 9] =
    ["model", "kind", "query", "item", "estimate", "clicks", "impressions", "lower", "upper"];

impl TakeRows for Attractions {
    fn row(&mut self, values: &[Option<Value<'_>>; 6], further: &[Value<'_>]) -> Result<(), (usize, Fault)> {
        let value = |place: usize| {
            values
                .get(place)
                .map_or_else(|| further[place - values.len()], |value| value.unwrap_or(Value::Missing))
        };
        let text = |place: usize| match value(place) {
            Value::Text(text) => std::str::from_utf8(text).map_err(|_| (place, Fault::NotUtf8)),
            _ => Err((place, Fault::Empty)),
        };
        let whole = |place: usize| value(place).number().map_err(|fault| (place, fault));
        let Some(model) = Model::from_name(text(0)?).filter(|_| text(1) == Ok("attraction")) else {
            return Ok(());
        };
        let largest = model.parameters().largest_attraction;
        let number = |place: usize| match value(place) {
            Value::Missing => Ok(None),
            // Without a bound.
            Value::Fraction(number) if number == largest => Ok(None),
            found => match found.finite() {
                Ok(number) if (0.0..=largest).contains(&number) => Ok(Some(number)),
                Ok(_) => Err((place, Fault::OutOfRange)),
                Err(fault) => Err((place, fault)),
            },
        };
        let [estimate, lower, upper] = [number(4)?, number(7)?, number(8)?];
        if lower.zip(upper).is_some_and(|(lower, upper)| lower > upper) {
            return Err((7, Fault::AboveUpperEnd));
        }
        let [clicks, impressions] = [whole(5)?, whole(6)?];
        if clicks > impressions {
            return Err((5, Fault::ClicksAboveImpressions { impressions }));
        }
        let value = estimate.unwrap_or(f64::NAN);
        let attraction = EstimateRecord { value, se: None, lower, upper };
        let item = text(3)?.to_owned();
        let item = ItemRecord { item, attraction, prior: None, satisfaction: None, clicks, impressions };
        self.take(model, text(2)?, &item);
        Ok(())
    }
}

/// Checks that a table is the one that `fit` wrote, if its directory says so: readers do not notice
/// all damage.
fn check_written(dir: &Path, name: &str) -> Result<()> {
    let (path, manifest) = (dir.join(name), dir.join(MANIFEST));
    if !manifest.exists() || !path.exists() {
        return Ok(());
    }
    let record = json_of(&manifest)?;
    let found = sha256_of_file(&path).with_context(|| path.display().to_string())?;
    match record["files"][name].as_str() {
        Some(written) if written != found => bail!(
            "{}: not the table that `fit` wrote, whose SHA-256 is in {MANIFEST}: it was damaged or changed",
            path.display()
        ),
        _ => Ok(()),
    }
}

/// The model that the fit chose, if it compared several.
fn chosen(dir: &Path) -> Result<Option<Model>> {
    let record = json_of(&dir.join("comparison.json"))?;
    let choice = ["users", "choice"].iter().find_map(|key| record[*key]["model"].as_str());
    Ok(choice.and_then(Model::from_name))
}

fn json_of(path: &Path) -> Result<serde_json::Value> {
    let bytes = read_own(path).with_context(|| path.display().to_string())?;
    serde_json::from_slice(&bytes).with_context(|| path.display().to_string())
}
