//! The content of requests: bodies, bounded in size and time, with the place of a fault, and
//! parameters.

use super::App;
use crate::api::Refusal;
use axum::extract::{FromRequest, FromRequestParts, Query, Request};
use axum::http::header::CONTENT_ENCODING;
use axum::http::request::Parts;
use axum::http::{HeaderValue, Uri};
use documents::Decompressor;
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use serde::de::DeserializeOwned;
use std::io::Read as _;
use std::sync::Arc;
use std::time::Duration;

/// A body that was read.
pub(super) struct Body<T>(pub(super) T);

/// The fields of a form.
pub(super) struct Form<T>(pub(super) T);

impl<T: DeserializeOwned> FromRequest<Arc<App>> for Form<T> {
    type Rejection = Refusal;

    async fn from_request(request: Request, app: &Arc<App>) -> Result<Self, Refusal> {
        let text = String::from_utf8(read(request, app).await?).unwrap_or_default();
        let malformed = |what: &dyn std::fmt::Display| Refusal::malformed(&what.to_string(), "");
        let address = Uri::try_from(format!("/?{text}")).map_err(|error| malformed(&error))?;
        let fields = Query::try_from_uri(&address).map_err(|error| malformed(&error.body_text()))?;
        Ok(Self(fields.0))
    }
}

impl<T: DeserializeOwned> FromRequest<Arc<App>> for Body<T> {
    type Rejection = Refusal;

    async fn from_request(request: Request, app: &Arc<App>) -> Result<Self, Refusal> {
        parse(&read(request, app).await?).map(Self)
    }
}

/// Reads the text of a body.
async fn read(request: Request, app: &Arc<App>) -> Result<Vec<u8>, Refusal> {
    let most = app.limits.body;
    let too_large = || Refusal::new(413, "too_large", format!("a body has at most {most} bytes"), "");
    let encoding = request.headers().get(CONTENT_ENCODING).map(HeaderValue::as_bytes);
    if encoding.is_some_and(|of| !of.eq_ignore_ascii_case(b"gzip")) {
        let message = "a body is plain, or has `Content-Encoding: gzip`";
        return Err(Refusal::new(415, "unknown_encoding", message, "content-encoding"));
    }
    let body = request.into_body();
    let time = Duration::from_secs(app.limits.seconds);
    let body = tokio::time::timeout(time, Limited::new(body, most).collect()).await;
    let body = match body {
        Ok(Ok(body)) => body.to_bytes(),
        Ok(Err(error)) if error.is::<LengthLimitError>() => return Err(too_large()),
        Ok(Err(_)) => return Err(Refusal::malformed("the body ends too early", "")),
        Err(_) => return Err(Refusal::new(408, "too_slow", "the body did not arrive in time", "")),
    };
    let mut text = Vec::new();
    let read = Decompressor::new(&*body).and_then(|body| body.take(most as u64 + 1).read_to_end(&mut text));
    match read.map_err(|error| Refusal::malformed(&format!("gzip: {error}"), ""))? {
        found if found > most => Err(too_large()),
        _ => Ok(text),
    }
}

/// Reads JSON; only what is at fault is read again, for its place.
fn parse<T: DeserializeOwned>(body: &[u8]) -> Result<T, Refusal> {
    serde_json::from_slice(body).map_err(|error| {
        let again = &mut serde_json::Deserializer::from_slice(body);
        let at = serde_path_to_error::deserialize::<_, T>(again).err().map(|error| error.path().to_string());
        // `?` and `.` stand for no place.
        let at = at.unwrap_or_default();
        let at = at.trim_end_matches(['?', '.']);
        Refusal::malformed(&in_plain_words(&error.to_string(), at), at)
    })
}

/// Serde's words for a wrong type, spelt for people who know JSON and no Rust, behind the key.
fn in_plain_words(message: &str, at: &str) -> String {
    let parts = message.strip_prefix("invalid type: ").and_then(|rest| rest.rsplit_once(", expected "));
    let Some((found, expected)) = parts else { return message.to_owned() };
    let (expected, place) = expected.split_at(expected.find(" at line ").unwrap_or(expected.len()));
    let word = |of| match str::trim_start_matches(of, "a ").split(' ').next() {
        Some("string") => "a text",
        Some("integer" | "floating" | "f64") => "a number",
        Some("u8" | "u32" | "u64" | "usize" | "i64") => "a whole number",
        Some("boolean") => "true or false",
        Some("map" | "struct") => "an object",
        Some("sequence") => "an array",
        _ => of,
    };
    let message = format!("{at}: expected {}, got {}{place}", word(expected), word(found));
    message.trim_start_matches(": ").to_owned()
}

/// The parameters of a request: they stand behind the `?` of its address.
pub(super) struct Parameters<T>(pub(super) T);

impl<T: DeserializeOwned> FromRequestParts<Arc<App>> for Parameters<T> {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, _: &Arc<App>) -> Result<Self, Refusal> {
        let found = Query::try_from_uri(&parts.uri);
        let found = found.map_err(|rejection| Refusal::malformed(&rejection.body_text(), "parameters"));
        found.map(|Query(found)| Self(found))
    }
}
