//! All integration tests of the crate in one binary: linking is what a further binary costs.

// Modules with tests of what is private, and those that they import. They are compiled once more,
// and not the whole crate.
#[path = "../src/counts.rs"]
#[allow(dead_code, unreachable_pub)]
mod counts;
#[path = "../src/fault.rs"]
#[allow(dead_code, unreachable_pub)]
mod fault;
#[path = "../src/fields.rs"]
#[allow(dead_code, unreachable_pub)]
mod fields;
#[path = "../src/hold_out.rs"]
#[allow(dead_code, unreachable_pub)]
mod hold_out;
#[path = "../src/read/marks.rs"]
#[allow(dead_code)]
mod marks;
#[path = "../src/names.rs"]
#[allow(dead_code, unreachable_pub)]
mod names;
#[path = "../src/table.rs"]
#[allow(dead_code)]
mod table;

#[cfg(feature = "parquet")]
mod engines;
mod formats;
mod frame;
mod generate;
mod list_rows;
mod lists;
#[path = "support/log_generator.rs"]
mod log_generator;
mod meaning;
mod odd_input;
mod personal;
mod read;
#[cfg(feature = "parquet")]
mod read_parquet;
mod strata;
mod time;
mod ubi;
