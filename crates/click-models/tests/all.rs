//! All integration tests of the crate in one binary, since every further binary has to be linked.

// Modules with tests of what is private. They are compiled once more, and not the whole crate.
#[path = "../src/bounds/characteristic_time/cholesky.rs"]
#[allow(dead_code)]
mod cholesky;
#[path = "../src/bounds/nats_per_click.rs"]
#[allow(dead_code)]
mod nats_per_click;

mod bounds;
mod browsing;
mod cascade_bai;
mod characteristic_time;
mod copeland;
mod data_types;
mod dueling;
mod estimation;
mod feedback;
mod golden;
mod information;
mod item_set;
mod linear_program;
mod models;
mod personal;
mod private;
mod rank_one;
mod scanning;
mod shapes;
mod suboptimal_lists;
mod support;
mod value;
