//! Tests of the service: the state, the store, and the program under load and faults.

mod damage;
mod engine;
mod http;
mod kills;
mod postgres;
mod regret;
mod schema;
mod server;
