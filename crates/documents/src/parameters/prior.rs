//! The prior of items, without the items.

use super::{Model, PositionRecord, SCHEMA, SiteRecord, WITH_TABLE, null};
use crate::json::read_json;
use crate::regular::read_regular;
use crate::toml_reader::{Error, push_known};
use itertools::Itertools as _;
use serde::Deserialize;
use std::path::Path;

#[derive(Deserialize)]
struct File {
    schema: u64,
    models: Vec<Fit>,
}

#[derive(Deserialize)]
struct Fit {
    model: Model,
    site: SiteRecord,
    /// None if they are in a table.
    queries: Option<Vec<Query>>,
}

/// A fit's knowledge of the items and the users of a policy.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FittedPrior {
    /// The shapes of the Beta distribution of the attraction of an item.
    pub shapes: [f64; 2],
    /// As [`continuation`].
    pub continuation: Option<f64>,
}

/// The probability to go on after a click, of users of the DCM: the mean over the positions, by the
/// precision of each. After the last one, nothing is known of it.
pub fn continuation(model: Model, positions: &[PositionRecord]) -> Option<f64> {
    let known = positions.iter().map(|record| record.estimate).filter(|found| found.value.is_finite());
    let precision = |se: Option<f64>| se.map_or(1.0, |se| se.max(1e-6).powi(-2));
    let sums = known.fold([0.0; 2], |[sum, all], found| {
        let weight = precision(found.se);
        [sum + weight * (1.0 - found.value), all + weight]
    });
    (model == Model::Dcm && sums[1] > 0.0).then(|| (sums[0] / sums[1]).clamp(0.0, 1.0))
}

#[derive(Deserialize)]
struct Query {
    #[serde(rename = "query")]
    name: String,
    #[serde(deserialize_with = "null::nan")]
    typical: f64,
    #[serde(default)]
    items: Vec<Item>,
}

#[derive(Deserialize)]
struct Item {
    prior: Option<f64>,
}

/// The shapes of the Beta distribution of one of several items, each of which has the prior
/// Beta(`strength mean`, `strength (1 - mean)`): its mean and variance are those of their mixture.
/// So a policy that has one prior for all does not expect of every item what the log shows at the
/// top. Without means, that of a `typical` item; `None` without a prior.
pub fn common_prior(strength: f64, typical: f64, means: impl Iterator<Item = f64>) -> Option<[f64; 2]> {
    let mut means: Vec<f64> = means.filter(|mean| mean.is_finite()).collect();
    if means.is_empty() && typical.is_finite() {
        means.push(typical);
    }
    // Relative to the first position, so that one may exceed 1.
    let means = means.iter().map(|mean| mean.min(0.99));
    let n = means.len() as f64;
    let mean = means.clone().sum::<f64>() / n;
    let within = means.map(|mean| mean * (1.0 - mean)).sum::<f64>() / n * strength / (strength + 1.0);
    let common = within / (mean * (1.0 - mean) - within);
    let is_known = mean > 0.0 && strength > 0.0 && common.is_finite();
    is_known.then_some([common * mean, common * (1.0 - mean)])
}

/// The prior that a fit has found for the attraction of an item, one of `query` or a new one of any
/// query, and for users. `path` is what `fit` has written: a directory, or parameters.json.
///
/// # Errors
///
/// There is no file `parameters.json` of this version, it has no such model or query, or the fit
/// has no prior.
pub fn item_prior(path: &Path, model: Model, query: Option<&str>) -> Result<FittedPrior, Error> {
    let path = if path.is_dir() { path.join("parameters.json") } else { path.to_owned() };
    let name = path.display().to_string();
    let json = read_regular(&path).map_err(|error| Error::whole_file(&name, error.to_string()))?;
    item_prior_in(&name, &json, model, query)
}

/// As [`item_prior`], from the content of `parameters.json`; messages begin with `name`.
///
/// # Errors
///
/// As [`item_prior`].
pub fn item_prior_in(
    name: &str,
    json: &[u8],
    model: Model,
    query: Option<&str>,
) -> Result<FittedPrior, Error> {
    let fault = |message: String| Error::whole_file(name, message);
    let File { schema, models } = read_json(name, json, "the parameters that `fit` writes")?;
    if ![SCHEMA, WITH_TABLE].contains(&schema) {
        return Err(fault(format!("schema {schema}: the file is of another version of this program")));
    }
    let Some(fit) = models.iter().find(|fit| fit.model == model) else {
        let found = models.iter().map(|fit| fit.model).format(", ");
        return Err(fault(format!("no fit of `{model}`, but of {found}")));
    };
    let SiteRecord { typical, lift, prior: strength, .. } = &fit.site;
    let shapes = match (query, &fit.queries) {
        (None, _) => common_prior(*strength, *typical, lift.iter().map(|lift| typical * lift)),
        (Some(query), Some(queries)) => {
            let Some(Query { typical, items, .. }) = queries.iter().find(|fitted| fitted.name == query)
            else {
                let known: Vec<&str> = queries.iter().map(|fitted| &*fitted.name).take(30).collect();
                let mut message = format!("no query {query:?}");
                push_known(&mut message, query, &known, "query");
                return Err(fault(message));
            };
            common_prior(*strength, *typical, items.iter().filter_map(|item| item.prior))
        }
        (Some(_), None) => {
            return Err(fault("queries are in a table: write them with `fit --parameters json`".to_owned()));
        }
    };
    let shapes = shapes.ok_or_else(|| {
        fault(format!("the fit of `{model}` has no prior: expected one without `--prior 0`"))
    })?;
    let continuation = continuation(model, &fit.site.positions);
    Ok(FittedPrior { shapes, continuation })
}
