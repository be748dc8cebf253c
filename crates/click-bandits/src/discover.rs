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
use crate::usage::bail_usage;
use anyhow::Result;
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

/// Shows a member of a set, or all of them.
fn show(shown: &impl Serialize, page: &Page, example: Option<&str>, form: Form) -> Result<()> {
    match (form.example, example) {
        (true, Some(example)) => put(example),
        (true, None) => bail_usage!("--example: there is none"),
        (false, _) if form.json => put(&json(shown)?),
        (false, _) => put(&page.to_string()),
    }
}
