//! Colours, markers and names of policies, the same in all figures of a report.

use crate::svg::CurveStyle;
use std::collections::BTreeMap;

/// The colour, marker and name of each policy, the same in all figures of a report.
#[derive(Debug, Clone, Default)]
pub struct PolicyStyles {
    numbers: BTreeMap<String, usize>,
    /// Names for readers by label, if they differ from the label.
    names: BTreeMap<String, String>,
}

impl PolicyStyles {
    /// Numbers policies in order of first appearance.
    pub fn of<'a>(labels: impl IntoIterator<Item = &'a str>) -> Self {
        let mut styles = Self::default();
        for label in labels {
            let next = styles.numbers.len();
            styles.numbers.entry(label.to_owned()).or_insert(next);
        }
        styles
    }

    /// Sets names for readers, by label.
    #[must_use]
    pub fn named(self, names: BTreeMap<String, String>) -> Self {
        Self { names, ..self }
    }

    /// The name of a policy for readers: its label, unless another name was set.
    pub fn name<'a>(&'a self, label: &'a str) -> &'a str {
        self.names.get(label).map_or(label, String::as_str)
    }

    /// The style of the curve of a policy.
    pub fn policy(&self, label: &str) -> CurveStyle {
        CurveStyle::Policy(self.numbers.get(label).copied().unwrap_or(self.numbers.len()))
    }
}
