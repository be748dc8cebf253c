//! Prints the tables of `docs/performance.md` and draws its pictures. `cargo xtask performance`
//! runs this, and then the packages of others.
//!
//! ```sh
//! cargo run --release -p measurements --bin performance -- --pictures docs/images
//! ```

mod beside;
mod clock;
mod contract;
mod growth;
mod players;

use anyhow::Result;
use clap::Parser;
use std::path::PathBuf;

/// Measures policies beside their plain versions, and how their rates change with items, positions,
/// rounds and threads.
#[derive(Debug, Parser)]
struct Arguments {
    /// Draw the pictures of growth into this folder
    #[arg(long, value_name = "DIR")]
    pictures: Option<PathBuf>,
    /// Only check the cost of every policy with a table from 100 to 1,000,000 items, by rounds and
    /// in live use; fail if a row is over its limit
    #[arg(long, conflicts_with = "pictures")]
    growth: bool,
    /// How often each number is measured; the tables have medians
    #[arg(long, default_value_t = 5, value_name = "N")]
    repetitions: usize,
}

fn main() -> Result<()> {
    let Arguments { pictures, growth, repetitions } = Arguments::parse();
    let repetitions = repetitions.max(1);
    if growth {
        return contract::check(repetitions.min(2));
    }
    beside::print(repetitions);
    match pictures {
        Some(folder) => growth::draw(&folder, repetitions),
        None => Ok(()),
    }
}
