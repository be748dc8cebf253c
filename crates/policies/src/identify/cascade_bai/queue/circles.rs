//! Doubly linked circles of numbers, stored in two arrays.

/// Circles of numbers; every number is in exactly one circle.
#[derive(Debug)]
pub(super) struct Circles {
    pub(super) before: Vec<u32>,
    pub(super) after: Vec<u32>,
}

impl Circles {
    pub(super) fn new(n: usize) -> Self {
        let alone: Vec<u32> = (0..).take(n).collect();
        Self { before: alone.clone(), after: alone }
    }

    /// Makes every number a circle of its own.
    pub(super) fn clear(&mut self) {
        for (number, (before, after)) in (0..).zip(self.before.iter_mut().zip(&mut self.after)) {
            (*before, *after) = (number, number);
        }
    }

    /// The numbers after `start`, all the way round.
    pub(super) fn after(&self, start: u32) -> impl Iterator<Item = u32> + '_ {
        let next = move |number: u32| Some(self.after[number as usize]).filter(|&next| next != start);
        std::iter::successors(next(start), move |&number| next(number))
    }

    /// Inserts a number that is alone before `next`.
    pub(super) fn insert(&mut self, number: u32, next: u32) {
        let before = self.before[next as usize];
        self.before[number as usize] = before;
        self.after[number as usize] = next;
        self.after[before as usize] = number;
        self.before[next as usize] = number;
    }

    /// Removes a number from its circle.
    pub(super) fn remove(&mut self, number: u32) {
        let (before, after) = (self.before[number as usize], self.after[number as usize]);
        self.after[before as usize] = after;
        self.before[after as usize] = before;
        (self.before[number as usize], self.after[number as usize]) = (number, number);
    }
}
