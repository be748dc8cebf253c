//! The items in question, in the order in which they are shown.
//!
//! The item of the fewest turns comes first. Its turns are its observations and its open displays: those on lists whose answers have
//! not come. Of items with equally many turns the one that was observed or shown longest ago comes first; an item whose display
//! ended without an observation loses that turn, and goes before those equal to it.
//!
//! As long as every list is answered before the next one is asked for, the queue is a ring: what was observed goes from its front to
//! its back by moving where it begins. From the first list on that is asked for while another one is open, or answered out of turn,
//! items are linked in buckets of equally many turns, and a change costs O(1) an item.

mod buckets;
mod circles;

use buckets::Buckets;
use click_models::ItemId;

#[derive(Debug)]
pub(super) struct Queue {
    /// All items in question; in order from `front` on and around, unless they are linked.
    ring: Vec<ItemId>,
    front: usize,
    n_shown: usize,
    /// Whether the list at the front of the ring has been asked for and not been answered.
    is_front_open: bool,
    is_linked: bool,
    /// Open displays of every item, when they are linked.
    open: Vec<u64>,
    buckets: Buckets,
}

impl Queue {
    /// Items by the turns that they have had; of every item in the catalogue, its open displays.
    pub(super) fn new(in_question: Vec<ItemId>, displays: &[u64], n_shown: usize) -> Self {
        let mut open = vec![0; displays.len()];
        for item in &in_question {
            open[item.index()] = displays[item.index()];
        }
        Self {
            ring: in_question,
            front: 0,
            n_shown,
            is_front_open: false,
            is_linked: false,
            buckets: Buckets::new(open.len()),
            open,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.ring.len()
    }

    /// All of them, in any order.
    pub(super) fn items(&self) -> &[ItemId] {
        &self.ring
    }

    /// All of them, to put them in order before there are links.
    pub(super) fn items_mut(&mut self) -> &mut [ItemId] {
        &mut self.ring
    }

    /// The ring as it lies in memory, and where it begins; none once a list is open or items are linked.
    #[inline]
    pub(super) fn idle_ring(&self) -> Option<(&[ItemId], usize)> {
        (!self.is_linked && !self.is_front_open).then_some((&self.ring, self.front))
    }

    /// Whether a list is open that the ring cannot tell from the next one.
    #[inline]
    pub(super) fn needs_links(&self) -> bool {
        self.is_front_open && !self.is_linked
    }

    /// How many items of a list are in question, if these are the next ones of the ring.
    #[inline]
    pub(super) fn n_next(&self, shown: &[ItemId]) -> Option<usize> {
        let n_next = self.n_shown.min(self.ring.len());
        if self.is_linked || shown.len() != self.n_shown {
            return None;
        }
        let (around, after) = self.ring.split_at(self.front);
        let (first, second) = shown[..n_next].split_at(n_next.min(after.len()));
        (after.starts_with(first) && around.starts_with(second)).then_some(n_next)
    }

    /// Ends the display at the front of the ring: its first items have been observed.
    #[inline]
    pub(super) fn advance(&mut self, n_observed: usize) {
        self.is_front_open = false;
        self.front += n_observed;
        if self.front >= self.ring.len() {
            self.front -= self.ring.len();
        }
    }

    /// Copies as many items as there is room for, in order.
    #[inline]
    pub(super) fn copy_to(&self, out: &mut [ItemId]) {
        if self.is_linked {
            for (place, item) in out.iter_mut().zip(self.buckets.items()) {
                *place = item;
            }
            return;
        }
        let out_len = out.len().min(self.ring.len());
        let (around, after) = self.ring.split_at(self.front);
        let (first, second) = out[..out_len].split_at_mut(out_len.min(after.len()));
        first.copy_from_slice(&after[..first.len()]);
        second.copy_from_slice(&around[..second.len()]);
    }

    /// Takes the next items, one for every place of `out`: their displays are open.
    #[inline]
    pub(super) fn take(&mut self, out: &mut [ItemId]) {
        self.copy_to(out);
        self.is_front_open = true;
        if self.is_linked {
            for &item in &*out {
                self.open(item);
            }
        }
    }

    fn open(&mut self, item: ItemId) {
        self.open[item.index()] += 1;
        self.buckets.raise(item);
    }

    /// Links the items, if they are not linked yet; `observations` of every item.
    #[cold]
    pub(super) fn link(&mut self, observations: impl Fn(ItemId) -> u64) {
        if self.is_linked {
            return;
        }
        let Self { ring, front, open, buckets, .. } = self;
        let (around, after) = ring.split_at(*front);
        buckets.clear();
        for &item in after.iter().chain(around) {
            buckets.push(item, observations(item) + open[item.index()]);
        }
        self.is_linked = true;
        if self.is_front_open {
            for place in 0..self.n_shown.min(self.ring.len()) {
                let next = self.ring[(self.front + place) % self.ring.len()];
                self.open(next);
            }
        }
        self.front = 0;
    }

    /// Links the items anew after they were put in another order.
    pub(super) fn link_again(&mut self, observations: impl Fn(ItemId) -> u64) {
        self.is_linked = false;
        self.link(observations);
    }

    /// Ends a display of each of these items without an observation; for items that are linked. `in_order` is room to work in.
    pub(super) fn close(&mut self, unobserved: &[ItemId], in_order: &mut Vec<ItemId>) {
        in_order.clear();
        let is_open = |open: &[u64], item: ItemId| open.get(item.index()).is_some_and(|&open| open > 0);
        in_order.extend(unobserved.iter().filter(|&&item| is_open(&self.open, item)));
        in_order.sort_unstable_by_key(|&item| self.buckets.place(item));
        for &item in in_order.iter().rev() {
            if is_open(&self.open, item) {
                self.open[item.index()] -= 1;
                self.buckets.lower(item);
            }
        }
    }

    /// An item that is linked has been observed: one of its open displays ends, if there is one.
    pub(super) fn observe(&mut self, item: ItemId) {
        match &mut self.open[item.index()] {
            0 => self.buckets.raise(item),
            open => {
                *open -= 1;
                self.buckets.move_back(item);
            }
        }
    }

    /// Drops the items that are not to be kept.
    pub(super) fn retain(&mut self, keep: impl Fn(ItemId) -> bool) {
        if self.is_linked {
            for &item in self.ring.iter().filter(|&&item| !keep(item)) {
                self.buckets.remove(item);
                self.open[item.index()] = 0;
            }
        } else {
            self.ring.rotate_left(self.front);
            self.front = 0;
        }
        self.ring.retain(|&item| keep(item));
    }

    /// The items in order, and the open displays of all items in the catalogue, none if there is none.
    pub(super) fn saved(&self, observations: impl Fn(ItemId) -> u64) -> (Vec<ItemId>, Vec<u64>) {
        let mut items = self.ring.clone();
        self.copy_to(&mut items);
        let mut open = self.open.clone();
        if self.needs_links() {
            let n_shown = self.n_shown.min(items.len());
            for item in &items[..n_shown] {
                open[item.index()] = 1;
            }
            items.rotate_left(n_shown);
            items.sort_by_key(|item| observations(*item) + open[item.index()]);
        }
        if open.iter().all(|&open| open == 0) {
            open.clear();
        }
        (items, open)
    }
}
