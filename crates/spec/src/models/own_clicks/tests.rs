use super::*;
use sim::Streams;

fn items(list: [u32; 3]) -> Vec<ItemId> {
    list.map(ItemId::new).to_vec()
}

fn mean_and_deviation(own: &OwnClicks, list: [u32; 3], beyond: f64) -> [f64; 2] {
    let list: Ranking = items(list).into_iter().collect();
    let mut rng = Streams::new(7).subset(1, 1);
    let n = 20_000.0;
    let draws: Vec<f64> = (0..20_000).map(|_| own.draw(&list, beyond, &mut rng)).collect();
    let mean = draws.iter().sum::<f64>() / n;
    [mean, sqrt(draws.iter().map(|draw| (draw - mean) * (draw - mean)).sum::<f64>() / n)]
}

/// A list that was shown is pulled to its own clicks, by the variances; one far from all that were
/// shown varies more.
#[test]
fn deviations_follow_the_own_clicks_of_a_list_and_its_distance() {
    let lists = [(items([0, 1, 2]), [100, 100]), (items([1, 0, 2]), [300, 540])];
    let own = OwnClicks::new(lists, 0.04, 1.0);
    // .04 / (.04 + 1/100 - 1/400) of 1 - 1.6 - .1, beside the prediction of .1 more.
    let weight = 0.04 / 0.0475;
    let [mean, deviation] = mean_and_deviation(&own, [0, 1, 2], 0.1);
    assert!((mean + 0.7 * weight).abs() < 0.004, "{mean}");
    assert!((deviation - sqrt(0.04 * (1.0 - weight))).abs() < 0.002, "{deviation}");
    // Two positions and one pair are new: items 2 and 0, and 2 above 0.
    let [mean, deviation] = mean_and_deviation(&own, [1, 2, 0], 0.1);
    assert!(mean.abs() < 0.01, "{mean}");
    assert_eq!(own.distance(&items([1, 2, 0]).into_iter().collect()), 3);
    assert!((deviation - sqrt(0.07)).abs() < 0.005, "{deviation}");
    assert!(own.is_needed() && !OwnClicks::default().is_needed());
}
