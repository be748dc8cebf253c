//! Users whose attraction is a logistic function of user and item, from coefficients or at random.

use crate::{Context, Error, Personal, WithAttraction};
use rand::{Rng, RngExt};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Coefficients of the log-odds of attraction. For a user with features `x` in segment `g`, and an
/// item `i` with features `z`, the log-odds are
///
/// ```text
/// mean + w' z + x' B z + d_i + s_i' x + e_gi
/// ```
///
/// An empty list of coefficients stands for zeros.
///
/// | field | in the formula | shape |
/// |---|---|---|
/// | `main` | `w` | `n_item_features` |
/// | `interaction` | `B` | `n_user_features` x `n_item_features`, row by row |
/// | `item` | `d` | `n_items` |
/// | `item_slope` | `s` | `n_items` x `n_user_features` |
/// | `segment` | `e` | `n_segments` x `n_items` |
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LogOdds {
    /// `mean`.
    pub mean: f64,
    /// `w`.
    pub main: Vec<f64>,
    /// `B`.
    pub interaction: Vec<f64>,
    /// `d`.
    pub item: Vec<f64>,
    /// `s`.
    pub item_slope: Vec<f64>,
    /// `e`.
    pub segment: Vec<f64>,
}

impl LogOdds {
    /// The users with these contexts, who differ from `model` in their attraction. `item_features`
    /// are those of all items, item by item.
    ///
    /// # Errors
    ///
    /// [`Error::Coefficients`] if a list has another shape; those of [`Personal::new`] and
    /// [`Personal::announced`].
    pub fn users<M: WithAttraction>(
        &self,
        model: &M,
        contexts: Vec<Context>,
        n_segments: u32,
        item_features: Vec<f64>,
    ) -> Result<Personal<M>, Error> {
        let n_items = model.attraction().len();
        let (n_of_item, n_of_user) =
            (item_features.len() / n_items, contexts.first().map_or(0, |context| context.features.len()));
        let shapes = [
            ("main", &self.main, n_of_item),
            ("interaction", &self.interaction, n_of_user * n_of_item),
            ("item", &self.item, n_items),
            ("item-slope", &self.item_slope, n_items * n_of_user),
            ("segment", &self.segment, n_segments as usize * n_items),
        ];
        for (name, list, expected) in shapes {
            if !(list.is_empty() || list.len() == expected) || list.iter().any(|number| !number.is_finite()) {
                return Err(Error::Coefficients { name, found: list.len(), expected });
            }
        }
        let mut users = Vec::with_capacity(contexts.len());
        for context in contexts {
            let attraction: Vec<f64> = {
                let log_odds = self.for_user(&context, n_items, &item_features);
                (0..n_items).map(|item| 1.0 / (1.0 + libm::exp(-log_odds(item)))).collect()
            };
            let user = model.with_attraction(Error::probabilities("attraction", &attraction)?)?;
            users.push((context, user));
        }
        Personal::new(users)?.announced(n_segments, item_features)
    }

    /// The log-odds of each of `n_items` items for a user.
    pub fn for_user<'a>(
        &'a self,
        context: &'a Context,
        n_items: usize,
        item_features: &'a [f64],
    ) -> impl Fn(usize) -> f64 + 'a {
        let (n_of_item, n_of_user) = (item_features.len() / n_items.max(1), context.features.len());
        let mut by_item_feature = vec![0.0; n_of_item];
        add(&mut by_item_feature, &self.main, 1.0);
        for (&feature, row) in context.features.iter().zip(self.interaction.chunks(n_of_item.max(1))) {
            add(&mut by_item_feature, row, feature);
        }
        let first = context.segment as usize * n_items;
        move |item: usize| {
            self.mean
                + product(&by_item_feature, part(item_features, item, n_of_item))
                + product(&context.features, part(&self.item_slope, item, n_of_user))
                + self.item.get(item).unwrap_or(&0.0)
                + self.segment.get(first + item).unwrap_or(&0.0)
        }
    }
}

fn add(sums: &mut [f64], numbers: &[f64], factor: f64) {
    for (sum, number) in sums.iter_mut().zip(numbers) {
        *sum += factor * number;
    }
}

fn product(one: &[f64], other: &[f64]) -> f64 {
    one.iter().zip(other).map(|(one, other)| one * other).sum()
}

/// The numbers of an item; none of an empty list.
fn part(list: &[f64], item: usize, n: usize) -> &[f64] {
    list.get(item * n..(item + 1) * n).unwrap_or(&[])
}

/// A distribution of users whose log-odds of attraction are those of [`LogOdds`], with coefficients
/// drawn from normal distributions.
///
/// Users come in clusters of `share` users. The features of a user are those of the cluster, with
/// variance .7, plus a deviation, with variance .3. A cluster belongs to one segment; clusters take
/// segments in turn. The features of items have variance 1.
///
/// # Examples
///
/// ```
/// use click_models::{CascadeModel, RandomUsers};
/// use rand::SeedableRng;
/// use rand_xoshiro::Xoshiro256PlusPlus;
///
/// let random = RandomUsers { users: 50, items: 20, share: 5, user_features: 2, ..RandomUsers::default() };
/// let model = CascadeModel::from_values(&[0.5; 20], 3)?;
/// let users = random.draw(&model, &mut Xoshiro256PlusPlus::seed_from_u64(1))?;
/// assert_eq!((users.n_users(), users.known().n_user_features()), (50, 2));
/// # Ok::<(), click_models::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct RandomUsers {
    /// The number of users.
    #[schemars(range(min = 1, max = MOST), example = 100)]
    pub users: usize,
    /// The number of items.
    #[schemars(range(min = 1, max = MOST), example = 20)]
    pub items: usize,
    /// The number of segments; 1 without it. Clusters take segments in turn.
    #[serde(default = "one::<u32>")]
    #[schemars(range(min = 1, max = MOST), example = 10)]
    pub segments: u32,
    /// The number of features of a user; none without it. x is that of the cluster, of variance .7,
    /// plus a deviation of variance .3.
    #[serde(default)]
    #[schemars(range(max = 2047), example = 2)]
    pub user_features: usize,
    /// The number of features of an item, of variance 1; none without it.
    #[serde(default)]
    #[schemars(range(max = 2047), example = 2)]
    pub item_features: usize,
    /// The mean log-odds; -3 without it.
    #[serde(default = "usual_mean")]
    #[schemars(range(min = -30, max = 30), example = -2.0)]
    pub mean: f64,
    /// The standard deviation of `w'z`, the effect of item features on all users; 0 without it.
    #[serde(default)]
    #[schemars(range(min = 0, max = 100), example = 0.6)]
    pub main: f64,
    /// The standard deviation of `x'Bz`, the effect of item features that depends on the user; 0
    /// without it.
    #[serde(default)]
    #[schemars(range(min = 0, max = 100), example = 0.6)]
    pub interaction: f64,
    /// The standard deviation of `d_i`, the effect of an item on all users; 0 without it.
    #[serde(default)]
    #[schemars(range(min = 0, max = 100), example = 0.5)]
    pub item: f64,
    /// The standard deviation of `s_i'x`, the effect of an item that depends on the user; 0 without
    /// it.
    #[serde(default)]
    #[schemars(range(min = 0, max = 100), example = 0.4)]
    pub item_slope: f64,
    /// The standard deviation of `e_gi`, the effect of an item on a segment; 0 without it.
    #[serde(default)]
    #[schemars(range(min = 0, max = 100), example = 0.5)]
    pub segment: f64,
    /// The number of users in a cluster; 1 without it.
    #[serde(default = "one::<usize>")]
    #[schemars(range(min = 1, max = MOST), example = 10)]
    pub share: usize,
}

/// The largest number of users, items, segments or users of a cluster.
const MOST: u64 = 1 << 24;

fn one<T: From<u8>>() -> T {
    T::from(1)
}

fn usual_mean() -> f64 {
    -3.0
}

impl Default for RandomUsers {
    /// One user, no features, and one item, with log-odds of -3.
    fn default() -> Self {
        Self {
            users: 1,
            items: 1,
            segments: 1,
            user_features: 0,
            item_features: 0,
            mean: usual_mean(),
            main: 0.0,
            interaction: 0.0,
            item: 0.0,
            item_slope: 0.0,
            segment: 0.0,
            share: 1,
        }
    }
}

/// Variances of the mean features of a cluster, and of its users' features around these.
const VARIANCES: [f64; 2] = [0.7, 0.3];

impl RandomUsers {
    /// Draws users who differ from `model` in their attraction, and have as many items.
    ///
    /// # Errors
    ///
    /// [`Error::NoUsers`], [`Error::OneForEachItem`] for a model of another number of items, and a
    /// number that is not finite.
    pub fn draw<M: WithAttraction, R: Rng + ?Sized>(
        &self,
        model: &M,
        rng: &mut R,
    ) -> Result<Personal<M>, Error> {
        let (n_items, found) = (self.items, model.attraction().len());
        if found != n_items {
            return Err(Error::OneForEachItem { field: "attraction", found, n_items });
        }
        let (n_of_user, n_of_item) = (self.user_features, self.item_features);
        let roots = [n_of_user, n_of_item].map(|n| (n.max(1) as f64).sqrt());
        let item_features = normals(n_items * n_of_item, 1.0, rng);
        let log_odds = LogOdds {
            mean: self.mean,
            main: normals(n_of_item, self.main / roots[1], rng),
            interaction: normals(n_of_user * n_of_item, self.interaction / (roots[0] * roots[1]), rng),
            item: normals(n_items, self.item, rng),
            item_slope: normals(n_items * n_of_user, self.item_slope / roots[0], rng),
            segment: normals(self.segments as usize * n_items, self.segment, rng),
        };
        let [between, within] = VARIANCES.map(f64::sqrt);
        let mut centre = vec![];
        let mut segment = self.segments.max(1) - 1;
        let contexts = (0..self.users).map(|user| {
            if user.is_multiple_of(self.share.max(1)) {
                centre = normals(n_of_user, between, rng);
                segment = (segment + 1) % self.segments.max(1);
            }
            let features = centre.iter().map(|centre| centre + within * normal(rng)).collect();
            Context { segment, features }
        });
        let contexts = contexts.collect();
        log_odds.users(model, contexts, self.segments.max(1), item_features)
    }
}

/// Normal numbers; none if they have no deviation.
fn normals<R: Rng + ?Sized>(n: usize, deviation: f64, rng: &mut R) -> Vec<f64> {
    if deviation == 0.0 { vec![] } else { (0..n).map(|_| deviation * normal(rng)).collect() }
}

/// A standard normal number (Box, Muller 1958).
pub(crate) fn normal<R: Rng + ?Sized>(rng: &mut R) -> f64 {
    let (radius, angle) = (1.0 - rng.random::<f64>(), rng.random::<f64>());
    (-2.0 * libm::log(radius)).sqrt() * libm::cos(std::f64::consts::TAU * angle)
}
