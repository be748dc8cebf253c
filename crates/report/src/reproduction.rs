//! What an experiment of a paper is: its panels, with what the paper says of each, and the claims to check.
//!
//! A directory holds `experiment.toml` and `claims.toml`. The format is described in `xtask/experiments/README.md`; every
//! fault of a file is reported as `FILE:LINE:COLUMN: FIELD: what is wrong`.

mod claims;
mod panels;

pub(crate) mod fields;

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use self::fields::{read_title, tables};
use crate::claims::{Claim, Row, Untested, Verdict};
use crate::figure::{self, Figure, PolicyStyles};
use crate::series::{Series, reader_name};
use click_models::PreferenceMatrix;
use experiment::models::{InstanceTable, MatrixFile};
use experiment::toml_reader::{Document, Error, Field, Source, Table, one_of};
use experiment::{DataInstances, Experiment, FittedQuery, Overrides, Queries, SpecContext, Task};

/// How much of an experiment is run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// What the papers have.
    Full,
    /// What takes about a minute.
    Quick,
}

/// An experiment with everything a report says of it.
#[derive(Debug, Clone)]
pub struct Reproduction {
    /// Short name.
    pub name: String,
    /// Heading of the report.
    pub title: String,
    /// What it is about, one paragraph each.
    pub summary: Vec<String>,
    /// The papers it is taken from.
    pub papers: Vec<Paper>,
    /// Where the instances come from.
    pub source: Option<DataSource>,
    /// A table of the instances as the papers print it.
    pub printed: Option<Printed>,
    /// Names of policies for readers, by label.
    pub names: BTreeMap<String, String>,
    /// The panels, in the order of the report.
    pub panels: Vec<Panel>,
    /// Panels that are not run: those that a quick check leaves out, then those whose data are awaited.
    pub awaiting: Vec<Panel>,
    /// The data that the panels are run on, for readers.
    pub measured: Option<String>,
    /// The strength of the prior with which users were fitted to the log, in pseudo-impressions; none for what the log says.
    pub prior: Option<f64>,
    /// What was found in the log, one a query, in the order of the instances; empty without a log.
    pub found_in_log: Vec<FittedQuery>,
    /// The option that gave them; empty without.
    pub option: &'static str,
    /// The claims, in the order of the report.
    pub claims: Vec<Claim>,
}

/// A paper.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Paper {
    /// Short name by which panels refer to it.
    pub key: String,
    /// Authors, title, venue, year.
    pub citation: String,
    /// Address.
    pub link: Option<String>,
}

/// Where figures that were carried over come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DataSource {
    /// In words.
    pub text: String,
    /// Address.
    pub link: Option<String>,
    /// Licence.
    pub licence: Option<String>,
}

/// A table of the instances as the papers print it.
#[derive(Debug, Clone, PartialEq)]
pub struct Printed {
    /// Its heading.
    pub title: String,
    /// Its rows with the attractions of the instance each speaks of.
    pub rows: Vec<Row>,
}

/// One simulation, or several that differ in a setting, and what the paper says of it.
#[derive(Debug, Clone)]
pub struct Panel {
    /// Name, fit for a folder.
    pub name: String,
    /// What is simulated, at least one.
    pub variants: Vec<Variant>,
    /// Heading.
    pub title: String,
    /// Index of the paper it is taken from.
    pub paper: usize,
    /// Which figure or table of the paper.
    pub place: String,
    /// What the paper says of it, in our words.
    pub statement: String,
    /// What is drawn, the paper's own figure first.
    pub figures: Vec<Figure>,
    /// What the paper leaves open and we chose.
    pub choices: Vec<String>,
    /// Regrets, or stopping times, that the paper prints, at most one for each series.
    pub printed: Vec<PrintedValue>,
    /// Whether a quick check simulates something else, not only less often.
    pub differs: bool,
    /// Why a quick check leaves it to the full run, if it does.
    pub left: Option<String>,
}

/// One simulation of a panel.
#[derive(Debug, Clone)]
pub struct Variant {
    /// Name, fit for a folder; none for the only simulation of a panel without variants.
    pub name: Option<String>,
    /// What readers call it; empty without a name.
    pub title: String,
    /// The number by which it differs from the others, for fits.
    pub size: Option<f64>,
    /// What is simulated; it is named after the panel, and the variant if it has a name.
    pub experiment: Experiment,
    /// At which extent.
    pub extent: Extent,
}

/// A regret at the horizon, or a stopping time, as a paper prints it.
#[derive(Debug, Clone, PartialEq)]
pub struct PrintedValue {
    /// Which curve it belongs to.
    pub series: Series,
    /// The printed mean.
    pub value: f64,
    /// The printed standard error, if there is one.
    pub se: Option<f64>,
}

impl Panel {
    /// One simulation of which no paper says anything.
    pub(crate) fn of(variant: Variant, figures: Vec<Figure>) -> Self {
        Self {
            name: String::new(),
            title: variant.experiment.name().to_owned(),
            variants: vec![variant],
            paper: 0,
            place: String::new(),
            statement: String::new(),
            figures,
            choices: Vec::new(),
            printed: Vec::new(),
            differs: false,
            left: None,
        }
    }

    /// What is done with the policies, the same in all variants.
    pub fn task(&self) -> Task {
        self.variants.first().map_or(Task::Regret, |variant| variant.experiment.task())
    }

    /// Whether it has variants, each in a folder of its own within the panel's.
    pub fn has_variants(&self) -> bool {
        self.variants.iter().any(|variant| variant.name.is_some())
    }

    /// Whether it is run on measured queries.
    pub fn takes_data(&self) -> bool {
        self.variants.iter().any(|variant| variant.experiment.takes_data())
    }

    /// Whether its users compare two items.
    pub fn has_duels(&self) -> bool {
        self.variants.iter().all(|variant| variant.experiment.has_duels())
    }

    /// The preferences of its users, the first if there are several.
    pub fn matrix(&self) -> Option<&PreferenceMatrix> {
        self.variants.iter().find_map(|variant| variant.experiment.instances().preferences())
    }

    /// Whether it takes preferences from a file.
    fn takes_a_matrix(&self) -> bool {
        self.variants.iter().any(|variant| variant.experiment.instances().matrix_file().is_some())
    }

    /// The figures that a simulation of the panel draws itself: none where they compare several.
    pub fn own_figures(&self) -> &[Figure] {
        if self.has_variants() { &[] } else { &self.figures }
    }

    /// Every policy of every variant.
    pub fn series(&self) -> Vec<Series> {
        let of = |variant: &Variant| -> Vec<Series> {
            let series = |label: &String| Series { variant: variant.name.clone(), policy: label.clone() };
            variant.experiment.policies().iter().map(|policy| series(&policy.label)).collect()
        };
        self.variants.iter().flat_map(of).collect()
    }

    /// Its instances: those of all variants, each after its variant, unless they are the same.
    pub fn instances(&self) -> Vec<InstanceTable> {
        let of_variants: Vec<Vec<InstanceTable>> =
            self.variants.iter().map(|variant| variant.experiment.instances().tables()).collect();
        if of_variants.windows(2).all(|pair| pair[0] == pair[1]) {
            return of_variants.into_iter().next().unwrap_or_default();
        }
        let mut all = Vec::new();
        for (variant, tables) in self.variants.iter().zip(of_variants) {
            let alone = tables.len() == 1;
            all.extend(tables.into_iter().map(|mut table| {
                table.name =
                    if alone { variant.title.clone() } else { format!("{}: {}", variant.title, table.name) };
                table
            }));
        }
        all
    }

    /// The variant that has a series.
    pub(crate) fn variant_of(&self, series: &Series) -> Option<&Variant> {
        self.variants.iter().find(|variant| variant.name == series.variant)
    }

    /// What readers call a series.
    pub fn reader_name(&self, series: &Series, styles: &PolicyStyles) -> String {
        let labels: BTreeSet<String> = self.series().into_iter().map(|series| series.policy).collect();
        let title = self.variant_of(series).map_or("", |variant| variant.title.as_str());
        reader_name(styles.name(&series.policy), title, labels.len() == 1)
    }
}

impl Variant {
    /// The folder of its files within the report's.
    pub fn folder(&self, panel: &str) -> String {
        self.name.as_ref().map_or_else(|| panel.to_owned(), |name| format!("{panel}/{name}"))
    }

    /// What a message calls it.
    pub(crate) fn described(&self) -> String {
        let quick = if self.extent == Extent::Quick { "quick " } else { "" };
        match &self.name {
            None => format!("{quick}panel"),
            Some(name) => format!("{quick}variant {name:?}"),
        }
    }
}

impl Reproduction {
    /// Reads the two files of a directory.
    ///
    /// # Errors
    ///
    /// The first thing wrong with either, at this extent or the other.
    pub fn read(
        directory: &Path,
        queries: Option<&Queries>,
        matrix: Option<&Arc<MatrixFile>>,
        overrides: Overrides,
        extent: Extent,
    ) -> Result<Self, Error> {
        let experiment = Source::read(&directory.join("experiment.toml"))?;
        let claims = Source::read(&directory.join("claims.toml"))?;
        Self::from_sources(&experiment, &claims, queries, matrix, overrides, extent)
    }

    /// What the texts of the two files say.
    ///
    /// # Errors
    ///
    /// The first thing wrong with either, at this extent or the other.
    pub fn from_sources(
        experiment: &Source,
        claims: &Source,
        queries: Option<&Queries>,
        matrix: Option<&Arc<MatrixFile>>,
        overrides: Overrides,
        extent: Extent,
    ) -> Result<Self, Error> {
        let [full, quick] = Self::at_both(experiment, claims, queries, matrix, overrides)?;
        Ok(if extent == Extent::Full { full } else { quick })
    }

    /// What they say at full extent and in a quick check.
    fn at_both(
        experiment: &Source,
        claims: &Source,
        queries: Option<&Queries>,
        matrix: Option<&Arc<MatrixFile>>,
        overrides: Overrides,
    ) -> Result<[Self; 2], Error> {
        let at = |extent| Self::at(experiment, claims, queries, matrix, overrides, extent);
        Ok([at(Extent::Full)?, at(Extent::Quick)?])
    }

    /// What they say at one extent.
    ///
    /// Panels whose instances are `data` are run on the `queries`, and where the experiment says how its log is read those that share
    /// instances, and then only they: the others stand in for them. Without queries those whose instances are `data` wait, and
    /// what is claimed of them cannot be tested.
    fn at(
        experiment: &Source,
        claims: &Source,
        queries: Option<&Queries>,
        matrix: Option<&Arc<MatrixFile>>,
        overrides: Overrides,
        extent: Extent,
    ) -> Result<Self, Error> {
        let document = experiment.parse()?;
        let replace_shared = queries.is_some() && document.root().field("log").is_some();
        let queries_or_none = queries.map_or(DataInstances::Awaited, DataInstances::Known);
        let given = SpecContext { queries: queries_or_none, replace_shared, matrix, overrides };
        let mut reproduction = read_experiment(&document.root(), given, extent)?;
        reproduction.claims = claims::read(&claims.parse()?.root(), &reproduction, extent)?;
        if let Some(matrix) = matrix {
            reproduction.judge_by(&document, matrix)?;
        }
        let (with_data, without): (Vec<Panel>, Vec<Panel>) =
            std::mem::take(&mut reproduction.panels).into_iter().partition(Panel::takes_data);
        let Some(queries) = queries else {
            for claim in &mut reproduction.claims {
                if with_data.iter().any(|panel| claim.panel.as_ref() == Some(&panel.name)) {
                    claim.test = Untested::not_testable("the data are not public");
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
                "no panel of {} takes data (`instances = \"data\"`): leave out --data",
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
        reproduction.found_in_log = queries.found_in_log().to_vec();
        reproduction.prior = queries.prior();
        reproduction.judge_table_by_log();
        Ok(reproduction)
    }

    /// Puts the rows of the printed table beside the queries of the log. The table does not name them: both are ordered by the number
    /// of items, then of records. Unless there are as many, rows are numbered as printed and what is claimed of them cannot be tested.
    fn judge_table_by_log(&mut self) {
        let Some(printed) = &mut self.printed else { return };
        let size = |row: &Row, key: &str| row.printed.iter().find(|(other, _)| other == key).map(|(_, n)| *n);
        let key = |row: &Row| ["n_items", "records"].map(|key| size(row, key).unwrap_or(0.0));
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
            claim.test = Untested::not_testable(reason.clone());
        }
    }

    /// What is found of data that were given decides nothing, and never fails.
    fn nothing_is_known_of(&mut self, data: &str) {
        for claim in &mut self.claims {
            claim.known = Verdict::NotTestable;
            claim.evidence = format!("Nothing is known of these {data} beforehand.");
        }
    }

    /// Keeps the panels that take preferences from a file: they have another matrix now, of which nothing is known.
    fn judge_by(&mut self, document: &Document<'_>, matrix: &MatrixFile) -> Result<(), Error> {
        self.panels.retain(Panel::takes_a_matrix);
        if self.panels.is_empty() {
            let name = &self.name;
            return Err(document.root().error(format!(
                "no panel of {name} takes preferences from a file (`file = ...`): leave out --matrix"
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

    /// Colours and markers of the policies of all panels, and what readers call them.
    pub fn styles(&self) -> PolicyStyles {
        let labels: Vec<String> =
            self.panels.iter().flat_map(Panel::series).map(|series| series.policy).collect();
        PolicyStyles::of(labels.iter().map(String::as_str)).named(self.names.clone())
    }

    /// The files of the figures that compare variants, relative to the report.
    pub fn figures_of_variants(&self) -> Vec<String> {
        let panels = self.panels.iter().filter(|panel| panel.has_variants());
        let names = |panel: &Panel| {
            let file = |file: String| format!("{}/{file}", panel.name);
            figure::file_names(&panel.figures).into_iter().map(file).collect::<Vec<_>>()
        };
        panels.flat_map(names).collect()
    }

    /// Drops all panels but one, and all claims but its own.
    ///
    /// # Errors
    ///
    /// There is no such panel.
    pub fn keep_only(&mut self, panel: &str) -> anyhow::Result<()> {
        let awaited = self.awaiting.iter().find(|other| other.name == panel);
        if awaited.is_some_and(|panel| panel.left.is_some()) {
            anyhow::bail!("a quick check leaves the panel out: leave out --quick");
        }
        if awaited.is_some() {
            anyhow::bail!("the panel is run on measured queries: give them with --data FILE");
        }
        if self.panel(panel).is_none() {
            let names: Vec<&str> = self.panels.iter().map(|other| other.name.as_str()).collect();
            let with = if self.option.is_empty() {
                String::new()
            } else {
                format!(" with{}", self.option.trim_end_matches(" FILE"))
            };
            anyhow::bail!("{}{with} has no such panel: it has {}", self.name, names.join(", "));
        }
        self.panels.retain(|other| other.name == panel);
        self.awaiting.clear();
        self.claims.retain(|claim| claim.panel.as_deref() == Some(panel));
        Ok(())
    }

    /// A panel by its name.
    fn panel(&self, name: &str) -> Option<&Panel> {
        self.panels.iter().find(|panel| panel.name == name)
    }
}

fn read_experiment(root: &Table<'_>, given: SpecContext<'_>, extent: Extent) -> Result<Reproduction, Error> {
    let name = root.required("name")?;
    let title = root.required("title")?;
    let summary = root.optional("summary")?.unwrap_or_default();
    let papers = read_papers(root)?;
    let source = root.optional::<Table<'_>>("source")?.map(|table| read_source(&table)).transpose()?;
    // How its log is read is for those who read logs.
    root.know(&["log"]);
    let printed: Option<Table<'_>> = root.optional("printed")?;
    let names: Option<Table<'_>> = root.optional("names")?;
    let panels = panels::read(root, &papers, given, extent)?;
    let names = names.map(|table| read_names(&table, &panels, extent)).transpose()?.unwrap_or_default();
    let first = &panels[0].variants[0].experiment;
    let known = (!given.replace_shared).then(|| first.instances().tables());
    let printed = printed.map(|table| read_printed(&table, known.as_deref())).transpose()?;
    root.finish()?;
    Ok(Reproduction {
        name,
        title,
        summary,
        papers,
        source,
        printed,
        names,
        panels,
        awaiting: Vec::new(),
        measured: None,
        prior: None,
        found_in_log: Vec::new(),
        option: "",
        claims: Vec::new(),
    })
}

fn read_papers(root: &Table<'_>) -> Result<Vec<Paper>, Error> {
    let mut papers: Vec<Paper> = Vec::new();
    for table in tables(root, "papers")? {
        let key: Field<'_> = table.required("key")?;
        let paper =
            Paper { key: key.get()?, citation: table.required("citation")?, link: optional_link(&table)? };
        table.finish()?;
        if papers.iter().any(|other| other.key == paper.key) {
            return Err(key.error(format!("paper {} is already given: expected another key", key.describe())));
        }
        papers.push(paper);
    }
    Ok(papers)
}

fn read_source(table: &Table<'_>) -> Result<DataSource, Error> {
    let source = DataSource {
        text: table.required("text")?,
        link: optional_link(table)?,
        licence: table.optional("licence")?,
    };
    table.finish()?;
    Ok(source)
}

/// Only web addresses: they become links of a page.
fn optional_link(table: &Table<'_>) -> Result<Option<String>, Error> {
    let Some(field) = table.field("link") else { return Ok(None) };
    let link: String = field.get()?;
    if link.starts_with("https://") || link.starts_with("http://") {
        return Ok(Some(link));
    }
    Err(field
        .error(format!("{} is no web address: expected one that begins with https://", field.describe())))
}

/// Names for readers: of policies that some panel has, no two the same. A quick check need not have them all.
fn read_names(
    table: &Table<'_>,
    panels: &[Panel],
    extent: Extent,
) -> Result<BTreeMap<String, String>, Error> {
    let policies: BTreeSet<String> =
        panels.iter().flat_map(Panel::series).map(|series| series.policy).collect();
    let mut names = BTreeMap::new();
    for label in policies {
        let Some(field) = table.field(&label) else { continue };
        let name = read_title(&field)?;
        if names.values().any(|other| *other == name) {
            return Err(field.error(format!("{name:?} is the name of another policy already")));
        }
        names.insert(label, name);
    }
    if extent == Extent::Full {
        table.finish()?;
    }
    Ok(names)
}

/// The rows of a printed table, each of one of the `known` instances; of whichever it says where these have been replaced.
fn read_printed(table: &Table<'_>, known: Option<&[InstanceTable]>) -> Result<Printed, Error> {
    let mut rows: Vec<Row> = Vec::new();
    let list: Field<'_> = table.required("rows")?;
    for row in list.get::<Vec<Table<'_>>>()? {
        let field: Field<'_> = row.required("instance")?;
        let name = match known {
            Some(known) => {
                let names: Vec<&str> = known.iter().map(|instance| instance.name.as_str()).collect();
                one_of(&field, &names, "instance")?
            }
            None => field.get()?,
        };
        if rows.iter().any(|other| other.name == name) {
            return Err(field.error(format!("instance {name:?} already has a row")));
        }
        // The attractions come first.
        let instance = known.and_then(|known| known.iter().find(|other| other.name == name));
        let theta = instance.and_then(|instance| instance.parameters.first());
        let mut printed = Vec::new();
        for key in row.keys().into_iter().filter(|key| *key != "instance") {
            printed.push((key.to_owned(), row.required::<f64>(key)?));
        }
        rows.push(Row {
            name,
            theta: theta.map(|(_, theta)| theta.numbers().to_vec()).unwrap_or_default(),
            printed,
        });
    }
    if rows.is_empty() {
        return Err(list.error("no rows: expected one for each instance of the printed table"));
    }
    let title = table.required("title")?;
    table.finish()?;
    Ok(Printed { title, rows })
}

#[cfg(test)]
mod tests;
