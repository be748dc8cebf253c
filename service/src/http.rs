//! The API over HTTP/1.1.

mod body;
pub(crate) mod charts;
mod page;
mod server;

pub use server::serve;

use crate::api::{
    Answer, AnswerBody, DecideBody, ItemBody, ItemChange, LaunchBody, Object, Outcomes, Price, Receipt,
    Refusal, ShowBody,
};
use crate::config::{FirstItem, Limits};
use crate::engine::Usage;
use crate::event::{Batch, Change, Decision, Event, Name, Terms, Worth};
use crate::metrics::{self, Metrics};
use crate::store::{Store, StoreError, put_in_place};
use crate::tokens::{Made, Role, Tokens};
use crate::writer::{LONGEST, Requests, SHARE, Turn};
use axum::extract::rejection::PathRejection;
use axum::extract::{Path as InPath, Request, State};
use axum::http::{HeaderValue, Method, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodRouter, delete, get, patch, post, put};
use axum::{Extension, Json, Router};
use body::{Body, Parameters};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::fs::File;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, Instant};

/// The description of the API.
pub const OPENAPI: &str = include_str!("../openapi.json");

/// The state that requests need.
#[derive(Debug)]
pub struct App {
    /// The thread that changes anything.
    pub requests: Requests,
    /// Where events are read.
    pub store: Arc<dyn Store>,
    /// Who may do what, which may be read again.
    pub tokens: Arc<RwLock<Tokens>>,
    /// Counters and timers.
    pub metrics: Arc<Metrics>,
    /// Limits.
    pub limits: Arc<Limits>,
    /// The directory of backups.
    pub backups: PathBuf,
    /// The queries that tokens have made.
    pub made: Arc<Made>,
}

/// The number of the token of a request.
#[derive(Debug, Clone, Copy)]
struct Token(u64);

/// Where requests go: path, method in lower case, role, handler. `None` is for everybody.
type Route = (&'static str, &'static str, Option<Role>, MethodRouter<Arc<App>>);

/// All routes.
pub fn routes() -> Vec<Route> {
    use Role::{Decide, Manage, Read};
    vec![
        ("/v1/decide", "post", Some(Decide), post(one::<DecideBody>)),
        ("/v1/decide/batch", "post", Some(Decide), post(all::<DecideBody>)),
        ("/v1/show", "post", Some(Decide), post(one::<ShowBody>)),
        ("/v1/show/batch", "post", Some(Decide), post(all::<ShowBody>)),
        ("/v1/clicks", "post", Some(Decide), post(one::<AnswerBody>)),
        ("/v1/clicks/batch", "post", Some(Decide), post(all::<AnswerBody>)),
        ("/v1/items", "get", Some(Read), get(items)),
        ("/v1/items/batch", "post", Some(Manage), post(all::<ItemBody>)),
        ("/v1/items/{item}", "get", Some(Read), get(row_of_item)),
        ("/v1/items/{item}", "put", Some(Manage), put(one_item)),
        ("/v1/items/{item}", "patch", Some(Manage), patch(one_item)),
        ("/v1/items/{item}", "delete", Some(Manage), delete(one_item)),
        ("/v1/queries", "get", Some(Read), get(queries)),
        ("/v1/queries/{query}", "delete", Some(Manage), delete(drop_query)),
        ("/v1/launch", "get", Some(Read), get(launch)),
        ("/v1/launch", "post", Some(Manage), post(one::<LaunchBody>)),
        ("/v1/backup", "post", Some(Manage), post(back_up)),
        ("/v1/log", "get", Some(Read), get(log)),
        ("/", "get", Some(Read), get(page::page)),
        ("/login", "post", None, post(page::login)),
        ("/metrics", "get", Some(Read), get(metrics)),
        ("/healthz", "get", None, get(healthy)),
        ("/readyz", "get", None, get(ready)),
        ("/openapi.json", "get", None, get(openapi)),
    ]
}

/// The service of all routes.
pub fn router(app: App) -> Router {
    // Requests have copies of it.
    let app = Arc::new(app);
    let mut router = Router::new();
    for (path, _, role, handler) in routes() {
        let guard: Guard = (app.clone(), path, role);
        router = router.route(path, handler.route_layer(middleware::from_fn_with_state(guard, checked)));
    }
    router
        .fallback(|| async { Refusal::new(404, "no_such_path", "there is nothing at this path", "") })
        .method_not_allowed_fallback(|| async {
            Refusal::new(405, "wrong_method", "this path has other methods", "")
        })
        .with_state(app)
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let status = StatusCode::from_u16(self.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let mut response = (status, Json(self.to_json())).into_response();
        let later = match status {
            StatusCode::SERVICE_UNAVAILABLE => Some("1"),
            StatusCode::TOO_MANY_REQUESTS => Some("60"),
            _ => None,
        };
        if let Some(later) = later {
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static(later));
        }
        if status == StatusCode::UNAUTHORIZED {
            response.headers_mut().insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        response
    }
}

/// The state, a route's name among the counters, and its role.
type Guard = (Arc<App>, &'static str, Option<Role>);

/// Checks the token, and measures.
async fn checked(State((app, path, role)): State<Guard>, mut request: Request, next: Next) -> Response {
    let start = Instant::now();
    let outcome = {
        let tokens = app.tokens.read().unwrap_or_else(PoisonError::into_inner);
        authorise(&tokens, role, &request)
    };
    let response = match outcome {
        Ok(token) => {
            request.extensions_mut().insert(token);
            next.run(request).await
        }
        // People are asked for a token.
        Err(refusal) if path == "/" && !request.headers().contains_key(header::AUTHORIZATION) => {
            page::form(&refusal)
        }
        Err(refusal) => refusal.into_response(),
    };
    app.metrics.request(path, response.status().as_u16(), start.elapsed());
    response
}

fn authorise(tokens: &Tokens, role: Option<Role>, request: &Request) -> Result<Token, Refusal> {
    let Some(role) = role.filter(|_| !tokens.is_empty()) else { return Ok(Token(0)) };
    let given = request.headers().get(header::AUTHORIZATION).map(HeaderValue::as_bytes);
    // The scheme may be in lower case.
    let token = given.and_then(|given| given.split_at_checked(b"bearer ".len()));
    let token = token.filter(|(scheme, _)| scheme.eq_ignore_ascii_case(b"bearer "));
    let token = token.map(|(_, token)| token.trim_ascii().to_vec());
    // A page of another site could make a browser send other requests with the cookie.
    let is_read = given.is_none() && request.method() == Method::GET;
    let token = token.or_else(|| page::token_of_cookie(request.headers()).filter(|_| is_read));
    match token.and_then(|token| tokens.allow(&token, role)) {
        Some((number, true)) => Ok(Token(number)),
        Some((_, false)) => {
            Err(Refusal::new(403, "forbidden", "the token does not have this role", "authorization"))
        }
        None => {
            let message = "a known token is needed: Authorization: Bearer TOKEN";
            Err(Refusal::new(401, "unauthorized", message, "authorization"))
        }
    }
}

/// A request that may change something.
trait Work: Clone + DeserializeOwned + Send + 'static {
    type Answer: Serialize + Outcomes + Send + 'static;

    /// Its name among the outcomes.
    const NAME: &'static str;

    /// The fault of a body that can be read and contradicts the description. An array with one is
    /// refused whole.
    fn fault(&self) -> Option<[&'static str; 2]> {
        None
    }

    /// Whether older programs cannot read its events.
    fn is_newer(&self) -> bool {
        false
    }

    fn work(self, turn: &mut Turn<'_>) -> Result<Self::Answer, Refusal>;
}

impl Work for DecideBody {
    type Answer = Answer;

    const NAME: &'static str = "decide";

    fn fault(&self) -> Option<[&'static str; 2]> {
        if self.only.is_some() && self.except.is_some() {
            return Some(["only", "`only` and `except` exclude each other"]);
        }
        let length = self.baseline.as_ref().map_or(1, Vec::len);
        (!(1..=64).contains(&length)).then_some(["baseline", "a list has 1 to 64 items"])
    }

    fn is_newer(&self) -> bool {
        self.values.is_some() || self.most.is_some() || self.pins.is_some()
    }

    fn work(self, turn: &mut Turn<'_>) -> Result<Answer, Refusal> {
        match &mut turn.deferred {
            Some(deferred) => turn.engine.decide_deferred(self, deferred),
            None => turn.engine.decide(self, turn.time, turn.events),
        }
    }
}

impl Work for ShowBody {
    type Answer = Receipt;

    const NAME: &'static str = "show";

    fn work(self, turn: &mut Turn<'_>) -> Result<Receipt, Refusal> {
        turn.needs_store()?;
        turn.engine.show(self, turn.time, turn.events)
    }
}

impl Work for AnswerBody {
    type Answer = Receipt;

    const NAME: &'static str = "clicks";

    fn fault(&self) -> Option<[&'static str; 2]> {
        let n = self.clicks.as_ref().map_or(0, Vec::len) + self.items.as_ref().map_or(0, Vec::len);
        let tells = self.seen.is_some() || self.metrics.is_some() || self.values.is_some();
        let is_empty = n == 0 && self.close != Some(true) && !tells;
        let what =
            "an answer has a click, in `clicks` or `items`, `close`: true, `seen`, `values` or `metrics`";
        is_empty.then_some(["clicks", what])
    }

    fn is_newer(&self) -> bool {
        self.value.is_some() || self.values.is_some()
    }

    fn work(self, turn: &mut Turn<'_>) -> Result<Receipt, Refusal> {
        match &mut turn.deferred {
            Some(deferred) => turn.engine.answer_deferred(self, deferred),
            None => turn.engine.answer(self, turn.events),
        }
    }
}

impl Work for LaunchBody {
    type Answer = Value;

    const NAME: &'static str = "launch";

    fn work(self, turn: &mut Turn<'_>) -> Result<Value, Refusal> {
        turn.needs_store()?;
        turn.engine.steer(&self, turn.time, turn.events)?;
        report_of_launch(turn)
    }
}

impl Work for ItemBody {
    type Answer = Receipt;

    const NAME: &'static str = "items";

    fn work(self, turn: &mut Turn<'_>) -> Result<Receipt, Refusal> {
        turn.needs_store()?;
        let Self { item, query, change, features, value, group } = self;
        let worth = Worth { value: value.map(|Price(value)| value), group };
        let told = FirstItem { item, features: features.unwrap_or_default(), worth };
        let change = match change.unwrap_or(ItemChange::Add) {
            ItemChange::Add => Some(Change::Add),
            ItemChange::Retire => Some(Change::Retire),
            ItemChange::Forget => Some(Change::Forget),
            ItemChange::Update => None,
        };
        let outcome = turn.engine.take_item(&told, query.as_ref(), change, turn.events)?;
        Ok(Receipt::new(told.item, outcome))
    }

    fn is_newer(&self) -> bool {
        self.value.is_some() || self.group.is_some()
    }
}

/// Does the work of a request.
async fn one<B: Work>(
    State(app): State<Arc<App>>,
    Extension(token): Extension<Token>,
    Body(Object(body)): Body<Object<B>>,
) -> Result<Json<B::Answer>, Refusal> {
    if let Some([at, what]) = body.fault() {
        return Err(Refusal::malformed(what, at));
    }
    if body.is_newer() {
        check_small_rows(&app)?;
    }
    let works = works(&app, token);
    let outcome = app.requests.ask_always(move |turn| works(body, turn)).await?;
    app.metrics.outcome(B::NAME, outcome.outcome());
    outcome.map(Json)
}

/// How work is done with a token, which may make some queries.
fn works<B: Work>(
    app: &App,
    Token(token): Token,
) -> impl Fn(B, &mut Turn<'_>) -> Result<B::Answer, Refusal> + Clone + Send + 'static {
    let (made, most) = (app.made.clone(), app.limits.new_queries_a_minute);
    move |body, turn| {
        let Turn { engine, events, time, deferred } = turn;
        let (time, events, deferred) = (*time, &mut **events, deferred.as_deref_mut());
        made.by((token, most), time, |left| {
            engine.making(left, |engine| body.work(&mut Turn { engine, events, time, deferred }))
        })
    }
}

/// The outcome of an entry of a batch.
#[derive(Serialize)]
#[serde(untagged)]
enum Entry<T> {
    Done(T),
    Refused(Value),
}

/// Does the work of each entry, all committed together.
async fn all<B: Work>(
    State(app): State<Arc<App>>,
    Extension(token): Extension<Token>,
    Body(bodies): Body<Vec<Object<B>>>,
) -> Result<Json<Vec<Entry<B::Answer>>>, Refusal> {
    let (found, most) = (bodies.len(), app.limits.batch);
    if found > most {
        let message = format!("{found} entries, at most {most} are taken");
        return Err(Refusal::new(413, "too_long", message, ""));
    }
    for (place, Object(body)) in bodies.iter().enumerate() {
        if let Some([at, what]) = body.fault() {
            return Err(Refusal::malformed(what, &format!("[{place}].{at}")));
        }
        if body.is_newer() {
            check_small_rows(&app)?;
        }
    }
    let store = app.store.clone();
    let works = works(&app, token);
    let answers = app.requests.ask_always(move |turn| {
        let mut since = Instant::now();
        let entries = bodies.into_iter().map(|Object(body)| {
            if since.elapsed() >= SHARE && turn.deferred.is_none() {
                // The commit tells whether it is lost.
                _ = store.stay();
                since = Instant::now();
            }
            works(body, turn)
        });
        entries.collect::<Vec<_>>()
    });
    let entries = answers.await?.into_iter().map(|outcome| {
        app.metrics.outcome(B::NAME, outcome.outcome());
        outcome.map_or_else(|refusal| Entry::Refused(refusal.to_json()), Entry::Done)
    });
    Ok(Json(entries.collect()))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OfItem {
    query: Option<Name>,
    #[serde(default)]
    forget: bool,
    /// Numbers with commas.
    features: Option<String>,
    value: Option<String>,
    group: Option<Name>,
}

async fn one_item(
    state: State<Arc<App>>,
    token: Extension<Token>,
    method: Method,
    item: Result<InPath<Name>, PathRejection>,
    Parameters(OfItem { query, forget, features, value, group }): Parameters<OfItem>,
) -> Result<Json<Receipt>, Refusal> {
    let change = match (method.as_str(), forget) {
        ("DELETE", true) => ItemChange::Forget,
        ("DELETE", false) => ItemChange::Retire,
        (_, true) => return Err(Refusal::malformed("an item that is kept is not forgotten", "forget")),
        ("PATCH", false) => ItemChange::Update,
        (_, false) => ItemChange::Add,
    };
    let item = named(item, "item")?;
    let number = |text: &str, at: &str| match text.parse::<f64>() {
        Ok(number) if number.is_finite() => Ok(number),
        _ => Err(Refusal::malformed(&format!("`{text}` is no finite number"), at)),
    };
    let features = features.iter().flat_map(|all| all.split(',')).map(|text| number(text, "features"));
    let (change, features) = (Some(change), Some(features.collect::<Result<_, _>>()?));
    let value = value.map(|text| {
        let value = number(&text, "value")?;
        Price::try_from(value).map_err(|what| Refusal::malformed(&what, "value"))
    });
    let value = value.transpose()?;
    one(state, token, Body(Object(ItemBody { item, query, change, features, value, group }))).await
}

fn named(name: Result<InPath<Name>, PathRejection>, at: &str) -> Result<Name, Refusal> {
    name.map(|InPath(name)| name).map_err(|rejection| Refusal::malformed(&rejection.body_text(), at))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OfQuery {
    query: Option<Name>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Names {
    after: Option<Name>,
    limit: Option<usize>,
}

/// An item of a query.
async fn row_of_item(
    State(app): State<Arc<App>>,
    item: Result<InPath<Name>, PathRejection>,
    Parameters(OfQuery { query }): Parameters<OfQuery>,
) -> Result<Json<Value>, Refusal> {
    let (item, query) = (named(item, "item")?, query.unwrap_or_else(Name::default_query));
    let row = app.requests.ask(move |turn| turn.engine.row(&query, &item)).await??;
    Ok(Json(page::row(&row)))
}

/// Queries by name, with their uses.
async fn queries(
    State(app): State<Arc<App>>,
    Parameters(part): Parameters<Names>,
) -> Result<Json<Value>, Refusal> {
    let most = limit(part.limit, 1_000, 1_000)?;
    check_small_rows(&app)?;
    let queries = app.requests.ask(move |turn| {
        let queries = turn.engine.usage(part.after.as_ref()).take(most);
        let line = |(name, usage): (&Name, Usage)| {
            let Usage { decisions, clicks, last } = usage;
            let last = (decisions > 0).then_some(last);
            json!({ "query": name, "decisions": decisions, "clicks": clicks, "last": last })
        };
        queries.map(line).collect::<Vec<Value>>()
    });
    let queries = queries.await?;
    let next = queries.last().filter(|_| queries.len() == most).map(|last| last["query"].clone());
    Ok(Json(json!({ "queries": queries, "next": next })))
}

/// Refuses what older programs would not know. The version of a store that could not be read yet is
/// not known.
fn check_small_rows(app: &App) -> Result<(), Refusal> {
    let message = "the store is one of an older version, which knows nothing of this: see --apply";
    match (app.store.has_small_rows(), app.metrics.ready.load(Relaxed)) {
        (true, _) => Ok(()),
        (false, 0) => Err(Refusal::not_in_memory()),
        _ => Err(Refusal::new(409, "older_store", message, "")),
    }
}

async fn drop_query(
    State(app): State<Arc<App>>,
    query: Result<InPath<Name>, PathRejection>,
) -> Result<Json<Receipt>, Refusal> {
    let id = named(query, "query")?;
    check_small_rows(&app)?;
    let name = id.clone();
    let outcome = app.requests.ask(move |turn| turn.engine.drop_query(&name, turn.events)).await??;
    Ok(Json(Receipt::new(id, outcome)))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Part {
    query: Option<Name>,
    #[serde(default)]
    from: u64,
    limit: Option<usize>,
}

/// The number of rows that is asked for, or else the usual one.
fn limit(asked: Option<usize>, usual: usize, most: usize) -> Result<usize, Refusal> {
    let limit = asked.unwrap_or(usual);
    if (1..=most).contains(&limit) {
        return Ok(limit);
    }
    Err(Refusal::malformed(&format!("{limit} rows, expected 1 to {most}"), "limit"))
}

/// The table of a query, from a place on.
async fn items(
    State(app): State<Arc<App>>,
    Parameters(part): Parameters<Part>,
) -> Result<Json<Value>, Refusal> {
    let (from, most) = (usize::try_from(part.from).unwrap_or(usize::MAX), limit(part.limit, 1_000, 1_000)?);
    let query = part.query.unwrap_or_else(Name::default_query);
    let name = query.clone();
    let rows = app.requests.ask(move |turn| turn.engine.rows(&name, from, most)).await??;
    let next = (rows.len() == most).then(|| rows.last().map(|(place, _)| place + 1)).flatten();
    let items: Vec<Value> = rows.iter().map(|(_, row)| page::row(row)).collect();
    Ok(Json(json!({ "query": query, "items": items, "next": next })))
}

fn report_of_launch(turn: &mut Turn<'_>) -> Result<Value, Refusal> {
    let state = turn.engine.launch_or_first().ok_or_else(Refusal::no_launch)?;
    Ok(crate::launch::report(&state, turn.time))
}

/// The report of the launch.
async fn launch(State(app): State<Arc<App>>) -> Result<Json<Value>, Refusal> {
    app.requests.ask(report_of_launch).await?.map(Json)
}

/// Decisions and answers from an event on, one in each line.
async fn log(State(app): State<Arc<App>>, Parameters(part): Parameters<Part>) -> Result<Response, Refusal> {
    if part.query.is_some() {
        return Err(Refusal::malformed("the log has the events of all queries", "query"));
    }
    let (from, most) = (part.from, limit(part.limit, 1_000, 10_000)?);
    if is_away(&app) {
        return Err(Refusal::not_in_memory());
    }
    let lines = tokio::task::spawn_blocking(move || {
        let kept = app.store.first()?;
        if from < kept {
            return Err(Refusal::archived(kept));
        }
        let (mut lines, mut left) = (String::new(), most);
        let read = app.store.read(from, &mut |first, batch| {
            let Batch { time, events } = batch;
            for (number, event) in (first..).zip(&events).filter(|(number, _)| *number >= from).take(left) {
                left -= 1;
                lines.push_str(&line(number, time, event).to_string());
                lines.push('\n');
            }
            if left == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        read.inspect_err(|error: &StoreError| {
            metrics::log("error", "events-unreadable", json!({ "error": error.to_string() }));
        })?;
        Ok(lines)
    });
    let lines = tokio::time::timeout(LONGEST, lines).await.map_err(|_| Refusal::not_in_memory())?;
    let lines = lines.map_err(|_| Refusal::busy())??;
    Ok(([(header::CONTENT_TYPE, "application/jsonl")], lines).into_response())
}

/// An event as the log tells it: its kind and its fields. Positions count from 1.
pub(crate) fn line(number: u64, time: u64, event: &Event) -> Value {
    let mut line = match event {
        Event::Launched(launched) => {
            let mut line = line_of_decision(&launched.decision);
            line["side"] = launched.side().into();
            line["is_compared"] = launched.compared.is_some().into();
            line
        }
        Event::Decided(decision) => line_of_decision(decision),
        Event::Worth { item, query, worth } => {
            json!({ "item": item, "query": query, "value": worth.value, "group": worth.group })
        }
        Event::Settings { settings, items } => {
            let mut settings: Value = serde_json::from_str(settings).unwrap_or_default();
            // Who knows it can foresee the choices.
            settings.as_object_mut().map(|settings| settings.remove("seed"));
            json!({ "settings": settings, "items": items })
        }
        Event::BeganAtPositions { query, items } => json!({ "query": query, "at_positions": items }),
        Event::Valued { id, value, revision, .. } => {
            json!({ "id": id, "value": value, "revision": revision })
        }
        Event::BeganForUsers { query, fit } => {
            json!({ "query": query, "fit": String::from_utf8_lossy(fit) })
        }
        plain => {
            // Its fields stand behind its name.
            let plain = serde_json::to_value(plain).ok();
            let fields = plain.as_ref().and_then(|plain| plain.as_object()?.values().next().cloned());
            fields.unwrap_or_default()
        }
    };
    if let Event::Clicked { position, .. } | Event::Valued { position, .. } = event {
        line["position"] = (position + 1).into();
    }
    let kind =
        if event.decision().is_some_and(|of| of.chosen.is_none()) { "shown" } else { event.columns().0 };
    line["event"] = kind.into();
    line["number"] = number.into();
    line["time"] = time.into();
    line
}

fn line_of_decision(decision: &Decision) -> Value {
    let choice = decision.chosen.as_ref();
    let propensities = choice.and_then(|choice| choice.propensities.as_ref());
    let mut line = json!({
        "id": decision.id, "query": decision.query, "items": decision.list,
        "user": decision.user, "context": decision.context,
        "propensities": propensities.map(|of| &of.items),
        "prefix_propensities": propensities.map(|of| &of.prefixes),
    });
    if let Some(Terms { values, most, pins }) = choice.and_then(|choice| choice.allowed.parts().1) {
        line["values"] = values.iter().map(|(item, value)| ((**item).to_owned(), *value)).collect();
        line["most"] = json!(most);
        line["pins"] = pins.iter().map(|(place, item)| ((place + 1).to_string(), json!(item))).collect();
    }
    line
}

/// The name of a backup, which is that of a directory.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Backup {
    name: Name,
}

/// The end of the name of a backup that is not whole.
const PART: &str = ".part";

/// Waits for the turn to write a backup, one at a time. What a kill left unfinished goes.
pub(crate) fn turn_of_backups(directory: &Path) -> std::io::Result<File> {
    let turn = File::create(directory.join(".lock"))?;
    turn.lock()?;
    for left in std::fs::read_dir(directory)?.flatten() {
        if left.file_name().to_string_lossy().ends_with(PART) {
            std::fs::remove_dir_all(left.path())?;
        }
    }
    Ok(turn)
}

/// Writes a copy of the store, which has its name once it is whole.
async fn back_up(
    State(app): State<Arc<App>>,
    Body(Object(Backup { name })): Body<Object<Backup>>,
) -> Result<Json<Value>, Refusal> {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_".contains(letter);
    if !name.chars().all(is_plain) {
        return Err(Refusal::malformed("expected letters, digits, - and _", "name"));
    }
    if app.store.is_shared() {
        let message = "a database is copied by its own programs, such as pg_dump";
        return Err(Refusal::new(409, "database", message, ""));
    }
    let written = tokio::task::spawn_blocking(move || {
        let directory = app.backups.join(&*name);
        let failed = |what: String| {
            metrics::log("error", "no-backup", json!({ "error": what }));
            Refusal::new(503, "no_backup", what, "name")
        };
        let said = |error: std::io::Error| failed(format!("{}: {error}", app.backups.display()));
        std::fs::create_dir_all(&app.backups).map_err(said)?;
        let _turn = turn_of_backups(&app.backups).map_err(said)?;
        if directory.exists() {
            let message = format!("`{name}` has a store: name a new backup");
            return Err(Refusal::new(409, "backup_exists", message, "name"));
        }
        let part = app.backups.join(format!(".{name}{PART}"));
        std::fs::create_dir(&part).map_err(said)?;
        let copied = app.store.back_up(&part).map_err(|error| failed(error.to_string()));
        let outcome = copied.and_then(|()| put_in_place(&part, &directory).map_err(said));
        outcome.inspect_err(|_| _ = std::fs::remove_dir_all(&part))?;
        Ok(json!({ "name": name, "directory": directory }))
    });
    written.await.map_err(|_| Refusal::busy())?.map(Json)
}

async fn metrics(State(app): State<Arc<App>>) -> impl IntoResponse {
    measure_store(&app).await;
    ([(header::CONTENT_TYPE, "text/plain; version=0.0.4")], app.metrics.to_text())
}

/// Whether a database fails: a read from it would keep a thread waiting.
fn is_away(app: &App) -> bool {
    app.store.is_shared() && app.metrics.fault().is_some()
}

/// Looks at the store and its size, for a second at most.
async fn measure_store(app: &Arc<App>) {
    app.metrics.look_at_store(app.requests.may_defer);
    if is_away(app) {
        return;
    }
    let store = app.store.clone();
    let size = tokio::task::spawn_blocking(move || store.size());
    if let Ok(Ok(Ok(size))) = tokio::time::timeout(Duration::from_secs(1), size).await {
        app.metrics.store_bytes.store(size, Relaxed);
    }
}

async fn healthy() -> &'static str {
    "ok\n"
}

async fn ready(State(app): State<Arc<App>>) -> Result<String, Refusal> {
    app.metrics.look_at_store(app.requests.may_defer);
    let why = app.metrics.fault();
    if app.metrics.ready.load(Relaxed) == 0 {
        let why = why.unwrap_or("requests are not taken at the moment");
        return Err(Refusal::new(503, "not_ready", why, ""));
    }
    if why.is_some() {
        return Ok("ready, without the store\n".into());
    }
    let fault = app.metrics.archive_fault();
    Ok(fault
        .as_ref()
        .map_or("ready\n".into(), |fault| format!("ready\nevents cannot be archived: {fault}\n")))
}

async fn openapi() -> impl IntoResponse {
    ([(header::CONTENT_TYPE, "application/json")], OPENAPI)
}
