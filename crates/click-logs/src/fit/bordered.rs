//! Variances from an information matrix of blocks, which are coupled by a few shared parameters only.
//!
//! With blocks `A` (one per query), borders `B` and the shared part `S`, the shared parameters have the covariance
//! `V = (S - sum of B A^-1 B')^-1`, and the parameters of a block have `A^-1 + A^-1 B' V B A^-1`.
//!
//! Reference: inversion of a partitioned matrix (Schur complement). Deviations: none. Numerics: [`super::linear`]. Complexity: O(n^3)
//! for a block of `n` parameters.

use super::linear::Cholesky;

/// The information on the `n` parameters of a block, `n` by `n`, and its mixed derivatives with the shared ones, a row for each of these.
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
        for of in 0..n {
            if self.matrix[of * n + of] == 0.0 || !self.matrix[of * n + of].is_finite() {
                for other in 0..n {
                    self.matrix[of * n + other] = 0.0;
                    self.matrix[other * n + of] = 0.0;
                }
                self.border.iter_mut().skip(of).step_by(n).for_each(|of| *of = 0.0);
                self.matrix[of * n + of] = f64::MIN_POSITIVE;
            }
        }
    }
}

/// A factorised block, and its inverse times its border.
struct Solved {
    n: usize,
    factor: Cholesky,
    border: Vec<f64>,
}

/// An information matrix that grows block by block.
pub(super) struct Bordered {
    n_shared: usize,
    /// The information on the shared parameters, `n_shared` by `n_shared`; what is pushed is eliminated from it.
    pub(super) shared: Vec<f64>,
    blocks: Vec<Option<Solved>>,
}

/// Variances of shared parameters, and of each block. Infinite without information; `None` for a block that is singular, and for all
/// blocks if the shared parameters are singular.
pub(super) struct Variances {
    pub(super) shared: Vec<f64>,
    pub(super) blocks: Vec<Option<Vec<f64>>>,
}

impl Bordered {
    pub(super) fn new(n_shared: usize) -> Self {
        Self { n_shared, shared: vec![0.0; n_shared * n_shared], blocks: Vec::new() }
    }

    /// Adds a block; `None` is a block that was not computed.
    pub(super) fn push(&mut self, block: Option<Block>) {
        let solved = block.and_then(|block| self.eliminate(block));
        self.blocks.push(solved);
    }

    /// Subtracts border' inverse border from the shared part.
    fn eliminate(&mut self, block: Block) -> Option<Solved> {
        let Block { n, matrix, border } = block;
        let factor = Cholesky::new(n, matrix)?;
        let mut solved = border.clone();
        for of in 0..self.n_shared {
            factor.solve(&mut solved[of * n..(of + 1) * n]);
        }
        for a in 0..self.n_shared {
            for b in 0..=a {
                let pairs = border[a * n..(a + 1) * n].iter().zip(&solved[b * n..(b + 1) * n]);
                let product: f64 = pairs.map(|(x, y)| x * y).sum();
                self.shared[a * self.n_shared + b] -= product;
            }
        }
        Some(Solved { n, factor, border: solved })
    }

    pub(super) fn variances(self) -> Variances {
        let Self { n_shared, mut shared, blocks } = self;
        let nothing = Variances {
            shared: vec![f64::INFINITY; n_shared],
            blocks: blocks.iter().map(|_| None).collect(),
        };
        if n_shared > 0 && blocks.iter().any(Option::is_none) {
            return nothing;
        }
        // A shared parameter without information is made independent of the others.
        let unknown: Vec<bool> = (0..n_shared).map(|of| shared[of * n_shared + of] <= 0.0).collect();
        for of in (0..n_shared).filter(|&of| unknown[of]) {
            for other in 0..n_shared {
                shared[of * n_shared + other] = 0.0;
                shared[other * n_shared + of] = 0.0;
            }
            shared[of * n_shared + of] = 1.0;
        }
        let Some(factor) = Cholesky::new(n_shared, shared) else { return nothing };
        let of_shared = factor.inverse_diagonal().into_iter().zip(&unknown);
        let shared = of_shared.map(|(of, &unknown)| if unknown { f64::INFINITY } else { of }).collect();
        let of_block = |Solved { n, factor: of_block, border }: Solved| {
            let with_shared = |(of, alone): (usize, f64)| {
                let mut common: Vec<f64> =
                    (0..n_shared).map(|b| if unknown[b] { 0.0 } else { border[b * n + of] }).collect();
                alone + factor.form(&mut common)
            };
            of_block.inverse_diagonal().into_iter().enumerate().map(with_shared).collect()
        };
        Variances { shared, blocks: blocks.into_iter().map(|block| block.map(of_block)).collect() }
    }
}
