use super::*;
use crate::fit::{Options, Purpose};
use log_reader::{Format, Reader};

/// All searches together have a limit, after which no query's best list is searched.
#[test]
fn searches_end_at_their_limit() {
    let mut log = "query\turls\tclicked_mask\n".to_owned();
    for query in 0..5 {
        log += &["a,b,c\t100", "b,c,a\t010", "c,a,b\t001"].map(|list| format!("q{query}\t{list}\n")).concat();
    }
    let read = Reader::new(Format::Sessions).keep_sessions().read("log.tsv", log.as_bytes()).unwrap();
    let fitted = position_based::by_last_click(&read.sessions, &Options::default(), Purpose::default());
    let beginnings = |query: &QueryFit| {
        fitted.users(query, 3).and_then(Users::model::<UserBrowsing>).unwrap().beginnings()
    };
    let of_two: u64 = fitted.queries()[..2].iter().map(beginnings).sum();
    assert!(of_two > 1);
    let found = |most| n_not_found(&fitted, &read.counts, most);
    // The search that passes the limit is the last one.
    assert_eq!([MOST_TRIED, of_two, of_two - 1, 0].map(found), [0, 2, 3, 4]);
}
