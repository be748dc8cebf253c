//! The argument `prior`.

use crate::fit::Fitted;
use crate::message::{type_error, value_error};
use click_logs::fit::Model;
use click_logs::parameters::{item_prior, item_prior_in};
use policies::catalogue::{Catalogued, NamedPolicy, NamedTable, Protocol};
use policies::{Error, Tallies as _};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use std::path::PathBuf;

/// The prior of the attraction of items.
pub(crate) enum Prior {
    Given(f64, f64),
    /// That of a fit in a directory.
    Fitted(PathBuf),
    /// That of a fit, whose parameters.json this is.
    Written(Vec<u8>),
    /// From the items so far.
    Estimated,
}

impl Prior {
    pub(crate) fn read(given: &Bound<'_, PyAny>) -> PyResult<Self> {
        if let Ok((a, b)) = given.extract() {
            return Ok(Self::Given(a, b));
        }
        if let Ok(fitted) = given.cast::<Fitted>() {
            return fitted.get().json(given.py()).map(Self::Written);
        }
        let path: PathBuf = given.extract().map_err(|error: PyErr| {
            if error.is_instance_of::<PyTypeError>(given.py()) {
                type_error(format!(
                    "prior: expected (a, b), the result or a directory of fit, or \"estimated\", got {}",
                    given.get_type()
                ))
            } else {
                error
            }
        })?;
        Ok(if path.as_os_str() == "estimated" { Self::Estimated } else { Self::Fitted(path) })
    }

    /// The policy with this prior, which is not an estimate.
    pub(crate) fn give<I: Catalogued>(
        &self,
        policy: &NamedPolicy<I>,
        query: Option<&str>,
    ) -> PyResult<NamedPolicy<I>> {
        let name = policy.spec().name();
        let invalid = |error: Error| value_error(format!("`{name}`: {error}"));
        let none = || invalid(Error::NoPrior);
        let mut table = NamedTable::try_from(policy.clone()).map_err(|_| none())?;
        let bayesian = table.bayesian().ok_or_else(none)?;
        match self {
            &Self::Given(a, b) => {
                policies::Prior::new(a, b).and_then(|prior| bayesian.set_prior(prior)).map_err(invalid)?;
            }
            Self::Fitted(_) | Self::Written(_) => {
                let model = match I::PROTOCOL {
                    Protocol::Cascade => Model::Cascade,
                    Protocol::Dcm => Model::Dcm,
                    _ => Model::Pbm,
                };
                let prior = match self {
                    Self::Fitted(directory) => item_prior(directory, model, query),
                    Self::Written(json) => item_prior_in("prior", json, model, query),
                    Self::Given(..) | Self::Estimated => return Ok(policy.clone()),
                };
                let [a, b] = prior.map_err(value_error)?;
                bayesian.set_estimated_prior(a, b);
            }
            Self::Estimated => {
                return Err(value_error(
                    "prior=\"estimated\" is for Live: a Policy is given (a, b), or a directory of fit",
                ));
            }
        }
        Ok(table.policy().clone())
    }
}
