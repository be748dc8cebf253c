//! Subsets of the items: their matrices, and the share of subsets with a winner or a total order.

use super::PreferenceMatrix;
use crate::{DuelShape, Error, ItemId};
use rand::{Rng, RngExt};

impl PreferenceMatrix {
    /// The matrix of these items, renumbered in the given order.
    ///
    /// # Errors
    ///
    /// [`Error::TooFewToCompare`], [`Error::TooManyToCompare`]; [`Error::NotInASubset`] for an item
    /// that is unknown or occurs twice.
    pub fn restricted_to(&self, items: &[ItemId]) -> Result<Self, Error> {
        let shape = DuelShape::new(items.len())?;
        let mut seen = vec![false; self.shape.n_items()];
        for item in items {
            match seen.get_mut(item.index()) {
                Some(seen) if !*seen => *seen = true,
                _ => return Err(Error::NotInASubset(item.index())),
            }
        }
        let entries =
            items.iter().flat_map(|&item| items.iter().map(move |&other| self.probability(item, other)));
        Ok(Self::of_shape(shape, entries.collect()))
    }

    /// A uniformly drawn subset of `size` items, in increasing order.
    ///
    /// # Errors
    ///
    /// [`Error::NotASubsetSize`] for a size of 0, or larger than the number of items.
    pub fn random_items<R: Rng + ?Sized>(&self, size: usize, rng: &mut R) -> Result<Vec<ItemId>, Error> {
        self.check_size(size)?;
        let mut items: Vec<ItemId> = self.shape.items().collect();
        for drawn in 0..size {
            let pick = rng.random_range(drawn..items.len());
            items.swap(drawn, pick);
        }
        items.truncate(size);
        items.sort_unstable();
        Ok(items)
    }

    /// The share of all subsets of `size` items that have a Condorcet winner, in closed form.
    ///
    /// Item `r` is the winner of the subsets that consist of `r` and `size - 1` of the `N_r` items
    /// that it beats: `sum_r C(N_r, size - 1) / C(K, size)`.
    ///
    /// # Errors
    ///
    /// As [`PreferenceMatrix::random_items`].
    pub fn condorcet_share(&self, size: usize) -> Result<f64, Error> {
        self.check_size(size)?;
        let n_items = self.shape.n_items();
        // C(N, size - 1) / C(K - 1, size - 1): all other items are among those beaten. The item
        // itself is in the subset: size / K.
        let all_beaten = |item: ItemId| {
            let n_beaten = self.n_beaten(item);
            (0..size - 1)
                .map(|drawn| n_beaten.saturating_sub(drawn) as f64 / (n_items - 1 - drawn) as f64)
                .product::<f64>()
        };
        let sum: f64 = self.shape.items().map(all_beaten).sum();
        Ok(sum * size as f64 / n_items as f64)
    }

    /// The number of subsets, among `n_samples` random ones of `size` items, that have a total
    /// order.
    ///
    /// # Errors
    ///
    /// As [`PreferenceMatrix::random_items`].
    pub fn count_total_orders<R: Rng + ?Sized>(
        &self,
        size: usize,
        n_samples: u64,
        mut rng: &mut R,
    ) -> Result<u64, Error> {
        self.check_size(size)?;
        Ok(self.count_ordered(size, n_samples, &mut rng))
    }

    /// Compiled once, in this crate: the loop is hot, and a crate that calls it may be compiled
    /// without optimisation.
    fn count_ordered(&self, size: usize, n_samples: u64, rng: &mut dyn Rng) -> u64 {
        let n_words = self.shape.n_items().div_ceil(64);
        // The items that each item beats, as a bit set of 64 items per word.
        let mut beaten = vec![0_u64; self.shape.n_items() * n_words];
        for item in self.shape.items() {
            for other in self.shape.items().filter(|&other| self.beats(item, other)) {
                beaten[item.index() * n_words + other.index() / 64] |= 1 << (other.index() % 64);
            }
        }
        let mut items: Vec<usize> = (0..self.shape.n_items()).collect();
        let mut drawn_items = vec![0_u64; n_words];
        let mut taken = vec![false; size];
        let mut ordered = 0;
        for _ in 0..n_samples {
            drawn_items.fill(0);
            // The order of `items` does not matter, so samples may reuse it.
            for drawn in 0..size {
                let pick = rng.random_range(drawn..items.len());
                items.swap(drawn, pick);
                drawn_items[items[drawn] / 64] |= 1 << (items[drawn] % 64);
            }
            taken.fill(false);
            ordered += u64::from(items[..size].iter().all(|item| {
                let beaten = &beaten[item * n_words..][..n_words];
                let wins =
                    beaten.iter().zip(&drawn_items).map(|(beaten, drawn)| (beaten & drawn).count_ones());
                !std::mem::replace(&mut taken[wins.sum::<u32>() as usize], true)
            }));
        }
        ordered
    }

    fn check_size(&self, size: usize) -> Result<(), Error> {
        let n_items = self.shape.n_items();
        if (1..=n_items).contains(&size) { Ok(()) } else { Err(Error::NotASubsetSize { size, n_items }) }
    }
}
