//! `click-bandits policies`, `models`, `formats` and `experiments`: what there is to choose from.
//!
//! Each command lists the names, or shows everything about one of them. The same value is printed
//! as text and as JSON, so both have the same content.

pub(crate) mod experiments;
pub(crate) mod formats;
pub(crate) mod models;
pub(crate) mod named;
pub(crate) mod page;
pub(crate) mod policies;

use crate::terminal::{json, put};
use crate::usage::Usage;
use anyhow::{Result, bail};
use page::Page;
use serde::Serialize;

#[derive(Debug, Clone, Copy, clap::Args)]
pub(crate) struct Form {
    /// Print one JSON document instead of text
    #[arg(long)]
    json: bool,
    /// Print nothing but the example, to be put into a file
    #[arg(long, requires = "name", conflicts_with = "json")]
    example: bool,
}

/// A member of a set, with everything that a user needs to know of it.
pub(crate) trait Member: Serialize {
    fn name(&self) -> &str;

    fn page(&self) -> Page;

    fn example(&self) -> Option<&str>;
}

/// Shows the entry of this name, or a list of all.
fn print<E: Member>(all: &[E], name: Option<&str>, form: Form, list: fn(&[E]) -> Page) -> Result<()> {
    match all.iter().find(|entry| Some(entry.name()) == name) {
        Some(entry) => show(entry, form),
        None if form.json => put(&json(&all)?),
        None => put(&list(all).to_string()),
    }
}

fn show(entry: &impl Member, form: Form) -> Result<()> {
    match (form.example, entry.example()) {
        (true, Some(example)) => put(example),
        (true, None) => bail!(Usage("--example: there is none".to_owned())),
        (false, _) if form.json => put(&json(entry)?),
        (false, _) => put(&entry.page().to_string()),
    }
}
