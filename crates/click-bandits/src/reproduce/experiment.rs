//! What an experiment of a paper is: its panels, with what the paper says of each, and the claims to check.
//!
//! A directory holds `experiment.toml` and `claims.toml`. The format is described in `xtask/experiments/README.md`; every
//! fault of a file is reported as `FILE:LINE:COLUMN: FIELD: what is wrong`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use confidence::Probability;

use super::report_dir::{CLAIMS, PAGE};
use crate::config::{Experiment, Instances, Overrides};
use crate::report::axis::Scale;
use crate::report::claims::{Claim, Column, Row, Test, Verdict};
use crate::report::figure::{Band, Figure, Kind};
use crate::toml_reader::{Error, Field, Source, Table, push_known};

/// An experiment with everything a report says of it.
#[derive(Debug, Clone)]
pub(crate) struct Reproduction {
    /// Short name.
    pub(crate) name: String,
    /// Heading of the report.
    pub(crate) title: String,
    /// What it is about, one paragraph each.
    pub(crate) summary: Vec<String>,
    /// The papers it is taken from.
    pub(crate) papers: Vec<Paper>,
    /// Where the instances come from.
    pub(crate) source: Option<DataSource>,
    /// A table of the instances as the papers print it.
    pub(crate) printed: Option<Printed>,
    /// Names of policies for readers, by label.
    pub(crate) names: BTreeMap<String, String>,
    /// The panels, in the order of the report.
    pub(crate) panels: Vec<Panel>,
    /// The claims, in the order of the report.
    pub(crate) claims: Vec<Claim>,
}

/// A paper.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Paper {
    /// Short name by which panels refer to it.
    pub(crate) key: String,
    /// Authors, title, venue, year.
    pub(crate) citation: String,
    /// Address.
    pub(crate) link: Option<String>,
}

/// Where figures that were carried over come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DataSource {
    /// In words.
    pub(crate) text: String,
    /// Address.
    pub(crate) link: Option<String>,
    /// Licence.
    pub(crate) licence: Option<String>,
}

/// A table of the instances as the papers print it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Printed {
    /// Its heading.
    pub(crate) title: String,
    /// Its rows with the attractions of the instance each speaks of.
    pub(crate) rows: Vec<Row>,
}

/// One simulation and what the paper says of it.
#[derive(Debug, Clone)]
pub(crate) struct Panel {
    /// What is simulated; its name is the panel's.
    pub(crate) experiment: Experiment,
    /// Heading.
    pub(crate) title: String,
    /// Index of the paper it is taken from.
    pub(crate) paper: usize,
    /// Which figure or table of the paper.
    pub(crate) place: String,
    /// What the paper says of it, in our words.
    pub(crate) statement: String,
    /// What is drawn, the paper's own figure first.
    pub(crate) figures: Vec<Figure>,
    /// What the paper leaves open and we chose.
    pub(crate) choices: Vec<String>,
    /// What a quick check changes.
    pub(crate) quick: Overrides,
}

impl Reproduction {
    /// Reads the two files of a directory.
    ///
    /// # Errors
    ///
    /// The first thing wrong with either.
    pub(crate) fn read(directory: &Path) -> Result<Self, Error> {
        let experiment = Source::read(&directory.join("experiment.toml"))?;
        let claims = Source::read(&directory.join("claims.toml"))?;
        Self::from_sources(&experiment, &claims)
    }

    /// What the texts of the two files say.
    ///
    /// # Errors
    ///
    /// The first thing wrong with either.
    pub(crate) fn from_sources(experiment: &Source, claims: &Source) -> Result<Self, Error> {
        let mut reproduction = read_experiment(&experiment.parse()?.root())?;
        reproduction.claims = read_claims(&claims.parse()?.root(), &reproduction)?;
        Ok(reproduction)
    }

    /// A panel by its name.
    fn panel(&self, name: &str) -> Option<&Panel> {
        self.panels.iter().find(|panel| panel.experiment.name == name)
    }
}

/// The parameters of an instance.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Parameters {
    /// The instance's name, or its number.
    pub(crate) name: String,
    /// Attraction of each item.
    pub(crate) theta: Vec<f64>,
    /// Examination of each position.
    pub(crate) kappa: Vec<f64>,
}

/// The parameters of every instance of an experiment.
pub(crate) fn parameters(experiment: &Experiment) -> Vec<Parameters> {
    let numbers = |list: &[Probability]| list.iter().map(|p| p.get()).collect();
    let one = |name: Option<&String>, theta: &[Probability], kappa: &[Probability]| Parameters {
        name: name.cloned().unwrap_or_default(),
        theta: numbers(theta),
        kappa: numbers(kappa),
    };
    let mut all: Vec<Parameters> = match &experiment.instances {
        Instances::Pbm(list) => list
            .iter()
            .map(|entry| one(entry.name.as_ref(), entry.model.attraction(), entry.model.examination()))
            .collect(),
        Instances::SemiBandit(list) => list
            .iter()
            .map(|entry| one(entry.name.as_ref(), entry.model.attraction(), entry.model.examination()))
            .collect(),
    };
    for (index, instance) in all.iter_mut().enumerate().filter(|(_, instance)| instance.name.is_empty()) {
        instance.name = format!("instance {index}");
    }
    all
}

fn read_experiment(root: &Table<'_>) -> Result<Reproduction, Error> {
    let name = root.required("name")?;
    let title = root.required("title")?;
    let summary = root.optional("summary")?.unwrap_or_default();
    let papers = read_papers(root)?;
    let source = root.optional::<Table<'_>>("source")?.map(|table| read_source(&table)).transpose()?;
    let printed: Option<Table<'_>> = root.optional("printed")?;
    let names: Option<Table<'_>> = root.optional("names")?;
    let panels = read_panels(root, &papers)?;
    let names = names.map(|table| read_names(&table, &panels)).transpose()?.unwrap_or_default();
    let printed = printed.map(|table| read_printed(&table, &panels[0].experiment)).transpose()?;
    root.finish()?;
    Ok(Reproduction { name, title, summary, papers, source, printed, names, panels, claims: Vec::new() })
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

/// Names for readers: of policies that some panel has, no two the same.
fn read_names(table: &Table<'_>, panels: &[Panel]) -> Result<BTreeMap<String, String>, Error> {
    let policies: BTreeSet<&str> = panels
        .iter()
        .flat_map(|panel| &panel.experiment.policies)
        .map(|policy| policy.label.as_str())
        .collect();
    let mut names = BTreeMap::new();
    for label in policies {
        let Some(field) = table.field(label) else { continue };
        let name: String = field.get()?;
        if name.trim().is_empty() {
            return Err(field.error("the name is empty: expected what readers call the policy"));
        }
        if names.values().any(|other| *other == name) {
            return Err(field.error(format!("{name:?} is the name of another policy already")));
        }
        names.insert(label.to_owned(), name);
    }
    table.finish()?;
    Ok(names)
}

fn read_printed(table: &Table<'_>, experiment: &Experiment) -> Result<Printed, Error> {
    let known = parameters(experiment);
    let names: Vec<&str> = known.iter().map(|instance| instance.name.as_str()).collect();
    let mut rows: Vec<Row> = Vec::new();
    let list: Field<'_> = table.required("rows")?;
    for row in list.get::<Vec<Table<'_>>>()? {
        let field: Field<'_> = row.required("instance")?;
        let name = one_of(&field, &names, "instance")?;
        if rows.iter().any(|other| other.name == name) {
            return Err(field.error(format!("instance {name:?} already has a row")));
        }
        let theta = known.iter().find(|other| other.name == name).map(|other| other.theta.clone());
        let mut printed = Vec::new();
        for key in row.keys().into_iter().filter(|key| *key != "instance") {
            printed.push((key.to_owned(), row.required::<f64>(key)?));
        }
        rows.push(Row { name, theta: theta.unwrap_or_default(), printed });
    }
    if rows.is_empty() {
        return Err(list.error("no rows: expected one for each instance of the printed table"));
    }
    let title = table.required("title")?;
    table.finish()?;
    Ok(Printed { title, rows })
}

fn read_panels(root: &Table<'_>, papers: &[Paper]) -> Result<Vec<Panel>, Error> {
    let mut panels: Vec<Panel> = Vec::new();
    for table in tables(root, "panels")? {
        let panel = read_panel(&table, root, papers)?;
        if panels.iter().any(|other| other.experiment.name == panel.experiment.name) {
            let name: Field<'_> = table.required("name")?;
            return Err(
                name.error(format!("panel {} is already given: expected another name", name.describe()))
            );
        }
        panels.push(panel);
    }
    Ok(panels)
}

fn read_panel(table: &Table<'_>, root: &Table<'_>, papers: &[Paper]) -> Result<Panel, Error> {
    let experiment = Experiment::from_panel(table, root)?;
    let name: Field<'_> = table.required("name")?;
    if [PAGE, CLAIMS].iter().any(|file| experiment.name.eq_ignore_ascii_case(file)) {
        return Err(name.error(format!(
            "{} is the name of a file of the report, and a panel has a folder beside it: expected another name",
            name.describe()
        )));
    }
    let title = table.required("title")?;
    let keys: Vec<&str> = papers.iter().map(|paper| paper.key.as_str()).collect();
    let paper = one_of(&table.required("paper")?, &keys, "paper")?;
    let paper = papers.iter().position(|other| other.key == paper).unwrap_or(0);
    let place = table.required("place")?;
    let statement = table.required("statement")?;
    let choices = table.optional("choices")?.unwrap_or_default();
    let quick = match table.optional::<Table<'_>>("quick")? {
        Some(quick) => read_quick(&quick, &experiment)?,
        None => Overrides::default(),
    };
    let figures = match table.optional::<Vec<Table<'_>>>("figures")? {
        Some(list) => {
            list.iter().map(|figure| read_figure(figure, &experiment, quick)).collect::<Result<_, _>>()?
        }
        None => Figure::defaults(),
    };
    table.finish()?;
    Ok(Panel { experiment, title, paper, place, statement, figures, choices, quick })
}

fn read_figure(table: &Table<'_>, experiment: &Experiment, quick: Overrides) -> Result<Figure, Error> {
    let kind = choice(
        &table.required("kind")?,
        &[Kind::Regret, Kind::ClickThroughRate].map(|kind| (kind.name(), kind)),
        "kind",
    )?;
    let mut figure = Figure::of(kind);
    figure.title = table.optional("title")?;
    if let Some(field) = table.field("band") {
        let bands: &[(&str, Band)] = match kind {
            Kind::Regret => {
                &[("none", Band::None), ("confidence", Band::Confidence), ("deciles", Band::Deciles)]
            }
            Kind::ClickThroughRate => &[("none", Band::None), ("confidence", Band::Confidence)],
        };
        figure.band = choice(&field, bands, "band")?;
    }
    if let Some(field) = table.field("scale") {
        figure.scale = choice(&field, &[("log", Scale::Log), ("linear", Scale::Linear)], "scale")?;
    }
    if let Some(field) = table.field("from") {
        figure.from = field.integer_in(&(1..=u64::MAX))?;
        for (experiment, name) in at_both_scales(experiment, quick, &field)? {
            if figure.from > experiment.horizon {
                return Err(field.error(format!(
                    "there is nothing to show from round {} on: expected at most the horizon of the {name}, {}",
                    figure.from, experiment.horizon
                )));
            }
        }
    }
    figure.references = table.optional("references")?.unwrap_or(true);
    table.finish()?;
    Ok(figure)
}

fn read_quick(table: &Table<'_>, experiment: &Experiment) -> Result<Overrides, Error> {
    let number = |key: &str, overrides: fn(u64) -> Overrides| -> Result<Option<u64>, Error> {
        let Some(field) = table.field(key) else { return Ok(None) };
        let value: u64 = field.get()?;
        experiment.clone().apply(overrides(value)).map_err(|error| {
            let message = error.to_string();
            field.error(message.trim_start_matches("--").trim_start_matches(key).trim_start())
        })?;
        Ok(Some(value))
    };
    let quick = Overrides {
        seed: number("seed", |seed| Overrides { seed: Some(seed), ..Overrides::default() })?,
        runs: number("runs", |runs| Overrides { runs: Some(runs), ..Overrides::default() })?,
        horizon: number("horizon", |horizon| Overrides { horizon: Some(horizon), ..Overrides::default() })?,
    };
    table.finish()?;
    Ok(quick)
}

/// The level of a comparison when a file says nothing.
const LEVEL: f64 = 1e-3;

fn read_claims(root: &Table<'_>, reproduction: &Reproduction) -> Result<Vec<Claim>, Error> {
    let level = read_level(root)?.unwrap_or(LEVEL);
    let mut claims = Vec::new();
    let mut names = BTreeSet::new();
    for table in tables(root, "claims")? {
        let claim = read_claim(&table, level, reproduction)?;
        if !names.insert(claim.name.clone()) {
            let name: Field<'_> = table.required("name")?;
            return Err(
                name.error(format!("claim {} is already given: expected another name", name.describe()))
            );
        }
        claims.push(claim);
    }
    root.finish()?;
    Ok(claims)
}

fn read_level(table: &Table<'_>) -> Result<Option<f64>, Error> {
    let Some(field) = table.field("level") else { return Ok(None) };
    let level: f64 = field.get()?;
    if level > 0.0 && level < 0.5 {
        return Ok(Some(level));
    }
    Err(field.error(format!("{} is no level: expected a number above 0 and below 0.5", field.describe())))
}

fn read_claim(table: &Table<'_>, level: f64, reproduction: &Reproduction) -> Result<Claim, Error> {
    let name = table.required("name")?;
    let says = table.required("says")?;
    let place = table.required("place")?;
    let level = read_level(table)?.unwrap_or(level);
    let panels: Vec<&str> = reproduction.panels.iter().map(|panel| panel.experiment.name.as_str()).collect();
    let panel = match table.field("panel") {
        Some(field) => Some(one_of(&field, &panels, "panel")?),
        None => None,
    };
    let test: Table<'_> = table.required("test")?;
    let test = read_test(table, &test, panel.as_deref(), reproduction)?;
    let known: Table<'_> = table.required("known")?;
    let verdict = choice(&known.required("verdict")?, &Verdict::NAMES, "verdict")?;
    let field: Field<'_> = known.required("evidence")?;
    let evidence: String = field.get()?;
    if evidence.trim().is_empty() {
        return Err(
            field.error("no evidence given: expected the run, or the reason, that the verdict rests on")
        );
    }
    known.finish()?;
    let remark = table.optional("remark")?;
    table.finish()?;
    Ok(Claim { name, panel, says, place, level, test, known: verdict, evidence, remark })
}

fn read_test(
    claim: &Table<'_>,
    table: &Table<'_>,
    panel: Option<&str>,
    reproduction: &Reproduction,
) -> Result<Test, Error> {
    let kind: Field<'_> = table.required("kind")?;
    let kinds = ["order", "near-optimum", "table", "not-testable"];
    let name = one_of(&kind, &kinds, "kind")?;
    let simulated = || match panel.and_then(|panel| reproduction.panel(panel)) {
        Some(panel) => Ok(panel),
        None => Err(claim.missing("panel", "the name of the panel whose result is judged")),
    };
    let test = match name.as_str() {
        "order" => Test::Order {
            lower: read_labels(table, "lower", simulated()?)?,
            upper: read_labels(table, "upper", simulated()?)?,
            t: read_round(table, simulated()?)?,
        },
        "near-optimum" => Test::NearOptimum {
            policies: read_labels(table, "policies", simulated()?)?,
            share: {
                let field: Field<'_> = table.required("share")?;
                field.get::<Probability>()?.get()
            },
            t: read_round(table, simulated()?)?,
        },
        "table" => read_table_test(table, &kind, reproduction)?,
        _ => Test::NotTestable { reason: table.required("reason")? },
    };
    table.finish()?;
    if let Test::Order { lower, upper, .. } = &test
        && let Some(both) = lower.iter().find(|label| upper.contains(label))
    {
        return Err(table.error(format!("policy {both:?} is in `lower` and in `upper`")));
    }
    Ok(test)
}

fn read_table_test(table: &Table<'_>, kind: &Field<'_>, reproduction: &Reproduction) -> Result<Test, Error> {
    let Some(printed) = &reproduction.printed else {
        return Err(
            kind.error("the experiment has no printed table: expected `[printed]` in experiment.toml")
        );
    };
    let list: Field<'_> = table.required("columns")?;
    let mut columns = Vec::new();
    for field in list.get::<Vec<Field<'_>>>()? {
        let column = choice(&field, &Column::NAMES, "column")?;
        if let Some(row) =
            printed.rows.iter().find(|row| row.printed.iter().all(|(key, _)| key != column.name()))
        {
            return Err(field.error(format!("the printed row of {:?} has no {:?}", row.name, column.name())));
        }
        columns.push(column);
    }
    if columns.is_empty() {
        return Err(list.error("no columns: expected at least one"));
    }
    let decimals: Field<'_> = table.required("decimals")?;
    let decimals = u32::try_from(decimals.integer_in(&(0..=12))?).unwrap_or(12);
    Ok(Test::Table { columns, decimals })
}

/// Labels of policies of a panel, at least one.
fn read_labels(table: &Table<'_>, key: &str, panel: &Panel) -> Result<Vec<String>, Error> {
    let list: Field<'_> = table.required(key)?;
    let known: Vec<&str> = panel.experiment.policies.iter().map(|policy| policy.label.as_str()).collect();
    let labels = list
        .get::<Vec<Field<'_>>>()?
        .iter()
        .map(|field| one_of(field, &known, "policy"))
        .collect::<Result<Vec<_>, _>>()?;
    if labels.is_empty() { Err(list.error("no policies: expected at least one label")) } else { Ok(labels) }
}

/// A panel as it is and as a quick check has it, with what they are called.
fn at_both_scales(
    experiment: &Experiment,
    quick: Overrides,
    field: &Field<'_>,
) -> Result<[(Experiment, &'static str); 2], Error> {
    let mut changed = experiment.clone();
    changed.apply(quick).map_err(|error| field.error(error.to_string()))?;
    Ok([(experiment.clone(), "panel"), (changed, "quick panel")])
}

/// A checkpoint of a panel, of its quick form too.
fn read_round(table: &Table<'_>, panel: &Panel) -> Result<Option<u64>, Error> {
    let Some(field) = table.field("t") else { return Ok(None) };
    let round: u64 = field.get()?;
    for (experiment, name) in at_both_scales(&panel.experiment, panel.quick, &field)? {
        if !experiment.checkpoints.contains(&round) {
            let nearest = experiment.checkpoints.iter().min_by_key(|t| t.abs_diff(round)).copied();
            let hint = nearest.map_or_else(String::new, |t| format!(": the nearest one is {t}"));
            return Err(field.error(format!("round {round} is no checkpoint of the {name}{hint}")));
        }
    }
    Ok(Some(round))
}

/// The tables of `[[key]]`, at least one.
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

/// A string that is one of the known ones.
fn one_of(field: &Field<'_>, known: &[&str], kind: &str) -> Result<String, Error> {
    let name: String = field.get()?;
    if known.contains(&name.as_str()) {
        return Ok(name);
    }
    let mut message = format!("unknown {kind} {}", field.describe());
    push_known(&mut message, &name, known, kind);
    Err(field.error(message))
}

/// A value by its name.
fn choice<T: Copy>(field: &Field<'_>, known: &[(&str, T)], kind: &str) -> Result<T, Error> {
    let names: Vec<&str> = known.iter().map(|(name, _)| *name).collect();
    let name = one_of(field, &names, kind)?;
    let found = known.iter().find(|(other, _)| *other == name);
    found.map(|(_, value)| *value).ok_or_else(|| field.error(format!("unknown {kind}")))
}

#[cfg(test)]
mod tests;
