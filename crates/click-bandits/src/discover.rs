//! `click-bandits policies`, `models`, `formats` and `experiments`: what there is to choose from, out of the program's own tables.
//!
//! Each command lists the names, or shows everything about one of them. The answer is a value that is printed as text for readers or as
//! JSON, so that both have the same content.

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

/// What is printed.
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
pub(crate) trait Entry: Serialize {
    /// The page for readers.
    fn page(&self) -> Page;

    /// The example, a file that a command reads.
    fn example(&self) -> Option<&str>;
}

/// Shows one entry.
fn show(entry: &impl Entry, form: Form) -> Result<()> {
    match (form.example, entry.example()) {
        (true, Some(example)) => put(example),
        (true, None) => bail!(Usage("--example: there is none".to_owned())),
        (false, _) if form.json => put(&json(entry)?),
        (false, _) => put(&entry.page().to_string()),
    }
}

/// Shows a list of all entries, as a page or as JSON.
fn list(entries: &impl Serialize, page: &Page, form: Form) -> Result<()> {
    if form.json { put(&json(entries)?) } else { put(&page.to_string()) }
}
