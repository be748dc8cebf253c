use super::*;
use rand::Rng;

/// A change here changes all saved estimates.
#[test]
fn streams_are_stable() {
    assert_eq!(stream(1, Role::Ties, 0).next_u64(), 6_532_656_267_946_169_483);
    assert_eq!(stream(1, Role::Pair, 7).next_u64(), 1_817_936_684_782_829_357);
}
