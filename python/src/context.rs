//! The contexts of users: features and segments.

use crate::arrays::{Domain, Shape, as_array, of_shape, wrong_shape};
use crate::clicks::counts;
use crate::decision::Origin;
use crate::message::{type_error, value_error, warn};
use crate::names;
use crate::task::count;
use ::live::{NO_SEGMENT, clip};
use click_models::Context;
use policies::catalogue::ContextKnowledge;
use pyo3::prelude::*;
use serde::{Deserialize, Serialize};

/// A policy's knowledge of users who differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ContextFacts {
    pub(crate) segments: u32,
    pub(crate) user_features: usize,
}

impl ContextFacts {
    pub(crate) fn of(knowledge: &ContextKnowledge) -> Self {
        let &ContextKnowledge { segments, user_features, .. } = knowledge;
        Self { segments, user_features }
    }
}

/// The names of a log's segments and features of users, and the range of each feature in the log;
/// empty for a policy that does not begin with one.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct UserNames {
    segments: Vec<String>,
    features: Vec<String>,
    ranges: Vec<[f64; 2]>,
}

impl UserNames {
    pub(crate) fn of(fit: &spec::ContextFit) -> Self {
        let (segments, features) = (fit.segments.clone(), fit.user_features.clone());
        Self { segments, features, ranges: fit.ranges() }
    }

    pub(crate) fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Features and segments by number, in place of by name.
    pub(crate) fn numbered<'py>(
        &self,
        py: Python<'py>,
        arguments: [Argument<'_, 'py>; 2],
    ) -> PyResult<[Option<Bound<'py, PyAny>>; 2]> {
        let module = names::module(py)?;
        let [features, segments] = arguments;
        let number = |function, names: &Vec<String>, (argument, given): Argument<'_, 'py>| {
            given.map(|given| module.call_method1(function, (argument, given, names))).transpose()
        };
        Ok([number("features", &self.features, features)?, number("segments", &self.segments, segments)?])
    }

    /// Features of users within the range of the log, with a warning of those outside.
    pub(crate) fn clipped(&self, py: Python<'_>, mut features: Vec<f64>) -> PyResult<Vec<f64>> {
        let of_users = features.chunks_mut(self.ranges.len().max(1));
        let outside: usize = of_users.map(|user| clip(&self.ranges, user)).sum();
        if outside > 0 {
            let all = features.len();
            warn(py, format!("features: {outside} of {all} outside the range of the log, clipped to it"))?;
        }
        Ok(features)
    }
}

/// An optional argument, and its name.
type Argument<'a, 'py> = (&'static str, Option<&'a Bound<'py, PyAny>>);

/// The users for whom a policy chooses; without numbers if it sees no contexts.
#[derive(Default)]
pub(crate) struct Contexts {
    /// User by user.
    features: Vec<f64>,
    n_features: usize,
    /// Empty if nobody's is known.
    segments: Vec<u32>,
}

impl Contexts {
    /// The arguments of a policy, for `n` users, or for one.
    pub(crate) fn read<'py>(
        py: Python<'py>,
        (origin, names): (&Origin, &UserNames),
        n: Option<usize>,
        features: Argument<'_, 'py>,
        segments: Argument<'_, 'py>,
    ) -> PyResult<Self> {
        if origin.told.is_none() && features.1.is_none() && segments.1.is_none() {
            return Ok(Self::default());
        }
        let name = origin.spec.name();
        let Some(ContextFacts { segments: n_segments, user_features: n_features }) = origin.told else {
            let given = [features, segments].into_iter().find(|(_, given)| given.is_some());
            return given.map_or_else(
                || Ok(Self::default()),
                |(argument, _)| Err(type_error(format!("{argument}: this `{name}` sees no contexts"))),
            );
        };
        let missing = |argument: &str, told: &str| {
            type_error(format!("missing {argument}: this `{name}` was told {told}"))
        };
        let [of_features, of_segments] = names.numbered(py, [features, segments])?;
        let (argument, given) = (features.0, of_features.as_ref());
        let features = match given {
            Some(given) => {
                let shape: Vec<usize> = n.into_iter().chain([n_features]).collect();
                of_shape(argument, given, Domain::Finite, &shape)?
            }
            None if n_features == 0 => vec![],
            None => return Err(missing(argument, &format!("user_features={n_features}"))),
        };
        let features = names.clipped(py, features)?;
        let (argument, given) = (segments.0, of_segments.as_ref());
        let segments = match (given, n) {
            (Some(given), None) => count(argument, Some(given))?.into_iter().collect(),
            (Some(given), Some(n)) => {
                let (segments, found) = counts(argument, given)?;
                if found != [n] {
                    return Err(wrong_shape(argument, &found, &[n]));
                }
                segments
            }
            (None, _) if n_segments <= 1 => vec![],
            (None, _) => return Err(missing(argument, &format!("segments={n_segments}"))),
        };
        // Beyond all that could be announced.
        let segment = |segment| u32::try_from(segment).unwrap_or(NO_SEGMENT);
        Ok(Self { features, n_features, segments: segments.into_iter().map(segment).collect() })
    }

    pub(crate) fn write(&self, user: usize, out: &mut Context) {
        out.segment = self.segments.get(user).copied().unwrap_or(0);
        out.features.clear();
        out.features.extend_from_slice(&self.features[user * self.n_features..][..self.n_features]);
    }

    pub(crate) fn one(&self) -> Context {
        let mut context = Context::default();
        self.write(0, &mut context);
        context
    }
}

/// The features of all items, given their number.
pub(crate) fn item_features(given: &Bound<'_, PyAny>, n_items: usize) -> PyResult<Vec<f64>> {
    let shape: Vec<usize> = as_array("item_features", given)?.0.getattr("shape")?.extract()?;
    match shape[..] {
        [found, _] if found == n_items => of_shape("item_features", given, Domain::Finite, &shape),
        _ => {
            let found = Shape(&shape);
            Err(value_error(format!("item_features: expected shape ({n_items}, n), got {found}")))
        }
    }
}
