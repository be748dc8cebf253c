//! Users as uncertain as a log leaves them: `users = { posterior = "parameters.json" }`.
//!
//! The file is what `fit` writes. Every parameter has an estimate and a standard error. A
//! replication draws its users from Beta distributions with these means and standard deviations,
//! all independent. Policies know the users with the means. A parameter without a standard error,
//! such as the examination of the first position, is known. The keys are those of [`UsersKeys`].
//!
//! `posterior` may be a list of files, with fits of parts of one log. They have the same queries
//! and items, and draws take them in turn.
//!
//! The attraction of seldom shown items is less than typical ([`exposure`]).
//!
//! Deviation from the joint distribution of the fit, without a transfer: attraction and examination
//! are negatively correlated there, so clicks are somewhat less certain here than the log leaves
//! them. With a transfer, draws agree with the clicks on each item, and the parameters of positions
//! that queries share are drawn once for all.

mod exposure;
pub(crate) mod prior;

use crate::models::MODELS;
use click_models::ListShape;
use documents::InputFile;
use documents::names::quoted;
use documents::parameters::{
    EstimateRecord, ItemRecord, ModelRecord, Parameters, PositionRecord, QueryRecord, SiteRecord,
};
use documents::toml_reader::{Error, Field, Table};
use itertools::Itertools as _;
use policies::draw_beta;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde_json::json;
use sim::SimRng;

/// The most runs with the same draw of users.
const MOST_RUNS_PER_DRAW: u64 = 1000;
/// No prior, examination or standard error of users is larger.
const LARGEST: f64 = 1e9;

/// The key `users` of an experiment.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct UsersKeys {
    /// The file with the parameters that `fit` writes, from the folder of this file; several with
    /// fits of parts of one log, which draws take in turn.
    #[schemars(example = &"parameters.json")]
    posterior: FileNames,
    /// Which of its fits.
    #[serde(default)]
    #[schemars(schema_with = "fit_schema", example = &"pbm")]
    model: Option<String>,
    /// Cuts the lists to these positions.
    #[schemars(range(min = 1, max = ListShape::MAX_POSITIONS), example = 3)]
    positions: Option<usize>,
    /// Only these queries.
    #[schemars(length(min = 1), example = json!(["shoes"]))]
    queries: Option<Vec<String>>,
    /// Runs in a row that meet the same users. From 2 on, comparisons show how much of their spread
    /// comes from the users.
    #[schemars(range(min = 1, max = MOST_RUNS_PER_DRAW), example = 2)]
    runs_per_draw: Option<u64>,
    /// How far differences between lists happen that the fit predicts; as it predicts them without
    /// this key.
    #[schemars(example = json!({ "slope": [0.6, 0.2], "lists": "logged.csv" }))]
    transfer: Option<TransferKeys>,
}

/// The name of a file, or several.
#[derive(Deserialize, JsonSchema)]
#[serde(untagged)]
enum FileNames {
    One(#[schemars(extend("title" = "the file with the parameters that `fit` writes"))] String),
    Several(#[schemars(length(min = 1), extend("title" = "several names of files"))] Vec<String>),
}

fn fit_schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "string", "enum": fits().collect_vec() })
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct TransferKeys {
    /// The file with the lists of the log and their clicks, which `fit` writes.
    #[schemars(extend("title" = "the file with today's lists, which `fit` writes"), example = &"logged.csv")]
    lists: String,
    /// The part of the differences that happens on lists that the fit has not seen, and its
    /// standard error; not known without it.
    #[schemars(example = (0.6, 0.2))]
    slope: Option<Slope>,
    /// Mean and standard deviation of the deviation of each query from the slope; 0 without it.
    #[serde(default)]
    #[schemars(example = json!([[0.1, 0.05]]))]
    deviations: Vec<Deviation>,
}

#[derive(Deserialize, JsonSchema)]
#[schemars(title = "a number and its standard deviation, at most 1000000000")]
struct Slope(
    #[schemars(range(min = -LARGEST, max = LARGEST))] f64,
    #[schemars(range(min = 0.0, max = LARGEST))] f64,
);

#[derive(Deserialize, JsonSchema)]
#[schemars(title = "a number and its standard deviation, at most 1")]
struct Deviation(#[schemars(range(min = -1.0, max = 1.0))] f64, #[schemars(range(min = 0.0, max = 1.0))] f64);

/// Files of fitted parameters, of which one model was chosen.
#[derive(Debug, Clone)]
pub struct PosteriorFile {
    /// The fits of the parts of the log: at least one.
    pub(crate) parts: Vec<LogPart>,
    /// The name of the fit.
    pub model: &'static str,
    /// The number of positions of all lists, if it was given.
    pub positions: Option<usize>,
    /// The names of its queries, if not all of the file are used.
    pub queries: Option<Vec<String>>,
    /// The number of runs in a row that meet the same users, at least 1.
    pub runs_per_draw: u64,
    /// How far differences between lists happen, if they are not taken as the fit predicts them.
    pub transfer: Option<Transfer>,
}

/// The fit of a log, or of a part of it.
#[derive(Debug, Clone)]
pub(crate) struct LogPart {
    pub(crate) file: InputFile,
    /// Parameters of all queries.
    site: SiteRecord,
    pub(crate) queries: Vec<Query>,
}

/// How far differences between lists happen on lists that a fit has not seen:
/// `transfer = { slope = [0.6, 0.2], lists = "logged.csv" }`.
#[derive(Debug, Clone, PartialEq)]
pub struct Transfer {
    /// The slope and its standard error.
    pub estimate: Option<[f64; 2]>,
    /// Mean and standard deviation of each query's deviation from the slope.
    pub deviations: Vec<[f64; 2]>,
    /// Today's lists.
    pub lists: InputFile,
}

/// A parameter with its mean and standard deviation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Uncertain {
    pub(crate) mean: f64,
    pub(crate) deviation: f64,
}

impl Uncertain {
    /// A parameter that is known.
    pub(crate) fn known(value: f64) -> Self {
        Self { mean: value, deviation: 0.0 }
    }

    /// The parameter in another unit, as a probability.
    pub(crate) fn times(self, factor: f64) -> Self {
        Self { mean: (self.mean * factor).clamp(0.0, 1.0), deviation: self.deviation * factor }
    }

    /// Draws from the Beta distribution with this mean and standard deviation. A standard deviation
    /// that no Beta distribution on two half observations has is cut down to theirs.
    pub(crate) fn draw(self, rng: &mut SimRng) -> f64 {
        let variance = self.deviation * self.deviation;
        let spread = self.mean * (1.0 - self.mean);
        if variance <= 0.0 || spread <= 0.0 {
            return self.mean;
        }
        let size = (spread / variance - 1.0).max(1.0);
        draw_beta(self.mean * size, (1.0 - self.mean) * size, rng)
    }
}

/// A query, and the attraction of its items.
#[derive(Debug, Clone)]
pub(crate) struct Query {
    record: QueryRecord,
    attraction: Vec<Uncertain>,
}

impl Query {
    pub(crate) fn name(&self) -> &str {
        &self.record.query
    }

    pub(crate) fn attraction(&self) -> Vec<Uncertain> {
        self.attraction.clone()
    }

    pub(crate) fn n_items(&self) -> usize {
        self.attraction.len()
    }

    /// Returns whether its parameters of positions, or of continuation, are those of all queries.
    pub(crate) fn shares_positions(&self) -> bool {
        self.record.positions.is_empty() && self.record.continuation.is_empty()
    }
}

/// The parameter; `otherwise` if the log has no information on it.
fn uncertain(estimate: &EstimateRecord, otherwise: f64) -> Uncertain {
    let mean = Some(estimate.value).filter(|value| value.is_finite()).unwrap_or(otherwise);
    Uncertain { mean, deviation: estimate.se.unwrap_or(0.0) }
}

/// Refuses numbers that no users have; the message names the query.
fn check(fit: &ModelRecord) -> Result<(), String> {
    // A value that is not known is no number.
    let is_at_most = |value: f64, largest: f64| value.is_nan() || value <= largest;
    let is_in = |estimate: &EstimateRecord, largest: f64| {
        is_at_most(estimate.value, largest) && estimate.se.is_none_or(|error| error <= LARGEST)
    };
    let are_sound =
        |positions: &[PositionRecord]| positions.iter().all(|position| is_in(&position.estimate, LARGEST));
    if fit.site.prior > LARGEST || !are_sound(&fit.site.positions) {
        return Err(format!("{}: prior or positions: not a number that `fit` writes", fit.model));
    }
    let is_sound = |query: &&QueryRecord| {
        let mut items =
            query.items.iter().flat_map(|item| item.satisfaction.iter().chain([&item.attraction]));
        is_at_most(query.typical, 1.0)
            && items.all(|estimate| is_in(estimate, 1.0))
            && are_sound(&query.positions)
    };
    match fit.queries.iter().find(|query| !is_sound(query)) {
        Some(query) => Err(format!("query {:?}: a number that `fit` does not write", query.query)),
        None => Ok(()),
    }
}

/// The queries with the attraction of every item, which has the prior mean of its exposure; a
/// typical one where the log has no information.
fn with_attraction(queries: Vec<QueryRecord>, prior: f64) -> Vec<Query> {
    let items = |query: &QueryRecord| -> Vec<exposure::Item> {
        let typical = if query.typical.is_nan() { 0.0 } else { query.typical };
        let item = |item: &ItemRecord| exposure::Item {
            estimate: uncertain(&item.attraction, typical),
            prior: item.prior.unwrap_or(typical),
            clicks: item.clicks,
            impressions: item.impressions,
        };
        query.items.iter().map(item).collect()
    };
    let shown: Vec<Vec<exposure::Item>> = queries.iter().map(items).collect();
    let found = exposure::with_exposure(&shown, prior);
    queries.into_iter().zip(found).map(|(record, attraction)| Query { record, attraction }).collect()
}

impl PosteriorFile {
    /// Reads the key `users` of an experiment; `model` is the model that it gives elsewhere.
    pub(crate) fn read(field: &Field<'_>, model: Option<&'static str>) -> Result<Self, Error> {
        let UsersKeys { posterior, model: own, positions, queries, runs_per_draw, transfer } =
            field.build()?;
        let table: Table<'_> = field.get()?;
        let own = own.and_then(|own| fits().find(|fit| *fit == own));
        let transfer = transfer.map(|keys| Transfer::read(keys, &table.required("transfer")?)).transpose()?;
        let file: Field<'_> = table.required("posterior")?;
        let names = match posterior {
            FileNames::One(name) => vec![name],
            FileNames::Several(names) => names,
        };
        let part = |name: &String| {
            let path = file.folder().join(name);
            let content = file.read_beside(name, "the parameters of a fit, as JSON")?;
            Self::of(name, &path.display().to_string(), content, own.or(model))
        };
        let all = Self::together(names.iter().map(part)).unwrap_or_else(|| Err(file.error("no file")))?;
        let all = Self { transfer, positions, runs_per_draw: runs_per_draw.unwrap_or(1), ..all };
        let Some(names) = queries else { return Ok(all) };
        let queries: Field<'_> = table.required("queries")?;
        all.with_queries(&names).map_err(|message| queries.error(message))
    }

    /// Takes the content of a file, which an experiment names `file`, and chooses a model.
    fn of(file: &str, path: &str, content: Vec<u8>, model: Option<&'static str>) -> Result<Self, Error> {
        let whole = |message: String| Error::whole_file(path, message);
        let fits = Parameters::from_json(path, &content)?.models;
        let able = models();
        let found = |fit: &ModelRecord| {
            able.iter().find(|(name, _)| *name == fit.model.name()).map(|(name, _)| *name)
        };
        let names: Vec<&'static str> = fits.iter().filter_map(found).collect();
        let model = match (model, names.as_slice()) {
            (Some(model), _) => model,
            (None, [one]) => one,
            (None, []) => {
                return Err(whole("has no fit of a model that can be simulated".to_owned()));
            }
            (None, _) => {
                let names = names.join(", ");
                return Err(whole(format!("has fits of {names}: name one of them with `model`")));
            }
        };
        let Some(fit) = fits.into_iter().find(|fit| fit.model.name() == model) else {
            return Err(whole(format!("has no fit of {model:?}: it has {}", names.join(", "))));
        };
        if fit.queries.is_empty() {
            return Err(whole("has no queries".to_owned()));
        }
        check(&fit).map_err(whole)?;
        let ModelRecord { site, queries, .. } = fit;
        let queries = with_attraction(queries, site.prior);
        let parts = vec![LogPart { file: InputFile::new(file, content), site, queries }];
        Ok(Self { parts, model, positions: None, queries: None, runs_per_draw: 1, transfer: None })
    }

    /// The fits of parts of a log, by the names and contents of their files; draws take them in
    /// turn.
    ///
    /// # Errors
    ///
    /// A content is not what `fit` writes, or has no such model; a part has other queries or items;
    /// there is no part.
    pub fn from_parts<'a>(
        parts: impl IntoIterator<Item = (&'a str, Vec<u8>)>,
        model: Option<&'static str>,
    ) -> Result<Self, Error> {
        let parts = parts.into_iter().map(|(file, content)| Self::of(file, file, content, model));
        Self::together(parts).unwrap_or_else(|| Err(Error::whole_file("", "no file".to_owned())))
    }

    /// `None` without a part.
    fn together(parts: impl Iterator<Item = Result<Self, Error>>) -> Option<Result<Self, Error>> {
        let shapes = |file: &Self| -> Vec<(String, usize)> {
            file.of_queries().iter().map(|query| (query.name().to_owned(), query.n_items())).collect()
        };
        let both = |first: Result<Self, Error>, next: Result<Self, Error>| {
            let (mut first, next) = (first?, next?);
            if (first.model, shapes(&first)) != (next.model, shapes(&next)) {
                let message = format!("has other queries, items or models than {}", first.file().name);
                return Err(next.error(message));
            }
            first.parts.extend(next.parts);
            Ok(first)
        };
        parts.reduce(both)
    }

    /// With differences between lists as far as they happen on lists that the fit has not seen.
    #[must_use]
    pub fn with_transfer(self, transfer: Transfer) -> Self {
        Self { transfer: Some(transfer), ..self }
    }

    /// The hashes of all files, and the slope of the transfer.
    pub(crate) fn identity(&self) -> String {
        let files = self.files().map(|file| file.sha256.as_str());
        let transfer = self.transfer.as_ref().map(Transfer::numbers);
        files.map(str::to_owned).chain(transfer).join(" ")
    }

    /// The name of the click model of the fit's users.
    pub(crate) fn model_of_users(&self) -> &'static str {
        models().into_iter().find(|(fit, _)| *fit == self.model).map_or(self.model, |(_, model)| model)
    }

    /// The first file, with its path as it was given.
    pub fn file(&self) -> &InputFile {
        &self.parts[0].file
    }

    /// All files: those of the parts, and that of today's lists.
    pub fn files(&self) -> impl Iterator<Item = &InputFile> {
        let lists = self.transfer.iter().map(|transfer| &transfer.lists);
        self.parts.iter().map(|part| &part.file).chain(lists)
    }

    /// Keeps the queries of these names, in the order of the file.
    ///
    /// # Errors
    ///
    /// A name that the file does not have, or no name at all; as a message.
    pub fn with_queries(mut self, names: &[String]) -> Result<Self, String> {
        if names.is_empty() {
            return Err("no queries: expected at least one name".to_owned());
        }
        if let Some(twice) = (1..names.len()).find(|&at| names[..at].contains(&names[at])) {
            return Err(format!("{:?} is named twice", names[twice]));
        }
        let has = |name: &&String| self.of_queries().iter().any(|query| query.name() == *name);
        if let Some(name) = names.iter().find(|name| !has(name)) {
            return Err(format!("{} has no query {name:?}", self.file().name));
        }
        for part in &mut self.parts {
            part.queries.retain(|query| names.iter().any(|name| query.name() == name));
        }
        self.queries = Some(names.to_vec());
        Ok(self)
    }

    /// The queries of its fit, or those that were named.
    pub(crate) fn of_queries(&self) -> &[Query] {
        &self.parts[0].queries
    }

    /// The length of the lists of a query: the given one, or that of the file, or the number of
    /// parameters of positions; at most its number of items.
    pub(crate) fn n_positions(&self, query: &Query) -> usize {
        let of_parameters = || self.parts[0].of_positions(query).count();
        self.positions.or(query.record.n_positions).unwrap_or_else(of_parameters).min(query.n_items())
    }

    /// An error about the file as a whole.
    pub(crate) fn error(&self, message: impl std::fmt::Display) -> Error {
        Error::whole_file(&self.file().name, message.to_string())
    }
}

impl LogPart {
    /// The parameters of positions: the query's own, or those of all queries at its positions.
    pub(crate) fn of_positions<'a>(&'a self, query: &'a Query) -> impl Iterator<Item = &'a EstimateRecord> {
        let QueryRecord { positions: own, shown, .. } = &query.record;
        let all = if own.is_empty() { &self.site.positions } else { own };
        let is_shown = |record: &&PositionRecord| shown.is_empty() || shown.contains(&record.position);
        all.iter().filter(is_shown).map(|record| &record.estimate)
    }

    /// The first `n` parameters of positions; `otherwise` where the log has no information.
    pub(crate) fn positions_of(&self, query: &Query, n: usize, otherwise: f64) -> Vec<Uncertain> {
        let known = self.of_positions(query).map(|estimate| uncertain(estimate, otherwise));
        known.chain(std::iter::repeat(Uncertain::known(otherwise))).take(n).collect()
    }

    /// The satisfaction by the items of a query; a typical one where the log has no information.
    pub(crate) fn satisfaction(&self, query: &Query) -> Vec<Uncertain> {
        let typical = self.site.typical_satisfaction.filter(|typical| !typical.is_nan()).unwrap_or(0.5);
        let own = |item: &ItemRecord| {
            item.satisfaction.map_or(Uncertain::known(typical), |own| uncertain(&own, typical))
        };
        query.record.items.iter().map(own).collect()
    }

    /// The `n` probabilities of continuation: the query's own, or those of all queries, or 1.
    pub(crate) fn continuation(&self, query: &Query, n: usize) -> Vec<Uncertain> {
        let own = &query.record.continuation;
        let known = if own.is_empty() { &self.site.continuation } else { own };
        let known = known.iter().map(|estimate| uncertain(estimate, 1.0));
        known.chain(std::iter::repeat(Uncertain::known(1.0))).take(n).collect()
    }

    /// The mean of the known parameters of positions, for a position on which the log has no
    /// information.
    pub(crate) fn typical_leave(&self, query: &Query) -> f64 {
        let known: Vec<f64> = self
            .of_positions(query)
            .map(|estimate| estimate.value)
            .filter(|value| value.is_finite())
            .collect();
        if known.is_empty() { 0.5 } else { known.iter().sum::<f64>() / known.len() as f64 }
    }
}

impl Transfer {
    fn numbers(&self) -> String {
        let estimate = self
            .estimate
            .map_or_else(String::new, |[slope, error]| format!("slope = {:?}, ", [slope, error]));
        let deviations = match self.deviations.as_slice() {
            [] => String::new(),
            deviations => format!("deviations = {deviations:?}, "),
        };
        estimate + &deviations
    }

    /// The key of an experiment.
    pub(crate) fn to_toml(&self) -> String {
        format!("transfer = {{ {}lists = {} }}", self.numbers(), quoted(self.lists.file_name()))
    }

    fn read(keys: TransferKeys, table: &Table<'_>) -> Result<Self, Error> {
        let TransferKeys { lists: name, slope, deviations } = keys;
        let lists: Field<'_> = table.required("lists")?;
        let content = lists.read_beside(&name, "a CSV file of lists")?;
        let deviations = deviations.into_iter().map(|Deviation(mean, deviation)| [mean, deviation]).collect();
        let estimate = slope.map(|Slope(slope, error)| [slope, error]);
        Ok(Self { estimate, deviations, lists: InputFile::new(&name, content) })
    }
}

/// The names of the fits that can be simulated.
pub(crate) fn fits() -> impl Iterator<Item = &'static str> {
    models().into_iter().map(|(fit, _)| fit)
}

/// The fits that can be simulated, by their names in the file, and the models of their users.
fn models() -> Vec<(&'static str, &'static str)> {
    let able =
        MODELS.iter().filter(|model| model.of_posterior.is_some()).map(|model| (model.name, model.name));
    // The simplified DBN is the DBN of users who do not lose patience.
    able.chain([("sdbn", "dbn")]).collect()
}
