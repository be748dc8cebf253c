//! Fits of lists in order of quality with noise: the prior of attraction, and what fitted users
//! click.
//!
//! Seeds are fixed. On other logs, means of four are five standard deviations and more inside every
//! limit, so a fresh seed fails a check with probability below 1e-6.

use super::lists::{HEADER, push_session, ranked};
use click_logs::fit::{Fit, Model, Options, Scope, fit};
use click_logs::parameters::common_prior;
use click_models::{ClickModel, ListFeedback, PositionBased};
use log_reader::{Counts, Format, Id, Log, Reader};
use rand::{Rng, RngExt, SeedableRng};
use rand_distr::StandardNormal;
use rand_xoshiro::Xoshiro256PlusPlus;

const EXAMINATION: [f64; 10] = [1.0, 0.7, 0.52, 0.4, 0.32, 0.26, 0.22, 0.18, 0.16, 0.14];
/// Queries, lists a query, items and positions of the grid.
const SIZES: [[usize; 4]; 5] =
    [[4, 200, 8, 5], [4, 1000, 8, 5], [20, 200, 14, 10], [200, 20, 14, 10], [1000, 4, 14, 10]];
/// Standard deviations of the noise in the order of lists.
const NOISE: [f64; 6] = [0.5, 1.0, 2.0, 3.0, 5.0, 30.0];
/// An inverse distribution function of attraction.
type Quantile = fn(f64) -> f64;
const DISTRIBUTIONS: [(&str, Quantile); 2] = [
    ("Beta(1, 3)", |uniform| 1.0 - libm::cbrt(uniform)),
    ("log-uniform", |uniform| 0.9 * libm::pow(0.02, uniform)),
];

/// A log of `lists` lists a query of the best items, by the logarithm of attraction plus normal
/// noise.
fn log_of(users: &[PositionBased], lists: usize, noise: f64, rng: &mut impl Rng) -> Log {
    let mut log = String::from(HEADER);
    for (query, users) in users.iter().enumerate() {
        for _ in 0..lists {
            let key = |attraction: &confidence::Probability| {
                noise * rng.sample::<f64, _>(StandardNormal) - libm::log(attraction.get())
            };
            let keys: Vec<f64> = users.attraction().iter().map(key).collect();
            let list = ranked(&keys, users.examination().len());
            let clicks = users.respond(&list, rng).list_clicks();
            push_session(&mut log, query, &list, clicks);
        }
    }
    Reader::new(Format::Sessions).keep_sessions().read("generated", log.as_bytes()).unwrap()
}

/// Queries with this number of items, whose attraction has this inverse distribution function.
fn users(
    [queries, items, positions]: [usize; 3],
    attraction: Quantile,
    rng: &mut impl Rng,
) -> Vec<PositionBased> {
    let mut of_query = || {
        let attraction: Vec<f64> = (0..items).map(|_| attraction(rng.random())).collect();
        PositionBased::from_values(&attraction, &EXAMINATION[..positions]).unwrap()
    };
    (0..queries).map(|_| of_query()).collect()
}

/// The attraction of an item of a generated log.
fn truth(users: &[PositionBased], log: &Log, query: Id, item: Id) -> f64 {
    let place = |id: Id| {
        let name = log.counts.names().name(id).into_owned();
        name.split('/').next().unwrap().parse::<usize>().unwrap() - 1
    };
    users[place(query)].attraction()[place(item)].get()
}

fn attraction(fit: &Fit, query: Id, item: Id) -> f64 {
    let items = &fit.query(query).unwrap().items;
    items[items.binary_search_by_key(&item, |known| known.item).unwrap()].attraction.value
}

/// The mean attraction at every position, weighted by impressions, and at all of them.
fn by_position(counts: &Counts, attraction: impl Fn(Id, Id) -> f64) -> (Vec<f64>, f64) {
    let mut sums = vec![(0.0, 0.0); counts.n_positions()];
    for query in counts.queries() {
        for cell in query.cells() {
            sums[cell.position].0 += cell.impressions as f64 * attraction(query.id(), cell.item);
            sums[cell.position].1 += cell.impressions as f64;
        }
    }
    let all = sums.iter().fold((0.0, 0.0), |all, of| (all.0 + of.0, all.1 + of.1));
    (sums.iter().map(|of| of.0 / of.1).collect(), all.0 / all.1)
}

/// Expected clicks of the fit's users on the lists of the log.
fn clicks_of_users(fit: &Fit, counts: &Counts) -> f64 {
    let of_query = |query: log_reader::QueryCounts<'_>| -> f64 {
        let known = fit.query(query.id()).unwrap();
        let model: PositionBased = fit.users(known, query.n_positions()).unwrap().model().unwrap();
        let positions: Vec<usize> = known.first_positions(query.n_positions()).collect();
        let of_cell = |cell: log_reader::Cell| {
            let item = known.items.binary_search_by_key(&cell.item, |item| item.item).unwrap();
            let place = positions.iter().position(|&position| position == cell.position).unwrap();
            let examination = model.examination()[place].get();
            cell.impressions as f64 * model.attraction()[item].get() * examination
        };
        query.cells().map(of_cell).sum()
    };
    counts.queries().map(of_query).sum()
}

/// The mean log-likelihood of held-out impressions.
fn score(held_out: &Counts, probability: impl Fn(Id, Id, usize) -> f64) -> f64 {
    let mut sum = 0.0;
    for query in held_out.queries() {
        for cell in query.cells() {
            let p = probability(query.id(), cell.item, cell.position);
            let skips = (cell.impressions - cell.clicks) as f64;
            sum += cell.clicks as f64 * libm::log(p) + skips * libm::log1p(-p);
        }
    }
    sum / held_out.impressions() as f64
}

/// EM with one examination for all queries and the prior Beta(1, 1) for every item and position, as
/// libraries of click models have it. An unseen item is like the mean of the seen ones.
fn plain_em(counts: &Counts) -> impl Fn(Id, Id, usize) -> f64 {
    let mut examination = vec![0.5; counts.n_positions()];
    let (mut items, mut attraction, mut cells) = (Vec::new(), Vec::new(), Vec::new());
    for query in counts.queries() {
        for cell in query.cells() {
            if items.last() != Some(&(query.id(), cell.item)) {
                items.push((query.id(), cell.item));
                attraction.push(0.5);
            }
            cells.push((items.len() - 1, cell));
        }
    }
    for _ in 0..200 {
        let mut of_items = vec![(1.0, 2.0); attraction.len()];
        let mut of_positions = vec![(1.0, 2.0); examination.len()];
        for &(item, cell) in &cells {
            let (a, g): (f64, f64) = (attraction[item], examination[cell.position]);
            let (clicks, n) = (cell.clicks as f64, cell.impressions as f64);
            let (of_item, of_position) = (&mut of_items[item], &mut of_positions[cell.position]);
            of_item.0 += clicks + (n - clicks) * a * (1.0 - g) / (1.0 - a * g);
            of_position.0 += clicks + (n - clicks) * g * (1.0 - a) / (1.0 - a * g);
            of_item.1 += n;
            of_position.1 += n;
        }
        attraction = of_items.iter().map(|of| of.0 / of.1).collect();
        examination = of_positions.iter().map(|of| of.0 / of.1).collect();
    }
    let mean = attraction.iter().sum::<f64>() / attraction.len() as f64;
    move |query, item, position| {
        let known = items.binary_search(&(query, item)).map_or(mean, |place| attraction[place]);
        known * examination[position]
    }
}

fn fitted(model: Model, log: &Log, scope: Scope, prior_strength: Option<f64>) -> Fit {
    let options = Options { scope, prior_strength, ..Options::default() };
    fit(model, &log.counts, &log.sessions, &options).unwrap()
}

/// Measures of a fit's accuracy: the gain over plain EM on another log, and the ratios of mean
/// attraction, users' clicks, typical attraction at the first and at the last position to the
/// truth.
fn measures(fit: &Fit, users: &[PositionBased], log: &Log, other: &Counts) -> [f64; 5] {
    let em = plain_em(&log.counts);
    let gain = score(other, |query, item, position| fit.click_probability(query, item, position).unwrap())
        - score(other, em);
    let (true_by_position, true_mean) =
        by_position(&log.counts, |query, item| truth(users, log, query, item));
    let mean = by_position(&log.counts, |query, item| attraction(fit, query, item)).1;
    let (typical, lift) = (fit.attractions.site.typical, &fit.attractions.site.lift);
    let [first, last] = [0, lift.len() - 1].map(|place| typical * lift[place] / true_by_position[place]);
    let clicks = clicks_of_users(fit, &log.counts) / log.counts.clicks() as f64;
    [gain, mean / true_mean, clicks, first, last]
}

/// Means and their standard errors over `n` logs of the [`measures`] of fits with this scope and
/// this strength of priors.
fn over_logs<const N: usize>(
    n: u32,
    [queries, lists, items, positions]: [usize; 4],
    noise: f64,
    attraction: Quantile,
    fits: [(Scope, Option<f64>); N],
    rng: &mut impl Rng,
) -> [[(f64, f64); 5]; N] {
    let mut sums = [[(0.0, 0.0); 5]; N];
    for _ in 0..n {
        let users = users([queries, items, positions], attraction, rng);
        let [log, other] = [(); 2].map(|()| log_of(&users, lists, noise, rng));
        for (sums, (scope, prior)) in sums.iter_mut().zip(fits) {
            let found = measures(&fitted(Model::Pbm, &log, scope, prior), &users, &log, &other.counts);
            for (sum, of) in sums.iter_mut().zip(found) {
                *sum = (sum.0 + of, sum.1 + of * of);
            }
        }
    }
    let n = f64::from(n);
    sums.map(|sums| {
        sums.map(|(sum, squares)| {
            let mean = sum / n;
            (mean, libm::sqrt((squares / n - mean * mean).max(0.0) / (n - 1.0)))
        })
    })
}

/// Means of four logs: the log-likelihood is not behind that of plain EM by 1e-4, mean attraction
/// is right within 5 %, users' clicks within 3 %, and typical attraction within 15 %. One mean for
/// all items of a query (`--prior 20`) is behind EM by 5e-4 and more, and its typical item is too
/// good for the last position by a third and more. A typical item that is extrapolated to the top
/// has .99 for .45 here, and mean attraction is too low by 14 % and more.
#[test]
fn ranked_logs_have_the_attraction_and_the_clicks_of_their_users() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(31);
    let fits = [(Scope::Site, None), (Scope::Query, None), (Scope::Site, Some(20.0))];
    for (size, noise) in [(SIZES[1], 2.0), (SIZES[2], 1.0), (SIZES[3], 3.0)] {
        let means = over_logs(4, size, noise, DISTRIBUTIONS[0].1, fits, &mut rng).map(|of| of.map(|of| of.0));
        let is_right = |[gain, mean, clicks, first, last]: [f64; 5]| {
            gain > -1e-4
                && (mean - 1.0).abs() < 0.05
                && (clicks - 1.0).abs() < 0.03
                && (first - 1.0).abs() < 0.15
                && (last - 1.0).abs() < 0.15
        };
        assert_eq!(means.map(is_right), [true, true, false], "{size:?} {means:?}");
    }
}

/// Items with 20 impressions in random order: users click within 1 % as much as the users of the
/// log. Modes of attraction in place of means click 2 % less.
#[test]
fn users_of_sparse_logs_click_as_much() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(33);
    let fits = [(Scope::Site, None), (Scope::Query, None)];
    for [_, _, clicks, ..] in over_logs(2, SIZES[3], NOISE[5], DISTRIBUTIONS[0].1, fits, &mut rng) {
        assert!((clicks.0 - 1.0).abs() < 0.01, "{clicks:?}");
    }
}

/// Over 20 logs in every cell of the grid, the log-likelihood is not behind that of plain EM by
/// more than two standard errors, mean attraction is right within 5 %, and users' clicks within 3
/// %. `--nocapture` shows all cells; a minute of processor time.
#[test]
#[ignore = "a measurement"]
fn all_cells_of_ranked_logs() {
    let mut missed = Vec::new();
    for (name, attraction) in DISTRIBUTIONS {
        for size in SIZES {
            for (seed, noise) in (1..).zip(NOISE) {
                let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
                let scopes = [Scope::Site, Scope::Query];
                let found =
                    over_logs(20, size, noise, attraction, scopes.map(|scope| (scope, None)), &mut rng);
                for (scope, [(gain, error), (mean, _), (clicks, _), ..]) in scopes.iter().zip(found) {
                    let [queries, lists, ..] = size;
                    let row = format!(
                        "{name} {queries} x {lists}, noise {noise}, {scope:?}: gain {gain:+.5} ({:+.1} errors), \
                         attraction {mean:.3}, clicks {clicks:.3}",
                        gain / error
                    );
                    println!("{row}");
                    if gain < -2.0 * error || (mean - 1.0).abs() >= 0.05 || (clicks - 1.0).abs() >= 0.03 {
                        missed.push(row);
                    }
                }
            }
        }
    }
    assert!(missed.is_empty(), "{missed:#?}");
}

/// In all models an unseen item is like the items at its position, as the fit has them; models
/// without an attraction for all impressions agree less closely.
#[test]
fn typical_attraction_is_that_of_the_items_at_a_position() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(32);
    let users = users([20, 14, 10], DISTRIBUTIONS[0].1, &mut rng);
    let log = log_of(&users, 200, 3.0, &mut rng);
    for model in Model::ALL.into_iter().filter(|model| !model.name().starts_with("ctr")) {
        let fit = fitted(model, &log, Scope::Site, None);
        let (found, _) = by_position(&log.counts, |query, item| attraction(&fit, query, item));
        let site = &fit.attractions.site;
        let ratio = |(lift, found): (&f64, &f64)| site.typical * lift / found;
        let ratios: Vec<f64> = site.lift.iter().zip(&found).map(ratio).collect();
        assert!(ratios.iter().all(|ratio| (ratio - 1.0).abs() < 0.15), "{model} {ratios:?}");
        // An item always at the top, extrapolated.
        assert!(site.typical < 0.5, "{model}");
    }
}

/// A policy that has one prior for all items of a query expects what they attract on average; the
/// items at the top of a ranking attract more.
#[test]
fn one_prior_for_all_items_expects_their_mean() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(34);
    for noise in [0.5, 1.0, 3.0] {
        let users = users([20, 14, 10], DISTRIBUTIONS[0].1, &mut rng);
        let log = log_of(&users, 200, noise, &mut rng);
        let fit = fitted(Model::Pbm, &log, Scope::Site, None);
        let [mut found, mut expected, mut at_the_top] = [0.0; 3];
        for query in log.counts.queries() {
            let of_query = fit.query(query.id()).unwrap();
            let (items, typical) = (&of_query.items, of_query.typical);
            let means = items.iter().filter_map(|item| item.prior);
            let [a, b] = common_prior(fit.attractions.site.prior_strength, typical, means).unwrap();
            let truths = items.iter().map(|item| truth(&users, &log, query.id(), item.item));
            found += a / (a + b);
            expected += truths.sum::<f64>() / items.len() as f64;
            at_the_top += typical;
        }
        let [found, at_the_top] = [found, at_the_top].map(|of| of / expected);
        assert!((found - 1.0).abs() < 0.1 && at_the_top > 1.25, "{noise}: {found} {at_the_top}");
    }
}

/// Items with the same prior have it together; items that differ have a weaker one, with the mean
/// and the variance of all.
#[test]
fn a_common_prior_has_two_moments_of_the_mixture() {
    let shapes = |means: &[f64]| common_prior(20.0, 0.1, means.iter().copied());
    let [a, b] = shapes(&[]).unwrap();
    assert!((a - 2.0).abs() < 1e-9 && (b - 18.0).abs() < 1e-9, "{a} {b}");
    let means = [0.5, 0.1, 0.06];
    let [a, b] = shapes(&means).unwrap();
    let mean = means.iter().sum::<f64>() / 3.0;
    let square = means.iter().map(|of| of * (1.0 - of) / 21.0 + of * of).sum::<f64>() / 3.0;
    assert!((a / (a + b) - mean).abs() < 1e-12, "{a} {b}");
    assert!((a * b / (a + b).powi(2) / (a + b + 1.0) - (square - mean * mean)).abs() < 1e-12, "{a} {b}");
    assert_eq!(common_prior(0.0, 0.1, std::iter::empty()), None);
    assert_eq!(common_prior(20.0, f64::NAN, std::iter::empty()), None);
}
