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
