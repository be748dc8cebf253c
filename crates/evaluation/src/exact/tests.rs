use super::*;

fn sums(terms: impl Iterator<Item = f64>) -> ExactSums {
    let mut sums = ExactSums::new(1);
    terms.for_each(|term| sums.add(0, term));
    sums
}

#[test]
fn a_sum_is_exact_and_does_not_depend_on_the_order() {
    // In floating point, one by one, the small terms would be lost.
    let terms: Vec<f64> = std::iter::once(1e17).chain((0..1000).map(|n| 0.1 * f64::from(n % 3))).collect();
    let expected = 1e17 + 99.9;
    let forward = sums(terms.iter().copied());
    assert_eq!(forward.get(0), expected);
    assert_eq!(sums(terms.iter().rev().copied()).get(0), expected);
    assert_ne!(terms.iter().sum::<f64>(), expected);

    let (mut first, second) = (sums(terms[..300].iter().copied()), sums(terms[300..].iter().copied()));
    first.merge(&second);
    assert_eq!(first.get(0), expected);
}

#[test]
fn every_exponent_has_a_bin() {
    for term in [0.0, f64::from_bits(1), f64::MIN_POSITIVE, 1e-200, 0.1, 1.0, 3e200, f64::MAX] {
        assert_eq!(sums([term].into_iter()).get(0), term);
    }
    assert_eq!(sums([f64::INFINITY].into_iter()).get(0), f64::MAX);
    let half = sums([f64::from_bits(3); 2].into_iter());
    assert_eq!(half.get(0), f64::from_bits(6));
}
