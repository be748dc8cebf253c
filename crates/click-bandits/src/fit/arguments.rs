//! The arguments of `fit`.

use super::context::ContextArguments;
use super::inputs::Inputs;
use super::parameters::Form;
use crate::usage::integer;
use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use click_logs::fit::Model;
use click_logs::settings::FitSettings;
use click_logs::study::with_users;
use log_reader::formats::{self, FormatRow};
use log_reader::{ReadSettings, Ubi};
use serde_json::{Value, json};
use std::path::PathBuf;

#[derive(Debug, Default, Args)]
pub(crate) struct Arguments {
    /// Click logs, read one after another; plain or compressed with gzip; - is standard input
    #[arg(value_name = "LOG", required_unless_present = "counts", conflicts_with = "counts")]
    pub(crate) logs: Vec<PathBuf>,
    /// Format of the logs
    #[arg(long, value_parser = format_parser(), required_unless_present = "counts", conflicts_with = "counts")]
    pub(crate) format: Option<&'static FormatRow>,
    /// Names of the columns, for formats that need them: query=..,item=..,position=..,click=..;
    /// query may be left out. Add impressions=.. if a line has more than one impression, or
    /// session=.. for models that need sessions. The lines of a session are one list, wherever they
    /// stand; all sessions are in memory until the log is read. Without position=.. a row is a
    /// list, perhaps with separator=.. between its elements. With stratum=..;.., such as the kind
    /// of device, a query within a stratum is a query of its own; time=.. puts sessions in their
    /// order. user=.., propensity=.., prefix-propensity=.., list-propensity=.. and value=.. are not
    /// read by fit, nor are segment=.. and features=..;.. without --context
    #[arg(long, value_name = "KEY=COLUMN,..", conflicts_with = "counts")]
    pub(crate) columns: Option<String>,
    /// Fit to counts instead of logs: CSV or Parquet tables with the columns query, item, position,
    /// clicks, impressions
    #[arg(long, value_name = "FILE", num_args = 1..)]
    pub(crate) counts: Vec<PathBuf>,
    /// Models to fit, separated by commas
    #[arg(long, value_parser = model_parser(), value_delimiter = ',', default_value = "all")]
    pub(crate) model: Vec<Option<Model>>,
    /// Directory for the parameters, the comparison, the figures and the spec
    #[arg(long, value_name = "DIR")]
    pub(crate) out: PathBuf,
    /// Skip invalid lines and count them by reason, instead of stopping at the first
    #[arg(long)]
    pub(crate) lenient: bool,
    #[command(flatten)]
    pub(crate) reading: ReadSettings,
    #[command(flatten)]
    pub(crate) ubi: Ubi,
    #[command(flatten)]
    pub(crate) context: ContextArguments,
    #[command(flatten)]
    pub(crate) settings: FitSettings,
    /// Answer for a sample of N queries what today's ranking loses, which lists are better and what
    /// a policy would gain; 0 for no answer
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = integer::<u16>(0..=1000))]
    pub(crate) answer: u16,
    /// How parameters are written [default: json, or parquet for more than 1,000,000 of them]
    #[arg(long, value_enum, value_name = "FORM")]
    pub(crate) parameters: Option<Form>,
    /// Print no progress, and the answer alone
    #[arg(long)]
    pub(crate) quiet: bool,
    /// The source of the settings, for messages
    #[arg(skip)]
    pub(crate) settings_from: SettingSource,
}

/// The message for options of format ubi with another format.
pub(crate) const ONLY_UBI: &str =
    "--application, --impression, --click, --position-base and --exact-queries: only for --format ubi";

/// Adds the options of format ubi to settings, if there are any.
pub(crate) fn note_ubi(ubi: &Ubi, settings: &mut Value) {
    if *ubi != Ubi::default() {
        let Ubi { application, impression, click, position_base, exact_queries } = ubi;
        settings["ubi"] = json!([application, impression, position_base, exact_queries, click]);
    }
}

pub(crate) fn format_parser() -> impl TypedValueParser<Value = &'static FormatRow> {
    let aliases = |row: &FormatRow| (row.name == "delimited").then_some("csv");
    let value = |row: &FormatRow| PossibleValue::new(row.name).help(row.holds).aliases(aliases(row));
    // The list of possible values admits only names of formats.
    PossibleValuesParser::new(formats::rows().iter().map(value))
        .try_map(|name| formats::find(&name).ok_or("no format"))
}

/// Reads a model by its name; `None` stands for all.
fn model_parser() -> impl TypedValueParser<Value = Option<Model>> {
    let models = with_users().map(|model| (model.name(), model.about()));
    let values = models.chain([("all", "Every model that the log supports")]);
    PossibleValuesParser::new(values.map(|(name, help)| PossibleValue::new(name).help(help)))
        .map(|name| Model::from_name(&name))
}

/// The source of the settings. Messages name what to change there.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum SettingSource {
    /// Options of the command line.
    #[default]
    CommandLine,
    /// Options of the command line of `evaluate`, which has fewer.
    Evaluation,
    /// The table `[log]` of an experiment's file.
    Experiment,
}

impl Arguments {
    /// The arguments that fit position-based models to a log of an experiment, without those that
    /// `[log]` gives.
    pub(crate) fn of_experiment() -> Self {
        Self {
            model: vec![Some(Model::Pbm)],
            // The report names these files.
            parameters: Some(Form::Json),
            settings_from: SettingSource::Experiment,
            ..Self::default()
        }
    }

    /// The files read, as they were typed.
    pub(crate) fn files(&self) -> Vec<PathBuf> {
        if self.counts.is_empty() { self.logs.clone() } else { self.counts.clone() }
    }

    /// The files read, for readers.
    pub(crate) fn named(&self) -> String {
        let names: Vec<String> = self.files().iter().map(|path| path.display().to_string()).collect();
        names.join(", ")
    }

    pub(crate) fn format_name(&self) -> String {
        self.format.map_or("counts", |format| format.name).to_owned()
    }

    /// All settings that the results depend on. The form of the parameters is not one of them: the
    /// same fit may be written again in another.
    pub(super) fn settings(&self, inputs: &Inputs) -> Value {
        let models: Vec<_> = self.model.iter().map(|model| model.map_or("all", Model::name)).collect();
        let mut settings = json!(self.settings);
        for (key, value) in [
            ("name", format!("fit of {}", self.named()).into()),
            ("logs", inputs.settings()),
            ("format", self.format_name().into()),
            ("columns", json!(self.columns)),
            ("models", json!(models)),
            ("first_position", json!(self.reading.first_position)),
            ("max_skipped", json!(self.max_skipped())),
            ("answer", self.answer.into()),
        ] {
            settings[key] = value;
        }
        note_ubi(&self.ubi, &mut settings);
        settings
    }

    /// The maximal share of lines that may be skipped, if lines may be skipped.
    pub(crate) fn max_skipped(&self) -> Option<f64> {
        self.lenient.then(|| self.reading.max_skipped.unwrap_or(0.01))
    }
}
