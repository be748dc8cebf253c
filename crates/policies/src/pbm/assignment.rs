//! Assignment of items to positions with the largest sum of weights.
//!
//! Every position gets an item of its own, and there are at least as many items as positions.
//! Positions enter one after the other. Each time a shortest augmenting path (in costs reduced by
//! potentials) frees the item that the new position needs.
//!
//! Reference: Kuhn, *The Hungarian method for the assignment problem*, 1955, as shortest augmenting
//! paths (Jonker, Volgenant 1987). Deviations: none.
//!
//! Numerics: weights are integers, so the sum is exactly the largest. Complexity: O(`n_positions`^2
//! `n_items`). The buffers belong to the solver: solving allocates nothing.

/// The solver for tables of one size, and its buffers.
#[derive(Debug, Clone)]
pub(super) struct Assignment {
    n_positions: usize,
    /// Potentials; 0 is a place that every path starts from.
    of_position: Vec<i128>,
    of_item: Vec<i128>,
    /// The position of every item, from 1; 0 for none.
    position_of: Vec<usize>,
    /// The item before this one on the path.
    before: Vec<usize>,
    /// The shortest reduced cost of a path to every item.
    distance: Vec<i128>,
    is_reached: Vec<bool>,
}

impl Assignment {
    pub(super) fn new(n_items: usize, n_positions: usize) -> Self {
        Self {
            n_positions,
            of_position: vec![0; n_positions + 1],
            of_item: vec![0; n_items + 1],
            position_of: vec![0; n_items + 1],
            before: vec![0; n_items + 1],
            distance: vec![0; n_items + 1],
            is_reached: vec![false; n_items + 1],
        }
    }

    /// Writes the item of every position to `best`. `weights` has item 0's positions first.
    pub(super) fn solve(&mut self, weights: &[i128], best: &mut [u32]) {
        self.of_position.fill(0);
        self.of_item.fill(0);
        self.position_of.fill(0);
        for position in 1..=self.n_positions {
            self.enter(position, weights);
        }
        for (item, &position) in (0..).zip(&self.position_of[1..]) {
            if position > 0 {
                best[position - 1] = item;
            }
        }
    }

    /// Finds an item for one more position.
    fn enter(&mut self, position: usize, weights: &[i128]) {
        let Self { n_positions, of_position, of_item, position_of, before, distance, is_reached } = self;
        distance.fill(i128::MAX);
        is_reached.fill(false);
        position_of[0] = position;
        let mut last = 0;
        while position_of[last] != 0 {
            is_reached[last] = true;
            let from = position_of[last];
            let (mut nearest, mut least) = (0, i128::MAX);
            for item in 1..of_item.len() {
                if is_reached[item] {
                    continue;
                }
                let cost = -weights[(item - 1) * *n_positions + from - 1] - of_position[from] - of_item[item];
                if cost < distance[item] {
                    (distance[item], before[item]) = (cost, last);
                }
                if distance[item] < least {
                    (nearest, least) = (item, distance[item]);
                }
            }
            for item in 0..of_item.len() {
                if is_reached[item] {
                    of_position[position_of[item]] += least;
                    of_item[item] -= least;
                } else if item > 0 {
                    distance[item] -= least;
                }
            }
            last = nearest;
        }
        while last != 0 {
            position_of[last] = position_of[before[last]];
            last = before[last];
        }
    }
}

#[cfg(test)]
mod tests;
