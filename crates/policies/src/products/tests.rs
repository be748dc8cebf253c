use super::*;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// The same draws as a sweep over all cells, bit for bit, while rows fill up. A version that misses
/// the last cell of a row makes others.
#[test]
fn few_played_cells_are_summed_as_all() {
    for (n_rows, n_columns, rounds) in [(40, 64, 3_000), (7, 131, 2_000), (5, 3, 200)] {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
        let mut products = Products::new(n_rows, n_columns);
        let mut differ = 0;
        for _ in 0..rounds {
            let row = rng.random_range(0..n_rows);
            let column = rng.random_range(0..n_columns);
            products.count(row, column, rng.random_bool(0.3));
            let mut dense = products.clone();
            dense.played = PlayedColumns { most: 0, columns: vec![], lens: vec![0; n_rows] };
            let mut wrong = products.clone();
            wrong.played.lens[row] = wrong.played.lens[row].saturating_sub(1);
            let bits = |products: &Products| -> Vec<u64> {
                products.rows.iter().chain(&products.columns).map(|number| number.to_bits()).collect()
            };
            let mut own = rng.clone();
            dense.sweep(&mut rng.clone());
            wrong.sweep(&mut rng.clone());
            products.sweep(&mut own);
            assert_eq!(bits(&products), bits(&dense));
            differ += usize::from(bits(&products) != bits(&wrong));
            rng = own;
        }
        assert!(differ > 50 || n_columns < 16, "{n_rows} x {n_columns}: {differ}");
    }
}
