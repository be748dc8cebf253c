use super::*;
use crate::models::Member;
use crate::models::posterior::Drawn;
use click_models::{ItemId, Ranking};
use sim::Streams;

fn rng(number: u64) -> SimRng {
    Streams::new(11).instance(number)
}

/// The mean over 20,000 equidistant quantiles, and the shares of 0 and 1.
fn moments(estimate: Option<[f64; 2]>) -> [f64; 3] {
    let n = 20_000;
    let slopes = (0..n).map(|k| slope(estimate, (f64::from(k) + 0.5) / f64::from(n)));
    let sums = slopes.fold([0.0; 3], |[sum, zero, one], slope| {
        [sum + slope, zero + f64::from(u8::from(slope == 0.0)), one + f64::from(u8::from(slope == 1.0))]
    });
    sums.map(|sum| sum / f64::from(n))
}

/// Against sums that are written out: with an estimate of .5 +- .25 the densities at 0 and at 1 are
/// both exp(-2), and those between are 1/4 of the integral of exp(-8 (s - 1/2)^2), which is
/// sqrt(pi / 8) erf(sqrt 2) = .59814.
#[test]
fn slopes_have_their_posterior_distribution() {
    let [mean, zero, one] = moments(None);
    assert!((mean - 0.625).abs() < 1e-3 && (zero - 0.25).abs() < 1e-3 && (one - 0.5).abs() < 1e-3);
    let [mean, zero, one] = moments(Some([0.5, 0.25]));
    let (edge, between) = (exp(-2.0), 0.25 * 0.598_14);
    let all = 0.75 * edge + between;
    assert!((zero - 0.25 * edge / all).abs() < 1e-3, "{zero}");
    assert!((one - 0.5 * edge / all).abs() < 1e-3, "{one}");
    assert!((mean - (0.5 * edge + 0.5 * between) / all).abs() < 1e-3, "{mean}");
    // Far outside, and nearly certain.
    assert!(moments(Some([1.4, 0.02]))[2] > 0.999);
    assert!(moments(Some([-3.0, 0.01]))[1] > 0.999);
    assert!((moments(Some([0.3, 0.01]))[0] - 0.3).abs() < 1e-3);
}

fn today(lists: &[(&[u32], u64)], clicks: u64) -> Today {
    let list = |items: &[u32]| items.iter().map(|&item| ItemId::new(item)).collect::<Ranking>();
    Today::new(&Logged::new(lists.iter().map(|(items, n)| (list(items), *n)).collect()).unwrap(), clicks)
}

fn examined(lists: &[Vec<f64>], items: &[usize], out: &mut Vec<f64>) {
    out.clear();
    out.extend(items.iter().zip(&lists[1]).map(|(&item, examined)| lists[0][item] * examined));
}

/// The differences between position-based lists are the slope times as large, and their mean is the
/// log's rate up to its error.
#[test]
fn differences_between_lists_are_pulled_by_the_slope() {
    let lists: [(&[u32], u64); 3] = [(&[0, 1], 5_000), (&[1, 2], 3_000), (&[2, 0], 2_000)];
    let today = today(&lists, 6_000);
    let users = vec![vec![0.5, 0.3, 0.1], vec![1.0, 0.6]];
    let unpulled = today.pulled(examined, users.clone(), 1, 1.0, &mut rng(1));
    let spread = |values: &[f64]| values[0] - values[1];
    let before = spread(&today.values(examined, &unpulled));
    for slope in [0.0, 0.25, 0.6, 1.0] {
        let pulled = today.pulled(examined, users.clone(), 1, slope, &mut rng(1));
        let value = today.value(examined, &pulled);
        assert!(
            (value - today.value(examined, &unpulled)).abs() < 1e-5 && (value - 0.6).abs() < 0.04,
            "{value}"
        );
        let after = spread(&today.values(examined, &pulled));
        assert!((after - slope * before).abs() < 1e-5, "{slope}: {after} of {before}");
    }
}

#[test]
fn draws_agree_with_the_clicks_on_each_item() {
    let lists: [(&[u32], u64); 2] = [(&[0, 1], 1), (&[2, 1], 1)];
    let today = today(&lists, 1);
    let [some, others] =
        [vec![1.0, 0.5], vec![1.0, 0.25]].map(|positions| vec![vec![0.4, 0.2, 0.1, 0.3], positions]);
    // Item 1 is always at the second position; item 3 is not shown.
    let ratios = today.ratios(examined, &some, &others);
    let of_all = (0.5 + 0.2) / (0.5 + 0.1);
    let expected = [1.0, 2.0, 1.0, of_all];
    assert!(ratios.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-12), "{ratios:?}");
}

#[test]
fn many_lists_are_represented_by_their_shares() {
    let many: Vec<(Vec<u32>, u64)> =
        (0..500).map(|n| (vec![n % 7, 7 + n % 5], 1 + u64::from(n % 3))).collect();
    let lists: Vec<(&[u32], u64)> = many.iter().map(|(list, n)| (list.as_slice(), *n)).collect();
    let sample = today(&lists, 10);
    assert_eq!(sample.lists.len(), LISTS);
    let users = vec![(0..12).map(|item| 0.05 * f64::from(item)).collect(), vec![1.0, 0.5]];
    let all: f64 = lists
        .iter()
        .map(|(list, n)| *n as f64 * (users[0][list[0] as usize] + 0.5 * users[0][list[1] as usize]))
        .sum();
    let count: u64 = lists.iter().map(|(_, n)| n).sum();
    assert!((sample.value(examined, &users) / (all / count as f64) - 1.0).abs() < 0.03);
}

/// The clicks by parameters are those of the users that are made from them.
#[test]
fn clicks_are_those_of_the_users() {
    fn check<M>(drawn: &Drawn<M>, lists: &[Vec<f64>])
    where
        M: Member + click_models::ClickModel<Interaction: click_models::Interaction<Action = Ranking>>,
    {
        let users = (drawn.build)(lists, 3).unwrap();
        for items in [[0, 1, 2], [3, 0, 4], [4, 2, 1]] {
            let mut clicks = Vec::new();
            (drawn.clicks)(lists, &items, &mut clicks);
            let list: Ranking = items.iter().map(|&item| ItemId::from_index(item)).collect();
            let (found, expected) = (clicks.iter().sum::<f64>(), users.expected_clicks(&list));
            assert!((found - expected).abs() < 1e-12, "{}: {found} {expected}", M::MODEL.name);
        }
    }
    let items = vec![0.5, 0.2, 0.9, 0.35, 0.05];
    let satisfaction = vec![0.3, 0.6, 0.1, 0.9, 0.5];
    check(&crate::models::pbm::DRAWN, &[items.clone(), vec![1.0, 0.6, 0.3]]);
    check(&crate::models::cascade::DRAWN, std::slice::from_ref(&items));
    check(&crate::models::dcm::DRAWN, &[items.clone(), vec![0.5, 0.7, 0.2]]);
    check(&crate::models::dbn::DRAWN, &[items.clone(), satisfaction, vec![0.8]]);
    check(&crate::models::ccm::DRAWN, &[items.clone(), vec![0.9, 0.6, 0.4]]);
    check(&crate::models::ubm::DRAWN, &[items, vec![1.0, 0.6, 0.9, 0.4, 0.5, 0.8]]);
}
