//! The API over HTTP/1.1.

mod body;
mod page;
mod server;

pub use server::serve;

use crate::api::{Answer, AnswerBody, DecideBody, Given, ItemBody, Refusal, ShowBody};
use crate::config::Limits;
use crate::event::{Batch, Change, Event, Name};
use crate::metrics::Metrics;
use crate::store::Store;
use crate::tokens::{Role, Tokens};
use crate::writer::Requests;
use axum::extract::{Path, Query, Request, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodRouter, get, post, put};
use axum::{Json, Router};
use body::Body;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Instant;

/// The description of the API.
pub const OPENAPI: &str = include_str!("../openapi.json");

/// What requests need.
pub struct App {
    /// The thread that changes anything.
    pub requests: Requests,
    /// Where events are read.
    pub store: Arc<dyn Store>,
    /// Who may do what.
    pub tokens: Arc<Tokens>,
    /// What is counted.
    pub metrics: Arc<Metrics>,
    /// Limits.
    pub limits: Arc<Limits>,
}

impl std::fmt::Debug for App {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("App").finish_non_exhaustive()
    }
}

/// Where requests go: path, method in lower case, role, handler. `None` is for everybody.
type Route = (&'static str, &'static str, Option<Role>, MethodRouter<Arc<App>>);

/// All routes.
pub fn routes() -> Vec<Route> {
    use Role::{Decide, Manage, Read};
    vec![
        ("/v1/decide", "post", Some(Decide), post(decide)),
        ("/v1/decide/batch", "post", Some(Decide), post(decide_all)),
        ("/v1/show", "post", Some(Decide), post(show)),
        ("/v1/show/batch", "post", Some(Decide), post(show_all)),
        ("/v1/clicks", "post", Some(Decide), post(clicks)),
        ("/v1/clicks/batch", "post", Some(Decide), post(clicks_all)),
        ("/v1/items", "get", Some(Read), get(items)),
        ("/v1/items/batch", "post", Some(Manage), post(items_all)),
        ("/v1/items/{item}", "put", Some(Manage), put(add_item)),
        ("/v1/items/{item}", "delete", Some(Manage), axum::routing::delete(remove_item)),
        ("/v1/log", "get", Some(Read), get(log)),
        ("/", "get", Some(Read), get(page::page)),
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
        let guard = Guard { app: app.clone(), path, role };
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
        if status == StatusCode::SERVICE_UNAVAILABLE {
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
        }
        if status == StatusCode::UNAUTHORIZED {
            response.headers_mut().insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        response
    }
}

/// What a route checks, and as what it is counted.
#[derive(Clone)]
struct Guard {
    app: Arc<App>,
    path: &'static str,
    role: Option<Role>,
}

/// Checks the token, and measures.
async fn checked(State(guard): State<Guard>, request: Request, next: Next) -> Response {
    let start = Instant::now();
    let response = match authorise(&guard.app.tokens, guard.role, &request) {
        Ok(()) => next.run(request).await,
        Err(refusal) => refusal.into_response(),
    };
    guard.app.metrics.request(guard.path, response.status().as_u16(), start.elapsed());
    response
}

fn authorise(tokens: &Tokens, role: Option<Role>, request: &Request) -> Result<(), Refusal> {
    let Some(role) = role.filter(|_| !tokens.is_empty()) else { return Ok(()) };
    let token = request
        .headers()
        .get(header::AUTHORIZATION)
        .and_then(|value| value.as_bytes().strip_prefix(b"Bearer "));
    match token.and_then(|token| tokens.allow(token, role)) {
        Some(true) => Ok(()),
        Some(false) => {
            Err(Refusal::new(403, "forbidden", "the token does not have this role", "authorization"))
        }
        None => {
            let message = if token.is_some() {
                "the token is unknown"
            } else {
                "a token is needed: Authorization: Bearer TOKEN"
            };
            Err(Refusal::new(401, "unauthorized", message, "authorization"))
        }
    }
}

async fn decide(State(app): State<Arc<App>>, Body(body): Body<DecideBody>) -> Result<Json<Answer>, Refusal> {
    app.requests.ask(move |turn| turn.engine.decide(body, turn.time, turn.events)).await?.map(Json)
}

async fn show(State(app): State<Arc<App>>, Body(body): Body<ShowBody>) -> Result<Json<Given>, Refusal> {
    app.requests.ask(move |turn| turn.engine.show(body, turn.time, turn.events)).await?.map(Json)
}

async fn clicks(State(app): State<Arc<App>>, Body(body): Body<AnswerBody>) -> Result<Json<Given>, Refusal> {
    let repeated = app.metrics.clone();
    let given = app.requests.ask(move |turn| turn.engine.answer(body, turn.events)).await??;
    if given.outcome == crate::api::Outcome::Repeated {
        repeated.answers_repeated_total.fetch_add(1, Relaxed);
    }
    Ok(Json(given))
}

/// The outcome of an entry of a batch.
#[derive(Serialize)]
#[serde(untagged)]
enum Entry<T> {
    Done(T),
    Refused(Value),
}

impl<T> From<Result<T, Refusal>> for Entry<T> {
    fn from(outcome: Result<T, Refusal>) -> Self {
        match outcome {
            Ok(done) => Self::Done(done),
            Err(refusal) => Self::Refused(refusal.to_json()),
        }
    }
}

/// Does the work of each entry, all committed together.
async fn all<B: Send + 'static, T: Send + 'static>(
    app: &App,
    bodies: Vec<B>,
    work: impl Fn(&mut crate::writer::Turn<'_>, B) -> Result<T, Refusal> + Send + 'static,
) -> Result<Json<Vec<Entry<T>>>, Refusal> {
    let (found, most) = (bodies.len(), app.limits.batch);
    if found > most {
        let message = format!("{found} entries, at most {most} are taken");
        return Err(Refusal::new(413, "too_long", message, ""));
    }
    let answers =
        app.requests.ask(move |turn| bodies.into_iter().map(|body| work(turn, body).into()).collect());
    answers.await.map(Json)
}

async fn decide_all(
    State(app): State<Arc<App>>,
    Body(bodies): Body<Vec<DecideBody>>,
) -> Result<Json<Vec<Entry<Answer>>>, Refusal> {
    all(&app, bodies, |turn, body| turn.engine.decide(body, turn.time, turn.events)).await
}

async fn show_all(
    State(app): State<Arc<App>>,
    Body(bodies): Body<Vec<ShowBody>>,
) -> Result<Json<Vec<Entry<Given>>>, Refusal> {
    all(&app, bodies, |turn, body| turn.engine.show(body, turn.time, turn.events)).await
}

async fn clicks_all(
    State(app): State<Arc<App>>,
    Body(bodies): Body<Vec<AnswerBody>>,
) -> Result<Json<Vec<Entry<Given>>>, Refusal> {
    all(&app, bodies, |turn, body| turn.engine.answer(body, turn.events)).await
}

fn change(turn: &mut crate::writer::Turn<'_>, body: ItemBody) -> Result<Given, Refusal> {
    let ItemBody { item, query, change, features } = body;
    let outcome = turn.engine.change_item(&item, query.as_ref(), change, &features, turn.events)?;
    Ok(Given { id: item, outcome })
}

async fn items_all(
    State(app): State<Arc<App>>,
    Body(bodies): Body<Vec<ItemBody>>,
) -> Result<Json<Vec<Entry<Given>>>, Refusal> {
    all(&app, bodies, change).await
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OfItem {
    query: Option<Name>,
    #[serde(default)]
    forget: bool,
    /// Numbers with commas.
    features: Option<String>,
}

async fn add_item(
    State(app): State<Arc<App>>,
    Path(item): Path<String>,
    of: Result<Query<OfItem>, axum::extract::rejection::QueryRejection>,
) -> Result<Json<Given>, Refusal> {
    one_item(&app, &item, of, Change::Add).await
}

async fn remove_item(
    State(app): State<Arc<App>>,
    Path(item): Path<String>,
    of: Result<Query<OfItem>, axum::extract::rejection::QueryRejection>,
) -> Result<Json<Given>, Refusal> {
    one_item(&app, &item, of, Change::Retire).await
}

async fn one_item(
    app: &App,
    item: &str,
    of: Result<Query<OfItem>, axum::extract::rejection::QueryRejection>,
    what: Change,
) -> Result<Json<Given>, Refusal> {
    let Query(OfItem { query, forget, features }) = parameters(of)?;
    let item = Name::new(item).map_err(|fault| Refusal::malformed(fault, "item"))?;
    let what = if forget && what == Change::Retire { Change::Forget } else { what };
    let features = features.iter().flat_map(|all| all.split(','));
    let features = features.map(|text| match text.parse::<f64>() {
        Ok(feature) if feature.is_finite() => Ok(feature),
        _ => Err(Refusal::malformed(&format!("`{text}` is no finite number"), "features")),
    });
    let body = ItemBody { item, query, change: what, features: features.collect::<Result<_, _>>()? };
    app.requests.ask(move |turn| change(turn, body)).await?.map(Json)
}

fn parameters<T>(
    of: Result<Query<T>, axum::extract::rejection::QueryRejection>,
) -> Result<Query<T>, Refusal> {
    of.map_err(|rejection| Refusal::malformed(&rejection.body_text(), "parameters"))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Part {
    query: Option<Name>,
    #[serde(default)]
    from: u64,
    #[serde(default = "thousand")]
    limit: usize,
}

fn thousand() -> usize {
    1_000
}

/// The table of a query, from a place on.
async fn items(
    State(app): State<Arc<App>>,
    of: Result<Query<Part>, axum::extract::rejection::QueryRejection>,
) -> Result<Json<Value>, Refusal> {
    let Query(Part { query, from, limit }) = parameters(of)?;
    let query = query.unwrap_or_else(Name::default_query);
    let (from, most) = (usize::try_from(from).unwrap_or(usize::MAX), limit.clamp(1, thousand()));
    let name = query.clone();
    let rows = app.requests.ask(move |turn| turn.engine.rows(&name, from, most)).await??;
    let next = (rows.len() == most).then(|| rows.last().map(|(place, _)| place + 1)).flatten();
    let items: Vec<Value> = rows.iter().map(|(_, row)| page::row(row)).collect();
    Ok(Json(json!({ "query": query, "items": items, "next": next })))
}

/// Decisions and answers from an event on, one in each line.
async fn log(
    State(app): State<Arc<App>>,
    of: Result<Query<Part>, axum::extract::rejection::QueryRejection>,
) -> Result<Response, Refusal> {
    let Query(Part { query, from, limit }) = parameters(of)?;
    if query.is_some() {
        return Err(Refusal::malformed("the log has the events of all queries", "query"));
    }
    let most = limit.clamp(1, 10 * thousand());
    let lines = tokio::task::spawn_blocking(move || {
        let (mut lines, mut left) = (String::new(), most);
        app.store.read(from, &mut |first, batch| {
            let Batch { time, events } = batch;
            for (number, event) in (first..).zip(&events).filter(|(number, _)| *number >= from).take(left) {
                left -= 1;
                lines.push_str(&line(number, time, event).to_string());
                lines.push('\n');
            }
            if left == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })?;
        Ok::<_, crate::store::StoreError>(lines)
    });
    let lines = lines.await.map_err(|_| Refusal::busy())??;
    Ok(([(header::CONTENT_TYPE, "application/jsonl")], lines).into_response())
}

/// An event as the log tells it. Positions count from 1.
fn line(number: u64, time: u64, event: &Event) -> Value {
    let mut line = match event {
        Event::Decided(decision) => {
            let choice = decision.chosen.as_ref();
            let propensities = choice.and_then(|choice| choice.propensities.as_ref());
            json!({
                "event": if choice.is_some() { "decided" } else { "shown" },
                "id": decision.id, "query": decision.query, "items": decision.list,
                "user": decision.user, "context": decision.context,
                "propensities": propensities.map(|of| &of.items),
                "prefix_propensities": propensities.map(|of| &of.prefixes),
            })
        }
        Event::Clicked { id, position } => json!({ "event": "clicked", "id": id, "position": position + 1 }),
        Event::Closed { id, seen } => json!({ "event": "closed", "id": id, "seen": seen }),
        Event::Item { item, query, change, features } => {
            json!({ "event": "item", "item": item, "query": query, "change": change, "features": features })
        }
        Event::Began { query, prior, items } => {
            json!({ "event": "began", "query": query, "prior": prior, "items": items })
        }
        Event::Used { query } => json!({ "event": "used", "query": query }),
        Event::BeganAtPositions { query, items } => {
            json!({ "event": "began", "query": query, "at_positions": items })
        }
        Event::BeganForUsers { query, fit } => {
            json!({ "event": "began", "query": query, "fit": String::from_utf8_lossy(fit) })
        }
    };
    line["number"] = number.into();
    line["time"] = time.into();
    line
}

async fn metrics(State(app): State<Arc<App>>) -> impl IntoResponse {
    ([(header::CONTENT_TYPE, "text/plain; version=0.0.4")], app.metrics.to_text())
}

async fn healthy() -> &'static str {
    "ok\n"
}

async fn ready(State(app): State<Arc<App>>) -> Result<&'static str, Refusal> {
    match app.metrics.ready.load(Relaxed) {
        0 => Err(Refusal::new(503, "not_ready", "requests are not taken at the moment", "")),
        _ => Ok("ready\n"),
    }
}

async fn openapi() -> impl IntoResponse {
    ([(header::CONTENT_TYPE, "application/json")], OPENAPI)
}
