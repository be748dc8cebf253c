use super::*;

#[test]
fn every_pair_has_a_place() {
    for n_rankers in 2..9 {
        let all: Vec<_> = pairs(n_rankers).collect();
        assert_eq!(all.len(), n_rankers * (n_rankers - 1) / 2);
        for (number, (first, second)) in all.into_iter().enumerate() {
            assert_eq!(pair_number(n_rankers, first, second), number);
        }
    }
}
