//! Policies in live use over HTTP. See `docs/service.md`.

pub mod api;
pub mod archive;
pub mod clock;
pub mod config;
pub mod engine;
pub mod event;
pub mod export;
pub mod fitted;
pub mod http;
pub mod launch;
pub mod metrics;
mod names;
pub mod program;
mod stand_in;
pub mod store;
pub mod tokens;
pub mod writer;

/// The value behind a lock, also after a panic: nothing is changed by halves.
fn lock<T>(what: &std::sync::Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    what.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}
