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
