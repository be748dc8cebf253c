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
//! Files for `LightGBM` come from counts and examination: a click on a position that few examine
//! stands for those of all others, so its weight is one over the examination (Joachims,
//! Swaminathan, Schnabel, *Unbiased learning-to-rank with biased feedback*, WSDM 2017).
//!
//! Reference: Zhang, Jones, *Comparing click logs and editorial labels for training query
//! rewriting*, WWW 2007 (clicks over expected clicks). Deviations: none.

use crate::parameters::{ItemRecord, Model, ModelRecord};
use log_reader::Counts;
use serde_json::json;
use std::collections::BTreeMap;
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
    /// TREC: `topic 0 document grade`, with numbers of topics as in [`Topics`](Self::Topics).
    Trec,
    /// The words of the queries that TREC and learning to rank number: `number query`, with a tab.
    Topics,
    /// Learning to rank: `rating qid:n # document query`.
    Ltr,
    /// CSV with intervals and counts.
    Csv,
}

impl JudgmentForm {
    /// All forms, with their names.
    pub const ALL: [(&str, Self); 6] = [
        ("quepid", Self::Quepid),
        ("workbench", Self::Workbench),
        ("trec", Self::Trec),
        ("topics", Self::Topics),
        ("ltr", Self::Ltr),
        ("csv", Self::Csv),
    ];
}

/// The range of ratings and intervals in a file, relative to the largest rating of their query:
/// tools compare the items of a query, and those of a rare one are clicked less.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scale {
    /// As they are.
    Plain,
    /// From 0 to 1, the largest rating.
    ToOne,
    /// Grades from 0 to 3, the largest rating.
    Grades,
}

/// The text of a file of judgments, with what to know of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JudgmentFile {
    /// The content of the file.
    pub text: String,
    /// Queries of several items whose grades are all equal.
    pub all_equal: usize,
    /// Queries whose items have ratings above 0 and no clicks: those of the prior alone.
    pub without_clicks: usize,
    /// Names that a spreadsheet would run as formulas, and that have an apostrophe before them.
    pub formulas: usize,
}

/// Clicks over expected clicks of every item with at least `min_impressions` impressions, and the
/// number of items without expected clicks.
pub fn over_expected(counts: &Counts, min_impressions: u64) -> (Vec<Judgment>, u64) {
    let rate = |(clicks, impressions): (u64, u64)| clicks as f64 / impressions.max(1) as f64;
    let rates: Vec<f64> = counts.by_position().into_iter().map(rate).collect();
    let (mut judgments, mut without) = (Vec::new(), 0);
    for query in counts.queries() {
        let cells: Vec<_> = query.cells().collect();
        for of_item in cells.chunk_by(|a, b| a.item == b.item) {
            let clicks: u64 = of_item.iter().map(|cell| cell.clicks).sum();
            let impressions: u64 = of_item.iter().map(|cell| cell.impressions).sum();
            let expected: f64 =
                of_item.iter().map(|cell| cell.impressions as f64 * rates[cell.position]).sum();
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

/// The examination of positions from 1, by query; `None` for all queries together.
pub type Examinations = BTreeMap<(Option<String>, usize), f64>;

/// The examination of positions in the position-based models among these.
pub fn examinations(models: &[ModelRecord]) -> Examinations {
    let mut all = Examinations::new();
    for record in models.iter().filter(|record| record.model == Model::Pbm) {
        let of_queries = record.queries.iter().map(|query| (Some(&query.query), &query.positions));
        for (query, positions) in of_queries.chain([(None, &record.site.positions)]) {
            all.extend(positions.iter().map(|of| ((query.cloned(), of.position), of.estimate.value)));
        }
    }
    all
}

/// The table that `LightGBM` is trained with, CSV: a row for the clicked impressions of an item at
/// a position, whose weight is their number over the examination, and one for the others, whose
/// weight is their number. Rows of a group, a query, stand together; positions count from 0.
///
/// # Errors
///
/// A message if no position has an examination.
pub fn lightgbm(counts: &Counts, examinations: &Examinations) -> Result<String, String> {
    let mut text = String::from(LIGHTGBM_HEADER);
    for (group, query) in counts.queries().enumerate() {
        let name = counts.names().name(query.id());
        for cell in query.cells() {
            let of = |query| examinations.get(&(query, cell.position + 1)).copied();
            let examination = of(Some(name.to_string())).or_else(|| of(None)).filter(|value| *value > 0.0);
            let Some(examination) = examination else { continue };
            let [query, item] = [&name, &counts.names().name(cell.item)].map(|name| field(name));
            let (clicked, others) = (cell.clicks as f64 / examination, cell.impressions - cell.clicks);
            for (label, weight) in [(1, clicked), (0, others as f64)].iter().filter(|row| row.1 > 0.0) {
                let _ =
                    writeln!(text, "{query},{item},{group},{label},{},{weight},{examination}", cell.position);
            }
        }
    }
    let nothing = "the fit has no examination by position: fit the model pbm";
    if text == LIGHTGBM_HEADER { Err(nothing.to_owned()) } else { Ok(text) }
}

const LIGHTGBM_HEADER: &str = "query,item,group,label,position,weight,examination\n";

/// Byar's approximation of an interval for the mean of a Poisson variable.
fn poisson_interval(count: f64) -> (f64, f64) {
    let end = |count: f64, quantile: f64| {
        let root = 1.0 - 1.0 / (9.0 * count) + quantile / (3.0 * count.sqrt());
        count * root * root * root
    };
    (if count > 0.0 { end(count, -QUANTILE).max(0.0) } else { 0.0 }, end(count + 1.0, QUANTILE))
}

/// Writes a file; `name` is that of the judgments in the workbench. In CSV, names that begin like a
/// formula get an apostrophe, unless they are to be kept: a user chooses the words of a query, and
/// spreadsheets run them.
///
/// # Errors
///
/// A message that names an item with white space, which TREC and learning to rank cannot have.
pub fn write(
    judgments: &[Judgment],
    form: JudgmentForm,
    scale: Scale,
    name: &str,
    keep_formulas: bool,
) -> Result<JudgmentFile, String> {
    // The grades of TREC are whole numbers.
    let scale = if form == JudgmentForm::Trec { Scale::Grades } else { scale };
    let (mut text, mut formulas, mut all_equal, mut without_clicks) = (String::new(), 0, 0, 0);
    let mut field = |text: &str| {
        let is_formula = !keep_formulas && text.starts_with(FORMULA);
        formulas += usize::from(is_formula);
        field(&format!("{}{text}", if is_formula { "'" } else { "" }))
    };
    match form {
        JudgmentForm::Quepid => text.push_str("query,docid,rating\n"),
        JudgmentForm::Csv => text.push_str("query,item,rating,lower,upper,clicks,impressions\n"),
        _ => {}
    }
    let mut of_workbench = Vec::new();
    for (number, of_query) in (1..).zip(judgments.chunk_by(|a, b| a.query == b.query)) {
        let most = of_query.iter().map(|judgment| judgment.rating).fold(0.0, f64::max);
        let scaled = |value: f64| match scale {
            Scale::Plain => value,
            _ if most <= 0.0 => 0.0,
            Scale::ToOne => value / most,
            Scale::Grades => (3.0 * value / most).round(),
        };
        let rating = |judgment: &Judgment| scaled(judgment.rating);
        without_clicks += usize::from(most > 0.0 && of_query.iter().all(|judgment| judgment.clicks == 0));
        let is_equal = |pair: &[Judgment]| rating(&pair[0]) == rating(&pair[1]);
        all_equal += usize::from(of_query.len() > 1 && of_query.windows(2).all(is_equal));
        let query = &of_query[0].query;
        // A comment and a topic end with their line.
        let is_end = |letter: char| letter.is_control() || matches!(letter, '\u{2028}' | '\u{2029}');
        let line: String =
            query
                .chars()
                .flat_map(|letter| {
                    if is_end(letter) { letter.escape_default().collect::<Vec<_>>() } else { vec![letter] }
                })
                .collect();
        match form {
            JudgmentForm::Topics => writeln!(text, "{number}\t{line}").unwrap_or(()),
            JudgmentForm::Workbench => {
                let ratings = of_query.iter().map(
                    |judgment| json!({ "docId": judgment.item, "rating": rating(judgment).to_string() }),
                );
                of_workbench.push(json!({ "query": query, "ratings": ratings.collect::<Vec<_>>() }));
            }
            _ => {}
        }
        for judgment in of_query {
            let (rating, item) = (rating(judgment), &judgment.item);
            let _ = match form {
                JudgmentForm::Topics | JudgmentForm::Workbench => Ok(()),
                JudgmentForm::Quepid => writeln!(text, "{},{},{rating}", field(query), field(item)),
                JudgmentForm::Csv => {
                    let [low, high] =
                        judgment.interval.map_or([const { String::new() }; 2], |(low, high)| {
                            [low, high].map(|end| scaled(end).to_string())
                        });
                    let [query, item] = [query, item].map(|name| field(name));
                    let Judgment { clicks, impressions, .. } = judgment;
                    writeln!(text, "{query},{item},{rating},{low},{high},{clicks},{impressions}")
                }
                JudgmentForm::Trec => {
                    writeln!(text, "{number} 0 {} {rating}", without_space(item)?)
                }
                JudgmentForm::Ltr => {
                    writeln!(text, "{rating} qid:{number} # {} {line}", without_space(item)?)
                }
            };
        }
    }
    if form == JudgmentForm::Workbench {
        let request = json!({
            "name": name,
            "description": "Clicks of users",
            "type": "IMPORT_JUDGMENT",
            "judgmentRatings": of_workbench,
        });
        let _ = writeln!(text, "{request:#}");
    }
    Ok(JudgmentFile { text, all_equal, without_clicks, formulas })
}

/// How a formula begins in a spreadsheet (OWASP, CSV injection).
const FORMULA: [char; 10] = ['=', '+', '-', '@', '\t', '\r', '\u{ff1d}', '\u{ff0b}', '\u{ff0d}', '\u{ff20}'];

fn without_space(item: &str) -> Result<&str, String> {
    if item.contains(char::is_whitespace) {
        return Err(format!(
            "the item `{}` has white space, which this form cannot have",
            item.escape_debug()
        ));
    }
    Ok(item)
}

/// A field of CSV.
fn field(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) || text.starts_with(' ') || text.ends_with(' ') {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}
