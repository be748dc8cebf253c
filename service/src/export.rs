//! Decisions and answers as files that `click-bandits fit` and `evaluate` read: a table, or queries
//! and events of User Behavior Insights.

use crate::archive::read_all;
use crate::config::{Template, Users, settings_of_store};
use crate::engine::VALUE;
use crate::event::{Batch, Change, Context, Decision, Event, Name};
use crate::store::{self, is_database};
use documents::number::counted;
use interleaving::launch::Compared;
use live::ContextFit;
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

/// The file, and the columns with which `--columns` reads it.
pub const FILE: &str = "decisions.csv";
pub(crate) const HEAD: &str =
    "query,session,user,position,item,click,propensity,prefix_propensity,list_propensity,decided_at,segment";

/// The columns beside them, in a store with a launch: the side whose list it is, and the number of
/// the period in which it is compared.
pub(crate) const OF_LAUNCH: [&str; 2] = ["side", "period"];

/// As [`FILE`], the decisions of which a policy that sees who asks was not told everything that the
/// configuration names: `fit --context` cannot read them.
pub const WITHOUT_CONTEXT: &str = "without-context.csv";

/// As [`FILE`], the decisions without propensities of a store in which others have them: they
/// cannot be read together as weights.
pub const WITHOUT_PROPENSITIES: &str = "without-propensities.csv";

/// The features of the items, where policies see them.
pub const ITEMS: &str = "items.csv";

/// The files of User Behavior Insights.
pub const UBI_FILES: [&str; 2] = ["ubi_queries.ndjson", "ubi_events.ndjson"];

/// The arguments of the command.
#[derive(Debug, clap::Args)]
pub struct Export {
    /// A directory, or a database: postgres://..
    #[arg(long, value_name = "STORE")]
    pub store: PathBuf,
    /// The directory for the files
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
    /// A table, or queries and events of User Behavior Insights
    #[arg(long = "as", value_enum, default_value_t)]
    pub form: Form,
    /// A directory of archived events, which come before those of the store; may come several times
    #[arg(long = "archive", value_name = "DIR")]
    pub archives: Vec<PathBuf>,
    /// Certificates to check the database's against, in PEM
    #[arg(long, value_name = "FILE")]
    pub authorities: Option<PathBuf>,
}

/// A form of the export.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Form {
    /// A row for each position that was seen.
    #[default]
    Csv,
    /// Queries and events of User Behavior Insights, a JSON object a line.
    Ubi,
}

/// A decision that may still be answered.
struct OpenDecision {
    decision: Decision,
    /// Its time, in milliseconds since 1970.
    time: u64,
    clicks: u64,
    seen: Option<u8>,
    /// Whose list it is, and the period in which it is compared, if it was decided in a launch.
    side: Option<(&'static str, Option<u8>)>,
    /// Values of clicks by position.
    values: BTreeMap<u8, f64>,
}

/// The columns that the decisions in a file have.
#[derive(Default)]
struct Contents {
    /// Lines without the header.
    rows: u64,
    decisions: u64,
    /// Decisions that name a user.
    users: u64,
    has_propensities: bool,
    has_segment: bool,
    has_features: bool,
    queries: BTreeSet<Name>,
}

/// The files that are written: two tables with a row for each position, or queries and events.
struct Table<W> {
    form: Form,
    out: Vec<W>,
    written: [Contents; 2],
    template: Template,
    has_launch: bool,
    has_values: bool,
    has_propensities: bool,
    /// Decisions that were never closed, and their clicks.
    unanswered: [u64; 2],
    waiting: VecDeque<OpenDecision>,
    /// The number of the first one that waits.
    first: usize,
    numbers: HashMap<Name, usize>,
    /// Features of the items, of all queries or of one.
    items: BTreeMap<(Option<Name>, Name), Vec<f64>>,
}

impl<W: Write> Table<W> {
    fn new(
        form: Form,
        mut out: Vec<W>,
        template: Template,
        [has_launch, has_values, has_propensities]: [bool; 3],
    ) -> io::Result<Self> {
        if form == Form::Csv {
            let of_launch = OF_LAUNCH.into_iter().filter(|_| has_launch);
            let features = template.features.iter().map(|name| &**name);
            let of_values = has_values.then_some(VALUE);
            let columns = std::iter::once(HEAD).chain(features).chain(of_launch).chain(of_values);
            let head = columns.collect::<Vec<_>>().join(",");
            out.iter_mut().try_for_each(|out| writeln!(out, "{head}"))?;
        }
        Ok(Self {
            form,
            out,
            written: Default::default(),
            template,
            has_launch,
            has_values,
            has_propensities,
            unanswered: [0; 2],
            waiting: VecDeque::new(),
            first: 0,
            numbers: HashMap::new(),
            items: BTreeMap::new(),
        })
    }

    fn take(&mut self, event: Event, time: u64) -> io::Result<()> {
        if let Event::Clicked { id, .. } | Event::Valued { id, .. } | Event::Closed { id, .. } = &event {
            let Some(number) = self.numbers.get(id) else { return Ok(()) };
            let open = &mut self.waiting[number - self.first];
            match event {
                Event::Clicked { position, .. } => {
                    open.clicks |= 1_u64.checked_shl(position.into()).unwrap_or(0);
                }
                Event::Valued { position, value, .. } => _ = open.values.insert(position, value),
                Event::Closed { seen, .. } => open.seen = open.seen.max(Some(seen.unwrap_or(u8::MAX))),
                _ => {}
            }
            return Ok(());
        }
        match event {
            Event::Decided(decision) => self.wait(*decision, time, None)?,
            Event::Launched(launched) => {
                let period = launched.compared.map(|bits| Compared::from(bits).period);
                let side = Some((launched.side(), period));
                self.wait(launched.decision, time, side)?;
            }
            Event::Item { item, query, change: Change::Add, features } => {
                self.items.insert((query, item), features);
            }
            Event::BeganForUsers { query, fit } => self.take_items(&query, &fit)?,
            Event::Settings { settings, .. } => {
                self.template.keep = Template::of_text(&settings).map_err(io::Error::other)?.keep;
            }
            _ => {}
        }
        Ok(())
    }

    /// Lets a decision wait for its answers.
    fn wait(
        &mut self,
        decision: Decision,
        time: u64,
        side: Option<(&'static str, Option<u8>)>,
    ) -> io::Result<()> {
        self.numbers.insert(decision.id.clone(), self.first + self.waiting.len());
        let values = BTreeMap::new();
        self.waiting.push_back(OpenDecision { decision, time, clicks: 0, seen: None, side, values });
        while self.waiting.len() > self.template.keep {
            self.write_first()?;
        }
        Ok(())
    }

    /// Takes the items of a query's fit with their features.
    fn take_items(&mut self, query: &Name, fit: &[u8]) -> io::Result<()> {
        let fit = ContextFit::read("the store's context.json", fit).map_err(io::Error::other)?;
        let (features, n_features) = (fit.item_features(), fit.item_features.len());
        for (place, item) in fit.items.iter().enumerate() {
            let of_item = features[place * n_features..(place + 1) * n_features].to_vec();
            let item = Name::new(item).map_err(io::Error::other)?;
            self.items.insert((Some(query.clone()), item), of_item);
        }
        Ok(())
    }

    /// Writes the items that were ever there, with the features that each had last: those for the
    /// query that the printed command fits, else those for all queries, else for another one.
    fn write_items(&self, mut out: impl Write) -> io::Result<()> {
        let names = self.template.item_features.iter().map(|name| quoted(name));
        writeln!(out, "item,{}", names.collect::<Vec<_>>().join(","))?;
        let fitted = self.written[0].queries.first();
        let mut items: BTreeMap<&Name, (u8, &[f64])> = BTreeMap::new();
        for ((query, item), features) in &self.items {
            let rank = if query.is_none() { 1 } else { 2 * u8::from(query.as_ref() == fitted) };
            let kept = items.entry(item).or_insert((rank, features));
            *kept = if rank > kept.0 { (rank, features) } else { *kept };
        }
        for (item, (_, features)) in items {
            let features: Vec<String> = features.iter().map(f64::to_string).collect();
            writeln!(out, "{},{}", quoted(item), features.join(","))?;
        }
        out.flush()
    }

    /// Writes the positions of the first decision that were seen; none if it was never closed.
    fn write_first(&mut self) -> io::Result<()> {
        let Some(open) = self.waiting.pop_front() else { return Ok(()) };
        let OpenDecision { decision, time, clicks, seen, side, values } = open;
        self.first += 1;
        self.numbers.remove(&decision.id);
        let Some(seen) = seen else {
            self.unanswered[0] += 1;
            self.unanswered[1] += u64::from(clicks.count_ones());
            return Ok(());
        };
        let seen = usize::from(seen).max(64 - clicks.leading_zeros() as usize);
        let propensities = decision.chosen.as_ref().and_then(|choice| choice.propensities.as_ref());
        if self.form == Form::Ubi {
            return self.write_ubi(&decision, time, clicks, seen, side);
        }
        let number = |value: Option<&f64>| value.map(f64::to_string).unwrap_or_default();
        let list = propensities.and_then(|of| of.prefixes.last());
        let rows = decision.list.len().min(seen) as u64;
        if rows == 0 {
            return Ok(());
        }
        let nobody = Context::default();
        let told = decision.context.as_ref().unwrap_or(&nobody);
        let Template { segments, features, .. } = &self.template;
        let is_complete = if self.template.sees_contexts() {
            // The policy was told of this user what the configuration names.
            (segments.is_empty() || told.segment.is_some())
                && (features.is_empty() || !told.features.is_empty())
        } else {
            propensities.is_some() || !self.has_propensities
        };
        let part = usize::from(!is_complete);
        let written = &mut self.written[part];
        written.rows += rows;
        written.decisions += 1;
        written.users += u64::from(decision.user.is_some());
        written.has_propensities |= propensities.is_some();
        written.has_segment |= told.segment.is_some();
        written.has_features |= !told.features.is_empty();
        if !written.queries.contains(&decision.query) {
            written.queries.insert(decision.query.clone());
        }
        let [query, id] = [&decision.query, &decision.id].map(|name| quoted(name));
        let user = decision.user.as_deref().map(quoted).unwrap_or_default();
        let segment = told.segment.as_deref().map(quoted).unwrap_or_default();
        let time = timestamp(time);
        let features = (0..features.len()).map(|place| number(told.features.get(place)));
        let mut context = std::iter::once(segment).chain(features).collect::<Vec<_>>().join(",");
        if self.has_launch {
            let (side, period) = side.unwrap_or_default();
            let period = period.map(|period| period.to_string()).unwrap_or_default();
            _ = write!(context, ",{side},{period}");
        }
        for ((place, item), position) in decision.list.iter().enumerate().take(seen).zip(0..) {
            let is_click = clicks >> place & 1;
            // A click without an order earned nothing.
            let value = values.get(&position).copied().or((is_click > 0).then_some(0.0));
            let value = if self.has_values { format!(",{}", number(value.as_ref())) } else { String::new() };
            writeln!(
                self.out[part],
                "{query},{id},{user},{},{},{},{},{},{},{time},{context}{value}",
                place + 1,
                quoted(item),
                is_click,
                number(propensities.and_then(|of| of.items.get(place))),
                number(propensities.and_then(|of| of.prefixes.get(place))),
                number(list),
            )?;
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
        side: Option<(&'static str, Option<u8>)>,
    ) -> io::Result<()> {
        let Decision { id, query, list, user, .. } = decision;
        let hits: Vec<&str> = list.iter().map(|item| &**item).collect();
        let mut common = json!({
            "application": "click-bandits",
            "query_id": **id,
            "user_query": **query,
            "timestamp": timestamp(time),
        });
        // A `null` would be a user of that name to some readers.
        if let Some(user) = user {
            common["client_id"] = json!(**user);
        }
        let mut document = common.clone();
        document["query_response_id"] = json!(**id);
        document["query_response_hit_ids"] = json!(hits);
        let propensities = decision.chosen.as_ref().and_then(|choice| choice.propensities.as_ref());
        if let Some(list) = propensities.and_then(|of| of.prefixes.last()) {
            document["query_attributes"] = json!({ "list_propensity": list });
        }
        if let Some((side, period)) = side {
            document["query_attributes"] = json!({ "side": side, "period": period });
        }
        writeln!(self.out[0], "{document}")?;
        for (place, item) in hits.iter().enumerate().take(seen) {
            let actions = ["impression", "click"];
            for action in &actions[..=usize::from(clicks >> place & 1 == 1)] {
                let mut event = common.clone();
                event["action_name"] = json!(action);
                event["event_attributes"] =
                    json!({ "object": { "object_id": item }, "position": { "ordinal": place + 1 } });
                writeln!(self.out[1], "{event}")?;
                self.written[0].rows += 1;
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
    let is_plain = !text.contains(['"', ',']) && text.trim() == text;
    if is_plain { text.to_owned() } else { format!("\"{}\"", text.replace('"', "\"\"")) }
}

/// A word of a command for a shell.
fn word(text: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_./,:=@%+".contains(letter);
    if text.chars().all(is_plain) { text.to_owned() } else { format!("'{}'", text.replace('\'', "'\\''")) }
}

/// Milliseconds since 1970 as `2026-03-02T10:00:01.000Z`, to the year 9999.
pub(crate) fn timestamp(time: u64) -> String {
    let time = Duration::from_millis(time.min(253_402_300_799_999));
    humantime::format_rfc3339_millis(UNIX_EPOCH + time).to_string()
}

/// Writes the decisions of a database, or of a directory that no server uses, and tells how to read
/// them.
pub fn export(Export { store, out, form, archives, authorities }: &Export) -> Result<(), String> {
    let (form, authorities) = (*form, authorities.as_deref());
    let url = store.to_str().filter(|store| is_database(store));
    let found = store.join("events.redb");
    if url.is_none() && !found.is_file() {
        return Err(format!("{}: there is no store", found.display()));
    }
    if url.is_none() && authorities.is_some() {
        return Err("--authorities: only for a database".into());
    }
    let store = store::open(url, authorities, store).map_err(|error| error.to_string())?;
    store.prepare().map_err(|error| error.to_string())?;
    let settings = store.settings().map_err(|error| error.to_string())?.ok_or("the store is empty")?;
    let first = settings_of_store(&settings).map_err(|error| error.to_string())?;
    // Columns are those of the last settings.
    let (mut template, mut has) = (first.clone(), [first.launch.is_some(), false, false]);
    let (mut changed, mut is_priced) = (Ok(()), false);
    let begun = read_all(&*store, archives, &mut |_, batch| {
        for event in batch.events {
            has[1] |= matches!(event, Event::Valued { .. });
            is_priced |= matches!(&event, Event::Worth { worth, .. } if worth.value.is_some());
            if let Event::Decided(decision) = &event {
                has[2] |= decision.chosen.as_ref().is_some_and(|choice| choice.propensities.is_some());
            }
            if let Event::Settings { settings, .. } = event {
                changed = Template::of_text(&settings).map(|settings| template = settings);
                has[0] |= template.launch.is_some();
            }
        }
        ControlFlow::Continue(())
    });
    let begun = begun?;
    changed?;
    template.keep = first.keep;
    let apart = if template.sees_contexts() { WITHOUT_CONTEXT } else { WITHOUT_PROPENSITIES };
    let names = if form == Form::Ubi { UBI_FILES } else { [FILE, apart] };
    let fault = |error: io::Error| format!("{}: {error}", out.display());
    std::fs::create_dir_all(out).map_err(fault)?;
    let part = |name: &str| out.join(format!("{name}.part"));
    let files = names.iter().map(|name| File::create(part(name)).map(BufWriter::new));
    let files = files.collect::<io::Result<Vec<_>>>().map_err(fault)?;
    let mut table = Table::new(form, files, template, has).map_err(fault)?;
    let mut failed = None;
    let outcome = read_all(&*store, archives, &mut |_, Batch { events, time }| {
        for event in events {
            if let Err(error) = table.take(event, time) {
                failed = Some(error);
                return ControlFlow::Break(());
            }
        }
        ControlFlow::Continue(())
    });
    outcome?;
    failed.map_or(Ok(()), Err).map_err(fault)?;
    let files = table.end().map_err(fault)?;
    for (name, file) in names.iter().zip(files) {
        file.into_inner().map_err(|error| fault(error.into_error()))?.sync_all().map_err(fault)?;
        std::fs::rename(part(name), out.join(name)).map_err(fault)?;
    }
    if form == Form::Csv && table.written[1].rows == 0 {
        std::fs::remove_file(out.join(apart)).map_err(fault)?;
    }
    if form == Form::Csv && !table.template.item_features.is_empty() {
        let items = File::create(part(ITEMS)).map_err(fault)?;
        table.write_items(BufWriter::new(&items)).and_then(|()| items.sync_all()).map_err(fault)?;
        std::fs::rename(part(ITEMS), out.join(ITEMS)).map_err(fault)?;
    }
    if begun > 0 {
        let what = format!("{begun} events before the first of these are archived: see --archive");
        writeln!(io::stdout(), "{what}").map_err(|error| error.to_string())?;
    }
    if is_priced || has[1] {
        let what = "`fit` uses no values: it recommends lists for clicks (see docs/values.md)";
        writeln!(io::stdout(), "{what}").map_err(|error| error.to_string())?;
    }
    let said = said(&table.template, &table.written, table.unanswered, out, form);
    writeln!(io::stdout(), "{said}").map_err(|error| error.to_string())
}

/// The files that were written, and the commands that read them.
fn said(
    template: &Template,
    written: &[Contents; 2],
    unanswered: [u64; 2],
    out: &Path,
    form: Form,
) -> String {
    let path = |name: &str| out.join(name).display().to_string();
    let fit = |words: &[String]| {
        let words: Vec<String> = words.iter().map(|text| word(text)).collect();
        format!("click-bandits fit {} --out FITTED", words.join(" "))
    };
    let [all, without] = written;
    let open = match unanswered {
        [0, _] => String::new(),
        [decisions, clicks] => {
            let (decisions, clicks) = (counted(decisions, "decision"), counted(clicks, "click"));
            format!("; left out {decisions} never closed, with {clicks}")
        }
    };
    if form == Form::Ubi {
        let paths = UBI_FILES.map(path);
        let options = ["--format", "ubi"].map(str::to_owned);
        let read = fit(&[&paths[..], &options].concat());
        return format!("{} events in {}{open}; to read them:\n{read}", all.rows, paths.join(" "));
    }
    let apart = match without {
        Contents { rows: 0, .. } => String::new(),
        Contents { rows, decisions, .. } => {
            let (lack, file) = if template.sees_contexts() {
                ("a whole context", path(WITHOUT_CONTEXT))
            } else {
                ("propensities", path(WITHOUT_PROPENSITIES))
            };
            format!("; {rows} rows of {} without {lack} in {file}", counted(*decisions, "decision"))
        }
    };
    let has_columns = !(template.segments.is_empty() && template.features.is_empty());
    let sees_contexts = template.sees_contexts() && has_columns && all.rows > 0;
    let files: Vec<&Contents> = if sees_contexts { vec![all] } else { vec![all, without] };
    let any = |has: fn(&Contents) -> bool| files.iter().any(|written| has(written));
    let mut columns =
        String::from("query=query,session=session,position=position,item=item,click=click,time=decided_at");
    // A column with gaps cannot be read.
    if any(|written| written.users > 0) && files.iter().all(|written| written.users == written.decisions) {
        columns.push_str(",user=user");
    }
    let of_propensities =
        "propensity=propensity,prefix-propensity=prefix_propensity,list-propensity=list_propensity";
    let has_gaps = without.rows > 0 && !template.sees_contexts();
    if !has_gaps && any(|written| written.has_propensities) {
        columns = format!("{columns},{of_propensities}");
    }
    if any(|written| written.has_segment) && !(sees_contexts && template.segments.is_empty()) {
        columns.push_str(",segment=segment");
    }
    if any(|written| written.has_features) {
        let features: Vec<&str> = template.features.iter().map(|name| &**name).collect();
        columns.push_str(",features=");
        columns.push_str(&features.join(";"));
    }
    let mut words = vec![];
    if all.rows > 0 || without.rows == 0 {
        words.push(path(FILE));
    }
    if without.rows > 0 && !sees_contexts {
        words.push(path(if has_gaps { WITHOUT_PROPENSITIES } else { WITHOUT_CONTEXT }));
    }
    words.extend(["--format".into(), "delimited".into(), "--columns".into(), columns.clone()]);
    if sees_contexts {
        let model = match template.users {
            Users::Cascade => "cascade",
            Users::Dcm => "dcm",
            Users::Pbm | Users::SemiBandit | Users::ClicksOnly => "pbm",
        };
        words.extend(["--context".into(), "--model".into(), model.into()]);
        // A context is fitted for one query.
        words.extend(all.queries.first().map(|query| format!("--query={query}")));
        if !template.item_features.is_empty() {
            words.extend(["--items".into(), path(ITEMS)]);
        }
    }
    let read = fit(&words);
    let weighted = if has_gaps {
        let columns = word(&format!("{columns},{of_propensities}"));
        let file = word(&path(FILE));
        let options = "--ranking NEW --out ANSWER --format delimited";
        format!("\nclick-bandits evaluate {file} {options} --columns {columns}")
    } else {
        String::new()
    };
    format!("{} rows in {}{apart}{open}; to read them:\n{read}{weighted}", all.rows, path(FILE))
}
