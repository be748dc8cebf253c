//! Lists of kinds of items: what they observe, the best list for given prices of observations, and
//! lists of items for a list of kinds.
//!
//! Items of equal weight are exchangeable: a mixture is no worse if all of them are shown equally
//! often, at every position. So the optimisation knows kinds only.

use crate::linear_list::decreasing_numbers;

/// Items of equal weight.
#[derive(Debug)]
pub(super) struct Kind {
    pub(super) weight: f64,
    /// Indices in the caller's slice.
    pub(super) items: Vec<usize>,
}

impl Kind {
    pub(super) fn n_items(&self) -> f64 {
        self.items.len() as f64
    }
}

/// The kinds on a list, from the top down.
pub(super) type Pattern = Vec<usize>;

/// `(kind, mean observations)` of a list, averaged over the items of a kind.
pub(super) fn observations(kinds: &[Kind], pattern: &[usize]) -> Vec<(usize, f64)> {
    let mut examined = 1.0;
    let mut observed: Vec<(usize, f64)> = Vec::with_capacity(pattern.len());
    for &kind in pattern {
        let each = examined / kinds[kind].n_items();
        match observed.iter_mut().find(|(other, _)| *other == kind) {
            Some((_, sum)) => *sum += each,
            None => observed.push((kind, each)),
        }
        examined *= 1.0 - kinds[kind].weight;
    }
    observed
}

/// A list whose observations are worth most, if one observation of every item of kind `k` is worth
/// `prices[k]` in all.
///
/// An item of price `p` and weight `w` adds `p` and takes a share `w` of what is below it.
/// Exchanging two neighbours shows that the best order is by `p / w`, largest first. A dynamic
/// program chooses the items from the last item up: with `c` positions left, `value(k, c) =
/// max(value(k + 1, c), p_k + (1 - w_k) value(k + 1, c - 1))`. O(L K).
pub(super) fn best_list(kinds: &[Kind], prices: &[f64], n_positions: usize) -> Pattern {
    let price = |kind: usize| prices[kind] / kinds[kind].n_items();
    // An item that never attracts stops no user, so it comes first.
    let per_click = |kind: usize| {
        let weight = kinds[kind].weight;
        if weight == 0.0 { f64::INFINITY } else { price(kind) / weight }
    };
    let order = decreasing_numbers(&(0..kinds.len()).map(per_click).collect::<Vec<_>>());
    // No list shows more than K items of a kind.
    let at_most = |kind: usize| kinds[kind].items.len().min(n_positions);
    let items: Vec<usize> = order.iter().flat_map(|&kind| std::iter::repeat_n(kind, at_most(kind))).collect();

    let width = n_positions + 1;
    let mut is_shown = vec![false; items.len() * width];
    let mut value = vec![0.0; width];
    for (row, &kind) in is_shown.chunks_exact_mut(width).zip(&items).rev() {
        // From many positions to few: `value[left - 1]` is still that of the items below.
        for left in (1..width).rev() {
            let with = price(kind) + (1.0 - kinds[kind].weight) * value[left - 1];
            row[left] = with > value[left];
            value[left] = value[left].max(with);
        }
    }

    let mut left = n_positions;
    let (mut list, mut passed_over) = (Vec::with_capacity(n_positions), Vec::new());
    for (row, &kind) in is_shown.chunks_exact(width).zip(&items) {
        if row[left] {
            list.push(kind);
            left -= 1;
        } else {
            passed_over.push(kind);
        }
    }
    // Positions are left only if the other items are worth nothing. At the bottom they take nothing
    // either.
    list.extend(passed_over.into_iter().take(left));
    list
}

/// Lists of items for a list of kinds, with the parts of its share: together they show all items of
/// a kind equally often at every position.
///
/// With a number `u` drawn evenly from `[0, 1)`, the `r`-th place of a kind of `m` items gets its
/// item number `floor(u m) + r`, modulo `m`. That is one list for each interval between the
/// multiples of all `1 / m`, at most L lists.
pub(super) fn placements(kinds: &[Kind], pattern: &[usize], share: f64) -> Vec<(Vec<usize>, f64)> {
    let mut shown = pattern.to_vec();
    shown.sort_unstable();
    shown.dedup();
    let multiples =
        |&kind: &usize| (0..kinds[kind].items.len()).map(move |step| step as f64 / kinds[kind].n_items());
    let mut starts: Vec<f64> = shown.iter().flat_map(multiples).collect();
    starts.sort_unstable_by(f64::total_cmp);
    starts.dedup();
    let ends = starts[1..].iter().copied().chain([1.0]);
    let list = |start: f64| {
        let mut next: Vec<usize> = vec![0; kinds.len()];
        for &kind in &shown {
            // The multiple that is equal to `start`, or the last below it.
            next[kind] = multiples(&kind).take_while(|&multiple| multiple <= start).count() - 1;
        }
        let mut place = |&kind: &usize| {
            let items = &kinds[kind].items;
            let item = items[next[kind] % items.len()];
            next[kind] += 1;
            item
        };
        pattern.iter().map(&mut place).collect()
    };
    starts.iter().zip(ends).map(|(&start, end)| (list(start), share * (end - start))).collect()
}
