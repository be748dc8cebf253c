use super::*;
use quickcheck::quickcheck;

/// The largest sum, by trying every list.
fn largest(weights: &[Vec<i128>], used: &mut Vec<usize>) -> i128 {
    let position = used.len();
    if position == weights[0].len() {
        return 0;
    }
    let mut best = i128::MIN;
    for item in 0..weights.len() {
        if !used.contains(&item) {
            used.push(item);
            best = best.max(weights[item][position] + largest(weights, used));
            used.pop();
        }
    }
    best
}

quickcheck! {
    /// Tables of every shape up to 6 x 6, with ties and negative weights; the same solver solves
    /// two tables in a row.
    fn the_sum_is_the_largest(n_items: u8, n_positions: u8, values: Vec<i8>) -> bool {
        let n_items = usize::from(n_items % 6) + 1;
        let n_positions = usize::from(n_positions) % n_items + 1;
        let mut solver = Assignment::new(n_items, n_positions);
        (0..2).all(|table| {
            let value = |item: usize, position: usize| -> i128 {
                let place = item * 7 + position * 3 + table;
                values.get(place % values.len().max(1)).map_or(0, |&value| value.into())
            };
            let rows: Vec<Vec<i128>> =
                (0..n_items).map(|item| (0..n_positions).map(|position| value(item, position)).collect()).collect();
            let mut best = vec![u32::MAX; n_positions];
            solver.solve(&rows.concat(), &mut best);
            let sum: i128 = best.iter().enumerate().map(|(position, &item)| rows[item as usize][position]).sum();
            let mut distinct = best.clone();
            distinct.sort_unstable();
            distinct.dedup();
            distinct.len() == n_positions && sum == largest(&rows, &mut vec![])
        })
    }
}
