//! Variances from an information matrix of blocks, which are coupled by a few shared parameters
//! only.
//!
//! With blocks `A` (one per query), borders `B` and the shared part `S`, the shared parameters have
//! the covariance `V = (S - sum of B A^-1 B')^-1`, and the parameters of a block have `A^-1 + A^-1
//! B' V B A^-1`.
//!
//! Reference: inversion of a partitioned matrix (Schur complement). Deviations: none. Numerics:
//! [`super::linear`]. Complexity: O(n^3) for a block of `n` parameters.

use super::in_order::{in_order, in_order_each, tasks_of};
use super::linear::Cholesky;
use std::ops::Range;

/// Size of the blocks of one task for a thread, and their number when variances are computed.
const SIZE_OF_A_TASK: usize = 1 << 16;
const BLOCKS_OF_A_TASK: usize = 1 << 8;
/// The rest of the information on a shared parameter is a rounding error below this part of it.
const ROUNDING: f64 = 1e-12;

/// The information on the `n` parameters of a block, `n` by `n`, of which the lower triangle
/// counts, and its mixed derivatives with the shared ones, a row for each of these.
pub(super) struct Block {
    pub(super) n: usize,
    pub(super) matrix: Vec<f64>,
    pub(super) border: Vec<f64>,
}

impl Block {
    pub(super) fn new(n: usize, n_shared: usize) -> Self {
        Self { n, matrix: vec![0.0; n * n], border: vec![0.0; n_shared * n] }
    }

    /// Makes a parameter without information independent of the others.
    pub(super) fn separate_unknown(&mut self) {
        let n = self.n;
        for own in 0..n {
            if self.matrix[own * n + own] == 0.0 || !self.matrix[own * n + own].is_finite() {
                for other in 0..n {
                    self.matrix[own * n + other] = 0.0;
                    self.matrix[other * n + own] = 0.0;
                }
                self.border.iter_mut().skip(own).step_by(n).for_each(|mixed| *mixed = 0.0);
                self.matrix[own * n + own] = f64::MIN_POSITIVE;
            }
        }
    }
}

/// Numbers to add to the information on the shared parameters, with their places.
pub(super) type SharedTerms = Vec<(usize, f64)>;

/// A factorised block, and its inverse times its border.
pub(super) struct BlockSolution {
    n: usize,
    factor: Cholesky,
    border: Vec<f64>,
}

impl BlockSolution {
    /// Factorises a block, and appends what its elimination adds to the shared part. `None` if the
    /// block is singular.
    pub(super) fn new(block: Block, n_shared: usize, shared: &mut SharedTerms) -> Option<Self> {
        let Block { n, matrix, border } = block;
        let factor = Cholesky::new(n, matrix)?;
        let mut solved = border.clone();
        for a in 0..n_shared {
            factor.solve(&mut solved[a * n..(a + 1) * n]);
        }
        // Minus border' inverse border.
        for a in 0..n_shared {
            for b in 0..=a {
                let pairs = border[a * n..(a + 1) * n].iter().zip(&solved[b * n..(b + 1) * n]);
                let product: f64 = pairs.map(|(x, y)| x * y).sum();
                shared.push((a * n_shared + b, -product));
            }
        }
        Some(Self { n, factor, border: solved })
    }
}

/// An information matrix that grows block by block.
pub(super) struct Arrowhead {
    n_shared: usize,
    /// The information on the shared parameters, `n_shared` by `n_shared`; what is pushed is
    /// eliminated from it.
    pub(super) shared: Vec<f64>,
    /// The information on each shared parameter that was eliminated.
    eliminated: Vec<f64>,
    blocks: Vec<Option<BlockSolution>>,
}

/// Variances of shared parameters, and of each block. Infinite without information; `None` for a
/// block that is singular, and for all blocks if the shared parameters are singular.
pub(super) struct Variances {
    pub(super) shared: Vec<f64>,
    pub(super) blocks: Vec<Option<Vec<f64>>>,
}

impl Variances {
    /// The variances of the parameters at a point: one for each row of each block, perhaps a second
    /// one for each row, and the shared ones. Infinite at 0 and 1.
    pub(super) fn by_parameter<'a>(
        self,
        at: &[f64],
        rows: impl DoubleEndedIterator<Item = &'a Range<usize>> + Clone,
    ) -> Vec<f64> {
        let n_rows = rows.clone().next_back().map_or(0, |last| last.end);
        let mut variances = vec![f64::INFINITY; at.len() - self.shared.len()];
        for (rows, block) in rows.zip(self.blocks) {
            let Some(block) = block else { continue };
            let (first, second) = block.split_at(rows.len());
            variances[rows.clone()].copy_from_slice(first);
            let of_second = variances.iter_mut().skip(n_rows + rows.start);
            of_second.zip(second).for_each(|(to, variance)| *to = *variance);
        }
        variances.extend(self.shared);
        let edges = variances.iter_mut().zip(at).filter(|(_, p)| !(**p > 0.0 && **p < 1.0));
        edges.for_each(|(variance, _)| *variance = f64::INFINITY);
        variances
    }
}

impl Arrowhead {
    pub(super) fn new(n_shared: usize) -> Self {
        let shared = vec![0.0; n_shared * n_shared];
        Self { n_shared, shared, eliminated: vec![0.0; n_shared], blocks: Vec::new() }
    }

    /// Adds blocks that are made on all cores from the elements, of which `size_of` tells how long
    /// it takes. `None` is a block that was not computed, or is singular.
    pub(super) fn push_all<T: Sync>(
        &mut self,
        elements: &[T],
        size_of: impl Fn(&T) -> usize,
        block: impl Fn(&T, &mut SharedTerms) -> Option<Block> + Sync,
    ) {
        let n_shared = self.n_shared;
        let solve = |range: Range<usize>| {
            let mut shared = SharedTerms::new();
            let mut solved =
                |element: &T| BlockSolution::new(block(element, &mut shared)?, n_shared, &mut shared);
            (elements[range].iter().map(&mut solved).collect::<Vec<_>>(), shared)
        };
        in_order_each(tasks_of(elements, SIZE_OF_A_TASK, size_of), solve, |(blocks, shared)| {
            for (place, term) in shared {
                self.shared[place] += term;
                if place % (n_shared + 1) == 0 {
                    self.eliminated[place / (n_shared + 1)] += (-term).max(0.0);
                }
            }
            self.blocks.extend(blocks);
        });
    }

    pub(super) fn variances(self) -> Variances {
        let Self { n_shared, mut shared, eliminated, blocks } = self;
        let nothing = Variances {
            shared: vec![f64::INFINITY; n_shared],
            blocks: blocks.iter().map(|_| None).collect(),
        };
        if n_shared > 0 && blocks.iter().any(Option::is_none) {
            return nothing;
        }
        // A shared parameter without information is made independent of the others.
        let is_unknown = |(left, eliminated): (&f64, &f64)| *left <= ROUNDING * (left + eliminated);
        let unknown: Vec<bool> =
            shared.iter().step_by(n_shared + 1).zip(&eliminated).map(is_unknown).collect();
        for a in (0..n_shared).filter(|&a| unknown[a]) {
            for other in 0..n_shared {
                shared[a * n_shared + other] = 0.0;
                shared[other * n_shared + a] = 0.0;
            }
            shared[a * n_shared + a] = 1.0;
        }
        let Some(factor) = Cholesky::new(n_shared, shared) else { return nothing };
        let of_shared = factor.inverse_diagonal().into_iter().zip(&unknown);
        let shared =
            of_shared.map(|(variance, &unknown)| if unknown { f64::INFINITY } else { variance }).collect();
        let of_block = |BlockSolution { n, factor: of_block, border }: BlockSolution| {
            let mut common = Vec::with_capacity(n_shared);
            let with_shared = |(own, alone): (usize, f64)| {
                common.clear();
                common.extend((0..n_shared).map(|b| if unknown[b] { 0.0 } else { border[b * n + own] }));
                alone + factor.form(&mut common)
            };
            of_block.inverse_diagonal().into_iter().enumerate().map(with_shared).collect()
        };
        let of_blocks = |blocks: Vec<Option<BlockSolution>>| -> Vec<_> {
            blocks.into_iter().map(|block| block.map(of_block)).collect()
        };
        let mut blocks = blocks.into_iter();
        let mut tasks = Vec::new();
        while blocks.len() > 0 {
            tasks.push(blocks.by_ref().take(BLOCKS_OF_A_TASK).collect());
        }
        Variances { shared, blocks: in_order(tasks, of_blocks).into_iter().flatten().collect() }
    }
}
