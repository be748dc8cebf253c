//! A page for people: lists, table and conditions, without scripts.

use super::body::{Form, Parameters};
use super::charts::{charts, in_units};
use super::{App, Part, limit};
use crate::api::Refusal;
use crate::config::Users;
use crate::engine::{Activity, Engine, HOUR, ItemRow, Totals, Usage};
use crate::event::Name;
use crate::tokens::Role;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{Html, IntoResponse as _, Response};
use documents::number::{fixed, significant};
use live::Entry;
use percent_encoding::{NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use policies::Tally;
use serde::Deserialize;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, PoisonError};

/// All positions of an item together.
fn whole(row: &ItemRow) -> Option<Entry> {
    row.entries.iter().copied().reduce(|all, entry| {
        let (one, other) = (all.tally, entry.tally);
        let tally = Tally { shows: one.shows + other.shows, clicks: one.clicks + other.clicks };
        Entry { tally, ..all }
    })
}

/// An item as the API tells it.
pub(super) fn row(row: &ItemRow) -> Value {
    let all = whole(row);
    let mut value = json!({
        "item": row.item,
        "state": if row.is_present { "present" } else { "retired" },
        "shows": all.map_or(0, |all| all.tally.shows),
        "clicks": all.map_or(0, |all| all.tally.clicks),
        "interval": all.map(|all| all.interval()),
    });
    if row.value.total_cmp(&1.0).is_ne() || row.orders.0 > 0 {
        value["value"] = json!({ "present": row.value, "orders": row.orders.0, "sum": row.orders.1 });
    }
    if let Some(group) = &row.group {
        value["group"] = json!(group);
    }
    if row.entries.len() > 1 {
        let positions = row.entries.iter().map(|entry| json!([entry.tally.shows, entry.tally.clicks]));
        value["positions"] = positions.collect();
    }
    value
}

/// Text that HTML shows as it is.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            // They would show other names than there are.
            c if documents::names::has_invisible(c.encode_utf8(&mut [0; 4])) => {
                _ = write!(out, "\\u{{{:x}}}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out
}

/// The cookie with the token of a browser.
const COOKIE: &str = "click-bandits";

/// The token that a browser has.
pub(super) fn token_of_cookie(headers: &HeaderMap) -> Option<Vec<u8>> {
    let cookies = headers.get_all(header::COOKIE).iter().filter_map(|cookies| cookies.to_str().ok());
    let mut cookies = cookies.flat_map(|cookies| cookies.split(';')).filter_map(|one| one.split_once('='));
    let (_, token) = cookies.find(|(name, _)| name.trim() == COOKIE)?;
    Some(percent_decode_str(token.trim()).collect())
}

/// Asks for a token, with the refusal of the request.
pub(super) fn form(refusal: &Refusal) -> Response {
    let status = StatusCode::from_u16(refusal.status()).unwrap_or(StatusCode::UNAUTHORIZED);
    let form = "<main><h1>Lists that learn</h1><form method=post action=/login><label>A token with the \
        role <code>read</code> <input type=password name=token required autofocus></label> \
        <button>Look</button></form></main></html>\n";
    (status, Html(format!("{HEAD}{form}"))).into_response()
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Login {
    token: String,
}

/// Lets a browser keep a token, for twelve hours.
pub(super) async fn login(
    State(app): State<Arc<App>>,
    headers: HeaderMap,
    Form(Login { token }): Form<Login>,
) -> Response {
    let token = token.trim();
    let allowed = {
        let tokens = app.tokens.read().unwrap_or_else(PoisonError::into_inner);
        tokens.is_empty() || tokens.allow(token.as_bytes(), Role::Read).is_some_and(|(_, may)| may)
    };
    if !allowed {
        return form(&Refusal::new(401, "unauthorized", "a token with the role `read` is needed", "token"));
    }
    let is_secure = headers.get("x-forwarded-proto").is_some_and(|proto| proto == "https");
    let secure = if is_secure { "; Secure" } else { "" };
    let token = utf8_percent_encode(token, NON_ALPHANUMERIC);
    let cookie = format!("{COOKIE}={token}; Path=/; HttpOnly; SameSite=Strict; Max-Age=43200{secure}");
    (StatusCode::SEE_OTHER, [(header::LOCATION, "/".to_owned()), (header::SET_COOKIE, cookie)])
        .into_response()
}

/// A number of bytes for people.
fn size(bytes: f64) -> String {
    in_units(bytes, &[(1e9, "GB"), (1e6, "MB"), (1e3, "kB"), (0.0, "bytes")])
}

/// Writes what happened, what is open, and what the store has.
fn summary(page: &mut String, app: &App, engine: &Engine, time: u64) {
    let (totals, [present, retired]) = (engine.totals, engine.n_items());
    let of_day = engine.activity.range((time / HOUR).saturating_sub(23)..).map(|(_, of)| *of);
    let of_day = of_day.fold(Activity::default(), std::ops::Add::add);
    let all = (totals.decided + totals.shown).max(1) as f64;
    let bytes = app.metrics.store_bytes.load(Relaxed) as f64;
    let a_day = size(bytes / all * of_day.decisions as f64);
    // Before, its growth is that of an empty store.
    let has_day = engine.activity.keys().next().is_some_and(|first| first + 24 <= time / HOUR);
    let growth = if has_day {
        format!("; {a_day} more a day at the rate of the last 24 hours")
    } else {
        String::new()
    };
    let Totals { decided, shown, clicks, closed, queries, .. } = totals;
    let (of_day_clicks, late) = (of_day.clicks, of_day.late);
    let [open, in_memory, early, present, retired] =
        [engine.n_open(), engine.n_in_memory(), engine.early, present, retired]
            .map(|number| fixed(number as f64, 0));
    let numbers = [decided, shown, clicks, of_day_clicks, late, closed, queries, engine.next];
    let [decided, shown, clicks, of_day_clicks, late, closed, queries, events] =
        numbers.map(|number| fixed(number as f64, 0));
    let rows = [
        ("Lists", format!("{decided} decided, {shown} shown without asking")),
        ("Clicks", format!("{clicks}, in the last 24 hours {of_day_clicks}, of which {late} late")),
        (
            "Decisions",
            format!("{open} can be answered, {closed} closed, {early} of them early since the start"),
        ),
        ("Items of all queries", format!("{present} present, {retired} retired")),
        ("Queries", format!("{queries}, {in_memory} in memory")),
        ("Store", format!("{} with {events} events{growth}", size(bytes))),
        ("Waiting for the store", format!("{} events", app.metrics.deferred_events.load(Relaxed))),
    ];
    page.push_str("<table>");
    for (name, value) in rows {
        _ = write!(page, "<tr><th>{name}<td>{value}");
    }
    page.push_str("</table>");
}

/// The best items of the busiest queries, by the lower end of their interval.
fn best_lists(page: &mut String, engine: &mut Engine, busiest: Vec<(Name, Usage)>) {
    let times = if engine.has_values() { ", times the item's present value" } else { "" };
    let rate = rate(engine.template.users);
    _ = write!(
        page,
        "<h2>Best items of the busiest queries</h2><div class=scroll><table><tr><th>query\
         <th class=n>decisions<th class=n>clicks<th>items by the lower end of the interval: {rate}{times}"
    );
    for (query, usage) in busiest {
        let rows = engine.rows(&query, 0, MOST_RANKED).unwrap_or_default().into_iter();
        let mut best: Vec<([f64; 2], Name)> = rows
            .filter_map(|(_, row)| {
                let interval = whole(&row).filter(|_| row.is_present)?.interval();
                Some((interval.map(|rate| rate * row.value), row.item))
            })
            .collect();
        best.sort_by(|(one, _), (other, _)| other[0].total_cmp(&one[0]));
        best.truncate(engine.template.positions.min(10));
        let best = best.iter().map(|([lower, upper], item)| {
            let [lower, upper] = [lower, upper].map(|rate| significant(*rate, 3));
            format!("<li>{} <small class=i>{lower} to {upper}</small>", escaped(item))
        });
        let (name, best): (_, String) = (escaped(&query), best.collect());
        let (decisions, clicks) = (usage.decisions, usage.clicks);
        _ = write!(page, "<tr><td>{name}<td class=n>{decisions}<td class=n>{clicks}<td><ol>{best}</ol>");
    }
    page.push_str("</table></div>");
}

/// The meaning of a rate of clicks, by the model of users.
fn rate(users: Users) -> &'static str {
    match users {
        Users::Pbm | Users::ClicksOnly => {
            "clicks a display, at all positions together without a correction of position bias, 95 % interval"
        }
        _ => "clicks a display that was examined, 95 % interval",
    }
}

/// The items of a query that are ranked.
const MOST_RANKED: usize = 10_000;

pub(super) async fn page(
    State(app): State<Arc<App>>,
    Parameters(part): Parameters<Part>,
) -> Result<Html<String>, Refusal> {
    let (from, most) = (usize::try_from(part.from).unwrap_or(usize::MAX), limit(part.limit, 200, 200)?);
    super::measure_store(&app).await;
    let of_work = app.clone();
    let page = app.requests.ask_always(move |turn| {
        let (engine, app) = (&mut *turn.engine, of_work);
        let busiest = engine.busiest(5, turn.deferred.is_some());
        let first = engine.query_names().next().or(busiest.first().map(|(name, _)| name)).cloned();
        let query = part.query.or(first).unwrap_or_else(Name::default_query);
        let rows = if turn.deferred.is_some() {
            vec![]
        } else {
            match engine.rows(&query, from, most) {
                Err(Refusal::Client { code: "unknown_query", .. }) => vec![],
                rows => rows?,
            }
        };
        let mut page = format!("{HEAD}<main><h1>Lists that learn</h1>");
        if let Some(fault) = app.metrics.fault() {
            _ = write!(page, "<p class=fault>{fault}.</p>");
        }
        summary(&mut page, &app, engine, turn.time);
        if let Some(state) = engine.launch_or_first() {
            page.push_str(&crate::launch::section(&state, turn.time, escaped));
        }
        _ = write!(page, "<div class=figures>{}</div>", charts(&engine.activity, turn.time));
        best_lists(&mut page, engine, busiest);
        page.push_str("<h2>Queries in memory, the last used first</h2><p>");
        for name in engine.query_names().take(50) {
            let address = utf8_percent_encode(name, NON_ALPHANUMERIC);
            _ = write!(page, "<a href=\"/?query={address}\">{}</a>&emsp;", escaped(name));
        }
        items(&mut page, &query, &rows, most, engine);
        page.push_str(
            "<h2>The last lists</h2><div class=scroll><table><tr><th>query<th class=n>seconds ago<th>items",
        );
        for (query, time, list) in engine.latest().take(20) {
            let items: Vec<String> = list.map(|item| escaped(item)).collect();
            let ago = turn.time.saturating_sub(time) / 1_000;
            _ = write!(page, "<tr><td>{}<td class=n>{ago}<td>{}", escaped(query), items.join(" · "));
        }
        page.push_str("</table></div>");
        page.push_str("<h2>Conditions</h2><table class=conditions>");
        if let Ok(Value::Object(settings)) = serde_json::to_value(&*engine.template) {
            for (key, value) in settings.iter().filter(|(key, _)| *key != "seed") {
                match value {
                    Value::Object(parts) => {
                        parts
                            .iter()
                            .for_each(|(part, of)| condition(&mut page, &format!("{key}: {part}"), of));
                    }
                    value => condition(&mut page, key, value),
                }
            }
        }
        if let Some(prior) = engine.prior {
            let what = "prior of the fit (clicks, no clicks), for queries that its log does not have";
            condition(&mut page, what, &json!(prior.map(|count| significant(count, 3))));
        }
        page.push_str("</table></main></html>\n");
        Ok::<_, Refusal>(page)
    });
    page.await?.map(Html)
}

fn condition(page: &mut String, key: &str, value: &Value) {
    _ = write!(page, "<tr><th>{}<td>{}", escaped(key), escaped(&in_words(value)));
}

/// A setting for people who know no JSON.
fn in_words(value: &Value) -> String {
    match value {
        Value::Array(all) if !all.is_empty() => {
            all.iter().map(in_words).collect::<Vec<_>>().join(if all[0].is_object() { "; " } else { ", " })
        }
        Value::Null | Value::Array(_) => "none".into(),
        Value::Object(of) => {
            of.iter().map(|(key, value)| format!("{key} {}", in_words(value))).collect::<Vec<_>>().join(", ")
        }
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// Items of a query, and where the next ones are.
fn items(page: &mut String, query: &Name, rows: &[(usize, ItemRow)], most: usize, engine: &Engine) {
    let has_values = engine.has_values();
    let is_told = |row: &ItemRow| row.value.total_cmp(&1.0).is_ne() || row.group.is_some();
    let has_worth = rows.iter().any(|(_, row)| is_told(row));
    _ = write!(
        page,
        "<h2>Items of query {}</h2><div class=scroll><table><tr><th>item<th class=n>displays\
         <th class=n>clicks<th>{}{}{}",
        escaped(query),
        rate(engine.template.users),
        if has_values { "<th>the same, times the item's present value" } else { "" },
        if has_worth { "<th class=n>value<th>group" } else { "" }
    );
    for (_, row) in rows {
        let Some(all) = whole(row) else { continue };
        let Tally { shows, clicks } = all.tally;
        let [lower, upper] = all.interval().map(|rate| significant(rate, 3));
        let state = if row.is_present { "" } else { " (retired)" };
        _ = write!(
            page,
            "<tr><td>{}{state}<td class=n>{shows}<td class=n>{clicks}<td class=i>{lower} to {upper}",
            escaped(&row.item),
        );
        if has_values {
            let [lower, upper] = all.interval().map(|rate| significant(rate * row.value, 3));
            _ = write!(page, "<td class=i>{lower} to {upper}");
        }
        if has_worth {
            let group = escaped(row.group.as_deref().unwrap_or_default());
            _ = write!(page, "<td class=n>{}<td>{group}", row.value);
        }
    }
    page.push_str("</table></div>");
    if let Some((place, _)) = rows.last().filter(|_| rows.len() == most) {
        let (query, from) = (utf8_percent_encode(query, NON_ALPHANUMERIC), place + 1);
        _ = write!(page, "<p><a href=\"/?query={query}&amp;from={from}&amp;limit={most}\">more</a>");
    }
}

const HEAD: &str = concat!(
    "<!doctype html><html lang=en><meta charset=utf-8><title>click-bandits</title>\
     <meta name=viewport content=\"width=device-width\"><style>",
    include_str!("page.css"),
    "</style>"
);
