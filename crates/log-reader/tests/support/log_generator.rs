//! Generates logs of known users, for tests of fits and for measurements of speed.
//!
//! The same seed gives the same bytes on every machine.

use click_models::{Action, ClickModel, Feedback, ItemId, ListFeedback, PositionBased, Ranking};
use rand::{Rng, RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::io::{self, Write};

/// A query, its items, and its users.
#[derive(Debug, Clone)]
pub(crate) struct Traffic<M> {
    /// The query's number in the log.
    pub(crate) query: u64,
    /// The numbers of the items, one for each item of `users`.
    pub(crate) items: Vec<u64>,
    /// The frequency of the query, relative to the others.
    pub(crate) weight: f64,
    /// The click model of its users.
    pub(crate) users: M,
}

/// Writes `lines` lines of a KDD Cup 2012 log (`Format::Kdd2012`). The
/// query is drawn by weight; the length of the list, the position and the ad are uniform. Half of
/// the lines have one session, a quarter two, and so on.
///
/// # Errors
///
/// Errors of `out`; [`io::ErrorKind::InvalidInput`] if there is no query, a weight is not a
/// positive number, or `items` does not have one number for each item of `users`.
pub(crate) fn kdd2012(
    traffic: &[Traffic<PositionBased>],
    lines: u64,
    seed: u64,
    out: &mut dyn Write,
) -> io::Result<()> {
    let cumulated = cumulated_weights(traffic)?;
    if traffic.iter().any(|t| t.items.len() != t.users.shape().n_items()) {
        return Err(invalid("the log's items are not one for each item of the model"));
    }
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    for _ in 0..lines {
        let Traffic { query, items, users, .. } = &traffic[draw(&cumulated, &mut rng)];
        let depth = rng.random_range(1..=users.examination().len());
        let position = rng.random_range(0..depth);
        let item = rng.random_range(0..items.len());
        let impressions = 1 + rng.random::<u64>().trailing_zeros();
        let click = users.examination()[position].get() * users.attraction()[item].get();
        let clicks = (0..impressions).filter(|_| rng.random::<f64>() < click).count();
        let ad = items[item];
        let url = rng.random::<u64>() | 1 << 63;
        let [keyword, title, description] = rng.random::<[u16; 3]>();
        let user = rng.random::<u32>() >> 8;
        let position = position + 1;
        writeln!(
            out,
            "{clicks}\t{impressions}\t{url}\t{ad}\t{}\t{depth}\t{position}\t{query}\t{keyword}\t{title}\t{description}\t{user}",
            ad % 40_000,
        )?;
    }
    Ok(())
}

/// Writes `sessions` sessions of a Yandex log (`Format::Yandex`). Each has
/// one query, drawn by weight, and ten items in random order. The region is 1.
///
/// # Errors
///
/// As [`kdd2012`]; the users do not take lists of ten of the items.
pub(crate) fn yandex<M>(
    traffic: &[Traffic<M>],
    sessions: u64,
    seed: u64,
    out: &mut dyn Write,
) -> io::Result<()>
where
    M: ClickModel,
    M::Interaction: click_models::Interaction<Action = Ranking>,
    Feedback<M>: ListFeedback,
{
    const SHOWN: usize = 10;
    let cumulated = cumulated_weights(traffic)?;
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    for session in 0..sessions {
        let Traffic { query, items, users, .. } = &traffic[draw(&cumulated, &mut rng)];
        let mut order: Vec<usize> = (0..items.len()).collect();
        for place in 0..SHOWN.min(order.len()) {
            order.swap(place, rng.random_range(place..items.len()));
        }
        order.truncate(SHOWN);
        let list: Action<M> = order.iter().copied().map(ItemId::from_index).collect();
        if order.len() != SHOWN || !users.admits(&list) {
            return Err(invalid("the users do not take lists of ten of the log's items"));
        }
        let clicks = users.respond(&list, &mut rng).list_clicks();
        write!(out, "{session}\t0\tQ\t{query}\t1")?;
        for &item in &order {
            write!(out, "\t{}", items[item])?;
        }
        writeln!(out)?;
        for position in (0..SHOWN).filter(|&position| clicks.get(position)) {
            writeln!(out, "{session}\t{}\tC\t{}", 10 + position, items[order[position]])?;
        }
    }
    Ok(())
}

fn cumulated_weights<M>(traffic: &[Traffic<M>]) -> io::Result<Vec<f64>> {
    let mut sum = 0.0;
    let mut cumulated = Vec::with_capacity(traffic.len());
    for query in traffic {
        if !(query.weight.is_finite() && query.weight > 0.0) {
            return Err(invalid("a weight is a positive number"));
        }
        sum += query.weight;
        cumulated.push(sum);
    }
    if cumulated.is_empty() || !sum.is_finite() { Err(invalid("no queries")) } else { Ok(cumulated) }
}

fn draw(cumulated: &[f64], rng: &mut impl Rng) -> usize {
    let all = cumulated.last().copied().unwrap_or_default();
    let at = rng.random::<f64>() * all;
    // Rounding may reach the sum itself.
    cumulated.partition_point(|&sum| sum <= at).min(cumulated.len() - 1)
}

fn invalid(message: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, message)
}
