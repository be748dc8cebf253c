use super::*;
use click_models::bounds::pbm_lower_bound_terms;
use quickcheck::quickcheck;

/// Ranks for all items below the best list of an instance in decreasing order.
fn ranks(theta: &[f64], kappa: &[f64]) -> Vec<usize> {
    let order: Vec<usize> = (0..kappa.len()).collect();
    theta[kappa.len()..]
        .iter()
        .map(|&worse| cheapest_rank(worse, &theta[..kappa.len()], &order, kappa))
        .collect()
}

/// Clicks per nat at every rank, from the lists themselves.
fn costs(theta: &[f64], kappa: &[f64], worse: f64) -> Vec<f64> {
    let n = kappa.len();
    let value = |list: &[f64]| list.iter().zip(kappa).map(|(theta, kappa)| theta * kappa).sum::<f64>();
    let cost = |rank: usize| {
        let mut list = theta[..n].to_vec();
        list.insert(rank, worse);
        let gap = value(&theta[..n]) - value(&list[..n]);
        gap / bernoulli_kl(kappa[rank] * worse, kappa[rank] * theta[n - 1])
    };
    (0..n).map(cost).collect()
}

fn falling(numbers: &[u8], scale: f64) -> Vec<f64> {
    let mut numbers: Vec<f64> = numbers.iter().map(|&number| (f64::from(number) + 1.0) / scale).collect();
    numbers.sort_by(|a, b| b.total_cmp(a));
    numbers
}

quickcheck! {
    /// The cost at the chosen rank is the least of all lists, which are built here one by one.
    fn no_list_is_cheaper(theta: Vec<u8>, kappa: Vec<u8>) -> bool {
        let (theta, kappa) = (falling(&theta, 260.0), falling(&kappa, 256.0));
        if kappa.is_empty() || theta.len() < kappa.len() {
            return true;
        }
        let worse = theta[kappa.len()..].iter().zip(ranks(&theta, &kappa));
        worse.into_iter().filter(|(worse, _)| **worse < theta[kappa.len() - 1]).all(|(&worse, rank)| {
            let costs = costs(&theta, &kappa, worse);
            costs.iter().all(|&other| costs[rank] <= other * (1.0 + 1e-9))
        })
    }
}

quickcheck! {
    /// With the true attractions the rank is the position in the lower bound's minimum.
    fn it_is_the_position_of_theorem_6(theta: Vec<u8>, kappa: Vec<u8>) -> bool {
        let (theta, mut kappa) = (falling(&theta, 260.0), falling(&kappa, 256.0));
        kappa.dedup();
        if kappa.is_empty() || theta.len() < kappa.len() {
            return true;
        }
        let terms = pbm_lower_bound_terms(&theta, &kappa).expect("an instance");
        terms.iter().zip(ranks(&theta, &kappa)).all(|(term, rank)| match term.position {
            None => rank == kappa.len() - 1,
            Some(position) => {
                let costs = costs(&theta, &kappa, theta[term.item]);
                rank == position || (costs[rank] / costs[position] - 1.0).abs() < 1e-9
            }
        })
    }
}

/// The four instances of the experiment `pbm-beyond`: at the last position in the first, higher up
/// in the others.
#[test]
fn known_instances() {
    assert_eq!(ranks(&[0.45, 0.35, 0.25, 0.15, 0.05], &[0.9, 0.6, 0.3]), [2, 2]);
    assert_eq!(ranks(&[0.9, 0.9, 0.9, 0.8, 0.8, 0.8, 0.7, 0.7], &[1.0, 0.5, 0.25]), [0; 5]);
    let third = [0.95, 0.94, 0.93, 0.88, 0.86, 0.84, 0.82, 0.8];
    assert_eq!(ranks(&third, &[1.0, 0.6, 0.3]), [0; 5]);
}

#[test]
fn candidates_that_are_not_worse_go_last() {
    let leaders = [0.9, 0.5];
    for estimate in [0.5, 0.7, 1.5, f64::INFINITY, f64::NAN] {
        assert_eq!(cheapest_rank(estimate, &leaders, &[0, 1], &[1.0, 0.5]), 1);
    }
    // Just below: 0.4 clicks at the first position against 0.
    assert_eq!(cheapest_rank(0.5 - 1e-12, &leaders, &[0, 1], &[1.0, 0.5]), 1);
    // Nothing to tell apart.
    assert_eq!(cheapest_rank(0.0, &[0.0, 0.0], &[0, 1], &[1.0, 0.5]), 1);
}

/// Estimates above 1 count as 1, so that no cost is infinite or not a number.
#[test]
fn leaders_above_one_count_as_one() {
    for leader in [1.0, 7.0, f64::INFINITY] {
        let rank = |worse| cheapest_rank(worse, &[leader, 0.9], &[1, 0], &[0.9, 0.9]);
        assert_eq!([0.0, 0.5, 0.8].map(rank), [1; 3]);
    }
    // A certain click at an examined position: one failure tells all.
    assert_eq!(cheapest_rank(0.9, &[3.0, 2.0], &[0, 1], &[1.0, 0.5]), 0);
}
