//! Tests of the service: the state, the store, and the program under load and faults.

mod archive;
mod clock;
mod config;
mod damage;
mod engine;
mod http;
mod in_process;
mod kills;
mod launch;
mod lost;
mod memory;
mod outage;
mod page;
mod postgres;
mod queries;
mod regret;
mod replay;
mod rows;
mod schema;
mod server;
mod settings;
mod values;
mod walk;
