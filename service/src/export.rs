//! Decisions and answers as files that `click-bandits fit` and `evaluate` read: a table, or queries and
//! events of User Behavior Insights.

use crate::config::{Template, Users};
use crate::event::{Batch, Change, DEFAULT_QUERY, Decision, Event, Name, Propensities};
use crate::store::{self, is_database};
use live::ContextFit;
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::ops::ControlFlow;
use std::path::Path;

/// The file, and the columns with which `--columns` reads it.
pub const FILE: &str = "decisions.csv";
pub(crate) const HEAD: &str =
    "query,session,user,position,item,click,propensity,prefix_propensity,list_propensity,segment";

/// The features of the items, where policies see them.
pub const ITEMS: &str = "items.csv";

/// The files of User Behavior Insights.
pub const UBI_FILES: [&str; 2] = ["ubi_queries.ndjson", "ubi_events.ndjson"];

/// A form of the export.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Form {
    /// A row for each position that was seen.
    #[default]
    Csv,
    /// Queries and events of User Behavior Insights, a JSON object a line.
    Ubi,
}

/// What is known of a decision that may still be answered.
struct Waiting {
    decision: Decision,
    /// Its time, in milliseconds since 1970.
    time: u64,
    clicks: u64,
    seen: Option<u8>,
}

/// The files that are written: a table with a row for each position, or queries and events.
struct Table<W> {
    form: Form,
    out: Vec<W>,
    template: Template,
    waiting: VecDeque<Waiting>,
    /// The number of the first one that waits.
    first: usize,
    numbers: HashMap<Name, usize>,
    /// Features of the items.
    items: BTreeMap<Name, Vec<f64>>,
    queries: BTreeSet<Name>,
    rows: u64,
}

impl<W: Write> Table<W> {
    fn new(form: Form, mut out: Vec<W>, template: Template) -> io::Result<Self> {
        if form == Form::Csv {
            let columns = std::iter::once(HEAD).chain(template.features.iter().map(|name| &**name));
            writeln!(out[0], "{}", columns.collect::<Vec<_>>().join(","))?;
        }
        Ok(Self {
            form,
            out,
            template,
            waiting: VecDeque::new(),
            first: 0,
            numbers: HashMap::new(),
            items: BTreeMap::new(),
            queries: BTreeSet::new(),
            rows: 0,
        })
    }

    fn take(&mut self, event: Event, time: u64) -> io::Result<()> {
        let waiting = |table: &mut Self, id: &Name| {
            let number = table.numbers.get(id).copied()?;
            Some(number - table.first)
        };
        match event {
            Event::Decided(decision) => {
                self.queries.insert(decision.query.clone());
                self.numbers.insert(decision.id.clone(), self.first + self.waiting.len());
                self.waiting.push_back(Waiting { decision: *decision, time, clicks: 0, seen: None });
                while self.waiting.len() > self.template.keep {
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
            Event::Item { item, change: Change::Add, features, .. } => {
                self.items.insert(item, features);
            }
            Event::BeganForUsers { fit, .. } => self.take_items(&fit)?,
            Event::Item { .. }
            | Event::Began { .. }
            | Event::BeganAtPositions { .. }
            | Event::Used { .. } => {}
        }
        Ok(())
    }

    /// Takes the items of a fit with their features.
    fn take_items(&mut self, fit: &[u8]) -> io::Result<()> {
        let fit = ContextFit::read("the store's context.json", fit).map_err(io::Error::other)?;
        let (features, n_features) = (fit.item_features(), fit.item_features.len());
        for (place, item) in fit.items.iter().enumerate() {
            let of_item = features[place * n_features..(place + 1) * n_features].to_vec();
            self.items.insert(Name::new(item).map_err(io::Error::other)?, of_item);
        }
        Ok(())
    }

    /// Writes the items that were ever there, with the features that each had last.
    fn write_items(&self, mut out: impl Write) -> io::Result<()> {
        let names = self.template.item_features.iter().map(|name| quoted(name));
        writeln!(out, "item,{}", names.collect::<Vec<_>>().join(","))?;
        for (item, features) in &self.items {
            let features: Vec<String> = features.iter().map(f64::to_string).collect();
            writeln!(out, "{},{}", quoted(item), features.join(","))?;
        }
        out.flush()
    }

    /// Writes the positions of the first decision that were seen; none if it was never closed.
    fn write_first(&mut self) -> io::Result<()> {
        let Some(Waiting { decision, time, clicks, seen }) = self.waiting.pop_front() else { return Ok(()) };
        self.first += 1;
        self.numbers.remove(&decision.id);
        let Some(seen) = seen else { return Ok(()) };
        let seen = usize::from(seen).max(64 - clicks.leading_zeros() as usize);
        let propensities = decision.chosen.as_ref().and_then(|choice| choice.propensities.as_ref());
        if self.form == Form::Ubi {
            return self.write_ubi(&decision, time, clicks, seen, propensities);
        }
        let number = |value: Option<&f64>| value.map(f64::to_string).unwrap_or_default();
        let list = propensities.and_then(|of| of.prefixes.last());
        let [query, id] = [&decision.query, &decision.id].map(|name| quoted(name));
        let user = decision.user.as_deref().map(quoted).unwrap_or_default();
        let context = decision.context.as_ref();
        let told = |place| number(context.and_then(|context| context.features.get(place)));
        let segment = context.and_then(|context| context.segment.as_deref()).map(quoted);
        let columns = std::iter::once(segment.unwrap_or_default());
        let columns: Vec<String> = columns.chain((0..self.template.features.len()).map(told)).collect();
        let context = columns.join(",");
        for (place, item) in decision.list.iter().enumerate().take(seen) {
            writeln!(
                self.out[0],
                "{query},{id},{user},{},{},{},{},{},{},{context}",
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

    /// Writes a query and its events. The time of events is that of the decision.
    fn write_ubi(
        &mut self,
        decision: &Decision,
        time: u64,
        clicks: u64,
        seen: usize,
        propensities: Option<&Propensities>,
    ) -> io::Result<()> {
        let Decision { id, query, list, user, .. } = decision;
        let (id, query, user) = (&**id, &**query, user.as_deref());
        let time = timestamp(time);
        let hits: Vec<&str> = list.iter().map(|item| &**item).collect();
        let mut document = json!({
            "application": "click-bandits",
            "query_id": id,
            "client_id": user,
            "user_query": query,
            "timestamp": time,
            "query_response_id": id,
            "query_response_hit_ids": hits,
        });
        if let Some(list) = propensities.and_then(|of| of.prefixes.last()) {
            document["query_attributes"] = json!({ "list_propensity": list });
        }
        writeln!(self.out[0], "{document}")?;
        for (place, item) in hits.iter().enumerate().take(seen) {
            let actions = ["impression", "click"];
            for action in &actions[..=usize::from(clicks >> place & 1 == 1)] {
                let event = json!({
                    "application": "click-bandits",
                    "action_name": action,
                    "query_id": id,
                    "client_id": user,
                    "user_query": query,
                    "timestamp": time,
                    "event_attributes": { "object": { "object_id": item }, "position": { "ordinal": place + 1 } },
                });
                writeln!(self.out[1], "{event}")?;
                self.rows += 1;
            }
        }
        Ok(())
    }

    fn end(&mut self) -> io::Result<Vec<W>> {
        while !self.waiting.is_empty() {
            self.write_first()?;
        }
        Ok(std::mem::take(&mut self.out))
    }
}

/// A field of a comma-separated table.
fn quoted(text: &str) -> String {
    if text.contains(['"', ',']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text.to_owned() }
}

/// Milliseconds since 1970 as `2026-03-02T10:00:01.000Z`.
fn timestamp(time: u64) -> String {
    let is_leap =
        |year: u64| year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let (mut day, mut year, mut month) = (time / 86_400_000, 1970, 1);
    while day >= 365 + u64::from(is_leap(year)) {
        day -= 365 + u64::from(is_leap(year));
        year += 1;
    }
    let days = [31, 28 + u64::from(is_leap(year)), 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    for of_month in days {
        if day < of_month {
            break;
        }
        day -= of_month;
        month += 1;
    }
    let (second, milliseconds) = (time / 1000 % 86_400, time % 1000);
    let (hour, minute) = (second / 3600, second / 60 % 60);
    format!("{year:04}-{month:02}-{:02}T{hour:02}:{minute:02}:{:02}.{milliseconds:03}Z", day + 1, second % 60)
}

/// Writes the decisions of a database, or of a directory that no server uses. Columns without values
/// are left out of what it tells to read.
pub fn export(store: &Path, authorities: Option<&Path>, out: &Path, form: Form) -> Result<(), String> {
    let url = store.to_str().filter(|store| is_database(store));
    let found = store.join("events.redb");
    if url.is_none() && !found.is_file() {
        return Err(format!("{}: there is no store", found.display()));
    }
    let store = store::open(url, authorities, store).map_err(|error| error.to_string())?;
    let settings = store.settings().map_err(|error| error.to_string())?.ok_or("the store is empty")?;
    let template: Template = serde_json::from_str(&settings).map_err(|error| error.to_string())?;
    let names: &[&str] = if form == Form::Ubi { &UBI_FILES } else { &[FILE] };
    let fault = |error: io::Error| format!("{}: {error}", out.display());
    std::fs::create_dir_all(out).map_err(fault)?;
    let part = |name: &str| out.join(format!("{name}.part"));
    let files = names.iter().map(|name| File::create(part(name)).map(BufWriter::new));
    let files = files.collect::<io::Result<Vec<_>>>().map_err(fault)?;
    let features: Vec<&str> = template.features.iter().map(|name| &**name).collect();
    let features = features.join(";");
    let (sees_contexts, users) = (template.sees_contexts(), template.users);
    let has_items = form == Form::Csv && !template.item_features.is_empty();
    let mut table = Table::new(form, files, template).map_err(fault)?;
    let (mut failed, mut has_user, mut has_propensities) = (None, false, false);
    let (mut has_segment, mut has_features) = (false, false);
    let outcome = store.read(0, &mut |_, Batch { events, time }| {
        for event in events {
            if let Event::Decided(decision) = &event {
                has_user |= decision.user.is_some();
                if let Some(context) = &decision.context {
                    has_segment |= context.segment.is_some();
                    has_features |= !context.features.is_empty();
                }
                has_propensities |=
                    decision.chosen.as_ref().is_some_and(|choice| choice.propensities.is_some());
            }
            if let Err(error) = table.take(event, time) {
                failed = Some(error);
                return ControlFlow::Break(());
            }
        }
        ControlFlow::Continue(())
    });
    outcome.map_err(|error| error.to_string())?;
    failed.map_or(Ok(()), Err).map_err(fault)?;
    let (files, rows) = (table.end().map_err(fault)?, table.rows);
    for (name, file) in names.iter().zip(files) {
        file.into_inner().map_err(|error| fault(error.into_error()))?.sync_all().map_err(fault)?;
        std::fs::rename(part(name), out.join(name)).map_err(fault)?;
    }
    if has_items {
        let items = File::create(part(ITEMS)).map_err(fault)?;
        table.write_items(BufWriter::new(&items)).and_then(|()| items.sync_all()).map_err(fault)?;
        std::fs::rename(part(ITEMS), out.join(ITEMS)).map_err(fault)?;
    }
    let paths: Vec<String> = names.iter().map(|name| out.join(name).display().to_string()).collect();
    let path = paths.join(" ");
    if form == Form::Ubi {
        println!("{rows} events in {path}; to read them:");
        println!("click-bandits fit {path} --format ubi --out FITTED");
        return Ok(());
    }
    let mut columns = String::from("query=query,session=session,position=position,item=item,click=click");
    if has_user {
        columns.push_str(",user=user");
    }
    if has_propensities {
        columns.push_str(
            ",propensity=propensity,prefix-propensity=prefix_propensity,list-propensity=list_propensity",
        );
    }
    if has_segment {
        columns.push_str(",segment=segment");
    }
    if has_features {
        // A shell reads the semicolons.
        columns = format!("'{columns},features={features}'");
    }
    println!("{rows} rows in {path}; to read them:");
    let options = if sees_contexts && (has_segment || has_features) {
        let model = match users {
            Users::Cascade => "cascade",
            Users::Dcm => "dcm",
            Users::Pbm | Users::SemiBandit | Users::ClicksOnly => "pbm",
        };
        // A context is fitted for one query.
        let query = table.queries.first().map_or(DEFAULT_QUERY, |query| query).replace('\'', "'\\''");
        let items = has_items.then(|| format!("--items {} ", out.join(ITEMS).display()));
        format!("--context --model {model} --query '{query}' {}", items.unwrap_or_default())
    } else {
        String::new()
    };
    println!("click-bandits fit {path} --format delimited --columns {columns} {options}--out FITTED");
    Ok(())
}
