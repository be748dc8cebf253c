use super::*;
use quickcheck::quickcheck;
use std::convert::Infallible;

/// A generator that always returns the same number.
struct Constant(u64);

impl rand::TryRng for Constant {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        #[expect(clippy::cast_possible_truncation, reason = "the lower half")]
        Ok(self.0 as u32)
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        Ok(self.0)
    }

    fn try_fill_bytes(&mut self, _: &mut [u8]) -> Result<(), Infallible> {
        Ok(())
    }
}

quickcheck! {
    /// For any remaining ranks, also at the ends of the unit interval, the drawn rank is one of
    /// them.
    fn what_is_drawn_is_left(n_documents: u8, removals: Vec<u8>, number: u64) -> bool {
        let n_documents = usize::from(n_documents) + 1;
        let mut method = Probabilistic::default();
        method.extend(n_documents);
        let mut left = RemainingRanks::everything(method.below[n_documents]);
        for rank in removals.into_iter().take(63) {
            let rank = u32::from(rank);
            let removed = &left.removed[..left.n_removed];
            if (rank as usize) < n_documents && !removed.contains(&rank) && left.n_removed + 1 < n_documents {
                left.remove(rank, method.weight[rank as usize]);
            }
        }
        let removed = &left.removed[..left.n_removed];
        [0, number, u64::MAX].into_iter().all(|number| {
            let rank = method.draw(n_documents, &left, &mut Constant(number));
            rank < n_documents && !removed.iter().any(|&taken| taken as usize == rank)
        })
    }
}

/// No rank is lost at the boundary between scan and search.
#[test]
fn a_target_finds_its_rank() {
    let mut method = Probabilistic::default();
    method.extend(1000);
    for n_documents in [1, 2, 15, 16, 17, 18, 1000] {
        for rank in 0..n_documents {
            assert_eq!(method.rank_at(n_documents, method.below[rank]), rank);
            let middle = 0.5 * (method.below[rank] + method.below[rank + 1]);
            assert_eq!(method.rank_at(n_documents, middle), rank);
        }
        assert_eq!(method.rank_at(n_documents, 2.0), n_documents - 1);
    }
}
