//! Counts of a generated log of position-based users who see random lists.
//!
//! ```text
//! cargo run --release -p measurements --bin users_log -- users.json 1000 1 > counts.csv
//! click-bandits fit --counts counts.csv --model pbm --out fitted
//! ```
//!
//! `users.json` is a list of queries,
//! `[{ "name": "7", "theta": [0.05, 0.03], "kappa": [1.0, 0.5] }]`: attraction of every item,
//! examination of every position. The first number is the number of lists per query, the second one
//! the seed. Items count from 0, positions from 1.

use click_models::{ClickModel, ItemId, ListFeedback, PositionBased, Ranking};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::Deserialize;
use std::io::Write;

#[derive(Deserialize)]
struct Query {
    name: String,
    theta: Vec<f64>,
    kappa: Vec<f64>,
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [file, lists, seed] = arguments.as_slice() else {
        return Err("expected: FILE LISTS SEED".into());
    };
    let (lists, seed): (u64, u64) = (lists.parse()?, seed.parse()?);
    let queries: Vec<Query> = serde_json::from_slice(&std::fs::read(file)?)?;
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut out = std::io::stdout().lock();
    writeln!(out, "query,item,position,clicks,impressions")?;
    for Query { name, theta, kappa } in queries {
        let users = PositionBased::from_values(&theta, &kappa)?;
        // Clicks and impressions of every item at every position.
        let mut counts = vec![vec![[0_u64; 2]; kappa.len()]; theta.len()];
        let mut items: Vec<usize> = (0..theta.len()).collect();
        for _ in 0..lists {
            for place in 0..kappa.len() {
                items.swap(place, rng.random_range(place..theta.len()));
            }
            let shown = &items[..kappa.len()];
            let list: Ranking = shown.iter().copied().map(ItemId::from_index).collect();
            let clicks = users.respond(&list, &mut rng).list_clicks();
            for (position, &item) in shown.iter().enumerate() {
                let [clicked, impressions] = &mut counts[item][position];
                *clicked += u64::from(clicks.get(position));
                *impressions += 1;
            }
        }
        for (item, positions) in counts.iter().enumerate() {
            for (position, [clicks, impressions]) in positions.iter().enumerate().filter(|(_, [_, n])| *n > 0)
            {
                writeln!(out, "{name},{item},{},{clicks},{impressions}", position + 1)?;
            }
        }
    }
    Ok(())
}
