//! Reads `experiment.toml`: what is said of the experiment as a whole, and its panels.

use super::{Extent, Panel, Paper, PaperTable, PrintedRow, Reproduction, panels, tables};
use documents::names::read_title;
use documents::toml_reader::{Error, Field, Table, all, one_of};
use serde::de::{Deserialize as _, Deserializer, Error as _};
use spec::SpecContext;
use spec::models::InstanceTable;
use std::collections::{BTreeMap, BTreeSet};

pub(super) fn read_experiment(
    root: &Table<'_>,
    given: SpecContext<'_>,
    played: Option<&str>,
    extent: Extent,
) -> Result<Reproduction, Error> {
    // Another crate reads the table `log`.
    root.know(&["log"]);
    let source = root.field("source").map(|field| field.build()).transpose();
    let (name, title, summary, papers) =
        (root.required("name"), root.required("title"), root.optional("summary"), read_papers(root));
    let (printed, names) = (root.optional::<Table<'_>>("printed"), root.optional::<Table<'_>>("names"));
    let panels = panels::read(root, papers.as_deref().ok(), given, played, extent);
    let names = names.and_then(|names| match (&panels, names) {
        (Ok(panels), Some(table)) => read_names(&table, panels, extent),
        _ => Ok(BTreeMap::new()),
    });
    let printed = printed.and_then(|printed| match (&panels, printed) {
        (Ok(panels), Some(table)) => {
            let first = &panels[0].variants[0].experiment;
            let known = (!given.replace_shared).then(|| first.instances().tables());
            read_printed(&table, known.as_deref()).map(Some)
        }
        _ => Ok(None),
    });
    let heads = all((name, title, summary, papers, source));
    let ((name, title, summary, papers, source), panels, names, printed, ()) =
        all((heads, panels, names, printed, root.finish()))?;
    let summary: Option<Vec<String>> = summary;
    Ok(Reproduction {
        name,
        title,
        summary: summary.unwrap_or_default(),
        papers,
        source,
        printed,
        names,
        panels,
        ..Reproduction::default()
    })
}

fn read_papers(root: &Table<'_>) -> Result<Vec<Paper>, Error> {
    let mut papers: Vec<Paper> = Vec::new();
    for table in tables(root, "papers")? {
        let key: Field<'_> = table.required("key")?;
        let paper: Paper = table.build()?;
        if papers.iter().any(|other| other.key == paper.key) {
            return Err(key.error(format!("paper {} is already given: expected another key", key.describe())));
        }
        papers.push(paper);
    }
    Ok(papers)
}

/// Reads a web address. Anything else is refused, since it becomes a link of a page.
pub(super) fn web_address<'de, D: Deserializer<'de>>(given: D) -> Result<Option<String>, D::Error> {
    let link = String::deserialize(given)?;
    if link.starts_with("https://") || link.starts_with("http://") {
        return Ok(Some(link));
    }
    let fault = format!("{link:?} is not a web address: expected one that begins with https://");
    Err(D::Error::custom(fault))
}

/// Reads the policies' names for readers, each once. A quick check may lack some policies.
fn read_names(
    table: &Table<'_>,
    panels: &[Panel],
    extent: Extent,
) -> Result<BTreeMap<String, String>, Error> {
    let policies: BTreeSet<String> =
        panels.iter().flat_map(Panel::series).map(|series| series.policy).collect();
    let mut names = BTreeMap::new();
    for label in policies {
        let Some(field) = table.field(&label) else { continue };
        let name = read_title(&field)?;
        if names.values().any(|other| *other == name) {
            return Err(field.error(format!("{name:?} is already the name of another policy")));
        }
        names.insert(label, name);
    }
    if extent == Extent::Full {
        table.finish()?;
    }
    Ok(names)
}

/// Reads a printed table. Its rows name `known` instances, unless a log replaces them.
fn read_printed(table: &Table<'_>, known: Option<&[InstanceTable]>) -> Result<PaperTable, Error> {
    let mut rows: Vec<PrintedRow> = Vec::new();
    let list: Field<'_> = table.required("rows")?;
    for row in list.get::<Vec<Table<'_>>>()? {
        let field: Field<'_> = row.required("instance")?;
        let name = match known {
            Some(known) => {
                let names: Vec<&str> = known.iter().map(|instance| instance.name.as_str()).collect();
                one_of(&field, &names, "instance")?
            }
            None => field.get()?,
        };
        if rows.iter().any(|other| other.name == name) {
            return Err(field.error(format!("instance {name:?} already has a row")));
        }
        // The attractions come first.
        let instance = known.and_then(|known| known.iter().find(|other| other.name == name));
        let theta = instance.and_then(|instance| instance.parameters.first());
        let mut printed = Vec::new();
        for key in row.keys().into_iter().filter(|key| *key != "instance") {
            printed.push((key.to_owned(), row.required::<f64>(key)?));
        }
        rows.push(PrintedRow {
            name,
            theta: theta.map(|(_, theta)| theta.numbers().to_vec()).unwrap_or_default(),
            printed,
        });
    }
    if rows.is_empty() {
        return Err(list.error("no rows: expected one for each instance of the printed table"));
    }
    let title = table.required("title")?;
    table.finish()?;
    Ok(PaperTable { title, rows })
}
