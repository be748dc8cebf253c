use super::*;

#[test]
fn results_are_in_the_order_of_the_tasks() {
    let squares = in_order((0..1000_u64).collect(), |number| number * number);
    assert!(squares.into_iter().eq((0..1000).map(|number| number * number)));
}

/// A sum of terms of all magnitudes has the bits of one loop, for any number of threads. Added
/// up as the threads deliver it, or task by task, it has other bits.
#[test]
fn sums_have_the_bits_of_one_loop() {
    let term = |number: usize| libm::sin(number as f64) * libm::pow(10.0, (number % 9) as f64);
    let n = 3 * TERMS_OF_A_TASK + 5;
    let expected = (0..n).map(term).fold(0.0, |sum, term| sum + term);
    assert_eq!(sum_in_order(n, term).to_bits(), expected.to_bits());
    let tasks = || (0..n).step_by(100).map(|start| start..n.min(start + 100)).collect();
    let terms = |range: Range<usize>| range.map(term).collect::<Vec<f64>>();
    for threads in [1, 2, 7] {
        let mut sum = 0.0;
        each_on_threads(threads, tasks(), &terms, &mut |terms| {
            for term in terms {
                sum += term;
            }
        });
        assert_eq!(sum.to_bits(), expected.to_bits(), "{threads} threads");
    }
    let (mut reversed, mut by_task) = (0.0, 0.0);
    each_on_threads(2, tasks().into_iter().rev().collect(), &terms, &mut |terms| {
        reversed = terms.into_iter().fold(reversed, |sum, term| sum + term);
    });
    each_on_threads(2, tasks(), &terms, &mut |terms| by_task += terms.iter().sum::<f64>());
    assert!(reversed.to_bits() != expected.to_bits() && by_task.to_bits() != expected.to_bits());
    assert_eq!(sum_in_order(0, term), 0.0);
}

#[test]
fn tasks_are_of_a_size_and_leave_nothing_out() {
    let sizes = [3, 0, 1, 9, 2, 2, 2, 0];
    assert_eq!(tasks_of(&sizes, 4, |&size| size), [0..3, 3..4, 4..6, 6..8]);
    assert_eq!(tasks_of(&sizes, 1 << 20, |&size| size), vec![0..8]);
    assert!(tasks_of(&[], 4, |&size: &usize| size).is_empty());
    let mut numbers = [1, 2, 3, 4];
    assert_eq!(cut(&mut numbers, [1, 0, 3].into_iter()), [&[1][..], &[], &[2, 3, 4]]);
}
