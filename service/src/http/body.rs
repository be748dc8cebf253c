//! The content of requests: bodies, bounded in size and time, with the place of a fault, and
//! parameters.

use super::App;
use crate::api::Refusal;
use axum::extract::{FromRequest, FromRequestParts, Query, Request};
use axum::http::request::Parts;
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use serde::de::DeserializeOwned;
use std::sync::Arc;

/// A body that was read.
pub(super) struct Body<T>(pub(super) T);

impl<T: DeserializeOwned> FromRequest<Arc<App>> for Body<T> {
    type Rejection = Refusal;

    async fn from_request(request: Request, app: &Arc<App>) -> Result<Self, Refusal> {
        let most = app.limits.body;
        let too_large = || Refusal::new(413, "too_large", format!("a body has at most {most} bytes"), "");
        let body = request.into_body();
        let body = tokio::time::timeout(app.limits.time(), Limited::new(body, most).collect()).await;
        let body = match body {
            Ok(Ok(body)) => body.to_bytes(),
            Ok(Err(error)) if error.is::<LengthLimitError>() => return Err(too_large()),
            Ok(Err(_)) => return Err(Refusal::malformed("the body ends too early", "")),
            Err(_) => return Err(Refusal::new(408, "too_slow", "the body did not arrive in time", "")),
        };
        parse(&body).map(Self)
    }
}

/// Reads JSON; only what is at fault is read again, for its place.
fn parse<T: DeserializeOwned>(body: &[u8]) -> Result<T, Refusal> {
    serde_json::from_slice(body).map_err(|error| {
        let again = &mut serde_json::Deserializer::from_slice(body);
        let at = serde_path_to_error::deserialize::<_, T>(again).err().map(|error| error.path().to_string());
        // `?` and `.` stand for no place.
        Refusal::malformed(&error.to_string(), at.unwrap_or_default().trim_end_matches(['?', '.']))
    })
}

/// What stands behind the `?` of an address.
pub(super) struct Parameters<T>(pub(super) T);

impl<T: DeserializeOwned> FromRequestParts<Arc<App>> for Parameters<T> {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, _: &Arc<App>) -> Result<Self, Refusal> {
        let found = Query::try_from_uri(&parts.uri);
        let found = found.map_err(|rejection| Refusal::malformed(&rejection.body_text(), "parameters"));
        found.map(|Query(found)| Self(found))
    }
}
