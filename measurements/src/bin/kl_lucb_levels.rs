//! How much of the gain of `cascade-kl` over KL-LUCB is confidence, and how much is sampling: a
//! table of `docs/cascade-bai.md`.
//!
//! ```text
//! cargo run --release -p measurements --bin kl_lucb_levels -- 100
//! ```
//!
//! The argument is the number of runs; linear weights, where a run of KL-LUCB takes three million
//! rounds, have a fifth. L = 64, K = 16, delta = 0.1. From one column to the next only one thing
//! changes: the bounds, then the lists and single decisions, then the test.

use click_models::CascadeModel;
use measurements::table_e1::{instances, print_row, times};
use policies::{CascadeKl, CascadeKlTest, Delta, KlLucb, KlLucbLevels};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let runs: usize = std::env::args().nth(1).ok_or("expected the number of runs")?.parse()?;
    let delta = Delta::new(0.1)?;
    println!(
        "| row | KL-LUCB | with mixtures | `cascade-kl`, items | `cascade-kl`, pairs | confidence | lists | pairs |"
    );
    println!("|---|---|---|---|---|---|---|---|");
    for (name, weights) in instances(64, 16) {
        let users = CascadeModel::from_values(&weights, 16)?;
        let (shape, runs) = (users.shape(), if name == "linear" { runs.div_ceil(5) } else { runs });
        let lucb = || KlLucb::new(shape, delta);
        let columns = [
            times(&users, runs, lucb),
            times(&users, runs, || lucb().with_levels(KlLucbLevels::Mixture)),
            times(&users, runs, || CascadeKl::new(shape, delta).with_test(CascadeKlTest::Item)),
            times(&users, runs, || CascadeKl::new(shape, delta)),
        ];
        print_row(name, &columns, &[(0, 1), (1, 2), (2, 3)]);
    }
    Ok(())
}
