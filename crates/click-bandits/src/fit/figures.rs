//! The figures of a fit: examination by position and attraction of items, with intervals, and what
//! of predicted differences between lists happens.

use ::answer::Answer;
use click_logs::fit::{Estimate, Fit, ItemFit, QueryFit, Scope, Transfer};
use click_logs::study::FilteredLog;
use documents::number;
use log_reader::Id;
use report::letters;
use report::svg::{Chart, Curve, CurveStyle, render};
use report::{Axis, Scale};
use spec::experiment::has_invisible;

/// The maximal number of queries in a figure of positions.
const QUERIES: usize = 8;
/// The maximal numbers of queries and of items of each in a figure of items.
const QUERIES_OF_ITEMS: usize = 4;
const ITEMS: usize = 10;
/// The maximal number of letters of a name, and of first letters kept of a longer one.
const LONGEST_NAME: usize = 24;
const BEGINNING: usize = 7;
/// The distance between the bars of two curves, if positions or items are at distance 1.
const APART: f64 = 0.07;

/// Draws examination by position (pbm), of all queries together or of the largest ones.
pub(super) fn examination(pbm: &Fit, log: &FilteredLog) -> String {
    let (rows, what): (Vec<(String, &[Estimate])>, _) = if pbm.scope() == Scope::Site {
        (vec![("all queries".to_owned(), &pbm.positions.site[..])], "all queries".to_owned())
    } else {
        let shown = largest(pbm, log, QUERIES);
        let row = |query: &&QueryFit| (short(log, query.id), pbm.positions(query));
        (shown.iter().map(row).collect(), of_queries(shown.len(), pbm.queries().len()))
    };
    // Positions that the log does not show have no place on the axis.
    let shown = |position: &usize| {
        rows.iter().any(|(_, row)| row.get(*position).is_some_and(|estimate| !estimate.value.is_nan()))
    };
    let positions: Vec<usize> = (0..64).filter(shown).collect();
    let of_position = |row: &[Estimate], position: usize| {
        let unknown = Estimate { value: f64::NAN, standard_error: None, interval: None };
        row.get(position).copied().unwrap_or(unknown)
    };
    let row = |(label, row): (String, &[Estimate])| {
        (label, positions.iter().map(|&position| of_position(row, position)).collect())
    };
    let categories = positions.iter().map(|position| (position + 1).to_string()).collect();
    let rows = rows.into_iter().map(row).collect();
    draw(
        Words {
            title: "Examination by position (pbm)",
            subtitle: format!("{what}; 1 at the first position; bars: 95 % intervals"),
            x: "position",
            y: "probability of examination, relative to the first",
        },
        categories,
        rows,
    )
}

/// Draws the attraction of the most shown items of the largest queries: of a single query by name,
/// of several by rank, the most attractive first.
pub(super) fn attraction(fit: &Fit, log: &FilteredLog) -> String {
    let shown = largest(fit, log, QUERIES_OF_ITEMS);
    let sorted: Vec<Vec<&ItemFit>> = shown.iter().map(|query| most_shown(query)).collect();
    let row = |(query, items): (&&QueryFit, &Vec<&ItemFit>)| {
        (short(log, query.id), items.iter().map(|item| item.attraction).collect())
    };
    let rows: Vec<(String, Vec<Estimate>)> = shown.iter().zip(&sorted).map(row).collect();
    let (categories, x): (Vec<String>, _) = if let [items] = sorted.as_slice() {
        (items.iter().map(|item| short(log, item.item)).collect(), "item")
    } else {
        let n_items = sorted.iter().map(Vec::len).max().unwrap_or(0);
        let ranks = (1..=n_items).map(|rank| rank.to_string()).collect();
        (ranks, "rank of an item by its attraction; names are in the parameters")
    };
    let cut = if shown.iter().any(|query| query.items.len() > ITEMS) {
        format!("; of each the {ITEMS} items seen most often")
    } else {
        String::new()
    };
    draw(
        Words {
            title: &format!("Attraction of items ({})", fit.model()),
            subtitle: format!("{}{cut}; bars: 95 % intervals", of_queries(shown.len(), fit.queries().len())),
            x,
            y: "probability of a click where examined",
        },
        categories,
        rows,
    )
}

/// Draws how far differences between lists happen that a model predicts, with the recommended
/// lists.
pub(super) fn transfer(transfer: &Transfer, answer: &Answer) -> String {
    let per_1000 = |difference: &f64| 1000.0 * difference;
    let dots: Vec<(f64, f64)> = transfer
        .tenths
        .iter()
        .map(|[predicted, observed]| (per_1000(predicted), per_1000(observed)))
        .collect();
    let mut lists: Vec<(f64, f64)> =
        answer.recommended().map(|(_, list)| (list.predicted, list.gain.mean)).collect();
    lists.sort_by(|a, b| a.0.total_cmp(&b.0));
    let ends = |value: fn(&(f64, f64)) -> f64| {
        dots.iter()
            .chain(&lists)
            .map(value)
            .fold((0.0_f64, 0.0_f64), |(low, high), value| (low.min(value), high.max(value)))
    };
    let ((left, right), (low, high)) = (ends(|dot| dot.0), ends(|dot| dot.1));
    let line = |slope: f64| vec![(left, slope * left), (right, slope * right)];
    let slope = transfer.slope.unwrap_or(0.0);
    let mut curves = vec![
        Curve::line("as predicted".to_owned(), CurveStyle::Reference(0), line(1.0)),
        Curve { dots, ..Curve::line("lists left out".to_owned(), CurveStyle::Policy(0), line(slope)) },
    ];
    if !lists.is_empty() {
        let style = CurveStyle::Policy(1);
        curves.push(Curve { dots: lists, ..Curve::line("recommended lists".to_owned(), style, Vec::new()) });
    }
    render(&Chart {
        title: format!("Predicted and observed clicks of lists ({})", transfer.model),
        subtitle: "differences from the other lists of a query; a dot for each tenth of the sessions; recommended lists are promised, not observed".to_owned(),
        x: Axis::rounded(left, right),
        x_label: "predicted difference, clicks per 1,000 lists".to_owned(),
        y: Axis::rounded(low.min(left), high.max(right)),
        y_label: "observed difference, clicks per 1,000 lists".to_owned(),
        categories: Vec::new(),
        curves,
    })
}

/// The items with the most impressions, the most attractive first.
fn most_shown(query: &QueryFit) -> Vec<&ItemFit> {
    let mut items: Vec<&ItemFit> =
        query.items.iter().filter(|item| !item.attraction.value.is_nan()).collect();
    items.sort_by_key(|item| (std::cmp::Reverse(item.impressions), item.item));
    items.truncate(ITEMS);
    items.sort_by(|a, b| b.attraction.value.total_cmp(&a.attraction.value));
    items
}

struct Words<'a> {
    title: &'a str,
    subtitle: String,
    x: &'a str,
    y: &'a str,
}

fn draw(words: Words<'_>, categories: Vec<String>, rows: Vec<(String, Vec<Estimate>)>) -> String {
    let n_rows = rows.len() as f64;
    let mut top: f64 = 0.0;
    let mut curves = Vec::new();
    for (number, (label, estimates)) in rows.into_iter().enumerate() {
        let aside = (number as f64 - (n_rows - 1.0) / 2.0) * APART;
        let mut points = Vec::new();
        let mut band = Vec::new();
        for (place, estimate) in estimates.iter().enumerate() {
            let x = place as f64 + aside;
            // A query may be shown at fewer positions than another.
            if estimate.value.is_nan() {
                continue;
            }
            points.push((x, estimate.value));
            top = top.max(estimate.value);
            if let Some((low, high)) = estimate.interval {
                band.push((x, low, high));
                // A very wide interval would flatten the others, so it is cut at the frame.
                top = top.max(high.min(1.5 * estimate.value.max(1.0)));
            }
        }
        curves.push(Curve { label, style: CurveStyle::Policy(number), points, band, dots: Vec::new() });
    }
    render(&Chart {
        title: words.title.to_owned(),
        subtitle: words.subtitle,
        x: Axis::new(Scale::Linear, -0.5, categories.len() as f64 - 0.5),
        x_label: words.x.to_owned(),
        y: Axis::rounded(0.0, top),
        y_label: words.y.to_owned(),
        categories,
        curves,
    })
}

/// The `count` queries with the most impressions, in the order of the fit.
fn largest<'a>(fit: &'a Fit, log: &FilteredLog, count: usize) -> Vec<&'a QueryFit> {
    let mut order: Vec<(u64, usize)> = fit
        .queries()
        .iter()
        .map(|query| log.counts.query(query.id).map_or(0, |query| query.impressions()))
        .zip(0..)
        .collect();
    order.sort_by_key(|&(impressions, place)| (std::cmp::Reverse(impressions), place));
    order.truncate(count);
    order.sort_unstable_by_key(|&(_, place)| place);
    order.into_iter().map(|(_, place)| &fit.queries()[place]).collect()
}

fn of_queries(shown: usize, all: usize) -> String {
    match all {
        1 => "one query".to_owned(),
        _ if shown == all => format!("{all} queries"),
        _ => format!("the {shown} largest of {} queries", number::grouped(all as u64)),
    }
}

/// Shortens a name. Its end is kept too, since names such as addresses often begin alike.
fn short(log: &FilteredLog, id: Id) -> String {
    let name = log.counts.names().name(id);
    let visible = |letter| if has_invisible(letter) { "?" } else { letter };
    let letters: Vec<&str> = letters(&name).into_iter().map(visible).collect();
    if letters.len() <= LONGEST_NAME {
        return letters.concat();
    }
    let end = &letters[letters.len() - (LONGEST_NAME - BEGINNING - 1)..];
    format!("{}…{}", letters[..BEGINNING].concat(), end.concat())
}
