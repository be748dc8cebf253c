//! `click-bandits formats`: formats of click logs, and files that the program reads and writes.

pub(crate) mod files;

use super::named::FORMAT;
use super::page::Page;
use super::{Form, show};
use anyhow::Result;
use files::{FILES, FileFormat};
use serde::Serialize;

#[derive(Debug, Clone, clap::Args)]
pub(crate) struct Arguments {
    /// Show everything about this format of logs, or this file
    #[arg(value_parser = FORMAT, hide_possible_values = true)]
    name: Option<&'static str>,
    #[command(flatten)]
    form: Form,
}

/// The place of the list in a program without formats of logs.
const WITHOUT_LOGS: &str = "none: this program was built without click logs; with the feature `logs` (cargo build --features logs) it \
                            reads them with the command `fit`";

/// All names: formats of logs, then files.
pub(super) fn names() -> Vec<&'static str> {
    log_formats().iter().map(|format| format.name).chain(FILES.iter().map(|file| file.name)).collect()
}

#[derive(Debug, Serialize)]
struct All {
    logs: Vec<LogFormat>,
    files: &'static [FileFormat],
}

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let all = All { logs: log_formats(), files: FILES };
    if let Some(format) = all.logs.iter().find(|format| Some(format.name) == arguments.name) {
        return show(format, &format.page(), format.example, arguments.form);
    }
    match FILES.iter().find(|file| Some(file.name) == arguments.name) {
        Some(file) => show(file, &file.page(), file.example, arguments.form),
        None => show(&all, &listed(&all), None, arguments.form),
    }
}

fn listed(all: &All) -> Page {
    let mut page = Page::default();
    page.text(0, "Formats of click logs, and the files that commands read and write.");
    page.heading("Click logs, plain or compressed with gzip (fit LOG.. --format NAME)");
    if all.logs.is_empty() {
        page.text(2, WITHOUT_LOGS);
    }
    for format in &all.logs {
        page.beside(2, format.name, 22, &format.holds);
    }
    for (heading, is_input) in [("Other files that are read", true), ("Files that are written", false)] {
        page.heading(heading);
        for file in all.files.iter().filter(|file| file.is_input() == is_input) {
            page.beside(2, file.name, 22, file.sentence);
        }
    }
    page.heading("More: click-bandits formats NAME.");
    page
}

#[derive(Debug, Serialize)]
struct LogFormat {
    name: &'static str,
    holds: String,
    description: String,
    line: String,
    query: String,
    /// Whether it has propensities and users.
    propensities: String,
    sessions: &'static str,
    names_columns: bool,
    fits: &'static str,
    command: String,
    example: Option<&'static str>,
}

#[cfg(not(feature = "logs"))]
fn log_formats() -> Vec<LogFormat> {
    Vec::new()
}

#[cfg(feature = "logs")]
fn log_formats() -> Vec<LogFormat> {
    use super::page::plain;
    use log_reader::formats::{SessionsOf, rows};

    let formats = rows().iter().map(|row| {
        let (sessions, fits) = match row.sessions {
            SessionsOf::None => ("no", "pbm"),
            SessionsOf::Log => ("yes", "every model"),
            SessionsOf::Column => ("if --columns names session=..", "pbm; with sessions every model"),
        };
        let columns = if row.names_columns() {
            " --columns query=query,item=item,position=position,click=click"
        } else {
            ""
        };
        LogFormat {
            name: row.name,
            holds: plain(row.holds),
            description: plain(row.description),
            line: plain(row.line),
            query: plain(row.query),
            propensities: plain(row.propensities),
            sessions,
            names_columns: row.names_columns(),
            fits,
            command: format!("click-bandits fit LOG --format {}{columns} --out fitted", row.name),
            example: row.example,
        }
    });
    formats.collect()
}

impl LogFormat {
    fn page(&self) -> Page {
        let mut page = Page::about(self.name, &self.description);
        page.line("");
        page.fact("A line", &self.line);
        page.fact("Query", &self.query);
        page.fact("Sessions", self.sessions);
        page.fact("Propensities", &self.propensities);
        page.fact("Can fit", self.fits);
        if self.names_columns {
            page.fact(
                "Columns",
                "--columns names them: query=.. (may be left out), item=.., position=.., click=..; and impressions=.. or session=..; for users and propensities user=.., propensity=.., prefix-propensity=.., list-propensity=.., value=..; for users who differ segment=.., features=..;..; stratum=..;.. divides queries, time=.. orders sessions",
            );
        }
        page.example("Command", &self.command.replace(" --", " \\\n    --"));
        match self.example {
            Some(example) => page.example("Example (printed by --example)", example),
            None => page.heading("Example: none, the format is not text"),
        }
        page
    }
}
