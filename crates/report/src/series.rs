//! Which curve is spoken of: a policy, and where a panel has variants, of which one.

use std::fmt;

use experiment::Measured;

/// A policy of a panel, or of one of its variants.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Series {
    /// Name of the variant; none in a panel without variants.
    pub variant: Option<String>,
    /// Label of the policy.
    pub policy: String,
}

/// As claims name it: `policy`, or `variant/policy`.
impl fmt::Display for Series {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.variant {
            Some(variant) => write!(formatter, "{variant}/{}", self.policy),
            None => formatter.write_str(&self.policy),
        }
    }
}

/// What one variant of a panel measured; a panel without variants is one without a name.
#[derive(Debug, Clone)]
pub struct Simulated {
    /// Name of the variant.
    pub name: Option<String>,
    /// What readers call it; empty without a name.
    pub title: String,
    /// The number by which the variants differ, if there is one.
    pub size: Option<f64>,
    /// What it measured.
    pub measured: Measured,
}

/// The labels of the policies of some variants, each once, in order of first appearance.
pub fn labels<'a>(variants: impl IntoIterator<Item = &'a Simulated>) -> Vec<&'a str> {
    let mut labels: Vec<&str> = Vec::new();
    for policy in variants.into_iter().flat_map(|variant| &variant.measured.result.policies) {
        if !labels.contains(&policy.label.as_str()) {
            labels.push(&policy.label);
        }
    }
    labels
}

/// What readers call a series: the policy, the variant where all have the same policy, or both.
pub fn reader_name(policy: &str, variant: &str, one_policy: bool) -> String {
    match (variant.is_empty(), one_policy) {
        (true, _) => policy.to_owned(),
        (false, true) => variant.to_owned(),
        (false, false) => format!("{policy}, {variant}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_series_is_called_after_what_tells_it_apart() {
        assert_eq!(reader_name("TS", "", true), "TS");
        assert_eq!(reader_name("TS", "steep", true), "steep");
        assert_eq!(reader_name("TS", "steep", false), "TS, steep");
        let series = Series { variant: Some("steep".to_owned()), policy: "ts".to_owned() };
        assert_eq!(series.to_string(), "steep/ts");
        assert_eq!(Series { variant: None, ..series }.to_string(), "ts");
    }
}
