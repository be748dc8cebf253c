//! `evaluate`: what another ranking would have earned on a log (crate `evaluation`).

mod page;

use crate::fit::inputs::Inputs;
use crate::fit::source::Source;
use crate::fit::{self, SettingSource, format_parser, note_ubi, ranking};
use crate::output::{Output, places};
use crate::terminal::{json, say, table, telling};
use crate::usage::{Usage, number};
use anyhow::{Result, anyhow};
use clap::Args;
use click_logs::fit::Model;
use click_logs::study::with_users;
use documents::{Decompressor, open_regular};
use evaluation::{Basis, Evaluation, Question, Ranking};
use experiment::manifest::Moment;
use log_reader::formats::FormatRow;
use log_reader::{ErrorKind, Ids, ReadSettings, Ubi};
use serde_json::json as value;
use std::fmt::Write as _;
use std::io::Read as _;
use std::path::{Path, PathBuf};

const ANSWER: &str = "answer.json";
const PAGE: &str = "index.html";
const LISTS: &str = "learned.csv";
/// Names among those of models, and of a ranking that is no file.
const ALL: &str = "all";
const NONE: &str = "none";
const LEARNED: &str = "learned";

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Click logs, read one after another; plain or compressed with gzip; - is standard input
    #[arg(value_name = "LOG", required = true)]
    logs: Vec<PathBuf>,
    /// Format of the logs
    #[arg(long, value_parser = format_parser())]
    format: &'static FormatRow,
    /// Names of the columns, for formats that need them: as of fit; and user=.., propensity=..,
    /// prefix-propensity=.., list-propensity=..: the probabilities with which the ranker of the log
    /// showed the item at its position, the items down to it, and the list; value=..: the value of
    /// the row's click in place of 1, a number from 0 to 1e9, of which models know nothing
    #[arg(long, value_name = "KEY=COLUMN,..")]
    columns: Option<String>,
    /// The new ranking: CSV with the columns query (or session), position and item, or with those
    /// that --columns names in their place, and list and probability if there are several lists; a
    /// TREC run, ordered by its scores; or `learned`: the
    /// best lists of the models, learned on one half of the users and valued on the other
    #[arg(long, value_name = "FILE")]
    ranking: PathBuf,
    /// Value of a click at each position, from the first on [default: 1 each]
    #[arg(long, value_name = "V,..", value_delimiter = ',', value_parser = number)]
    values: Vec<f64>,
    /// Click models that also value the ranking, `all`, or `none`
    #[arg(long, value_name = "M,..", value_delimiter = ',', default_value = ALL)]
    model: Vec<String>,
    /// Directory for the answer and the page
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Skip invalid lines and count them by reason, instead of stopping at the first
    #[arg(long)]
    lenient: bool,
    #[command(flatten)]
    reading: ReadSettings,
    #[command(flatten)]
    ubi: Ubi,
    /// Print no progress, and the answer alone
    #[arg(long)]
    quiet: bool,
}

impl Arguments {
    /// The named models; `None` among them stands for all.
    fn models(&self) -> Result<Vec<Option<Model>>> {
        let of_name = |name: &String| match Model::from_name(name) {
            Some(model) if with_users().any(|other| other == model) => Ok(Some(model)),
            None if name == ALL => Ok(None),
            _ => {
                let known: Vec<&str> = with_users().map(Model::name).chain([ALL, NONE]).collect();
                Err(anyhow!(Usage(format!("--model {name}: expected one of {}", known.join(", ")))))
            }
        };
        if self.model == [NONE] { Ok(Vec::new()) } else { self.model.iter().map(of_name).collect() }
    }

    /// How the log is read, as a fit would.
    fn reading(&self, models: &[Option<Model>]) -> fit::Arguments {
        fit::Arguments {
            logs: self.logs.clone(),
            format: Some(self.format),
            columns: self.columns.clone(),
            // The position-based model needs no sessions.
            model: if models.is_empty() { vec![Some(Model::Pbm)] } else { models.to_vec() },
            answer: u16::from(!models.is_empty()),
            reading: self.reading.clone(),
            ubi: self.ubi.clone(),
            lenient: self.lenient,
            quiet: self.quiet,
            settings_from: SettingSource::Evaluation,
            ..fit::Arguments::of_experiment()
        }
    }
}

/// Evaluates, writes, and prints the answer.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let started = Moment::now();
    let named = arguments.models()?;
    let reading = arguments.reading(&named);
    let source = Source::new(&reading)?;
    let models = if named.is_empty() { &[][..] } else { &source.models };
    let is_learned = arguments.ranking.as_os_str() == LEARNED;
    let asked = if is_learned {
        Ranking::learned()
    } else {
        let asked = Ranking::open_for(&arguments.ranking, source.reader.format());
        asked.map_err(|error| fault_of_header(&source, &arguments.logs[0]).unwrap_or_else(|| error.into()))?
    };
    let values = (!arguments.values.is_empty()).then_some(&*arguments.values);
    let ids = Ids::new();
    let question = Question::new(asked, source.reader.format(), values, &ids)
        .map_err(|error| anyhow!(Usage(error.to_string())))?;
    let tell = telling(arguments.quiet);
    let inputs = Inputs::open(arguments.logs.clone(), arguments.quiet, &tell)?;
    let of_ranking = if is_learned { Vec::new() } else { vec![arguments.ranking.clone()] };
    let mut settings = value!({
        "name": format!("evaluation of {}", arguments.ranking.display()),
        "logs": inputs.settings(),
        "ranking": Inputs::open(of_ranking, true, &tell)?.settings(),
        "format": arguments.format.name,
        "columns": arguments.columns,
        "first_position": arguments.reading.first_position,
        "values": arguments.values,
        "models": arguments.model,
    });
    note_ubi(&arguments.ubi, &mut settings);
    if let Some(share) = reading.max_skipped() {
        settings["max_skipped"] = share.into();
    }
    let output = Output::claim(&arguments.out, &settings, started, &[ANSWER, PAGE, LISTS], &[LISTS])?;

    tell(&format!("reading {}", reading.named()));
    let read = source.read_lists(&inputs, ids, &question)?;
    let report = read.report.to_string();
    if !models.is_empty() {
        tell("fitting models, and again without each group of users");
    }
    let evaluation = Evaluation::new(&question, read, models, |_| true)?;
    let page = page::page(&evaluation, &reading.named(), &arguments.ranking.display().to_string(), &report);
    let answer = json(&evaluation.to_json())?;
    let lists = ranking(evaluation.learned.iter().map(|(query, items)| (&**query, &**items)))?;
    let mut files: Vec<(&str, &[u8])> = vec![(ANSWER, answer.as_bytes()), (PAGE, page.as_bytes())];
    files.extend(lists.as_ref().map(|lists| (LISTS, &**lists)));
    output.write(source.threads, &files)?;
    if arguments.quiet {
        return say(&format_args!("{}\n", head(&evaluation).trim_end()));
    }
    say(&overview(&evaluation, arguments))
}

/// The fault of the header of a log. The columns that it names are those of a ranking as well.
fn fault_of_header(source: &Source<'_>, log: &Path) -> Option<anyhow::Error> {
    let start = Decompressor::new(open_regular(log).ok()?).ok()?.take(1 << 16);
    let error = source.reader.read(&log.display().to_string(), start).err()?;
    (*error.kind() == ErrorKind::Header).then(|| error.into())
}

/// The answer, and what it is in doubt for.
fn head(evaluation: &Evaluation) -> String {
    let warnings = evaluation.warnings();
    std::iter::once(evaluation.sentence() + "\n").chain(warnings).map(|sentence| sentence + "\n").collect()
}

/// The answer and all findings for a terminal.
fn overview(evaluation: &Evaluation, arguments: &Arguments) -> String {
    let mut text = head(evaluation);
    let heads = ["from", "difference", "95 %", "effective lists", ""].map(str::to_owned);
    let valued = evaluation.findings.all.iter().filter(|found| found.difference.is_some()).map(|found| {
        let [difference, interval, lists] = evaluation.figures(found);
        [found.basis.name().to_owned(), difference, interval, lists, evaluation.state(found)]
    });
    let rows: Vec<[String; 5]> = std::iter::once(heads).chain(valued).collect();
    if rows.len() > 1 {
        let _ =
            write!(text, "Differences in {} per 1,000 lists:\n\n{}", evaluation.unit(), table(&rows, 1..4));
    }
    if let Some(Basis::Model(_)) = evaluation.findings.answer().map(|answer| answer.basis) {
        text += "\nThe answer is that of the model that predicts best. Its interval also covers the models that \
                 predict as well; `fit` plays users of the simplest of them.\n";
    }
    let others = evaluation.reasons(|found| found.difference.is_none());
    if !others.is_empty() && evaluation.findings.answer().is_some() {
        let _ = writeln!(text, "\nWithout a number here:\n\n  {}", others.join("\n  "));
    }
    if !evaluation.learned.is_empty() {
        let lists = arguments.out.join(LISTS);
        let _ = writeln!(text, "\nLists learned from all users, for a later log: {}", lists.display());
    }
    text + &places(&arguments.out, ANSWER, PAGE)
}
