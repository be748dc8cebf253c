//! The formats as a table for readers, in Markdown.

use super::{SessionsOf, rows};

/// The table of formats: lines, sessions, queries and columns of each.
pub fn formats() -> String {
    let mut text = String::from(
        "| format | type | content of a line | sessions | query | columns |\n|---|---|---|---|---|---|\n",
    );
    for row in rows() {
        let sessions = match row.sessions {
            SessionsOf::None => "no",
            SessionsOf::Log => "yes",
            SessionsOf::Column => "if a column names them",
        };
        let columns = if row.names_columns() { "named by the user" } else { "fixed" };
        let (name, variant) = (format!("`{}`", row.name), row.variant);
        let variant = format!("[`Format::{variant}`](crate::Format::{variant})");
        let cells = [&name, &variant, row.line, sessions, row.query, columns];
        text.extend(["| ", &cells.join(" | "), " |\n"]);
    }
    text
}
