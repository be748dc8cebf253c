//! Decisions and answers as a table that `click-bandits fit` and `evaluate` read.

use crate::config::Template;
use crate::event::{Batch, Decision, Event, Name};
use crate::store::{self, is_database};
use std::collections::{HashMap, VecDeque};
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::ops::ControlFlow;
use std::path::Path;

/// The file, and the columns with which `--columns` reads it.
pub const FILE: &str = "decisions.csv";
const HEAD: &str = "query,session,user,position,item,click,propensity,prefix_propensity,list_propensity";

/// What is known of a decision that may still be answered.
struct Waiting {
    decision: Decision,
    clicks: u64,
    seen: Option<u8>,
}

/// Rows of a table, a position of a decision each.
struct Table<W> {
    out: W,
    keep: usize,
    waiting: VecDeque<Waiting>,
    /// The number of the first one that waits.
    first: usize,
    numbers: HashMap<Name, usize>,
    rows: u64,
}

impl<W: Write> Table<W> {
    fn new(mut out: W, keep: usize) -> io::Result<Self> {
        writeln!(out, "{HEAD}")?;
        Ok(Self { out, keep, waiting: VecDeque::new(), first: 0, numbers: HashMap::new(), rows: 0 })
    }

    fn take(&mut self, event: Event) -> io::Result<()> {
        let waiting = |table: &mut Self, id: &Name| {
            let number = table.numbers.get(id).copied()?;
            Some(number - table.first)
        };
        match event {
            Event::Decided(decision) => {
                self.numbers.insert(decision.id.clone(), self.first + self.waiting.len());
                self.waiting.push_back(Waiting { decision: *decision, clicks: 0, seen: None });
                while self.waiting.len() > self.keep {
                    self.write_first()?;
                }
            }
            Event::Clicked { id, position } => {
                if let Some(place) = waiting(self, &id) {
                    self.waiting[place].clicks |= 1_u64.checked_shl(position.into()).unwrap_or(0);
                }
            }
            Event::Closed { id, seen } => {
                if let Some(place) = waiting(self, &id) {
                    let waiting = &mut self.waiting[place];
                    waiting.seen = waiting.seen.max(Some(seen.unwrap_or(u8::MAX)));
                }
            }
            Event::Item { .. } | Event::Began { .. } | Event::Used { .. } => {}
        }
        Ok(())
    }

    /// Writes the positions of the first decision that were seen; none if it was never closed.
    fn write_first(&mut self) -> io::Result<()> {
        let Some(Waiting { decision, clicks, seen }) = self.waiting.pop_front() else { return Ok(()) };
        self.first += 1;
        self.numbers.remove(&decision.id);
        let Some(seen) = seen else { return Ok(()) };
        let seen = usize::from(seen).max(64 - clicks.leading_zeros() as usize);
        let propensities = decision.chosen.as_ref().and_then(|choice| choice.propensities.as_ref());
        let number = |value: Option<&f64>| value.map(f64::to_string).unwrap_or_default();
        let list = propensities.and_then(|of| of.prefixes.last());
        let [query, id] = [&decision.query, &decision.id].map(|name| quoted(name));
        let user = decision.user.as_deref().map(quoted).unwrap_or_default();
        for (place, item) in decision.list.iter().enumerate().take(seen) {
            writeln!(
                self.out,
                "{query},{id},{user},{},{},{},{},{},{}",
                place + 1,
                quoted(item),
                clicks >> place & 1,
                number(propensities.and_then(|of| of.items.get(place))),
                number(propensities.and_then(|of| of.prefixes.get(place))),
                number(list),
            )?;
            self.rows += 1;
        }
        Ok(())
    }

    fn end(mut self) -> io::Result<(W, u64)> {
        while !self.waiting.is_empty() {
            self.write_first()?;
        }
        Ok((self.out, self.rows))
    }
}

/// A field of a comma-separated table.
fn quoted(text: &str) -> String {
    if text.contains(['"', ',']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text.to_owned() }
}

/// Writes the decisions of a database, or of a directory that no server uses. Columns without values are left out of what
/// it tells to read.
pub fn export(store: &Path, authorities: Option<&Path>, out: &Path) -> Result<(), String> {
    let url = store.to_str().filter(|store| is_database(store));
    let found = store.join("events.redb");
    if url.is_none() && !found.is_file() {
        return Err(format!("{}: there is no store", found.display()));
    }
    let store = store::open(url, authorities, store).map_err(|error| error.to_string())?;
    let settings = store.settings().map_err(|error| error.to_string())?.ok_or("the store is empty")?;
    let template: Template = serde_json::from_str(&settings).map_err(|error| error.to_string())?;
    let path = out.join(FILE);
    let temporary = out.join(format!("{FILE}.part"));
    let fault = |error: io::Error| format!("{}: {error}", path.display());
    std::fs::create_dir_all(out).map_err(fault)?;
    let file = BufWriter::new(File::create(&temporary).map_err(fault)?);
    let mut table = Table::new(file, template.keep).map_err(fault)?;
    let (mut failed, mut has_user, mut has_propensities) = (None, false, false);
    let outcome = store.read(0, &mut |_, Batch { events, .. }| {
        for event in events {
            if let Event::Decided(decision) = &event {
                has_user |= decision.user.is_some();
                has_propensities |=
                    decision.chosen.as_ref().is_some_and(|choice| choice.propensities.is_some());
            }
            if let Err(error) = table.take(event) {
                failed = Some(error);
                return ControlFlow::Break(());
            }
        }
        ControlFlow::Continue(())
    });
    outcome.map_err(|error| error.to_string())?;
    failed.map_or(Ok(()), Err).map_err(fault)?;
    let (file, rows) = table.end().map_err(fault)?;
    file.into_inner().map_err(|error| fault(error.into_error()))?.sync_all().map_err(fault)?;
    std::fs::rename(&temporary, &path).map_err(fault)?;
    let mut columns = String::from("query=query,session=session,position=position,item=item,click=click");
    if has_user {
        columns.push_str(",user=user");
    }
    if has_propensities {
        columns.push_str(
            ",propensity=propensity,prefix-propensity=prefix_propensity,list-propensity=list_propensity",
        );
    }
    let path = path.display();
    println!("{rows} rows in {path}; to read them:");
    println!("click-bandits fit {path} --format delimited --columns {columns} --out FITTED");
    Ok(())
}
