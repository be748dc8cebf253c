//! Arguments that name a member of a set: completed by shells, and with the nearest name in errors.

use crate::terminal;
use clap::builder::{PossibleValue, TypedValueParser};
use clap::error::{ErrorKind, Result};
use clap::{Arg, Command, Error};
use documents::toml_reader::{push_known, with_short_numbers};
use spec::models::MODELS;
use std::ffi::OsStr;

/// Accepts the names of a set.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NameParser {
    /// The kind of things that have the names.
    pub(crate) kind: &'static str,
    pub(crate) names: fn() -> Vec<&'static str>,
}

impl TypedValueParser for NameParser {
    type Value = &'static str;

    fn parse_ref(&self, command: &Command, _: Option<&Arg>, value: &OsStr) -> Result<Self::Value> {
        let (given, names) = (value.to_string_lossy(), (self.names)());
        if let Some(name) = names.iter().find(|name| **name == given) {
            return Ok(name);
        }
        let mut message = format!("unknown {} {:?}", self.kind, with_short_numbers(&given));
        push_known(&mut message, &given, &names, self.kind);
        let message = page_of(&terminal::in_line(&message));
        Err(Error::raw(ErrorKind::InvalidValue, message).with_cmd(command))
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new((self.names)().into_iter().map(PossibleValue::new)))
    }
}

/// A message in lines for a terminal.
fn page_of(message: &str) -> String {
    let mut text = terminal::wrapped(message, terminal::columns() - "error: ".len()).join("\n  ");
    text.push('\n');
    text
}

pub(crate) const POLICY: NameParser =
    NameParser { kind: "policy", names: || policies::catalogue::rows().iter().map(|row| row.name).collect() };

pub(crate) const MODEL: NameParser =
    NameParser { kind: "model", names: || MODELS.map(|model| model.name).to_vec() };

pub(crate) const EXPERIMENT: NameParser = NameParser {
    kind: "experiment",
    names: || crate::embedded::EXPERIMENTS.iter().map(|experiment| experiment.name).collect(),
};

pub(crate) const FORMAT: NameParser = NameParser { kind: "format", names: super::formats::names };
