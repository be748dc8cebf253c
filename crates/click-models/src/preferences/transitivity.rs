//! Cycles, total orders and degrees of transitivity.

use super::PreferenceMatrix;
use crate::ItemId;

impl PreferenceMatrix {
    /// All triples in which each item beats the next and the last beats the first. Each cycle
    /// occurs once, with its smallest item first.
    pub fn three_cycles(&self) -> impl Iterator<Item = [ItemId; 3]> + '_ {
        let after = |item: ItemId| self.shape.items().skip(item.index() + 1);
        let beaten = move |item: ItemId| after(item).map(move |other| (item, other));
        // The first beats the second, and the third beats the first. The third may come before or
        // after the second.
        let pairs = self.shape.items().flat_map(beaten).filter(|&(first, second)| self.beats(first, second));
        pairs.flat_map(move |(first, second)| {
            let closes = move |&third: &ItemId| self.beats(second, third) && self.beats(third, first);
            after(first).filter(closes).map(move |third| [first, second, third])
        })
    }

    /// The order in which every item beats all later ones, if it exists.
    pub fn total_order(&self) -> Option<Vec<ItemId>> {
        let n_items = self.shape.n_items();
        let mut order = vec![None; n_items];
        // The first beats K - 1 items, the second K - 2, and so on. These wins account for all
        // pairs, so there are no others.
        for item in self.shape.items() {
            let place = n_items - 1 - self.n_beaten(item);
            if order[place].replace(item).is_some() {
                return None;
            }
        }
        order.into_iter().collect()
    }

    /// Returns whether there is a total order in which any three items `i`, `j`, `k`, in this
    /// order, satisfy `e_ik >= max{e_ij, e_jk}`.
    pub fn is_strongly_transitive(&self) -> bool {
        let Some(order) = self.total_order() else { return false };
        let excess = |place: usize, other: usize| self.excess(order[place], order[other]);
        (0..order.len()).all(|last| {
            (0..last).all(|first| {
                let between = first + 1..last;
                between
                    .into_iter()
                    .all(|middle| excess(first, last) >= excess(first, middle).max(excess(middle, last)))
            })
        })
    }

    /// The smallest `gamma >= 1` for which preferences are transitive in the relaxed sense:
    /// `gamma e_1k >= max{e_1j, e_jk}` for the Condorcet winner 1 and all other items `j` and `k`
    /// such that `j` beats `k`. `None` without a Condorcet winner.
    pub fn gamma(&self) -> Option<f64> {
        let winner = self.condorcet_winner()?;
        let others = || self.shape.items().filter(move |&item| item != winner);
        let needed =
            |j: ItemId, k: ItemId| self.excess(winner, j).max(self.excess(j, k)) / self.excess(winner, k);
        let pairs = others().flat_map(|j| others().map(move |k| (j, k)));
        let needed = pairs.filter(|&(j, k)| self.beats(j, k)).map(|(j, k)| needed(j, k));
        Some(needed.fold(1.0, f64::max))
    }
}
