//! How policies look in all figures of a report.

use crate::svg::CurveStyle;
use std::collections::BTreeMap;

/// Which number, and with it which colour and marker, a policy has in all figures of a report, and under which name.
#[derive(Debug, Clone, Default)]
pub struct PolicyStyles {
    /// By label.
    numbers: BTreeMap<String, usize>,
    /// By label, where readers know another name.
    names: BTreeMap<String, String>,
}

impl PolicyStyles {
    /// Numbers in order of first appearance.
    pub fn of<'a>(labels: impl IntoIterator<Item = &'a str>) -> Self {
        let mut styles = Self::default();
        for label in labels {
            let next = styles.numbers.len();
            styles.numbers.entry(label.to_owned()).or_insert(next);
        }
        styles
    }

    /// The same with names for readers, by label.
    #[must_use]
    pub fn named(self, names: BTreeMap<String, String>) -> Self {
        Self { names, ..self }
    }

    /// The name of a policy for readers: its label unless it was given another.
    pub fn name<'a>(&'a self, label: &'a str) -> &'a str {
        self.names.get(label).map_or(label, String::as_str)
    }

    /// How the curve of a policy looks.
    pub fn policy(&self, label: &str) -> CurveStyle {
        CurveStyle::Policy(self.numbers.get(label).copied().unwrap_or(self.numbers.len()))
    }
}
