//! Draws of events with a known probability, as a comparison of integers.

use confidence::Probability;
use rand::Rng;

/// A uniform draw has this number of bits.
const BITS: u32 = 53;

/// A probability, as a limit for the upper bits of a random word.
///
/// `rng.random::<f64>()` is `k / 2^53` for the upper 53 bits `k` of a word. It is below a probability `p` if `k < p 2^53`. That product is
/// exact, and for an integer `k` it may be rounded up. So the event is the same, without a conversion for each draw.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Threshold(u64);

impl Threshold {
    pub(crate) fn new(probability: Probability) -> Self {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "an integer from 0 to 2^53"
        )]
        let limit = (probability.get() * (1_u64 << BITS) as f64).ceil() as u64;
        Self(limit)
    }

    /// Draws whether the event happens: whether `rng.random::<f64>()` is below the probability.
    #[inline]
    pub(crate) fn is_above<R: Rng + ?Sized>(self, rng: &mut R) -> bool {
        rng.next_u64() >> (u64::BITS - BITS) < self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus;
    use std::convert::Infallible;

    /// Always returns the same word.
    struct Fixed(u64);

    impl rand::TryRng for Fixed {
        type Error = Infallible;

        fn try_next_u32(&mut self) -> Result<u32, Infallible> {
            unimplemented!("a uniform draw takes 64 bits")
        }

        fn try_next_u64(&mut self) -> Result<u64, Infallible> {
            Ok(self.0)
        }

        fn try_fill_bytes(&mut self, _: &mut [u8]) -> Result<(), Infallible> {
            unimplemented!("a uniform draw takes 64 bits")
        }
    }

    /// For each probability, words around its limit, and random ones. A limit rounded down would fail.
    #[test]
    fn events_are_those_of_floating_point() {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
        let mut differ = 0;
        for case in 0..20_000 {
            let p = match case {
                0 => 0.0,
                1 => 1.0,
                2 => f64::MIN_POSITIVE,
                3 => 5e-324,
                4 => 1.0 - f64::EPSILON / 2.0,
                _ if case % 2 == 0 => rng.random(),
                _ => rng.random::<f64>() / (1_u64 << rng.random_range(0..60)) as f64,
            };
            let threshold = Threshold::new(Probability::new(p).expect("a probability"));
            let near = (0..6).map(|off| (threshold.0 + off).saturating_sub(3).min((1 << 53) - 1));
            for draw in near.chain([rng.random_range(0..1 << 53)]) {
                let word = draw << 11 | rng.random_range(0..1 << 11);
                let expected = Fixed(word).random::<f64>() < p;
                assert_eq!(threshold.is_above(&mut Fixed(word)), expected, "{p}, {draw}");
                #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 2^53")]
                let rounded_down = Threshold((p * (1_u64 << 53) as f64) as u64);
                differ += u32::from(rounded_down.is_above(&mut Fixed(word)) != expected);
            }
        }
        assert!(differ > 100, "{differ}");
    }
}
