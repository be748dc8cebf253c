//! Generated logs of known users, with the truth about new rankings: for the statistical tests, and
//! for the program `evaluate` of `measurements`, which includes this file.

use rand::{Rng, RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::fmt::Write as _;

/// Random lists by which their mean is found.
const RANDOM_LISTS: usize = 120_000;

/// How users click.
#[derive(Debug, Clone)]
pub(crate) enum Users {
    /// Attraction times examination of the position.
    PositionBased(Vec<f64>),
    /// Attraction until the user leaves, after a click with this probability.
    DependentClicks(f64),
}

/// How lists are chosen.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Logger {
    /// One of two fixed lists, by a coin for each list; no propensities.
    TwoRankers,
    /// The first fixed list, but with this probability a list of random items.
    EpsilonGreedy(f64),
}

/// Queries with their items, and three rankings of each.
#[derive(Debug)]
pub(crate) struct World {
    pub(crate) users: Users,
    pub(crate) positions: usize,
    /// Attraction of each item of each query.
    pub(crate) attraction: Vec<Vec<f64>>,
    /// The mean value of a click on each item of each query, 1 unless set.
    pub(crate) prices: Vec<Vec<f64>>,
    /// The lists of the two rankers of the log, and the new list, of each query.
    lists: Vec<[Vec<usize>; 3]>,
}

/// A log as a table, and what is true of its traffic.
#[derive(Debug)]
pub(crate) struct Generated {
    pub(crate) log: String,
    pub(crate) ranking: String,
    /// The expected value of the new ranking on the queries of the log.
    pub(crate) value: f64,
    /// That, less the expected value of what the logger shows.
    pub(crate) difference: f64,
}

impl Users {
    /// The expected value of clicks on items with these attractions and prices, from the top.
    fn expected(&self, items: impl Iterator<Item = (f64, f64)>) -> f64 {
        match self {
            Self::PositionBased(examination) => {
                items.zip(examination).map(|((attraction, price), g)| attraction * price * g).sum()
            }
            Self::DependentClicks(leave) => {
                let (mut there, mut clicks) = (1.0, 0.0);
                for (attraction, price) in items {
                    clicks += there * attraction * price;
                    there *= 1.0 - attraction * leave;
                }
                clicks
            }
        }
    }

    fn clicks(&self, attraction: impl Iterator<Item = f64>, rng: &mut impl Rng) -> Vec<bool> {
        let mut there = true;
        let click = |(position, attraction): (usize, f64)| match self {
            Self::PositionBased(examination) => rng.random::<f64>() < attraction * examination[position],
            Self::DependentClicks(leave) => {
                let click = there && rng.random::<f64>() < attraction;
                there = there && !(click && rng.random::<f64>() < *leave);
                click
            }
        };
        attraction.enumerate().map(click).collect()
    }
}

impl World {
    /// Rankers sort by attraction with an error each; the new one errs less. With `alike`, all
    /// items of a query have the same attraction, so that every ranking earns the same.
    pub(crate) fn new(
        users: Users,
        queries: usize,
        items: usize,
        positions: usize,
        alike: bool,
        seed: u64,
    ) -> Self {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut world =
            Self { users, positions, attraction: Vec::new(), prices: Vec::new(), lists: Vec::new() };
        for _ in 0..queries {
            let level = 0.1 + 0.1 * rng.random::<f64>();
            let attraction: Vec<f64> = (0..items)
                .map(|_| if alike { level } else { 0.02 + 0.9 * rng.random::<f64>() * rng.random::<f64>() })
                .collect();
            let mut sorted = |error: f64| {
                let mut scores: Vec<(f64, usize)> =
                    attraction.iter().map(|a| a + error * rng.random::<f64>()).zip(0..).collect();
                scores.sort_by(|a, b| b.0.total_cmp(&a.0));
                scores.into_iter().take(positions).map(|(_, item)| item).collect::<Vec<_>>()
            };
            world.lists.push([sorted(0.5), sorted(0.5), sorted(0.3)]);
            world.prices.push(vec![1.0; items]);
            world.attraction.push(attraction);
        }
        world
    }

    /// The new list has only items that the two rankers show.
    pub(crate) fn with_shown_items(mut self) -> Self {
        for [first, second, new] in &mut self.lists {
            new.retain(|item| first.contains(item) || second.contains(item));
            let more: Vec<usize> = second.iter().copied().filter(|item| !new.contains(item)).collect();
            new.extend(more);
            let more: Vec<usize> = first.iter().copied().filter(|item| !new.contains(item)).collect();
            new.extend(more);
            new.truncate(first.len());
        }
        self
    }

    fn expected(&self, query: usize, list: &[usize]) -> f64 {
        self.users.expected(list.iter().map(|&item| (self.attraction[query][item], self.prices[query][item])))
    }

    /// A list of random items of a query.
    fn random_list(&self, rng: &mut impl Rng) -> Vec<usize> {
        let mut items: Vec<usize> = (0..self.attraction[0].len()).collect();
        (0..self.positions).for_each(|k| items.swap(k, rng.random_range(k..self.attraction[0].len())));
        items.truncate(self.positions);
        items
    }

    /// Expected clicks on lists of random items of each query, by simulation.
    fn of_random_lists(&self) -> Vec<f64> {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(9);
        let n = RANDOM_LISTS / self.lists.len();
        let mean = |query| {
            let lists = (0..n).map(|_| self.expected(query, &self.random_list(&mut rng)));
            lists.sum::<f64>() / n as f64
        };
        (0..self.lists.len()).map(mean).collect()
    }

    /// A log of this number of lists; each user has `lists_of_user` of them, and copies of each
    /// other's clicks, if `copies`.
    pub(crate) fn generate(
        &self,
        logger: Logger,
        lists: usize,
        lists_of_user: usize,
        copies: bool,
        seed: u64,
    ) -> Generated {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed ^ 0x5eed);
        let n_items = self.attraction[0].len();
        let mut log = "session,user,query,position,item,click,worth,p,prefix,list\n".to_owned();
        let random = self.of_random_lists();
        let (mut value, mut today) = (0.0, 0.0);
        let mut last: Option<(usize, Vec<usize>, Vec<bool>)> = None;
        for session in 0..lists {
            let again = copies && session % lists_of_user != 0;
            let query = match &last {
                Some((query, ..)) if again => *query,
                _ => rng.random_range(0..self.lists.len()),
            };
            let [first, second, new] = &self.lists[query];
            let (list, epsilon) = match (logger, &last) {
                (Logger::TwoRankers, _) => (if rng.random() { first } else { second }.clone(), None),
                (Logger::EpsilonGreedy(epsilon), Some((_, list, _))) if again => {
                    (list.clone(), Some(epsilon))
                }
                (Logger::EpsilonGreedy(epsilon), _) => {
                    let greedy = rng.random::<f64>() >= epsilon;
                    let list = if greedy { first.clone() } else { self.random_list(&mut rng) };
                    (list, Some(epsilon))
                }
            };
            let drawn = self.users.clicks(list.iter().map(|&item| self.attraction[query][item]), &mut rng);
            let clicks = match &last {
                Some((.., clicks)) if again => clicks.clone(),
                _ => drawn,
            };
            value += self.expected(query, new);
            today += match logger {
                Logger::TwoRankers => 0.5 * (self.expected(query, first) + self.expected(query, second)),
                Logger::EpsilonGreedy(epsilon) => {
                    (1.0 - epsilon) * self.expected(query, first) + epsilon * random[query]
                }
            };
            let propensities = epsilon.map(|epsilon| propensities(&list, first, epsilon, n_items));
            let user = session / lists_of_user;
            for (k, (item, click)) in list.iter().zip(&clicks).enumerate() {
                let _ = write!(log, "s{session},u{user},q{query},{},i{item},{},", k + 1, u8::from(*click));
                if *click {
                    // An order may be small or large.
                    let price = self.prices[query][*item];
                    let _ = write!(log, "{}", price * if session % 3 == 0 { 2.0 } else { 0.5 });
                }
                let _ = match &propensities {
                    Some(rows) => writeln!(log, ",{},{},{}", rows[k][0], rows[k][1], rows[rows.len() - 1][1]),
                    None => writeln!(log, ",1,1,1"),
                };
            }
            last = Some((query, list, clicks));
        }
        let mut ranking = "query,position,item\n".to_owned();
        for (query, [.., new]) in self.lists.iter().enumerate() {
            for (k, item) in new.iter().enumerate() {
                let _ = writeln!(ranking, "q{query},{},i{item}", k + 1);
            }
        }
        let n = lists as f64;
        Generated { log, ranking, value: value / n, difference: (value - today) / n }
    }
}

/// The probability of each item at its position, and of each prefix.
fn propensities(list: &[usize], first: &[usize], epsilon: f64, n_items: usize) -> Vec<[f64; 2]> {
    let (mut random, mut agrees) = (1.0, true);
    let of_position = |(k, item): (usize, &usize)| {
        agrees &= first[k] == *item;
        random /= (n_items - k) as f64;
        let greedy = |agrees: bool| if agrees { 1.0 - epsilon } else { 0.0 };
        [greedy(first[k] == *item) + epsilon / n_items as f64, greedy(agrees) + epsilon * random]
    };
    list.iter().enumerate().map(of_position).collect()
}

/// The columns of generated logs.
pub(crate) const COLUMNS: &str = "session=session,user=user,query=query,item=item,position=position,click=click,propensity=p,\
                                  prefix-propensity=prefix,list-propensity=list";
