//! The fit of a log as what a policy believes before its first round: `prior = "fitted"`,
//! `prior_file = "parameters.json"`, which `fit` writes, with a fit of the position-based model.
//!
//! An instance begins with the query of its name, or with the only query of the file if it has no
//! name. Items and positions that the file does not have, or of which it gives no standard error,
//! begin as in a fresh policy; a position without a standard error is the one that examination is
//! relative to, and is known.

use super::{PosteriorFile, Query};
use crate::models::Instances;
use click_models::ListShape;
use contenders::{Beliefs, FittedPriors};
use documents::InputFile;
use documents::number::counted;
use documents::toml_reader::{Error, Field};
use live::ContextFit;
use policies::{PbmPrior, PolicySpec};

/// Reads the file that a field of an experiment names, for a policy and these instances.
///
/// # Errors
///
/// The file cannot be read, or those of [`of_content`].
pub(crate) fn read(
    field: &Field<'_>,
    spec: &PolicySpec,
    instances: &Instances,
) -> Result<FittedPriors, Error> {
    let name: String = field.get()?;
    let path = field.folder().join(&name).display().to_string();
    let expected = match spec {
        PolicySpec::HybridTs { .. } => "the file context.json of a fit",
        _ => "the parameters of a fit, as JSON",
    };
    of_content(InputFile::new(&name, field.read_beside(&name, expected)?), &path, spec, instances)
}

/// The prior in a file, which errors call `path`.
///
/// # Errors
///
/// For `hybrid-ts`: the file is no fit of a log with contexts, or has other items or features than
/// the instances. Otherwise: it is no fit of the position-based model; an instance without a query,
/// or with fewer items than its query.
pub(crate) fn of_content(
    file: InputFile,
    path: &str,
    spec: &PolicySpec,
    instances: &Instances,
) -> Result<FittedPriors, Error> {
    if let PolicySpec::HybridTs { interactions, .. } = *spec {
        let fit = ContextFit::read(path, &file.content)?;
        let prior = instances.prior(&fit, interactions).map_err(|fault| Error::whole_file(path, fault))?;
        return Ok(FittedPriors { beliefs: Beliefs::OfUsers(Box::new(prior)), file });
    }
    let fit = PosteriorFile::of(&file.name, path, file.content.clone(), Some("pbm"))?;
    let (shapes, parameters) = (instances.shapes(), instances.parameters());
    let of_instances = shapes.into_iter().zip(&parameters).enumerate().map(|(index, (shape, parameters))| {
        let query = query_of(&fit, parameters.name.as_deref());
        let prior = query.and_then(|query| prior_of(&fit, query, shape));
        prior.map_err(|message| Error::whole_file(path, format!("instances[{index}]: {message}")))
    });
    let beliefs = Beliefs::OfInstances(of_instances.collect::<Result<_, _>>()?);
    Ok(FittedPriors { beliefs, file })
}

fn query_of<'a>(file: &'a PosteriorFile, name: Option<&str>) -> Result<&'a Query, String> {
    let queries = file.of_queries();
    match (name, queries) {
        (Some(name), _) => {
            queries.iter().find(|query| query.name() == name).ok_or_else(|| format!("no query {name:?}"))
        }
        (None, [only]) => Ok(only),
        (None, _) => {
            let found = counted(queries.len() as u64, "query");
            Err(format!("{found} found: name the instance after one of them (`name`)"))
        }
    }
}

fn prior_of(file: &PosteriorFile, query: &Query, shape: ListShape) -> Result<PbmPrior, String> {
    if query.n_items() > shape.n_items() {
        return Err(format!(
            "query {:?} has {}, but the instance has {}",
            query.name(),
            counted(query.n_items() as u64, "item"),
            shape.n_items()
        ));
    }
    let n_known = file.parts[0].of_positions(query).count().min(shape.n_positions());
    let examination = file.parts[0].positions_of(query, n_known, 0.0);
    // The log's first position need not be the most examined one.
    let scale = examination.iter().fold(1.0_f64, |largest, examined| largest.max(examined.mean));
    let examination = examination.into_iter().map(|examined| {
        let examined = examined.times(1.0 / scale);
        // Nothing is known of a position without a value; 0 with a standard error of 0 is none.
        (examined.mean > 0.0).then_some((examined.mean, examined.deviation))
    });
    let attraction = query.attraction().into_iter().map(|attraction| {
        let attraction = attraction.times(scale);
        (attraction.deviation > 0.0).then_some((attraction.mean, attraction.deviation))
    });
    PbmPrior::new(attraction, examination).map_err(|error| format!("query {:?}: {error}", query.name()))
}
