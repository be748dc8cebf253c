//! Columns connected by rows, as disjoint sets.

/// A partition of columns into connected parts.
#[derive(Debug, Clone)]
pub(crate) struct ConnectedColumns {
    parents: Vec<usize>,
}

impl ConnectedColumns {
    pub(crate) fn new(n: usize) -> Self {
        Self { parents: (0..n).collect() }
    }

    pub(crate) fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.first(a), self.first(b));
        self.parents[a.max(b)] = a.min(b);
    }

    /// The first column of the part that contains `column`.
    pub(crate) fn first(&mut self, mut column: usize) -> usize {
        while self.parents[column] != column {
            self.parents[column] = self.parents[self.parents[column]];
            column = self.parents[column];
        }
        column
    }
}
