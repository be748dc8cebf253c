//! The formats as a table for readers, in Markdown.

use super::{SessionsOf, rows};

/// What a line of each format is, and what it tells.
pub fn formats() -> String {
    let mut text = String::from(
        "| format | type | a line is | sessions | query | columns |\n|---|---|---|---|---|---|\n",
    );
    for row in rows() {
        let sessions = match row.sessions {
            SessionsOf::None => "no",
            SessionsOf::Log => "yes",
            SessionsOf::Column => "if a column says which lines are one list",
        };
        let columns = if row.names_columns() { "named by the user" } else { "its own" };
        let (name, variant) = (format!("`{}`", row.name), row.variant);
        let variant = format!("[`Format::{variant}`](crate::Format::{variant})");
        let cells = [&name, &variant, row.line, sessions, row.query, columns];
        text.extend(["| ", &cells.join(" | "), " |\n"]);
    }
    text
}
