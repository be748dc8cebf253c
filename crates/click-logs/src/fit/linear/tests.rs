use super::*;

#[test]
fn factor_solves_inverts_and_refuses_singular_matrices() {
    // [4 2; 2 5] (1, 2) = (8, 12); the inverse is [5 -2; -2 4] / 16.
    let factor = Cholesky::new(2, vec![4.0, f64::NAN, 2.0, 5.0]).unwrap();
    let mut right = [8.0, 12.0];
    factor.solve(&mut right);
    assert!((right[0] - 1.0).abs() < 1e-15 && (right[1] - 2.0).abs() < 1e-15);
    let diagonal = factor.inverse_diagonal();
    assert!((diagonal[0] - 5.0 / 16.0).abs() < 1e-15 && (diagonal[1] - 0.25).abs() < 1e-15);
    assert!((factor.half_ln_determinant() - ln(4.0)).abs() < 1e-15);
    // (5 - 4 + 4) / 16
    assert!((factor.form(&mut [1.0, 1.0]) - 5.0 / 16.0).abs() < 1e-15);
    assert!(Cholesky::new(2, vec![1.0, 0.0, 1.0, 1.0]).is_none(), "singular");
}

/// The zeros of unit vectors are left out: the diagonal has the bits of whole vectors.
#[test]
fn the_diagonal_of_the_inverse_has_the_bits_of_whole_vectors() {
    let n = 7;
    let entry = |a: usize, b: usize| if a == b { 9.0 + a as f64 } else { 1.0 / (1 + a + b) as f64 - 0.3 };
    let matrix = (0..n * n).map(|place| entry(place / n, place % n)).collect();
    let factor = Cholesky::new(n, matrix).unwrap();
    for (at, element) in factor.inverse_diagonal().into_iter().enumerate() {
        let mut unit = vec![0.0; n];
        unit[at] = 1.0;
        assert_eq!(element.to_bits(), factor.form(&mut unit).to_bits());
    }
}
