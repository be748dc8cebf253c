//! Users whose clicks are known exactly, and the rankers that show them lists, by kind.

use click_logs::fit::Model;
use click_models::{
    Action, CascadeModel, ClickChain, ClickModel, Clicks, DbnReward, DcmReward, DependentClick,
    DynamicBayesian, Error, Feedback, Interaction, ItemId, ListFeedback, PositionBased, Ranking,
    UserBrowsing,
};
use policies::draw_beta;
use rand::RngExt as _;
use rand_distr::StandardNormal;
use sim::SimRng;
use std::sync::Arc;

/// Items of a query; lists show [`POSITIONS`] of them.
pub(crate) const ITEMS: usize = 8;
pub(crate) const POSITIONS: usize = 5;
const EXAMINATION: [f64; POSITIONS] = [1.0, 0.7, 0.5, 0.35, 0.25];
/// Attraction of items: median, standard deviation of the logarithm, and upper limit.
const TYPICAL: f64 = 0.18;
const SPREAD: f64 = 0.7;
const LARGEST: f64 = 0.9;
/// Examination below a click by users of user browsing, by the distance to the last click.
const AFTER_CLICK: [f64; POSITIONS - 1] = [0.8, 0.6, 0.45, 0.35];
const LEAVE: [f64; POSITIONS] = [0.6, 0.5, 0.45, 0.4, 0.4];
const CONTINUATION: f64 = 0.9;
/// After no click, after a click on an item that attracts nobody, everybody.
const CHAIN: [f64; 3] = [0.9, 0.8, 0.4];
/// The part of its attraction that an item keeps below a similar one.
const BELOW_SIMILAR: f64 = 0.4;
/// Ratio of clicks in the second period to those in the first, if all items are alike.
const MORE_CLICKS: f64 = 1.2;

/// Users of a query.
pub(crate) trait Users: Send + Sync {
    /// Expected clicks on a list.
    fn expects(&self, list: &Ranking) -> f64;
    /// Draws the clicks of one user.
    fn clicks_on(&self, list: &Ranking, rng: &mut SimRng) -> Clicks;
}

impl<M> Users for M
where
    M: ClickModel + Send,
    M::Interaction: Interaction<Action = Ranking>,
    Feedback<M>: ListFeedback,
{
    fn expects(&self, list: &Action<M>) -> f64 {
        self.expected_clicks(list)
    }

    fn clicks_on(&self, list: &Action<M>, rng: &mut SimRng) -> Clicks {
        self.respond(list, rng).list_clicks()
    }
}

/// Half of the users are of one kind, half of the other.
struct Half<A, B>(A, B);

impl<A: Users, B: Users> Users for Half<A, B> {
    fn expects(&self, list: &Ranking) -> f64 {
        0.5 * (self.0.expects(list) + self.1.expects(list))
    }

    fn clicks_on(&self, list: &Ranking, rng: &mut SimRng) -> Clicks {
        if rng.random::<f64>() < 0.5 { self.0.clicks_on(list, rng) } else { self.1.clicks_on(list, rng) }
    }
}

/// Position-based users of items in pairs: below the other item of its pair, an item attracts less.
struct SimilarItems {
    attraction: Vec<f64>,
}

impl SimilarItems {
    /// The probability of a click at each position.
    fn probabilities(&self, list: &Ranking) -> Vec<f64> {
        let items: Vec<usize> = list.iter().map(ItemId::index).collect();
        let probability = |(position, &item): (usize, &usize)| {
            let is_below = items[..position].contains(&(item ^ 1));
            let kept = if is_below { BELOW_SIMILAR } else { 1.0 };
            EXAMINATION[position] * self.attraction[item] * kept
        };
        items.iter().enumerate().map(probability).collect()
    }
}

impl Users for SimilarItems {
    fn expects(&self, list: &Ranking) -> f64 {
        self.probabilities(list).iter().sum()
    }

    fn clicks_on(&self, list: &Ranking, rng: &mut SimRng) -> Clicks {
        let clicked = |clicks: Clicks, (at, p): (usize, f64)| {
            if rng.random::<f64>() < p { clicks.with(at) } else { clicks }
        };
        self.probabilities(list).into_iter().enumerate().fold(Clicks::new(list.len()), clicked)
    }
}

/// A half of the log of one query.
#[derive(Clone)]
pub(crate) struct Period {
    pub users: Arc<dyn Users>,
    /// The ranker orders the items of each list by these scores plus noise.
    pub scores: Vec<f64>,
}

/// The change in the second half of the log.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Change {
    Nothing,
    /// The attraction of every item is the geometric mean of the old one and a new one.
    Attraction,
    /// All items are alike. Another ranker orders the lists, and users click more.
    Ranker,
}

/// Makes users of items with these attractions.
type MakeUsers = fn(&[f64], &mut SimRng) -> Result<Arc<dyn Users>, Error>;

/// A kind of logs.
pub(crate) struct Kind {
    pub name: &'static str,
    /// Whether the users are those of one of the fitted models.
    pub has_model: bool,
    pub change: Change,
    users: MakeUsers,
}

impl Kind {
    const fn new(name: &'static str, has_model: bool, users: MakeUsers) -> Self {
        Self { name, has_model, change: Change::Nothing, users }
    }

    /// The fitted model that the users follow.
    pub(crate) fn model(&self) -> Result<Model, crate::Error> {
        let model = Model::from_name(self.name).filter(|_| self.has_model);
        Ok(model.ok_or_else(|| format!("users of kind `{}` follow no model", self.name))?)
    }

    /// Draws the two periods of a query.
    pub(crate) fn draw(&self, rng: &mut SimRng) -> Result<[Period; 2], Error> {
        let drawn = attraction(rng);
        let scores = |attraction: &[f64]| attraction.iter().copied().map(libm::log).collect();
        let period = |attraction: &[f64], scores, rng: &mut SimRng| {
            Ok(Period { users: (self.users)(attraction, rng)?, scores })
        };
        match self.change {
            Change::Nothing => {
                let all = period(&drawn, scores(&drawn), rng)?;
                Ok([all.clone(), all])
            }
            Change::Attraction => {
                let other = attraction(rng);
                let later: Vec<f64> = drawn.iter().zip(other).map(|(a, b)| libm::sqrt(a * b)).collect();
                Ok([period(&drawn, scores(&drawn), rng)?, period(&later, scores(&drawn), rng)?])
            }
            Change::Ranker => {
                let later = scores(&attraction(rng));
                let first = period(&[TYPICAL; ITEMS], scores(&drawn), rng)?;
                Ok([first, period(&[TYPICAL * MORE_CLICKS; ITEMS], later, rng)?])
            }
        }
    }
}

pub(crate) const KINDS: [Kind; 11] = [
    Kind::new("pbm", true, |a, _| Ok(Arc::new(pbm(a)?))),
    Kind::new("cascade", true, |a, _| Ok(Arc::new(cascade(a)?))),
    Kind::new("dcm", true, |a, _| Ok(Arc::new(DependentClick::from_values(a, &LEAVE, DcmReward::Clicks)?))),
    Kind::new("ubm", true, |a, _| Ok(Arc::new(ubm(a)?))),
    Kind::new("sdbn", true, |a, rng| Ok(Arc::new(dbn(a, 1.0, rng)?))),
    Kind::new("dbn", true, |a, rng| Ok(Arc::new(dbn(a, CONTINUATION, rng)?))),
    Kind::new("ccm", true, |a, _| Ok(Arc::new(ClickChain::from_values(a, CHAIN, POSITIONS)?))),
    Kind::new("half-cascade", false, |a, _| Ok(Arc::new(Half(pbm(a)?, cascade(a)?)))),
    Kind::new("similar", false, |a, _| Ok(Arc::new(SimilarItems { attraction: a.to_vec() }))),
    Kind { change: Change::Attraction, ..Kind::new("half-way", false, |a, _| Ok(Arc::new(pbm(a)?))) },
    Kind { change: Change::Ranker, ..Kind::new("two-rankers", false, |a, _| Ok(Arc::new(pbm(a)?))) },
];

/// The attraction of the items of a query: log-normal.
fn attraction(rng: &mut SimRng) -> Vec<f64> {
    let item = |_| TYPICAL * libm::exp(SPREAD * rng.sample::<f64, _>(StandardNormal));
    (0..ITEMS).map(item).map(|attraction| attraction.min(LARGEST)).collect()
}

fn pbm(attraction: &[f64]) -> Result<PositionBased, Error> {
    PositionBased::from_values(attraction, &EXAMINATION)
}

fn cascade(attraction: &[f64]) -> Result<CascadeModel, Error> {
    CascadeModel::from_values(attraction, POSITIONS)
}

fn ubm(attraction: &[f64]) -> Result<UserBrowsing, Error> {
    let row = |position: usize| -> Vec<f64> {
        let after = (0..position).map(|click| AFTER_CLICK[position - click - 1]);
        std::iter::once(EXAMINATION[position]).chain(after).collect()
    };
    let rows: Vec<Vec<f64>> = (0..POSITIONS).map(row).collect();
    UserBrowsing::from_values(attraction, &rows.iter().map(Vec::as_slice).collect::<Vec<_>>())
}

fn dbn(attraction: &[f64], continuation: f64, rng: &mut SimRng) -> Result<DynamicBayesian, Error> {
    let satisfaction: Vec<f64> = attraction.iter().map(|_| draw_beta(2.0, 3.0, rng)).collect();
    DynamicBayesian::from_values(attraction, &satisfaction, continuation, POSITIONS, DbnReward::Clicks)
}
