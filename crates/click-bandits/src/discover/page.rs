//! Text for readers in lines of at most 80 columns, or of the terminal's.

use crate::terminal::{self, columns, wrapped};
use std::fmt;

const FACTS: usize = 13;

/// A text that grows by whole paragraphs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Page(String);

impl Page {
    /// A page that begins with a name and a sentence about it.
    pub(crate) fn about(name: &str, sentence: &str) -> Self {
        let mut page = Self::default();
        page.line(name);
        page.text(2, sentence);
        page
    }

    /// Adds a line as it is.
    pub(crate) fn line(&mut self, text: &str) {
        self.0.push_str(&terminal::in_line(text));
        self.0.push('\n');
    }

    /// Adds a heading after an empty line.
    pub(crate) fn heading(&mut self, text: &str) {
        if !self.0.is_empty() {
            self.0.push('\n');
        }
        for line in wrapped(text, columns()) {
            self.line(&line);
        }
    }

    /// Adds a paragraph that begins in column `indent`.
    pub(crate) fn text(&mut self, indent: usize, text: &str) {
        for line in wrapped(text, columns() - indent) {
            self.line(&format!("{}{line}", " ".repeat(indent)));
        }
    }

    /// Adds a paragraph beside a short name. A name that is too long has a line of its own.
    pub(crate) fn beside(&mut self, indent: usize, name: &str, column: usize, text: &str) {
        let mut lines = wrapped(text, columns() - column).into_iter();
        let head = format!("{}{name}", " ".repeat(indent));
        let fits = terminal::width(&head) + 2 <= column;
        let first = if fits { lines.next().unwrap_or_default() } else { String::new() };
        self.line(format!("{}{first}", terminal::left(&head, column)).trim_end());
        for line in lines {
            self.line(&format!("{}{line}", " ".repeat(column)));
        }
    }

    /// Adds a fact: its name, and a text beside it. Nothing if the text is empty.
    pub(crate) fn fact(&mut self, name: &str, text: &str) {
        if !text.is_empty() {
            self.beside(0, name, FACTS, text);
        }
    }

    pub(crate) fn example(&mut self, heading: &str, content: &str) {
        self.heading(heading);
        self.line("");
        self.file(content);
    }

    /// Adds the content of a file, indented and otherwise as it is.
    pub(crate) fn file(&mut self, content: &str) {
        for line in content.lines() {
            // Tabs of an example stay: they separate its columns.
            let cells: Vec<_> = line.split('\t').map(terminal::in_line).collect();
            self.0 += if line.is_empty() { "" } else { "    " };
            self.0 += &(cells.join("\t") + "\n");
        }
    }
}

impl fmt::Display for Page {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A text of the tables, which are in Markdown, for the terminal.
pub(crate) fn plain(markdown: &str) -> String {
    markdown.replace('`', "").trim().trim_end_matches('*').to_owned()
}
