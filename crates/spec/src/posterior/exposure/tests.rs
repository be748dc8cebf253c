use super::*;

/// An item of which the fit saw clicks in n impressions under a prior of 5 around .2.
fn item(clicks: f64, n: f64) -> Item {
    ranked_item(clicks, n, 0.2)
}

/// The same around another mean.
fn ranked_item(clicks: f64, n: f64, prior: f64) -> Item {
    let mean = (clicks + 5.0 * prior) / (n + 5.0);
    let deviation = (mean * (1.0 - mean) / (n + 6.0)).sqrt();
    let [clicks, impressions] = [clicks, n].map(|count| num_traits::ToPrimitive::to_u64(&count).unwrap());
    Item { estimate: Uncertain { mean, deviation }, prior, clicks, impressions }
}

#[test]
fn data_are_reconstructed_from_estimates() {
    let own = Own::of(item(30.0, 100.0), 5.0, 400);
    assert!((own.n - 100.0).abs() < 1e-9 && (own.clicks - 30.0).abs() < 1e-9, "{own:?}");
    assert!((own.exposure + libm::log(4.0)).abs() < 1e-12);
}

#[test]
fn seldom_shown_items_are_worse_where_often_shown_ones_are_better() {
    let trend =
        [vec![item(0.0, 0.0), item(5.0, 50.0), item(20.0, 100.0), item(160.0, 400.0), item(600.0, 1500.0)]];
    let found = with_exposure(&trend, 5.0);
    assert!(found[0][0].mean < 0.12, "{:?}", found[0][0]);
    assert!((found[0][4].mean - 0.4).abs() < 0.005 && found[0][0].deviation > 0.05, "{found:?}");
    let flat =
        [vec![item(0.0, 0.0), item(10.0, 50.0), item(20.0, 100.0), item(80.0, 400.0), item(300.0, 1500.0)]];
    let found = with_exposure(&flat, 5.0);
    assert!((found[0][0].mean - 0.2).abs() < 0.01, "{:?}", found[0][0]);
    // Better the seldom shown ones: there is no prior for that.
    let wrong = [vec![item(0.0, 0.0), item(30.0, 50.0), item(30.0, 100.0), item(20.0, 400.0)]];
    assert!(with_exposure(&wrong, 5.0)[0][0].mean > 0.1);
}

/// Items of a ranked log, as often shown each and as attractive as their prior. With a
/// prior of .2 for all, the last would be taken for an item of 120 impressions.
#[test]
fn items_keep_the_prior_means_of_their_positions() {
    let ranked =
        [ranked_item(40.0, 100.0, 0.4), ranked_item(20.0, 100.0, 0.2), ranked_item(4.0, 100.0, 0.04)];
    let found = with_exposure(&[ranked.to_vec()], 5.0);
    for (found, right) in found[0].iter().zip([0.4, 0.2, 0.04]) {
        assert!((found.mean / right - 1.0).abs() < 0.02, "{found:?}");
    }
    let own = ranked.map(|item| Own::of(item, 5.0, 100).n);
    assert!(own.iter().all(|n| (n - 100.0).abs() < 1e-9), "{own:?}");
}

#[test]
fn nothing_known_is_nothing_learned() {
    let found = with_exposure(&[vec![item(0.0, 0.0); 3], vec![]], 0.0);
    assert!(found[0].iter().all(|item| item.mean.is_finite() && item.deviation.is_finite()));
    assert_eq!(found[1].len(), 0);
}
