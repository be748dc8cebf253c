//! The configuration: a TOML file.

use crate::api::Refusal;
use crate::engine::{Learner, VALUE};
use crate::event::{Context, Name, Worth};
use crate::export::{HEAD, OF_LAUNCH};
use crate::store::{NEWER, SMALL, Store, StoreError, is_database};
use confidence::Probability;
use documents::toml_reader::{Error, Faults, Source, Table, push_known};
use live::{ItemValues, NO_SEGMENT, Settings, Skips, clip};
use policies::{Drawing, PolicySpec, SpecError};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

/// A configuration with all keys and their meanings, which can be edited.
pub const TEMPLATE: &str = include_str!("../example.toml");

/// The configuration of `click-bandits-serve`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Config {
    /// The address to listen on; only a loopback address without tokens.
    #[serde(default = "loopback", deserialize_with = "listen")]
    #[schemars(with = "String")]
    pub listen: SocketAddr,
    /// The directory of the embedded store.
    #[serde(default = "data")]
    pub data: PathBuf,
    /// The directory of archives of events; by default `archive` in that of the store.
    pub archive: Option<PathBuf>,
    /// The directory of backups; by default `backups` in that of the store.
    pub backups: Option<PathBuf>,
    /// A `PostgreSQL` database instead of the directory, which several servers may share.
    pub store: Option<String>,
    /// Certificates of the authorities that the database's is checked against, in PEM; by default
    /// those of the system.
    pub store_authorities: Option<PathBuf>,
    /// The answer to requests while the database does not answer.
    #[serde(default)]
    pub without_store: WithoutStore,
    /// A file of tokens, beside the configuration.
    pub tokens: Option<PathBuf>,
    /// The policy of every query.
    pub policy: Template,
    /// Shows today's lists beside the policy's, to a share of users that rises by evidence.
    pub launch: Option<interleaving::launch::Settings>,
    /// Items of all queries, with which a new store begins.
    #[serde(default)]
    pub items: Vec<FirstItem>,
    /// Limits, which may differ from one start to the next.
    #[serde(default)]
    pub limits: Limits,
    /// The fault at the place of `examination` if the file leaves it to a fit or a store.
    #[serde(skip)]
    incomplete: Option<Error>,
}

fn loopback() -> SocketAddr {
    SocketAddr::from(([127, 0, 0, 1], 7300))
}

fn listen<'de, D: Deserializer<'de>>(deserializer: D) -> Result<SocketAddr, D::Error> {
    address(&String::deserialize(deserializer)?).map_err(de::Error::custom)
}

/// Reads an address to listen on.
pub(crate) fn address(text: &str) -> Result<SocketAddr, String> {
    text.parse().map_err(|_| format!("{text:?} found: expected an address such as 127.0.0.1:7300"))
}

fn data() -> PathBuf {
    "data".into()
}

/// An item with which a new store begins.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(try_from = "ItemInFile")]
#[schemars(with = "ItemInFile")]
pub struct FirstItem {
    /// Its name.
    pub item: Name,
    /// One for each of [`Template::item_features`].
    pub features: Vec<f64>,
    /// Its value and its group.
    pub worth: Worth,
}

#[derive(Deserialize, JsonSchema)]
#[serde(untagged, deny_unknown_fields)]
enum ItemInFile {
    Name(String),
    InFull {
        item: String,
        #[serde(default)]
        features: Vec<f64>,
        value: Option<f64>,
        group: Option<String>,
    },
}

impl TryFrom<ItemInFile> for FirstItem {
    type Error = &'static str;

    fn try_from(found: ItemInFile) -> Result<Self, &'static str> {
        let (item, features, value, group) = match found {
            ItemInFile::Name(item) => (item, vec![], None, None),
            ItemInFile::InFull { item, features, value, group } => (item, features, value, group),
        };
        let group = group.as_deref().map(Name::new).transpose()?;
        Ok(Self { item: Name::new(&item)?, features, worth: Worth { value, group } })
    }
}

/// The users by whose model answers are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Users {
    /// Position-based users.
    Pbm,
    /// They stop at the first click.
    Cascade,
    /// They may continue after a click.
    Dcm,
    /// The client tells which positions were seen.
    SemiBandit,
    /// A missing click may mean anything.
    ClicksOnly,
}

/// The source of the values of items, which multiply clicks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ValuesFrom {
    /// Requests and the configuration tell them; 1 without.
    #[default]
    Told,
    /// They are means of the values in answers.
    Answers,
}

/// A policy with its parameters, as text.
#[derive(Debug, Clone, PartialEq, JsonSchema)]
#[schemars(with = "String")]
pub struct Policy(pub PolicySpec);

impl Serialize for Policy {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for Policy {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map(Self).map_err(|error| match error {
            SpecError::UnknownPolicy { name, known } => {
                let mut what = format!("unknown policy {name:?}");
                push_known(&mut what, &name, &known.split(", ").collect::<Vec<_>>(), "policy");
                de::Error::custom(what)
            }
            other => de::Error::custom(other),
        })
    }
}

/// The prior of every item.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ItemPrior {
    /// From the items so far, of each query by itself.
    Estimated,
    /// The shapes of a Beta distribution.
    #[serde(untagged)]
    Beta([f64; 2]),
}

/// The part of the users' names in requests that is kept.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum UserNames {
    /// The names.
    #[default]
    Keep,
    /// A hash in place of each.
    Hash,
    /// Nothing.
    Drop,
}

fn is_usual<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

fn drawing(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "object",
        "properties": {
            "draws": { "type": "integer", "minimum": 1, "maximum": Drawing::MOST_DRAWS },
            "epsilon": { "type": "number", "minimum": 0, "maximum": 1 },
        },
        "required": ["draws", "epsilon"],
        "additionalProperties": false,
    })
}

/// The policy of every query. A store keeps one, which `--apply` changes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Template {
    /// By which model answers are read.
    pub users: Users,
    /// The policy, such as `cascade-ts`.
    pub policy: Policy,
    /// Positions of a list.
    #[schemars(range(min = 1))]
    pub positions: usize,
    /// Probabilities of examination by position, for policies that must know them.
    #[serde(default)]
    #[schemars(with = "Vec<f64>", inner(range(min = 0, max = 1)))]
    pub examination: Vec<Probability>,
    /// Segments of the users; without them, those that clients tell are only kept.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub segments: Vec<Name>,
    /// Names of the users' features.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub features: Vec<Name>,
    /// The range of each feature in the log that the store began with: further values are clipped.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(skip)]
    pub ranges: Vec<[f64; 2]>,
    /// Names of the items' features.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub item_features: Vec<Name>,
    /// The Beta prior of every item.
    pub prior: Option<ItemPrior>,
    /// The last observations of each item that count; all by default.
    #[schemars(range(min = 1))]
    pub window: Option<usize>,
    /// The probability with which the last position shows a random item.
    #[serde(default)]
    #[schemars(range(min = 0, max = 1))]
    pub explore: f64,
    /// How lists are drawn whose propensities are known; they are not by default.
    #[serde(default)]
    #[schemars(schema_with = "drawing")]
    pub propensities: Option<Drawing>,
    /// When a display without a click counts.
    #[serde(default)]
    pub skips: Skips,
    /// The source of the values of items: `told`, or `answers`.
    #[serde(default, skip_serializing_if = "is_usual")]
    pub values: ValuesFrom,
    /// The largest value of an item, if they are those of answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cap: Option<f64>,
    /// The most retired items that are kept.
    #[serde(default = "usual::<100_000>")]
    pub keep_retired: usize,
    /// The seconds after which a decision is closed.
    #[serde(default = "usual_u64::<1_800>")]
    pub wait: u64,
    /// The most decisions that can be answered.
    #[serde(default = "usual::<1_000_000>")]
    #[schemars(range(min = 1))]
    pub keep: usize,
    /// The days for which a decision can be answered.
    #[serde(default = "usual_u64::<7>")]
    pub keep_days: u64,
    /// The part of users' names that is kept: `keep`, `hash` or `drop`.
    #[serde(default, skip_serializing_if = "is_usual")]
    pub user_names: UserNames,
    /// The seed of the random choices. Who knows it can foresee them.
    #[serde(default)]
    pub seed: u64,
    /// The launch, which has a table of its own in the file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(skip)]
    pub launch: Option<interleaving::launch::Settings>,
}

const fn usual<const N: usize>() -> usize {
    N
}

const fn usual_u64<const N: u64>() -> u64 {
    N
}

/// The settings that a policy may refuse.
const OPTIONAL: [&str; 7] = ["prior", "window", "explore", "propensities", "skips", "values", "cap"];

impl Template {
    /// The settings of each policy. Decisions are counted by the engine, for all queries together.
    pub fn settings(&self) -> Settings {
        let Self { window, explore, propensities, skips, .. } = *self;
        let keep_retired = self.keep_retired.min(self.most_items());
        let keep_open = usize::MAX;
        let estimate_prior = self.prior == Some(ItemPrior::Estimated);
        let values = match self.values {
            ValuesFrom::Told => ItemValues::Told,
            ValuesFrom::Answers => ItemValues::Answers { cap: self.cap },
        };
        Settings { window, explore, propensities, estimate_prior, skips, keep_open, keep_retired, values }
    }

    /// Whether the policy sees who asks.
    pub fn sees_contexts(&self) -> bool {
        self.policy.0.check_live_among().is_ok()
    }

    /// Whether the policy, unless it is at fault, knows values of items; an error says why not.
    pub(crate) fn has_values(&self) -> Result<(), String> {
        let Some(mut of_nobody) = self.of_nobody() else { return Ok(()) };
        of_nobody.check_value(1.0, false).map_err(|error| error.to_string())
    }

    fn of_nobody(&self) -> Option<Box<Learner>> {
        let of = Self { policy: self.policy.clone(), ..self.completed() };
        crate::engine::fresh(&of, None).ok()
    }

    /// With an examination and a continuation, which may come from a fit or a store.
    fn completed(&self) -> Self {
        let mut all = self.clone();
        if !self.is_complete() {
            all.examination = vec![Probability::ONE; self.positions];
        }
        if let PolicySpec::DcmTs { continuation } = &mut all.policy.0 {
            continuation.get_or_insert(Probability::ONE);
        }
        all
    }

    /// Whether policies can be made without what a fit or a store knows.
    pub fn is_complete(&self) -> bool {
        self.users != Users::Pbm || !self.examination.is_empty()
    }

    /// Whether a fit or a store may know more.
    pub(crate) fn may_be_completed(&self) -> bool {
        !self.is_complete() || matches!(self.policy.0, PolicySpec::DcmTs { continuation: None })
    }

    /// The most items of all queries, of one query, and retired ones, so that a policy that sees
    /// who asks has room for all three in every segment.
    pub fn most_items(&self) -> usize {
        if self.sees_contexts() { (1 << 22) / self.segments.len().max(1) } else { usize::MAX }
    }

    /// The policy's knowledge of a user; a fault of the client is refused. Without a context, it is
    /// somebody of no segment, with features of 0. A segment that is not known has no effect, and
    /// features are clipped. With `is_earlier`, their number is that of earlier settings.
    pub fn user(&self, told: Option<&Context>, is_earlier: bool) -> Result<click_models::Context, Refusal> {
        let mut user = click_models::Context { segment: NO_SEGMENT, features: vec![] };
        let Some(Context { segment, features }) = told else { return Ok(user) };
        if let Some(segment) = segment.as_ref().filter(|_| !self.segments.is_empty()) {
            let place = self.segments.iter().position(|known| known == segment);
            user.segment = place.and_then(|place| u32::try_from(place).ok()).unwrap_or(NO_SEGMENT);
        }
        if !features.is_empty() && !is_earlier && features.len() != self.features.len() {
            return Err(Refusal::not_features(features.len(), &self.features, "context.features"));
        }
        user.features.clone_from(features);
        clip(&self.ranges, &mut user.features);
        Ok(user)
    }

    /// The keys of segments and features with names that are not those of columns of the export,
    /// and why.
    pub(crate) fn faults(&self) -> Vec<(&'static str, String)> {
        let of_launch = OF_LAUNCH.into_iter().filter(|_| self.launch.is_some());
        let of_values = self.has_values().is_ok().then_some(VALUE);
        let taken = HEAD.split(',').chain(of_launch).chain(of_values);
        let of_users: Vec<&str> = taken.chain(self.features.iter().map(|name| &**name)).collect();
        let segments = self.segments.iter().map(|name| &**name).collect();
        let of_items = std::iter::once("item").chain(self.item_features.iter().map(|name| &**name)).collect();
        let mut faults = vec![];
        for (key, names) in [("segments", segments), ("features", of_users), ("item-features", of_items)] {
            for (place, name) in names.iter().enumerate() {
                if names[..place].contains(name) {
                    faults.push((key, format!("`{name}` is a column or is there before")));
                }
                if key != "segments" && name.contains([',', ';', '=', '"', '\'']) {
                    faults.push((key, format!("`{name}` has one of , ; = and quotes")));
                }
            }
        }
        faults
    }

    /// The settings that the policy refuses, and why: each by itself, and if none is at fault
    /// alone, all together. Examination may come from a fit or a store.
    fn faults_of_settings(&self) -> Vec<(&'static str, String)> {
        let all = self.completed();
        let Err(fault) = crate::engine::check(&all) else { return vec![] };
        let told: Keys = serde_json::from_str(&all.to_text()).expect("settings are an object");
        let alone = |key: &'static str| {
            let is_kept = |other: &str| other == key || key == "cap" && other == "values";
            let mut keys = told.clone();
            keys.retain(|other, _| !OPTIONAL.contains(&&**other) || is_kept(other));
            let one = serde_json::from_value(keys.into()).expect("settings are plain data");
            Some((key, crate::engine::check(&one).err()?))
        };
        let faults: Vec<_> = std::iter::once("policy").chain(OPTIONAL).filter_map(alone).collect();
        match faults.first() {
            None => vec![("policy", fault)],
            // Whatever its settings.
            Some(("policy", _)) => faults[..1].to_vec(),
            Some(_) => faults,
        }
    }

    /// Takes examination, continuation, segments and features that are not given from settings of a
    /// store.
    pub(crate) fn complete(&mut self, of_store: &Self) {
        fn given<T: Clone>(given: &mut Vec<T>, of_store: &[T]) {
            if given.is_empty() {
                *given = of_store.to_vec();
            }
        }
        // Those of a store that began earlier are not known.
        self.ranges.clone_from(&of_store.ranges);
        given(&mut self.examination, &of_store.examination);
        given(&mut self.segments, &of_store.segments);
        given(&mut self.features, &of_store.features);
        given(&mut self.item_features, &of_store.item_features);
        let policies = (&mut self.policy.0, &of_store.policy.0);
        if let (PolicySpec::DcmTs { continuation: to @ None }, PolicySpec::DcmTs { continuation }) = policies
        {
            *to = *continuation;
        }
    }

    /// Reads what [`to_text`](Self::to_text) wrote.
    pub(crate) fn of_text(text: &str) -> Result<Self, String> {
        serde_json::from_str(text).map_err(|error| error.to_string())
    }

    /// The text by which a store knows what it was made for.
    pub fn to_text(&self) -> String {
        serde_json::to_string(self).expect("settings are plain data")
    }
}

/// The settings with which a store began, as it keeps them.
pub(crate) fn settings_of_store(text: &[u8]) -> Result<Template, StoreError> {
    let unreadable = |_| StoreError::Damaged("its settings cannot be read".into());
    let mut all: Keys = serde_json::from_slice(text).map_err(unreadable)?;
    if let Some(version) = all.remove(NEWER).filter(|version| *version != SMALL) {
        return Err(StoreError::OtherSettings(format!("{NEWER} = {version}, this one has {SMALL}")));
    }
    serde_json::from_value(all.into()).map_err(|error| StoreError::OtherSettings(error.to_string()))
}

type Keys = serde_json::Map<String, serde_json::Value>;

/// Replaces settings by those with which a store began; a new store is made for them.
pub fn agree(store: &dyn Store, template: &mut Template) -> Result<(), StoreError> {
    if store.settings()?.is_none() {
        crate::engine::check(template).map_err(|error| StoreError::Settings(format!("policy: {error}")))?;
        store.make_for(&template.to_text())?;
    }
    // Another server may have been faster.
    store.settings()?.map_or(Ok(()), |text| settings_of_store(&text).map(|found| *template = found))
}

/// The keys in which settings differ: each as a change, and as one that is not applied. `refused`
/// tells why some cannot change.
pub(crate) fn differing(
    found: &Template,
    now: &Template,
    refused: &[(&'static str, &'static str)],
) -> Vec<[String; 2]> {
    let [found, now] = [found, now].map(|of| serde_json::from_str::<Keys>(&of.to_text()));
    let [found, now] = [found, now].map(|keys| keys.expect("settings are an object"));
    let keys: BTreeSet<&String> = found.keys().chain(now.keys()).collect();
    let value = |of: &Keys, key: &str| of.get(key).map_or("nothing".into(), ToString::to_string);
    let differing = keys.into_iter().filter(|key| found.get(*key) != now.get(*key));
    let line = |key: &String| {
        let [found, now] = [&found, &now].map(|of| value(of, key));
        let why = refused.iter().find(|(refused, _)| refused == key);
        let what = why.map_or("--apply changes it".into(), |(_, why)| format!("cannot change: {why}"));
        let held = format!("{key}: the store's {found} holds, the file has {now} ({what})");
        [format!("{key} = {found}, now {now}"), held]
    };
    differing.map(line).collect()
}

/// The answer to requests while the database does not answer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum WithoutStore {
    /// They are refused.
    #[default]
    Refuse,
    /// Lists of queries in memory are given, and recorded later.
    Serve,
}

/// The queries that requests may make.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum NewQueries {
    /// Any that a list is asked for, or shown.
    #[default]
    Any,
    /// Those of a fit, of the role `manage`, and `default`; the others have the lists of `other`.
    Known,
}

/// Limits, which may differ from one start to the next.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct Limits {
    /// The most queries in memory.
    #[schemars(range(min = 1))]
    pub queries: usize,
    /// The most queries in all.
    #[schemars(range(min = 1))]
    pub all_queries: u64,
    /// Which requests make queries.
    pub new_queries: NewQueries,
    /// The queries that requests with one token, or without tokens, may make in a minute.
    #[schemars(range(min = 1))]
    pub new_queries_a_minute: u64,
    /// The days after its last decision for which a query is kept; for ever by default.
    #[schemars(range(min = 1))]
    pub query_days: Option<u64>,
    /// The most items of all queries, and of each query by itself.
    #[schemars(range(min = 1))]
    pub items: usize,
    /// The most requests that wait.
    #[schemars(range(min = 1))]
    pub waiting: usize,
    /// The most connections.
    #[schemars(range(min = 1))]
    pub connections: usize,
    /// The most bytes of a request.
    #[schemars(range(min = 1))]
    pub body: usize,
    /// The most entries of a batch.
    #[schemars(range(min = 1))]
    pub batch: usize,
    /// Seconds within which a request has to be complete.
    #[schemars(range(min = 1))]
    pub seconds: u64,
    /// Seconds for which a connection may be idle, or take for the head of a request.
    #[schemars(range(min = 1))]
    pub idle_seconds: u64,
    /// The events after which a snapshot is made.
    #[schemars(range(min = 1))]
    pub snapshot_events: u64,
    /// The days for which events are kept before they are archived; for ever by default.
    #[schemars(range(min = 1))]
    pub retain_days: Option<u64>,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            queries: 1_000,
            all_queries: 1_000_000,
            new_queries: NewQueries::Any,
            new_queries_a_minute: 1_000,
            query_days: None,
            items: 200_000,
            waiting: 8_192,
            connections: 1_024,
            body: 1 << 20,
            batch: 1_000,
            seconds: 10,
            idle_seconds: 75,
            snapshot_events: 500_000,
            retain_days: None,
        }
    }
}

impl Config {
    /// Reads a file. Paths in it are beside it. An error has all faults of the file.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let mut config = Self::of(&Source::read(path)?)?;
        let folder = path.parent().unwrap_or(Path::new(""));
        config.data = folder.join(&config.data);
        for path in [&mut config.tokens, &mut config.archive, &mut config.backups].into_iter().flatten() {
            *path = folder.join(&path);
        }
        config.store_authorities = config.store_authorities.map(|file| folder.join(file));
        Ok(config)
    }

    /// Reads the text of a file.
    pub fn parse(text: &str) -> Result<Self, Error> {
        Self::of(&Source::from_text("serve.toml", text)?)
    }

    /// Checks that policies can be made, once a fit or a store has completed the template. An error
    /// is at its place in the file if the template lacks a key.
    pub fn check(&self) -> Result<(), String> {
        let incomplete = self.incomplete.as_ref().filter(|_| !self.policy.is_complete());
        let placed = |what| incomplete.map_or_else(|| format!("policy: {what}"), ToString::to_string);
        let is_guard = self.policy.launch.as_ref().is_some_and(|launch| launch.guard(VALUE).is_some());
        let needs_values = is_guard || self.items.iter().any(|of| of.worth.value.is_some());
        let values = || if needs_values { self.policy.has_values() } else { Ok(()) };
        crate::engine::check(&self.policy).and_then(|()| values()).map_err(placed)
    }

    fn of(source: &Source) -> Result<Self, Error> {
        let document = source.parse()?;
        let root = document.root();
        let mut faults = Faults::default();
        let built = faults.keep(root.build_rest::<Self>());
        let mut add = |table: &Table<'_>, key: &str, what: String| {
            let place = table.field(key).map_or_else(|| table.location(), |field| field.location());
            faults.add(place.error(what));
        };
        let store: Option<String> = root.optional("store").ok().flatten();
        if let Some(store) = store.filter(|store| !is_database(store)) {
            add(&root, "store", format!("{store:?} found: expected postgres://..; a directory is `data`"));
        }
        for key in ["store-authorities", "without-store"] {
            if root.field("store").is_none() && root.field(key).is_some() {
                add(&root, key, "only for a `store`, which is missing".into());
            }
        }
        let policy: Result<Table<'_>, _> = root.required("policy");
        let (Some((mut config, fault)), Ok(policy)) = (built, policy) else {
            return Err(faults.end().err().unwrap_or_else(|| root.error("incomplete")));
        };
        if config.policy.users != Users::Pbm && !config.policy.examination.is_empty() {
            add(&policy, "examination", "only for users = \"pbm\"".into());
        }
        if config.policy.launch.is_some() {
            add(&policy, "launch", "a launch has a table of its own: [launch]".into());
        }
        if let (Some(launch), Ok(table)) = (config.launch.take(), root.required::<Table<'_>>("launch")) {
            for (key, what) in launch.faults() {
                add(&table, key, what);
            }
            if config.policy.propensities.is_some() {
                add(&policy, "propensities", "not in a launch, whose lists mix two sides".into());
            }
            if let (Some(_), Err(what)) = (launch.guard(VALUE), config.policy.completed().has_values()) {
                add(&table, "guards", format!("`{VALUE}`: {what}"));
            }
            config.policy.launch = Some(launch);
        }
        for (key, what) in config.policy.faults() {
            add(&policy, key, what);
        }
        let expected = config.policy.item_features.len();
        let mut names = BTreeSet::new();
        if config.policy.cap.is_some() && config.policy.values == ValuesFrom::Told {
            add(&policy, "cap", "only for values = \"answers\"".into());
        }
        let mut of_nobody = config.policy.completed().of_nobody();
        for FirstItem { item, features, worth } in &config.items {
            if let (Some(value), Some(of_nobody)) = (worth.value, &mut of_nobody)
                && let Err(what) = of_nobody.check_value(value, true)
            {
                add(&root, "items", format!("`{item}` has a value: {what}"));
            }
            if worth.group.is_some() && config.policy.sees_contexts() {
                add(&root, "items", format!("`{item}` has a group: {}", live::Error::NoTerms));
            }
            if features.len() != expected {
                let what = format!("`{item}` has {} features, expected {expected}", features.len());
                add(&root, "items", what);
            }
            if !names.insert(&**item) {
                add(&root, "items", format!("`{item}` is there twice"));
            }
        }
        let found = fault.iter().flat_map(|fault| fault.clone().all());
        if !found.map(|fault| fault.field().to_owned()).any(|field| field.starts_with("policy")) {
            for (key, what) in config.policy.faults_of_settings() {
                add(&policy, key, what);
            }
        }
        if let Some(fault) = fault {
            faults.add(fault);
        }
        if !config.policy.is_complete() {
            let expected = format!("one probability for each of the {} positions", config.policy.positions);
            config.incomplete = Some(policy.missing("examination", &expected));
        }
        faults.end().map(|()| config)
    }
}

/// A summary for people.
impl std::fmt::Display for Config {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Template { users, policy, positions, .. } = &self.policy;
        let users = serde_json::to_value(users).unwrap_or_default();
        let store =
            self.store.as_ref().map_or_else(|| self.data.display().to_string(), |_| "a database".into());
        let tokens = self.tokens.as_ref().map_or("no tokens".into(), |file| file.display().to_string());
        let first = self.items.first().map_or(String::new(), |first| format!(", such as `{}`", first.item));
        write!(
            f,
            "policy: {} for users {users}, {positions} positions\nitems of all queries: {}{first}\nstore: {store}\n\
             listens on {}, tokens: {tokens}",
            policy.0,
            self.items.len(),
            self.listen
        )
    }
}
