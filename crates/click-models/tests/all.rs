//! All integration tests of the crate in one binary, since every further binary has to be linked.

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
mod rank_one;
mod scanning;
mod shapes;
mod suboptimal_lists;
mod support;
