//! What is held out.
//!
//! Statistical tests have a fixed seed; a right implementation fails a check with probability below 1e-6.

use click_logs::{Format, Reader};

/// A line stands for as many sessions as it has impressions: it is no more held out as a whole than these are. Binomial numbers, within six
/// standard deviations.
#[test]
fn a_line_of_many_impressions_is_cut() {
    let log = "2000\t11820\t17\t901\t4\t2\t1\t55\t6\t7\t8\t9\n0\t1\t17\t902\t4\t2\t2\t55\t6\t7\t8\t9\n";
    let whole = Reader::new(Format::Kdd2012).read("training.txt", log.as_bytes()).unwrap();
    for seed in 0..20 {
        let reader = Reader::new(Format::Kdd2012).hold_out(10, seed).unwrap();
        let log = reader.read("training.txt", log.as_bytes()).unwrap();
        let held_out = log.held_out.unwrap().counts;
        assert_eq!(log.counts.merged(&held_out), whole.counts);
        assert_eq!(log.report, whole.report);
        assert!((1182.0 - held_out.impressions() as f64).abs() < 6.0 * (11_820.0_f64 * 0.09).sqrt());
        assert!((200.0 - held_out.clicks() as f64).abs() < 6.0 * (2000.0_f64 * 0.09).sqrt());
    }
}
