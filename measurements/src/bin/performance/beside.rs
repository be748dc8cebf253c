//! Policies beside their plain versions, in turn within each repetition.

use crate::clock::{median, rate, rounded};
use crate::players::{PLAYERS, Player, Size};
use documents::number::{grouped, significant};

/// A measurement of a policy: a size and rounds from the first one on.
struct Row {
    size: Size,
    rounds: u64,
    /// Fewer for the plain version, whose rounds all cost about the same.
    plain_rounds: u64,
}

const ROWS: [Row; 4] = [
    Row { size: Size { items: 5, positions: 3 }, rounds: 200_000, plain_rounds: 20_000 },
    Row { size: Size { items: 100, positions: 5 }, rounds: 100_000, plain_rounds: 2_000 },
    Row { size: Size { items: 4096, positions: 5 }, rounds: 10_000, plain_rounds: 200 },
    Row { size: Size { items: 4096, positions: 5 }, rounds: 1_000_000, plain_rounds: 200 },
];

/// Prints the table.
pub(crate) fn print(repetitions: usize) {
    println!("| policy | items | positions | rounds | rounds per CPU-second | plain version | ratio |");
    println!("|---|---|---|---|---|---|---|");
    for player in PLAYERS {
        for row in &ROWS {
            line(player, row, repetitions);
        }
    }
}

fn line(player: &Player, row: &Row, repetitions: usize) {
    let [fast, plain] = [(player.fast)(row.size), (player.plain)(row.size)];
    let pairs: Vec<(f64, f64)> =
        (0..repetitions).map(|_| (rate(&fast, row.rounds), rate(&plain, row.plain_rounds))).collect();
    let of = |value: fn(&(f64, f64)) -> f64| median(pairs.iter().map(value).collect());
    println!(
        "| {} | {} | {} | {} | {} | {} | {} |",
        player.name,
        grouped(row.size.items as u64),
        row.size.positions,
        grouped(row.rounds),
        rounded(of(|pair| pair.0)),
        rounded(of(|pair| pair.1)),
        significant(of(|pair| pair.0 / pair.1), 2),
    );
}
