//! The argument `prior`.

use crate::fit::{ContextFit, Fitted};
use crate::message::{check_fit, existing, type_error, value_error};
use crate::name::typed;
use crate::names::Names;
use click_logs::fit::Model;
use click_logs::parameters::{FittedPrior, item_prior, item_prior_in};
use confidence::Probability;
use policies::catalogue::{AnyPolicy, PolicySpec, Protocol};
use policies::{Error, Tallies};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyString;
use std::path::PathBuf;

/// The values that stand for a prior.
const EXPECTED: &str = "(a, b), the result of fit, its file or directory, or \"estimated\"";
/// The prior from all items so far.
const ESTIMATED: &str = "estimated";

/// The models whose fit a policy may begin with, their users, and the policy of these by default.
pub(crate) const BEGINNINGS: [(Model, Protocol, &str); 3] = [
    (Model::Pbm, Protocol::PositionBased, "pbm-ts"),
    (Model::Cascade, Protocol::Cascade, "cascade-ts"),
    (Model::Dcm, Protocol::Dcm, "dcm-ts"),
];

/// The model by which a log is fitted for these users.
pub(crate) fn model_of(protocol: Protocol) -> Model {
    BEGINNINGS.iter().find(|row| row.1 == protocol).map_or(Model::Pbm, |row| row.0)
}

/// The prior of the attraction of items.
pub(crate) enum Prior {
    Given(f64, f64),
    /// That of a fit in a file or a directory.
    Fitted(PathBuf),
    /// That of a fit, whose parameters.json this is.
    Written(Vec<u8>),
    /// That of a fit with contexts.
    Contexts(Box<spec::ContextFit>),
    /// From the items so far.
    Estimated,
}

impl Prior {
    /// The arguments `prior` and `query`, the second of which means one of the queries of a fit.
    pub(crate) fn of_query(given: Option<&Bound<'_, PyAny>>, query: Option<&str>) -> PyResult<Option<Self>> {
        let prior = given.map(Self::read).transpose()?;
        match (&prior, query) {
            (_, None) | (Some(Self::Fitted(_) | Self::Written(_)), _) => {}
            (Some(Self::Contexts(fit)), _) => check_fit("query", query, fit.query.as_deref())?,
            (_, Some(query)) => {
                return Err(value_error(format!("query is {query:?}: only with the prior of a fit")));
            }
        }
        Ok(prior)
    }

    fn read(given: &Bound<'_, PyAny>) -> PyResult<Self> {
        if let Ok((a, b)) = given.extract() {
            return Ok(Self::Given(a, b));
        }
        if let Ok(fitted) = given.cast::<Fitted>() {
            return fitted.get().json(given.py()).map(Self::Written);
        }
        if let Ok(fitted) = given.cast::<ContextFit>() {
            return Ok(Self::Contexts(Box::new(fitted.get().fit.clone())));
        }
        let path: PathBuf = given.extract().map_err(|error: PyErr| {
            if error.is_instance_of::<PyTypeError>(given.py()) {
                type_error(format!("prior: expected {EXPECTED}, got {}", given.get_type()))
            } else {
                error
            }
        })?;
        if path.as_os_str() == ESTIMATED {
            return Ok(Self::Estimated);
        }
        existing("prior", path, EXPECTED, &[ESTIMATED]).map(Self::Fitted)
    }

    /// The fit with contexts that is meant.
    pub(crate) fn of_context_fit(self) -> PyResult<Box<spec::ContextFit>> {
        match self {
            Self::Contexts(fit) => Ok(fit),
            Self::Fitted(path) => Ok(Box::new(ContextFit::read(&path)?.fit)),
            _ => Err(value_error("prior: this policy begins with a ContextFit, or with its file")),
        }
    }

    /// The prior of a policy that estimates coefficients, whose items have these names.
    ///
    /// # Errors
    ///
    /// `ValueError` for a prior of attraction, and for other items.
    pub(crate) fn of_coefficients(self, py: Python<'_>, names: Option<&Names>) -> PyResult<Self> {
        let fit = self.of_context_fit()?;
        let names = names.map(|names| names.all(py));
        for (index, (name, expected)) in names.into_iter().flatten().zip(&fit.items).enumerate() {
            let found = name.str()?.to_string();
            let is_same =
                found == *expected && (fit.item_type.is_text() || !name.is_instance_of::<PyString>());
            if !is_same {
                let (name, expected) = (name.repr()?, typed(py, expected, fit.item_type)?.repr()?);
                return Err(value_error(format!(
                    "prior: item {index} is {name}, that of the fit {expected}"
                )));
            }
        }
        Ok(Self::Contexts(fit))
    }

    /// Gives a policy this prior; with an estimate, as long as there is none, it keeps its own.
    pub(crate) fn give(&self, policy: &mut AnyPolicy, query: Option<&str>) -> PyResult<()> {
        let (name, protocol) = (policy.spec().name(), policy.protocol());
        let invalid = |error: Error| value_error(format!("`{name}`: {error}"));
        if let Self::Contexts(fit) = self {
            return policy.begin_with(&fit.prior).map_err(|error| match error {
                Error::NoPrior => {
                    value_error(format!("prior: a ContextFit is for `hybrid-ts`, not `{name}`"))
                }
                error => invalid(error),
            });
        }
        let bayesian = policy.tallies_mut().and_then(Tallies::bayesian);
        let bayesian = bayesian.ok_or_else(|| invalid(Error::NoPrior))?;
        let model = model_of(protocol);
        if let &Self::Given(a, b) = self {
            return policies::Prior::new(a, b).and_then(|prior| bayesian.set_prior(prior)).map_err(invalid);
        }
        if let Some(FittedPrior { shapes: [a, b], .. }) = self.of_fit(model, query)? {
            bayesian.set_fitted_prior(a, b);
        }
        Ok(())
    }

    /// Gives `dcm-ts` the continuation of a fit, unless it has one.
    pub(crate) fn complete(
        &self,
        spec: &mut PolicySpec,
        protocol: Protocol,
        query: Option<&str>,
    ) -> PyResult<()> {
        if let (PolicySpec::DcmTs { continuation: to @ None }, Protocol::Dcm) = (spec, protocol) {
            let found = self.of_fit(model_of(protocol), query)?.and_then(|fit| fit.continuation);
            *to = found.and_then(|share| Probability::new(share).ok());
        }
        Ok(())
    }

    fn of_fit(&self, model: Model, query: Option<&str>) -> PyResult<Option<FittedPrior>> {
        let found = match self {
            Self::Fitted(path) => item_prior(path, model, query),
            Self::Written(json) => item_prior_in("prior", json, model, query),
            Self::Given(..) | Self::Estimated | Self::Contexts(_) => return Ok(None),
        };
        found.map(Some).map_err(value_error)
    }
}
