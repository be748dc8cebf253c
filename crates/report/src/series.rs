//! Series: a policy of a panel, or of one of its variants.

use itertools::Itertools as _;
use std::fmt;

use experiment::{Measurement, ResultFile};

/// A policy of a panel, or of one of its variants.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Series {
    /// Name of the variant; `None` in a panel without variants.
    pub variant: Option<String>,
    /// Label of the policy.
    pub policy: String,
}

/// The name in claims: `policy`, or `variant/policy`.
impl fmt::Display for Series {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.variant {
            Some(variant) => write!(formatter, "{variant}/{}", self.policy),
            None => formatter.write_str(&self.policy),
        }
    }
}

/// The runs of a variant; a panel without variants has one without a name.
#[derive(Debug, Clone)]
pub struct VariantRuns {
    /// Name of the variant.
    pub name: Option<String>,
    /// Name for readers; empty without a name.
    pub title: String,
    /// The number by which the variants differ, if there is one.
    pub size: Option<f64>,
    /// The runs and their summary.
    pub measured: Measurement,
}

/// The labels of the policies of these results, each once, in order of first appearance.
pub(crate) fn labels<'a>(results: impl IntoIterator<Item = &'a ResultFile>) -> Vec<&'a str> {
    let policies = results.into_iter().flat_map(|result| &result.policies);
    policies.map(|policy| policy.label.as_str()).unique().collect()
}

/// The name for readers of a series: policy and variant. The variant is left out if it has no
/// title, the policy if it is the only one.
pub(crate) fn reader_name(policy: &str, variant: &str, one_policy: bool) -> String {
    match (variant.is_empty(), one_policy) {
        (true, _) => policy.to_owned(),
        (false, true) => variant.to_owned(),
        (false, false) => format!("{policy}, {variant}"),
    }
}
