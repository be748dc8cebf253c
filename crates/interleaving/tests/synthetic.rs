//! The synthetic collection.

use interleaving::{Error, Query, Synthetic, letor};

#[test]
fn the_collection_is_as_described() {
    let queries = Synthetic::default().queries().unwrap();
    assert_eq!(queries.len(), 100);
    for query in &queries {
        assert_eq!((query.n_documents(), query.n_features()), (100, 64));
        assert!(query.labels().contains(&1) && query.labels().iter().all(|&label| label < 2));
        for feature in 0..64 {
            let mut values: Vec<f64> = (0..100).map(|document| query.feature(document, feature)).collect();
            values.sort_unstable_by(f64::total_cmp);
            values.dedup();
            assert_eq!((values[0], values[values.len() - 1]), (0.0, 1.0));
            // Counts have ties, the other features hardly ever.
            assert_eq!(values.len() < 15, feature % 4 == 3);
        }
    }
}

/// A change here changes all results on the default collection.
#[test]
fn the_collection_is_what_it_always_was() {
    let queries = Synthetic::default().queries().unwrap();
    let relevant = |query: &Query| query.labels().iter().map(|&label| u32::from(label)).sum::<u32>();
    assert_eq!(queries.iter().map(relevant).sum::<u32>(), 592);
    let values = [(0, 0, 0), (41, 7, 48), (99, 99, 63)]
        .map(|(query, document, feature): (usize, usize, usize)| queries[query].feature(document, feature));
    assert_eq!(values, [0.749_729, 0.655_297, 0.4]);
}

#[test]
fn sizes_are_checked() {
    let good = Synthetic { n_queries: 1, n_documents: 1, n_features: 1, seed: 1 };
    assert!(good.queries().is_ok());
    for bad in [
        Synthetic { n_queries: 0, ..good },
        Synthetic { n_documents: 0, ..good },
        Synthetic { n_features: 0, ..good },
        Synthetic { n_features: letor::MAX_FEATURES + 1, ..good },
        Synthetic { n_queries: usize::MAX, n_documents: 2, ..good },
    ] {
        assert!(matches!(bad.queries(), Err(Error::CollectionSize { .. })));
    }
}
