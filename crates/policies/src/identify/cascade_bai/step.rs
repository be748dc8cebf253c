//! A whole step with a simulated user.

use super::CascadeBai;
use crate::{Decision, Select};
use click_models::{Clicks, ItemId, Ranking};
use rand::Rng;

impl CascadeBai {
    /// Plays one step with a cascade user. `attracts` tells for each item, from the top of the
    /// list, whether it attracts. Returns the number of examined items; 0 after the end.
    ///
    /// The result is that of [`Select::select`], the user's response, and
    /// [`Update::update`](crate::Update::update), without writing and reading feedback. A
    /// simulation then draws random numbers for examined items only. `list` is a buffer for steps
    /// that need a list.
    ///
    /// ```
    /// use click_models::ListShape;
    /// use policies::{CascadeBai, Decision, Delta};
    /// use rand::{SeedableRng, rngs::ChaCha8Rng};
    ///
    /// let mut policy = CascadeBai::new(ListShape::new(9, 3)?, Delta::default());
    /// let (mut rng, mut list) = (ChaCha8Rng::seed_from_u64(1), Decision::default());
    /// let (nobody, everybody) = (policy.step(&mut rng, &mut list, |_| false), policy.step(&mut rng, &mut list, |_| true));
    /// assert_eq!((nobody, everybody, policy.total_observations()), (3, 1, 4));
    /// # Ok::<(), click_models::Error>(())
    /// ```
    pub fn step<R: Rng + ?Sized>(
        &mut self,
        rng: &mut R,
        list: &mut Decision<Ranking>,
        mut attracts: impl FnMut(ItemId) -> bool,
    ) -> usize {
        if self.is_done() {
            return 0;
        }
        self.begin(rng);
        let ring = self.queue.idle_ring();
        let in_turn = |&(ring, front): &(&[ItemId], usize)| {
            let first: ItemId = ring[front];
            self.items[first.index()].n + 1 >= self.most_observed
        };
        let Some((ring, start)) = ring.filter(in_turn) else {
            self.select(rng, list);
            let shown = list.action.as_slice();
            let click = shown.iter().position(|&item| attracts(item));
            let seen = Clicks::new(click.map_or(shown.len(), |position| position + 1));
            self.learn(&list.action, click.map_or(seen, |position| seen.with(position)));
            return seen.len();
        };
        let n_in_question = self.settings.n_shown.min(ring.len());
        let items = &mut self.items;
        let (mut place, mut observed, mut is_quiet, mut is_clicked, mut n) = (start, 0, true, false, 0);
        while observed < n_in_question && !is_clicked {
            let id = ring[place];
            place = if place + 1 == ring.len() { 0 } else { place + 1 };
            observed += 1;
            is_clicked = attracts(id);
            let item = &mut items[id.index()];
            item.n += 1;
            item.s += u64::from(is_clicked);
            is_quiet &= item.n <= item.quiet_n && item.s <= item.quiet_s;
            n = item.n;
        }
        self.queue.advance(observed);
        // The queue is sorted by observations.
        self.most_observed = self.most_observed.max(n);
        if !is_quiet {
            let mut place = start;
            for _ in 0..observed {
                let ring = self.queue.items();
                let item = ring[place];
                place = if place + 1 == ring.len() { 0 } else { place + 1 };
                self.watch_all(&[item]);
            }
        }
        let fill = self.accepted.iter().chain(&self.rejected).take(self.settings.n_shown - n_in_question);
        let mut looked_at = observed;
        for &item in fill {
            if is_clicked {
                break;
            }
            looked_at += 1;
            is_clicked = attracts(item);
        }
        if self.levels.are_broken {
            self.classify();
        }
        looked_at
    }
}
