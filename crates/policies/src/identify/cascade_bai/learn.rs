//! Counting the feedback on a list.

use super::CascadeBai;
use super::items::Item;
use super::settings::ShowOrder;
use click_models::{Clicks, ItemId, ListShape, Ranking};

impl CascadeBai {
    /// Counts the observations of a list, and classifies items if this may decide one.
    #[inline]
    pub(super) fn learn(&mut self, shown: &Ranking, seen: Clicks) {
        if self.is_done() {
            return;
        }
        let shown = shown.as_slice();
        let shown = &shown[..shown.len().min(ListShape::MAX_POSITIONS)];
        let n_observed = shown.len().min(seen.len());
        if !self.learn_in_turn(shown, n_observed, seen.bits())
            && !self.learn_of_front(shown, n_observed, seen.bits())
        {
            self.learn_anyhow(shown, n_observed, seen.bits());
        }
        if self.levels.are_broken {
            self.forget_order();
            self.classify();
        }
    }

    /// Counts the feedback on the next list of the ring; `false` and no effect for any other.
    #[inline]
    fn learn_in_turn(&mut self, shown: &[ItemId], n_observed: usize, clicks: u64) -> bool {
        let Some(n_next) = self.queue.n_next(shown) else { return false };
        let (next, fill) = shown.split_at(n_next);
        // The observed items have at least as many observations as all others: to the back.
        let is_in_turn = self.items[next[0].index()].n + 1 >= self.most_observed;
        if !is_in_turn || fill.iter().any(|&item| self.is_in_question(item)) {
            return false;
        }
        let observed = &next[..n_observed.min(n_next)];
        let mut is_quiet = true;
        for id in observed {
            let item = &mut self.items[id.index()];
            item.n += 1;
            is_quiet &= item.n <= item.quiet_n;
        }
        let mut clicks = clicks;
        while let Some(id) = observed.get(clicks.trailing_zeros() as usize) {
            clicks &= clicks - 1;
            let item = &mut self.items[id.index()];
            item.s += 1;
            is_quiet &= item.s <= item.quiet_s;
        }
        if let Some(last) = observed.last() {
            self.most_observed = self.most_observed.max(self.items[last.index()].n);
        }
        self.queue.advance(observed.len());
        if !is_quiet {
            self.watch_all(observed);
        }
        true
    }

    /// Counts the feedback on the last list, in an order by mean or bound, if it comes before
    /// another list is requested. Returns `false` and does nothing for any other list.
    #[inline]
    fn learn_of_front(&mut self, shown: &[ItemId], n_observed: usize, clicks: u64) -> bool {
        let n_front = self.list.len();
        let is_front = self.queue.has_front_in_line()
            && n_front > 0
            && shown.len() == self.settings.n_shown
            && self.list.iter().zip(shown).all(|(key, item)| key.item == *item)
            && !shown[n_front..].iter().any(|&item| self.is_in_question(item));
        if !is_front {
            return false;
        }
        let observed = &shown[..n_observed.min(n_front)];
        for (position, &id) in observed.iter().enumerate() {
            self.count(id, clicks >> position & 1);
        }
        self.queue.advance_in_line(observed);
        self.take_off(observed.len());
        self.rank_again(observed);
        true
    }

    /// Counts the feedback on any list.
    fn learn_anyhow(&mut self, shown: &[ItemId], n_observed: usize, clicks: u64) {
        self.forget_order();
        self.make_line();
        self.queue.enter_front();
        let (observed, unobserved) = shown.split_at(n_observed);
        self.queue.close(unobserved, &mut self.unobserved);
        for (position, &item) in observed.iter().enumerate() {
            if self.is_in_question(item) {
                self.count(item, clicks >> position & 1);
                self.queue.observe(item);
            }
        }
        self.rank_again(observed);
    }

    /// Counts an observation of an undecided item.
    fn count(&mut self, id: ItemId, clicked: u64) {
        let item = &mut self.items[id.index()];
        item.n += 1;
        item.s += clicked;
        self.most_observed = self.most_observed.max(item.n);
    }

    /// Moves observed items to their new places by mean, and checks the levels.
    #[inline]
    fn rank_again(&mut self, observed: &[ItemId]) {
        if self.settings.order != ShowOrder::LeastObserved {
            for &item in observed {
                if self.is_in_question(item) {
                    self.by_mean.update(self.key_by_mean(item));
                }
            }
            self.compare_rivals();
        }
        self.watch_all(observed);
    }

    /// Checks which of these items may have passed the levels.
    #[inline]
    pub(super) fn watch_all(&mut self, observed: &[ItemId]) {
        for &id in observed {
            let Some(&Item { n, s, quiet_n, quiet_s }) = self.items.get(id.index()) else { continue };
            if (n > quiet_n || s > quiet_s) && self.states[id.index()].is_in_question {
                self.levels.are_broken |= !self.watch(id);
            }
        }
    }
}
