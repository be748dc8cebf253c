use super::*;

/// Two of a million names share one of 2^63 hashes with probability 5e-8.
#[test]
fn names_do_not_share_hashes() {
    let hash = TextHash { key: 1 };
    for form in ["/1", "/213 ", " red shoes", "abcdefg/12"] {
        let mut hashes: Vec<u64> =
            (0..1_000_000).map(|n| hash.of(format!("{n}{form}").as_bytes()) | TEXT).collect();
        hashes.sort_unstable();
        hashes.dedup();
        assert_eq!(hashes.len(), 1_000_000, "{form}");
    }
}
