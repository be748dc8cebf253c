//! Random streams in lockstep: the generator of every lane, one word of their states in a row.

#![expect(
    clippy::inline_always,
    reason = "only what is inlined is compiled for the vector instructions of the caller"
)]

use crate::SimRng;
use policies::LANES;
use std::array;

/// The streams of all lanes. Each gives the numbers of its [`SimRng`].
#[derive(Debug, Clone)]
pub(super) struct StreamLanes {
    state: [[u64; LANES]; 4],
}

impl StreamLanes {
    pub(super) fn new(streams: [SimRng; LANES]) -> Self {
        let states = streams.map(|stream| {
            let bytes = postcard::to_allocvec(&stream).expect("four numbers");
            postcard::from_bytes::<[u64; 4]>(&bytes).expect("four numbers")
        });
        Self { state: array::from_fn(|word| states.map(|state| state[word])) }
    }

    /// The next number of a lane's stream, by the recurrence of Xoshiro256++ (Blackman and Vigna 2021).
    #[inline(always)]
    pub(super) fn next(&mut self, lane: usize) -> u64 {
        let [first, second, third, fourth] = &mut self.state;
        let (a, b, c, d) = (first[lane], second[lane], third[lane], fourth[lane]);
        let (mixed_c, mixed_d) = (c ^ a, d ^ b);
        first[lane] = a ^ mixed_d;
        second[lane] = b ^ mixed_c;
        third[lane] = mixed_c ^ (b << 17);
        fourth[lane] = mixed_d.rotate_left(45);
        a.wrapping_add(d).rotate_left(23).wrapping_add(a)
    }

    /// The next uniform number of a lane's stream, from 0 to below 1, as `rng.random::<f64>()` draws it: the upper 53 bits.
    #[inline(always)]
    pub(super) fn uniform(&mut self, lane: usize) -> f64 {
        // Without a conversion, which vectors lack before AVX-512. The upper 52 bits are the fraction of a number from 1 to 2, and the
        // last one is that of a number from 1/2 on. Sums and differences are exact.
        let bits = self.next(lane);
        let upper = f64::from_bits((bits >> 12) | 1.0_f64.to_bits()) - 1.5;
        let last = f64::from_bits(((bits >> 11) & 1) | 0.5_f64.to_bits());
        upper + last
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Streams;
    use rand::{Rng, RngExt};

    #[test]
    fn lanes_give_the_numbers_of_their_streams() {
        let mut alone: [SimRng; LANES] = array::from_fn(|lane| Streams::new(7).environment(lane as u64));
        let mut lanes = StreamLanes::new(alone.clone());
        for _ in 0..1_000 {
            for (lane, stream) in alone.iter_mut().enumerate() {
                assert_eq!(lanes.next(lane), stream.next_u64());
                assert_eq!(lanes.uniform(lane), stream.random::<f64>());
            }
        }
    }
}
