//! JSON Schema of the files of a paper's experiment, `experiment.toml` and `claims.toml`, for
//! editors. The kinds of figures and of tests come from their tables, the keys of a simulation from
//! `spec::schema`.

mod claims;
mod experiment;

pub use self::claims::claims;
pub use self::experiment::experiment;

use serde_json::{Value, json};

/// Any text.
fn any_text() -> Value {
    json!({ "type": "string" })
}

#[cfg(test)]
pub(crate) mod tests;
