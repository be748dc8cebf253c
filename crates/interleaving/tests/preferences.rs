//! Estimated preferences are correct and independent of the number of threads.
//!
//! Statistical checks are exact binomial tests on fixed seeds; a right implementation fails one
//! with probability at most 1e-6.

use crate::support::{is_rare, ranking};
use interleaving::{
    Error, Estimation, Method, Preferences, Query, RankedCollection, RankedQuery, ScanningUser, Settings,
    Synthetic, Tally,
};
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use std::sync::atomic::{AtomicUsize, Ordering};

fn small() -> RankedCollection {
    let queries = Synthetic { n_queries: 7, n_documents: 12, n_features: 6, seed: 5 }.queries().unwrap();
    RankedCollection::by_features(&queries, &[0, 1, 2, 3, 4, 5], 2).unwrap()
}

fn settings(method: Method) -> Settings {
    Settings { method, comparisons_per_pair: 300, ..Settings::default() }
}

fn run(estimation: &Estimation<'_>, threads: usize) -> Preferences {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    pool.install(|| estimation.preferences(|| ()))
}

#[test]
fn threads_do_not_change_a_tally() {
    let rankers = small();
    for method in [Method::Balanced, Method::TeamDraft, Method::Probabilistic] {
        let estimation = Estimation::new(&rankers, settings(method)).unwrap();
        let found = run(&estimation, 1);
        assert_eq!(found, run(&estimation, 4));
        let pairs = AtomicUsize::new(0);
        let counted = estimation.preferences(|| _ = pairs.fetch_add(1, Ordering::Relaxed));
        assert_eq!((&counted, pairs.into_inner()), (&found, estimation.n_pairs()));
        assert_eq!(estimation.compare(2, 5), found.tally(2, 5));
        let other = Estimation::new(&rankers, Settings { seed: 9, ..settings(method) }).unwrap();
        assert_ne!(found, run(&other, 1));
    }
}

/// A change here changes all published estimates.
#[test]
fn tallies_are_stable() {
    let rankers = small();
    let tally = |method| {
        let Tally { first, second, ties } =
            run(&Estimation::new(&rankers, settings(method)).unwrap(), 2).tally(1, 4);
        (first, second, ties)
    };
    assert_eq!(tally(Method::Balanced), (176, 111, 13));
    assert_eq!(tally(Method::TeamDraft), (165, 118, 17));
    assert_eq!(tally(Method::Probabilistic), (172, 124, 4));
}

#[test]
fn a_matrix_is_skew() {
    let preferences = run(&Estimation::new(&small(), settings(Method::TeamDraft)).unwrap(), 2);
    let matrix = preferences.matrix();
    for (i, row) in matrix.iter().enumerate() {
        assert_eq!((row.len(), row[i]), (6, 0.5));
        for (j, &p) in row.iter().enumerate() {
            let Tally { first, second, ties } = preferences.tally(i, j);
            assert!((p + matrix[j][i] - 1.0).abs() < 1e-15);
            assert_eq!(preferences.tally(j, i), Tally { first: second, second: first, ties });
            assert_eq!(first + second + ties, if i == j { 0 } else { 300 });
        }
    }
}

/// With one document shown, one relevant document and a perfect user, the probabilities of wins and
/// ties can be computed by hand.
#[test]
fn tallies_have_the_probabilities_computed_by_hand() {
    let query = RankedQuery::new(vec![0, 1, 0], vec![ranking(&[1, 0, 2]), ranking(&[0, 2, 1])]).unwrap();
    let rankers = RankedCollection::new(vec![query]).unwrap();
    let n = 200_000;
    let tally = |method| {
        let user = ScanningUser::perfect();
        let settings = Settings { method, user, comparisons_per_pair: n, list_length: 1, seed: 3 };
        run(&Estimation::new(&rankers, settings).unwrap(), 1).tally(0, 1)
    };
    // The relevant document is shown if the first ranker is the one that picks, and is credit for
    // it.
    for method in [Method::Balanced, Method::TeamDraft] {
        let tally = tally(method);
        assert!(tally.second == 0 && !is_rare(tally.first, n, 0.5, 2), "{tally:?}");
    }
    // It is drawn from rank 1 or from rank 3, each of 1 + 1/8 + 1/27.
    let all = 1.0 + 1.0 / 8.0 + 1.0 / 27.0;
    let tally = tally(Method::Probabilistic);
    let shown = 0.5 * (1.0 + 1.0 / 27.0) / all;
    assert!(tally.second == 0 && !is_rare(tally.first, n, shown, 2), "{tally:?}");
    // A softmax with squares instead of cubes would fail.
    assert!(is_rare(tally.first, n, 0.5 * (1.0 + 1.0 / 9.0) / (1.0 + 1.0 / 4.0 + 1.0 / 9.0), 2));
}

#[test]
fn counts_are_one_for_each_pair() {
    let tallies = |n| vec![Tally { first: 3, second: 1, ties: 0 }; n];
    assert_eq!(Preferences::new(3, tallies(3)).unwrap().probability(2, 1), 0.25);
    assert_eq!(Preferences::new(3, tallies(2)), Err(Error::Tallies { found: 2, expected: 3 }));
    for n_rankers in [0, 1, usize::MAX] {
        assert_eq!(Preferences::new(n_rankers, tallies(1)), Err(Error::Rankers(n_rankers)));
    }
}

#[test]
fn settings_are_checked() {
    let rankers = small();
    let refused = |settings| Estimation::new(&rankers, settings).unwrap_err();
    assert_eq!(refused(Settings { list_length: 0, ..Settings::default() }), Error::ListLength(0));
    assert_eq!(refused(Settings { list_length: 65, ..Settings::default() }), Error::ListLength(65));
    assert_eq!(refused(Settings { comparisons_per_pair: 0, ..Settings::default() }), Error::NoComparisons);
}

#[test]
fn rankers_are_checked() {
    let queries = Synthetic { n_queries: 2, n_documents: 3, n_features: 2, seed: 1 }.queries().unwrap();
    assert_eq!(RankedCollection::by_features(&[], &[0, 1], 1), Err(Error::NoQueries));
    assert_eq!(RankedCollection::by_features(&queries, &[0], 1), Err(Error::Rankers(1)));
    let many = vec![0; 1 << 30];
    assert!(matches!(RankedCollection::by_features(&queries, &many, 1), Err(Error::TooManyPlaces { .. })));
    let two = || vec![ranking(&[0, 1]), ranking(&[1, 0])];
    assert!(matches!(RankedQuery::new(vec![0], two()), Err(Error::DifferentDocuments { .. })));
    let three = RankedQuery::new(vec![0, 1], [two(), vec![ranking(&[0, 1])]].concat()).unwrap();
    let queries = vec![RankedQuery::new(vec![0, 1], two()).unwrap(), three];
    assert_eq!(
        RankedCollection::new(queries),
        Err(Error::DifferentRankers { query: 1, found: 3, expected: 2 })
    );
    for id in ["", "a b", "a#", "a\n"] {
        assert_eq!(Query::new(id, vec![1], &[&[1.0]]), Err(Error::QueryName(id.to_owned())));
    }
    assert!(Query::new("a", vec![1], &[&[f64::NAN]]).is_err());
    assert!(Query::new("a", vec![1], &[]).is_err());
    assert!(Query::new("a", vec![], &[]).is_err());
}

/// Ties are broken at random, not by the order of the file, and in the same way for rankers with
/// equal values.
#[test]
fn ties_are_random_and_shared() {
    let n = 4000;
    let rows = [[0.0, 1.0, 1.0], [0.0, 1.0, 1.0], [-0.0, 2.0, 2.0]];
    let rows: Vec<&[f64]> = rows.iter().map(<[f64; 3]>::as_slice).collect();
    let queries: Vec<Query> =
        (0..n).map(|number| Query::new(format!("{number}"), vec![0, 0, 1], &rows).unwrap()).collect();
    let ranked = RankedCollection::by_features(&queries, &[0, 1, 2], 1).unwrap();
    let mut on_top = [0_u64; 3];
    let mut ahead = 0;
    for query in ranked.queries() {
        let [all_equal, first, second] = query.rankings() else { panic!("three rankers") };
        on_top[all_equal.order()[0] as usize] += 1;
        assert_eq!((first, first.order()[0]), (second, 2));
        ahead += u64::from(first.order()[1] == 0);
        // The same order of 0 and 1 wherever they tie.
        assert_eq!(all_equal.rank()[0] < all_equal.rank()[1], first.rank()[0] < first.rank()[1]);
    }
    assert!(on_top.iter().all(|&count| !is_rare(count, n, 1.0 / 3.0, 4)), "{on_top:?}");
    assert!(!is_rare(ahead, n, 0.5, 4), "{ahead}");
}

/// Clicks of the published users match their tables: the click rate of the second document depends
/// on all parameters.
#[test]
fn users_click_with_the_published_probabilities() {
    let users = [
        (ScanningUser::perfect(), [0.0, 1.0], [0.0, 0.0]),
        (ScanningUser::navigational(), [0.05, 0.95], [0.2, 0.9]),
        (ScanningUser::informational(), [0.4, 0.9], [0.1, 0.5]),
        (ScanningUser::new(&[0.1, 0.5, 0.7], &[0.9, 0.5, 0.3]).unwrap(), [0.1, 0.7], [0.9, 0.3]),
    ];
    let n = 100_000;
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(11);
    let mut never_stops_is_noticed = 0;
    for (user, click, stop) in users {
        // Grade 4 counts as the last one a user has, 1 or 2.
        for labels in [[0, 0], [0, 4], [4, 0], [4, 4]] {
            let mut second = 0;
            for _ in 0..n {
                let clicks = user.scan(labels, &mut rng);
                assert_eq!(clicks.len(), 2);
                second += u64::from(clicks.get(1));
            }
            let [above, below] = labels.map(|label| usize::from(label > 0));
            let expected = click[below] * (1.0 - click[above] * stop[above]);
            assert!(!is_rare(second, n, expected, 16), "{labels:?}: {second}, {expected}");
            never_stops_is_noticed += u32::from(is_rare(second, n, click[below], 16));
        }
    }
    assert!(never_stops_is_noticed >= 10, "{never_stops_is_noticed}");
    assert_eq!(ScanningUser::navigational().scan([1; 100], &mut rng).len(), 64);
    assert!(ScanningUser::new(&[], &[]).is_err() && ScanningUser::new(&[0.5], &[0.5, 0.5]).is_err());
}
