//! A page for people: lists, table and conditions, without scripts.

use super::body::Parameters;
use super::{App, Part};
use crate::api::Refusal;
use crate::engine::ItemRow;
use crate::event::Name;
use axum::extract::State;
use axum::response::Html;
use live::Entry;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use policies::Tally;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::sync::Arc;

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

pub(super) async fn page(
    State(app): State<Arc<App>>,
    Parameters(part): Parameters<Part>,
) -> Result<Html<String>, Refusal> {
    let (from, most) = (usize::try_from(part.from).unwrap_or(usize::MAX), part.limit(200, 200)?);
    let page = app.requests.ask(move |turn| {
        let engine = &mut *turn.engine;
        let first = engine.query_names().next().cloned();
        let query = part.query.or(first).unwrap_or_else(Name::default_query);
        let rows = match engine.follow(&query, turn.events).and_then(|()| engine.rows(&query, from, most)) {
            Err(Refusal::Client { code: "unknown_query", .. }) => vec![],
            rows => rows?,
        };
        let names: Vec<Name> = engine.query_names().take(50).cloned().collect();
        let mut page = String::from(HEAD);
        let totals = engine.totals();
        let [present, retired] = engine.n_items();
        _ = write!(
            page,
            "<h1>Lists that learn</h1><p>{} decisions, {} lists shown without asking, {} clicks, {} closed; \
             {} can be answered. {} queries. Items of all queries: {present} present, {retired} retired.</p>",
            totals.decided,
            totals.shown,
            totals.clicks,
            totals.closed,
            engine.n_open(),
            totals.queries,
        );
        if let Some(state) = engine.launch() {
            page.push_str(&crate::launch::section(state, turn.time, escaped));
        }
        page.push_str("<h2>Conditions</h2><table>");
        if let Ok(Value::Object(settings)) = serde_json::to_value(engine.template()) {
            for (key, value) in settings.iter().filter(|(key, _)| *key != "seed") {
                let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                _ = write!(page, "<tr><th>{}<td>{}", escaped(key), escaped(&value));
            }
        }
        page.push_str("</table><h2>Queries in memory, the last used first</h2><p>");
        for name in &names {
            _ = write!(
                page,
                "<a href=\"/?query={}\">{}</a> ",
                utf8_percent_encode(name, NON_ALPHANUMERIC),
                escaped(name)
            );
        }
        _ = write!(page, "<h2>Items of query {}</h2>", escaped(&query));
        page.push_str(
            "<table><tr><th>item<th>state<th>displays<th>clicks<th>clicks per display, 95 % interval",
        );
        for (_, row) in &rows {
            let Some(all) = whole(row) else { continue };
            let (Tally { shows, clicks }, [lower, upper]) = (all.tally, all.interval());
            let state = if row.is_present { "present" } else { "retired" };
            _ = write!(
                page,
                "<tr><td>{}<td>{state}<td>{shows}<td>{clicks}<td>{lower:.4} to {upper:.4}",
                escaped(&row.item),
            );
        }
        page.push_str("</table>");
        if let Some((place, _)) = rows.last().filter(|_| rows.len() == most) {
            let (query, from) = (utf8_percent_encode(&query, NON_ALPHANUMERIC), place + 1);
            _ = write!(page, "<p><a href=\"/?query={query}&amp;from={from}&amp;limit={most}\">more</a>");
        }
        page.push_str("<h2>The last lists</h2><table><tr><th>query<th>seconds ago<th>items");
        for (query, time, list) in engine.latest().take(20) {
            let items: Vec<String> = list.map(|item| escaped(item)).collect();
            let ago = turn.time.saturating_sub(time) / 1_000;
            _ = write!(page, "<tr><td>{}<td>{ago}<td>{}", escaped(query), items.join(", "));
        }
        page.push_str("</table></html>\n");
        Ok::<_, Refusal>(page)
    });
    page.await?.map(Html)
}

const HEAD: &str = "<!doctype html><html lang=en><meta charset=utf-8><title>click-bandits</title>\
<meta name=viewport content=\"width=device-width\">\
<style>body{font:15px/1.4 system-ui,sans-serif;margin:2em auto;max-width:60em;padding:0 1em}\
table{border-collapse:collapse}th,td{border-bottom:1px solid #ccc;padding:.2em .8em .2em 0;\
text-align:left;vertical-align:top;overflow-wrap:anywhere}</style>";
