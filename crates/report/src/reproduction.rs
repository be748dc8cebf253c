//! The experiment of a paper: panels with the statements of the paper, and claims to check.
//!
//! A directory holds `experiment.toml` and `claims.toml`; `xtask/experiments/README.md` describes
//! their format. Errors in the files read `FILE:LINE:COLUMN: FIELD: what is wrong`.

mod claims;
mod head;
mod panels;

pub use crate::panel::{Extent, Panel, PrintedValue, Variant};
pub(crate) use panels::MAX_TITLE;

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::claims::{Claim, MissingTest, Verdict};
use crate::figure::{self, PolicyStyles};
use documents::toml_reader::{Document, Error, Source, Table, all, push_known};
use itertools::Itertools as _;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use spec::models::MatrixFile;
use spec::{DataInstances, FittedQuery, Overrides, Queries, SpecContext};

/// The input of a caller beside the files of an experiment.
#[derive(Debug, Clone, Copy, Default)]
pub struct Inputs<'a> {
    /// Measured queries for the panels that take data.
    pub queries: Option<&'a Queries>,
    /// The matrix that replaces every matrix from a file.
    pub matrix: Option<&'a Arc<MatrixFile>>,
    /// The only panel that will be played; all of them if absent. Others keep their own matrix.
    pub panel: Option<&'a str>,
    /// Numbers that replace those of the experiment.
    pub overrides: Overrides,
}

/// An experiment with everything that its report shows.
#[derive(Debug, Clone, Default)]
pub struct Reproduction {
    /// Short name.
    pub name: String,
    /// Heading of the report.
    pub title: String,
    /// An introduction in paragraphs.
    pub summary: Vec<String>,
    /// The papers that it is taken from.
    pub papers: Vec<Paper>,
    /// The source of the instances.
    pub source: Option<DataSource>,
    /// A table of the instances as the papers print it.
    pub printed: Option<PaperTable>,
    /// Names of policies for readers, by label.
    pub names: BTreeMap<String, String>,
    /// The panels, in the order of the report.
    pub panels: Vec<Panel>,
    /// Panels that are not run: those that a quick check leaves out, then those without data.
    pub awaiting: Vec<Panel>,
    /// A description for readers of the data that the panels run on, if data were given.
    pub measured: Option<String>,
    /// The strength of the prior of the fit to the log, in pseudo-impressions; `None` if the log
    /// decided it.
    pub prior: Option<f64>,
    /// The queries of the log, in the order of the instances; empty without a log.
    pub found_in_log: Vec<FittedQuery>,
    /// The command-line option that gave the data; empty without data.
    pub option: &'static str,
    /// The claims, in the order of the report.
    pub claims: Vec<Claim>,
}

/// A paper, in files as here.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Paper {
    /// The name by which panels refer to the paper.
    #[serde(skip_serializing)]
    pub key: String,
    /// Authors: title. Venue, year.
    pub citation: String,
    /// Address.
    #[serde(default, deserialize_with = "head::web_address")]
    #[schemars(extend("pattern" = "^https?://", "format" = "uri"))]
    pub link: Option<String>,
}

/// The source of numbers that were taken over, in files as here.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DataSource {
    /// A description.
    pub text: String,
    /// Address.
    #[serde(default, deserialize_with = "head::web_address")]
    #[schemars(extend("pattern" = "^https?://", "format" = "uri"))]
    pub link: Option<String>,
    /// Licence.
    pub licence: Option<String>,
}

/// A table of the instances as the papers print it.
#[derive(Debug, Clone, PartialEq)]
pub struct PaperTable {
    /// Its heading.
    pub title: String,
    /// Its rows, each with the attractions of its instance.
    pub rows: Vec<PrintedRow>,
}

/// A row of a printed table: an instance.
#[derive(Debug, Clone, PartialEq)]
pub struct PrintedRow {
    /// The name of the instance.
    pub name: String,
    /// The attractions of its items.
    pub theta: Vec<f64>,
    /// The printed numbers by column name.
    pub printed: Vec<(String, f64)>,
}

impl Reproduction {
    /// Reads the two files of a directory.
    ///
    /// # Errors
    ///
    /// The errors in the files, at either extent.
    pub fn read(directory: &Path, inputs: Inputs<'_>, extent: Extent) -> Result<Self, Error> {
        let file = |name| Source::read_in(directory, name, &[]);
        Self::from_sources(&file("experiment.toml")?, &file("claims.toml")?, inputs, extent)
    }

    /// Reads the texts of the two files.
    ///
    /// # Errors
    ///
    /// The errors in the texts, at either extent.
    pub fn from_sources(
        experiment: &Source,
        claims: &Source,
        inputs: Inputs<'_>,
        extent: Extent,
    ) -> Result<Self, Error> {
        // A given matrix need not have the sizes of the other extent.
        let read = |at| {
            let matrix = inputs.matrix.filter(|_| at == extent);
            Self::at(experiment, claims, Inputs { matrix, ..inputs }, at)
        };
        let (full, quick) = all((read(Extent::Full), read(Extent::Quick)))?;
        Ok(if extent == Extent::Full { full } else { quick })
    }

    /// Reads the two files of a directory at full extent, and finds the errors at either extent.
    ///
    /// # Errors
    ///
    /// The errors in both files, in their order. An error that only follows from another one is
    /// left out.
    pub fn check(directory: &Path, allowed: &[PathBuf]) -> Result<Self, Vec<Error>> {
        let read = || {
            let file = |name| Source::read_in(directory, name, allowed);
            let (experiment, claims) = all((file("experiment.toml"), file("claims.toml")))?;
            // Both files may fail to be TOML.
            let (_, _) = all((experiment.parse(), claims.parse()))?;
            let read = |extent| Self::at(&experiment, &claims, Inputs::default(), extent);
            all((read(Extent::Full), read(Extent::Quick))).map(|(full, _)| full)
        };
        read().map_err(Error::all)
    }

    /// Reads the files at one extent.
    ///
    /// With queries, only panels that take data are kept: those with `instances = "data"`, and, if
    /// the experiment specifies how its log is read, those that share instances. Without queries,
    /// panels with `instances = "data"` are not run, and claims about them cannot be tested.
    fn at(
        experiment: &Source,
        claims: &Source,
        Inputs { queries, matrix, panel, overrides }: Inputs<'_>,
        extent: Extent,
    ) -> Result<Self, Error> {
        let document = experiment.parse()?;
        let replace_shared = queries.is_some() && document.root().field("log").is_some();
        let queries_or_none = queries.map_or(DataInstances::Awaited, DataInstances::Known);
        let context = SpecContext { queries: queries_or_none, replace_shared, matrix, overrides };
        let mut reproduction = head::read_experiment(&document.root(), context, panel, extent)?;
        reproduction.claims = claims::read(&claims.parse()?.root(), &reproduction, extent)?;
        if let Some(matrix) = matrix {
            reproduction.judge_by(&document, matrix)?;
        }
        let (with_data, without): (Vec<Panel>, Vec<Panel>) =
            std::mem::take(&mut reproduction.panels).into_iter().partition(Panel::takes_data);
        let Some(queries) = queries else {
            for claim in &mut reproduction.claims {
                if with_data.iter().any(|panel| claim.panel.as_ref() == Some(&panel.name)) {
                    claim.test = MissingTest::not_testable("the data are not public");
                }
            }
            let (left, run): (Vec<Panel>, Vec<Panel>) =
                without.into_iter().partition(|panel| panel.left.is_some());
            reproduction.panels = run;
            reproduction.awaiting = [left, with_data].concat();
            return Ok(reproduction);
        };
        if with_data.is_empty() {
            return Err(document.root().error(format!(
                "no panel of {} takes data (`instances = \"data\"`): leave the data out",
                reproduction.name
            )));
        }
        reproduction.measured = Some(queries.label());
        reproduction.option = " --data FILE";
        reproduction.source = None;
        reproduction.claims.retain(|claim| {
            claim.panel.is_none() || with_data.iter().any(|panel| claim.panel.as_ref() == Some(&panel.name))
        });
        reproduction.nothing_is_known_of("queries");
        reproduction.panels = with_data;
        reproduction.found_in_log.clone_from(&queries.found_in_log);
        reproduction.prior = queries.prior;
        reproduction.judge_table_by_log();
        Ok(reproduction)
    }

    /// Matches the rows of the printed table with the queries of the log. The table does not name
    /// its queries, so both are ordered by the number of items, then of records. If their numbers
    /// differ, rows are numbered, and claims about the table cannot be tested.
    fn judge_table_by_log(&mut self) {
        let Some(printed) = &mut self.printed else { return };
        let size =
            |row: &PrintedRow, key: &str| row.printed.iter().find(|(other, _)| other == key).map(|(_, n)| *n);
        let key = |row: &PrintedRow| ["n_items", "records"].map(|key| size(row, key).unwrap_or(0.0));
        if printed.rows.len() == self.found_in_log.len() {
            printed.rows.sort_by(|a, b| key(a).iter().partial_cmp(key(b).iter()).unwrap_or(Ordering::Equal));
            for (row, query) in printed.rows.iter_mut().zip(&self.found_in_log) {
                row.name.clone_from(&query.name);
                row.theta.clone_from(&query.theta);
            }
            return;
        }
        let reason = match self.found_in_log.len() {
            0 => "measured queries come without the log that they were fitted to".to_owned(),
            1 => format!("the table has {} queries, and in the log one passes", printed.rows.len()),
            n => format!("the table has {} queries, and in the log {n} pass", printed.rows.len()),
        };
        for (row, number) in printed.rows.iter_mut().zip(1..) {
            row.name = format!("row {number}");
        }
        for claim in self.claims.iter_mut().filter(|claim| claim.test.is_of_rows()) {
            claim.test = MissingTest::not_testable(reason.clone());
        }
    }

    /// Marks every claim as one with no known verdict, so that no verdict can fail.
    fn nothing_is_known_of(&mut self, data: &str) {
        for claim in &mut self.claims {
            claim.known = Verdict::NotTestable;
            claim.evidence = format!("Nothing is known of these {data} beforehand.");
        }
    }

    /// Keeps the panels that take preferences from a file. They use the given matrix.
    fn judge_by(&mut self, document: &Document<'_>, matrix: &MatrixFile) -> Result<(), Error> {
        let has_file = |variant: &Variant| variant.experiment.instances().matrix_file().is_some();
        self.panels.retain(|panel| panel.variants.iter().any(has_file));
        if self.panels.is_empty() {
            let name = &self.name;
            return Err(document.root().error(format!(
                "no panel of {name} takes preferences from a file (`file = ...`): leave the matrix out"
            )));
        }
        let panels = &self.panels;
        self.claims.retain(|claim| panels.iter().any(|panel| claim.panel.as_ref() == Some(&panel.name)));
        self.nothing_is_known_of("preferences");
        self.measured = Some(matrix.label());
        self.option = " --matrix FILE";
        self.source = None;
        Ok(())
    }

    /// Colours, markers and names for readers of the policies of all panels.
    pub fn styles(&self) -> PolicyStyles {
        let labels: Vec<String> =
            self.panels.iter().flat_map(Panel::series).map(|series| series.policy).collect();
        PolicyStyles::of(labels.iter().map(String::as_str)).named(self.names.clone())
    }

    /// The files of figures that compare variants, relative to the report.
    pub fn figures_of_variants(&self) -> Vec<String> {
        let panels = self.panels.iter().filter(|panel| panel.has_variants());
        let names = |panel: &Panel| {
            let file = |file: String| format!("{}/{file}", panel.name);
            figure::file_names(&panel.figures).into_iter().map(file).collect::<Vec<_>>()
        };
        panels.flat_map(names).collect()
    }

    /// Keeps one panel and its claims, and drops all others.
    ///
    /// # Errors
    ///
    /// There is no such panel, or it is not run; as a message.
    pub fn keep_only(&mut self, panel: &str) -> Result<(), String> {
        if let Some(awaited) = self.awaiting.iter().find(|other| other.name == panel) {
            return Err(match awaited.left {
                Some(_) => "a quick check leaves the panel to the full run".to_owned(),
                None => "the panel is run on measured queries, and none are given".to_owned(),
            });
        }
        if self.panel(panel).is_none() {
            let panels = self.panels.iter().chain(&self.awaiting).map(|other| other.name.as_str());
            let mut message = format!("{} has no such panel", self.name);
            push_known(&mut message, panel, &panels.collect_vec(), "panel");
            return Err(message);
        }
        self.panels.retain(|other| other.name == panel);
        self.awaiting.clear();
        self.claims.retain(|claim| claim.panel.as_deref() == Some(panel));
        Ok(())
    }

    fn panel(&self, name: &str) -> Option<&Panel> {
        self.panels.iter().find(|panel| panel.name == name)
    }
}

/// Reads the tables of `[[key]]`, at least one.
fn tables<'doc>(table: &Table<'doc>, key: &str) -> Result<Vec<Table<'doc>>, Error> {
    let Some(field) = table.field(key) else {
        return Err(table.missing(key, &format!("at least one table, written [[{key}]]")));
    };
    let list: Vec<Table<'doc>> = field.get()?;
    if list.is_empty() {
        Err(field.error(format!("none given: expected at least one table, [[{key}]]")))
    } else {
        Ok(list)
    }
}

#[cfg(test)]
mod tests;
