//! The prior of items, without the items.

use super::{Model, PositionRecord, SCHEMA, WITH_TABLE, null};
use crate::json::read_json;
use crate::regular::read_regular;
use crate::toml_reader::Error;
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
    site: Site,
    /// None if they are in a table.
    queries: Option<Vec<Query>>,
}

#[derive(Deserialize)]
struct Site {
    #[serde(deserialize_with = "null::nan")]
    typical: f64,
    prior: f64,
    #[serde(default)]
    positions: Vec<PositionRecord>,
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
    query: String,
    #[serde(deserialize_with = "null::nan")]
    typical: f64,
}

/// The prior that a fit has found for the attraction of an item, a new one of `query` or of any
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
    let typical = match (query, &fit.queries) {
        (None, _) => fit.site.typical,
        (Some(query), Some(queries)) => match queries.iter().find(|fitted| fitted.query == query) {
            Some(fitted) => fitted.typical,
            None => return Err(fault(format!("no query {query:?}"))),
        },
        (Some(_), None) => {
            return Err(fault("queries are in a table: write them with `fit --parameters json`".to_owned()));
        }
    };
    let strength = fit.site.prior;
    if !(typical > 0.0 && strength > 0.0 && strength.is_finite()) {
        return Err(fault(format!("the fit of `{model}` has no prior: expected one without `--prior 0`")));
    }
    // Relative to the first position, so that it may exceed 1.
    let mean = typical.min(0.99);
    let continuation = continuation(model, &fit.site.positions);
    Ok(FittedPrior { shapes: [strength * mean, strength * (1.0 - mean)], continuation })
}
