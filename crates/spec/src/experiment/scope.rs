//! The tables of an experiment's keys: its own, its panel's, and the top of the file.

use super::{Experiment, SpecContext};
use crate::key::Key;
use documents::toml_reader::{Error, Field, Table};

/// The tables in which an experiment's keys are looked up.
pub(super) struct Scope<'a, 'doc> {
    /// Tables that take precedence for the keys [`Experiment::OVER`], nearest first.
    pub(super) over: &'a [&'a Table<'doc>],
    /// The experiment's own table.
    pub(super) own: &'a Table<'doc>,
    /// Tables for keys that its own does not have, nearest first; the last is the top of the file.
    pub(super) shared: &'a [&'a Table<'doc>],
    /// The inputs besides the file.
    pub(super) given: SpecContext<'a>,
}

impl<'doc> Scope<'_, 'doc> {
    pub(super) fn optional(&self, key: &str) -> Option<Field<'doc>> {
        self.over(key)
            .or_else(|| self.own.field(key))
            .or_else(|| self.shared.iter().find_map(|table| table.field(key)))
    }

    fn over(&self, key: &str) -> Option<Field<'doc>> {
        if !Experiment::OVER.contains(&key) {
            return None;
        }
        self.over.iter().find_map(|table| table.field(key))
    }

    pub(super) fn required(&self, key: &Key) -> Result<Field<'doc>, Error> {
        self.optional(key.name).ok_or_else(|| {
            let elsewhere = match self.shared.len() {
                0 => "",
                1 => ", here or at the top of the file",
                _ => ", here, in the panel or at the top of the file",
            };
            self.own.missing(key.name, &(key.words() + elsewhere))
        })
    }

    /// A key of the experiment's own table or its panel. The top of a file with several experiments
    /// is left out, since its keys may be meant for others.
    pub(super) fn nearby(&self, key: &str) -> Option<Field<'doc>> {
        let panels = self.shared.split_last().map_or(&[][..], |(_, panels)| panels);
        self.over(key)
            .or_else(|| self.own.field(key))
            .or_else(|| panels.iter().find_map(|table| table.field(key)))
    }

    /// The model of all instances. A panel or its variant may give it, the top of a file may not.
    pub(super) fn common_model(&self) -> Option<Field<'doc>> {
        if self.shared.is_empty() { None } else { self.nearby("model") }
    }
}
