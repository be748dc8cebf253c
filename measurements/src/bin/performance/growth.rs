//! How the rate of each policy changes with items, positions, rounds and threads: one picture each.

use crate::clock::{median, rate, rounded, seconds};
use crate::players::{PLAYERS, Play, Player, Size};
use anyhow::{Context as _, Result};
use documents::number::grouped;
use report::svg::{Chart, Curve, CurveStyle, render};
use report::{Axis, Scale};
use std::fs;
use std::path::Path;
use std::thread;
use std::time::Instant;

const POSITIONS: usize = 5;
const ITEMS: [usize; 5] = [10, 100, 1000, 10_000, 100_000];
const LIST_LENGTHS: [usize; 6] = [1, 2, 5, 10, 20, 50];
const WINDOWS: [u64; 5] = [100, 1000, 10_000, 100_000, 1_000_000];
/// The catalogue of the pictures that do not vary it.
const CATALOGUE: usize = 1000;
const ROUNDS: u64 = 10_000;

/// A picture: what varies, and how the rate at one of its values is measured.
struct Growth {
    file: &'static str,
    title: &'static str,
    subtitle: &'static str,
    x_label: &'static str,
    values: Vec<u64>,
    rate: fn(&Player, u64) -> f64,
}

/// Measures and draws all pictures into `folder`, and prints their numbers.
pub(crate) fn draw(folder: &Path, repetitions: usize) -> Result<()> {
    fs::create_dir_all(folder).with_context(|| format!("making {}", folder.display()))?;
    for growth in pictures() {
        let measured: Vec<Vec<f64>> =
            PLAYERS.iter().map(|player| row(&growth, player, repetitions)).collect();
        print(&growth, &measured);
        let path = folder.join(growth.file);
        fs::write(&path, render(&chart(&growth, &measured)))
            .with_context(|| format!("writing {}", path.display()))?;
    }
    Ok(())
}

fn pictures() -> [Growth; 4] {
    let threads = thread::available_parallelism().map_or(1, |threads| threads.get() as u64);
    [
        Growth {
            file: "performance-items.svg",
            title: "Rates by the number of items",
            subtitle: "Five positions; the first 10,000 rounds, users included",
            x_label: "Items",
            values: ITEMS.map(|items| items as u64).to_vec(),
            rate: |player, items| {
                rate(&(player.fast)(Size { items: index(items), positions: POSITIONS }), ROUNDS)
            },
        },
        Growth {
            file: "performance-positions.svg",
            title: "Rates by the number of positions",
            subtitle: "1,000 items; the first 10,000 rounds, users included",
            x_label: "Positions",
            values: LIST_LENGTHS.map(|positions| positions as u64).to_vec(),
            rate: |player, positions| {
                rate(&(player.fast)(Size { items: CATALOGUE, positions: index(positions) }), ROUNDS)
            },
        },
        Growth {
            file: "performance-rounds.svg",
            title: "Rates by the round",
            subtitle: "1,000 items, five positions; from a tenth of the rounds to these, users included",
            x_label: "Rounds",
            values: WINDOWS.to_vec(),
            rate: |player, rounds| {
                let play = (player.fast)(Size { items: CATALOGUE, positions: POSITIONS });
                (rounds - rounds / 10) as f64
                    / (seconds(&play, rounds) - seconds(&play, rounds / 10)).max(1e-9)
            },
        },
        Growth {
            file: "performance-threads.svg",
            title: "Rates by the number of threads",
            subtitle: "1,000 items, five positions; 10,000 rounds a run, runs on all threads, time on the wall",
            x_label: "Threads",
            values: (1..=threads).collect(),
            rate: |player, threads| {
                on_threads(&(player.fast)(Size { items: CATALOGUE, positions: POSITIONS }), threads)
            },
        },
    ]
}

fn index(value: u64) -> usize {
    usize::try_from(value).expect("a number of this table")
}

fn row(growth: &Growth, player: &Player, repetitions: usize) -> Vec<f64> {
    let one = |&value: &u64| median((0..repetitions).map(|_| (growth.rate)(player, value)).collect());
    growth.values.iter().map(one).collect()
}

/// Rounds per second of time on the wall, of runs that all threads play side by side.
#[expect(clippy::disallowed_methods, reason = "a measurement of time; no result depends on it")]
fn on_threads(play: &Play, threads: u64) -> f64 {
    let before = Instant::now();
    thread::scope(|scope| {
        for thread in 0..threads {
            scope.spawn(move || play(ROUNDS, thread));
        }
    });
    (threads * ROUNDS) as f64 / before.elapsed().as_secs_f64()
}

fn print(growth: &Growth, measured: &[Vec<f64>]) {
    let values: Vec<String> = growth.values.iter().map(|&value| grouped(value)).collect();
    println!("\n{}. {}.\n", growth.title, growth.subtitle);
    println!("| {} | {} |", growth.x_label.to_lowercase(), values.join(" | "));
    println!("|---{}|", "|---".repeat(values.len()));
    for (player, rates) in PLAYERS.iter().zip(measured) {
        let rates: Vec<String> = rates.iter().map(|&rate| rounded(rate)).collect();
        println!("| {} | {} |", player.name, rates.join(" | "));
    }
}

fn chart(growth: &Growth, measured: &[Vec<f64>]) -> Chart {
    let (first, last) = (growth.values[0] as f64, growth.values[growth.values.len() - 1] as f64);
    let all = || measured.iter().flatten().copied();
    let (low, high) = (all().fold(f64::INFINITY, f64::min), all().fold(0.0, f64::max));
    let curve = |(number, (player, rates)): (usize, (&Player, &Vec<f64>))| Curve {
        label: player.name.to_owned(),
        style: CurveStyle::Policy(number),
        points: growth.values.iter().map(|&value| value as f64).zip(rates.iter().copied()).collect(),
        band: Vec::new(),
        dots: Vec::new(),
    };
    Chart {
        title: growth.title.to_owned(),
        subtitle: growth.subtitle.to_owned(),
        x: Axis::new(Scale::Log, first, last),
        x_label: growth.x_label.to_owned(),
        y: Axis::new(Scale::Log, low, high),
        y_label: "Rounds per second".to_owned(),
        categories: Vec::new(),
        curves: PLAYERS.iter().zip(measured).enumerate().map(curve).collect(),
    }
}
