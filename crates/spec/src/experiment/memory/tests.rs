use super::*;

fn size(runs: u64, policies: u64, checkpoints: usize) -> Size {
    Size { runs, policies, checkpoints: Some(checkpoints) }
}

#[test]
fn the_memory_of_runs_depends_on_where_they_are_recorded() {
    assert_eq!(size(10, 3, 200).of_runs(false), 10.0 * (32.0 + 3.0 * 24.0));
    assert_eq!(size(10, 3, 200).of_runs(true), 10.0 * (32.0 + 3.0 * (24.0 + 2.0 * 3216.0)));
    // 100,000 runs of ten policies at 200 checkpoints: far below 500 MB in a journal.
    assert!(size(100_000, 10, 200).of_runs(false) + size(100_000, 10, 200).of_summaries() < 5e7);
}

#[test]
fn one_run_more_than_the_limit_is_refused() {
    // Each run takes 56 bytes, besides the summaries of one policy.
    let fits = 153_391_610;
    let bytes = fits as f64 * 56.0 + size(1, 1, 1).of_summaries();
    assert!(bytes <= LIMIT && bytes + 56.0 > LIMIT, "{bytes}");
    assert_eq!(size(fits, 1, 1).too_large(false), None);
    assert_eq!(
        size(fits + 1, 1, 1).too_large(false).unwrap(),
        "153391611 runs of 1 policy at 1 checkpoint take about 9 GiB of memory, more than 8 GiB: reduce runs or policies"
    );
    let fault = size(fits, 1, 1).too_large(true).unwrap();
    assert!(
        fault.ends_with("give a directory for the runs, or reduce runs, policies or checkpoints"),
        "{fault}"
    );
}

#[test]
fn many_policies_are_refused_for_their_pairs() {
    let fault = size(1, 10_000, 200).too_large(false).unwrap();
    assert!(fault.ends_with("more than 8 GiB: reduce policies or checkpoints"), "{fault}");
    assert_eq!(size(1000, 20, 200).too_large(true), None);
}

#[test]
fn answers_have_no_checkpoints() {
    let fault = Size { checkpoints: None, ..size(1 << 40, 3, 1) }.too_large(false).unwrap();
    assert!(fault.starts_with("1099511627776 runs of 3 policies take about"), "{fault}");
    assert!(fault.ends_with("more than 8 GiB: reduce runs or policies"), "{fault}");
}

#[test]
fn the_largest_counts_are_refused_without_overflow() {
    assert!(size(u64::MAX, u64::MAX, usize::MAX).too_large(true).is_some());
    assert!(size(1, u64::MAX, 10_000).too_large(false).is_some());
}
