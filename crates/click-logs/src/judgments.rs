//! Ratings of items for search teams, from counts or from a fitted model, and the files that their
//! tools import.
//!
//! The attraction of an item is its posterior mean: the prior of a fit is right for an item of
//! which little is known. Clicks over expected clicks compare an item with what its impressions
//! would have earned at the mean rate of their positions,
//!
//! ```text
//! COEC = sum over impressions of clicks / sum over impressions of the rate of their position,
//! ```
//!
//! where the rate of a position is that of all queries. An item without expected clicks has no
//! rating. The interval of COEC treats clicks as Poisson variables (Byar's approximation).
//!
//! Reference: Zhang, Jones, *Comparing click logs and editorial labels for training query
//! rewriting*, WWW 2007 (clicks over expected clicks). Deviations: none.

use crate::Counts;
use crate::parameters::ItemRecord;
use serde_json::json;
use std::fmt::Write as _;

/// The quantile of the normal distribution for intervals of 95 %.
const QUANTILE: f64 = 1.959_963_984_540_054;

/// The rating of an item for a query.
#[derive(Debug, Clone, PartialEq)]
pub struct Judgment {
    /// Name of the query.
    pub query: String,
    /// Name of the item.
    pub item: String,
    /// The rating: an attraction, or clicks over expected clicks.
    pub rating: f64,
    /// An interval of 95 %, if there is one.
    pub interval: Option<(f64, f64)>,
    /// Clicks on the item.
    pub clicks: u64,
    /// Its impressions.
    pub impressions: u64,
}

/// A form of a file of judgments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JudgmentForm {
    /// Quepid: CSV with `query,docid,rating`.
    Quepid,
    /// The Search Relevance Workbench of `OpenSearch`: a request that imports judgments.
    Workbench,
    /// TREC: `topic 0 document grade`.
    Trec,
    /// Learning to rank: `rating qid:n # document query`.
    Ltr,
    /// CSV with intervals and counts.
    Csv,
}

impl JudgmentForm {
    /// All forms, with their names.
    pub const ALL: [(&str, Self); 5] = [
        ("quepid", Self::Quepid),
        ("workbench", Self::Workbench),
        ("trec", Self::Trec),
        ("ltr", Self::Ltr),
        ("csv", Self::Csv),
    ];
}

/// The range of ratings in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scale {
    /// As they are.
    Plain,
    /// From 0 to 1, the largest rating.
    ToOne,
    /// Grades from 0 to 3, the largest rating.
    Grades,
}

/// Clicks over expected clicks of every item with at least `min_impressions` impressions, and the
/// number of items without expected clicks.
pub fn over_expected(counts: &Counts, min_impressions: u64) -> (Vec<Judgment>, u64) {
    let mut sums = [(0.0, 0.0); 64];
    let cells = || counts.queries().flat_map(|query| query.cells());
    for cell in cells() {
        let (clicks, impressions) = &mut sums[cell.position.min(63)];
        *clicks += cell.clicks as f64;
        *impressions += cell.impressions as f64;
    }
    let rates = sums.map(|(clicks, impressions)| if impressions > 0.0 { clicks / impressions } else { 0.0 });
    let (mut judgments, mut without) = (Vec::new(), 0);
    for query in counts.queries() {
        let cells: Vec<_> = query.cells().collect();
        for of_item in cells.chunk_by(|a, b| a.item == b.item) {
            let clicks: u64 = of_item.iter().map(|cell| cell.clicks).sum();
            let impressions: u64 = of_item.iter().map(|cell| cell.impressions).sum();
            let expected: f64 =
                of_item.iter().map(|cell| cell.impressions as f64 * rates[cell.position.min(63)]).sum();
            if impressions < min_impressions {
                continue;
            }
            if expected <= 0.0 {
                without += 1;
                continue;
            }
            let (low, high) = poisson_interval(clicks as f64);
            judgments.push(Judgment {
                query: counts.names().name(query.id()).into_owned(),
                item: counts.names().name(of_item[0].item).into_owned(),
                rating: clicks as f64 / expected,
                interval: Some((low / expected, high / expected)),
                clicks,
                impressions,
            });
        }
    }
    (judgments, without)
}

/// The attraction of an item of a query, if it is known and has at least `min_impressions`.
pub fn of_attraction(query: &str, item: &ItemRecord, min_impressions: u64) -> Option<Judgment> {
    let attraction = item.attraction;
    let is_known = attraction.value.is_finite() && item.impressions >= min_impressions;
    is_known.then(|| Judgment {
        query: query.to_owned(),
        item: item.item.clone(),
        rating: attraction.value,
        interval: attraction.lower.zip(attraction.upper),
        clicks: item.clicks,
        impressions: item.impressions,
    })
}

/// Byar's approximation of an interval for the mean of a Poisson variable.
fn poisson_interval(count: f64) -> (f64, f64) {
    let end = |count: f64, quantile: f64| {
        let root = 1.0 - 1.0 / (9.0 * count) + quantile / (3.0 * count.sqrt());
        count * root * root * root
    };
    (if count > 0.0 { end(count, -QUANTILE).max(0.0) } else { 0.0 }, end(count + 1.0, QUANTILE))
}

/// The content of a file; `name` is that of the judgments in the workbench.
///
/// # Errors
///
/// A message that names a query or an item with white space, which TREC and learning to rank cannot
/// have.
pub fn write(judgments: &[Judgment], form: JudgmentForm, scale: Scale, name: &str) -> Result<String, String> {
    let most = judgments.iter().map(|judgment| judgment.rating).fold(0.0, f64::max);
    // The grades of TREC are whole numbers.
    let scale = if form == JudgmentForm::Trec { Scale::Grades } else { scale };
    let rating = |judgment: &Judgment| match scale {
        Scale::Plain => judgment.rating,
        _ if most <= 0.0 => 0.0,
        Scale::ToOne => judgment.rating / most,
        Scale::Grades => (3.0 * judgment.rating / most).round(),
    };
    let mut text = String::new();
    match form {
        JudgmentForm::Quepid => {
            text.push_str("query,docid,rating\n");
            for judgment in judgments {
                let [query, item] = [&judgment.query, &judgment.item].map(|name| field(name));
                let _ = writeln!(text, "{query},{item},{}", rating(judgment));
            }
        }
        JudgmentForm::Csv => {
            text.push_str("query,item,rating,lower,upper,clicks,impressions\n");
            for judgment in judgments {
                let [query, item] = [&judgment.query, &judgment.item].map(|name| field(name));
                let [low, high] = judgment.interval.map_or([const { String::new() }; 2], |(low, high)| {
                    [low, high].map(|end| end.to_string())
                });
                let (rating, clicks, impressions) = (rating(judgment), judgment.clicks, judgment.impressions);
                let _ = writeln!(text, "{query},{item},{rating},{low},{high},{clicks},{impressions}");
            }
        }
        JudgmentForm::Workbench => {
            let of_query = |judgments: &[Judgment]| {
                let ratings = judgments.iter().map(|judgment| {
                    json!({ "docId": judgment.item, "rating": format!("{:.3}", rating(judgment)) })
                });
                json!({ "query": judgments[0].query, "ratings": ratings.collect::<Vec<_>>() })
            };
            let queries: Vec<_> = judgments.chunk_by(|a, b| a.query == b.query).map(of_query).collect();
            let request = json!({
                "name": name,
                "description": "Clicks of users",
                "type": "IMPORT_JUDGMENT",
                "judgmentRatings": queries,
            });
            let _ = writeln!(text, "{request:#}");
        }
        JudgmentForm::Trec => {
            for judgment in judgments {
                let [query, item] = [&judgment.query, &judgment.item];
                without_space(query, "query")?;
                without_space(item, "item")?;
                let _ = writeln!(text, "{query} 0 {item} {}", rating(judgment));
            }
        }
        JudgmentForm::Ltr => {
            for (number, of_query) in (1..).zip(judgments.chunk_by(|a, b| a.query == b.query)) {
                for judgment in of_query {
                    without_space(&judgment.item, "item")?;
                    // A comment ends with its line.
                    let query: String = judgment
                        .query
                        .chars()
                        .flat_map(|letter| {
                            let is_end = letter.is_control() || matches!(letter, '\u{2028}' | '\u{2029}');
                            if is_end { letter.escape_default().collect::<Vec<_>>() } else { vec![letter] }
                        })
                        .collect();
                    let _ = writeln!(text, "{} qid:{number} # {} {query}", rating(judgment), judgment.item);
                }
            }
        }
    }
    Ok(text)
}

fn without_space(name: &str, what: &str) -> Result<(), String> {
    if name.contains(char::is_whitespace) {
        return Err(format!(
            "the {what} `{}` has white space, which this form cannot have",
            name.escape_debug()
        ));
    }
    Ok(())
}

/// A field of CSV.
fn field(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) || text.starts_with(' ') || text.ends_with(' ') {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}
