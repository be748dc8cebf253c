//! The report of a preference matrix: for a terminal, as JSON, as a page.

use super::sampling::Sampling;
use crate::progress::Progress;
use crate::terminal;
use anyhow::Result;
use click_models::ItemId;
use documents::number;
use interleaving::Preferences;
use report::figure::subsets;
use report::html::Html;
use report::svg;
use report::{Shares, shares};
use serde::Serialize;
use spec::models::MatrixFile;
use std::fmt;

/// The maximal number of listed items.
const SHOWN: usize = 8;

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Numbering {
    /// Rows of a matrix, from 0.
    Rows,
    /// Features with the numbers of their file, from 1, by row.
    Features(#[serde(skip)] Vec<usize>),
}

impl Numbering {
    pub(super) fn name(&self, row: usize) -> String {
        match self {
            Self::Rows => row.to_string(),
            Self::Features(numbers) => format!("feature {}", numbers[row]),
        }
    }

    /// The names of the first items of a list, and the number of further ones.
    pub(super) fn listed(&self, rows: &[usize]) -> String {
        number::first_of(rows.iter().map(|&row| self.name(row)), SHOWN)
    }
}

/// The report of a matrix. Items are rows, numbered from 0.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct MatrixReport {
    source: String,
    /// The meaning of items: rows of a matrix, or features.
    numbering: Numbering,
    /// The number of the feature of each row, from 1, of an estimate.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    features: Vec<usize>,
    n_items: usize,
    /// The item that beats all others; of an estimate only if the comparisons are sufficient.
    condorcet_winner: Option<usize>,
    copeland: Copeland,
    borda: Borda,
    /// The best lottery over items: the probability of each item.
    von_neumann: Vec<f64>,
    /// The number of triples in which each item beats the next, and the last beats the first.
    n_three_cycles: usize,
    /// The items in an order in which each beats all later ones, if there is one.
    total_order: Option<Vec<usize>>,
    strongly_transitive: bool,
    /// The constant of relaxed stochastic transitivity, which Beat the Mean needs.
    gamma: Option<f64>,
    /// The smallest and the largest gap of an item to the winner.
    gaps: Option<[f64; 2]>,
    /// The shares of subsets of 1 item, of 2 items, and so on.
    #[serde(flatten)]
    shares: Shares,
    /// The error of an estimate; `None` for a given matrix, which is taken as exact.
    sampling: Option<Sampling>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
struct Copeland {
    winners: Vec<usize>,
    /// The number of other items that a winner beats.
    beaten: usize,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
struct Borda {
    winners: Vec<usize>,
    /// The probability that a winner is preferred to another item, drawn at random.
    score: f64,
}

/// All other items, in words.
pub(super) fn all_others(count: usize) -> String {
    if count == 1 { "the other one".to_owned() } else { format!("all {count} others") }
}

fn numbers(items: &[ItemId]) -> Vec<usize> {
    items.iter().map(|item| item.index()).collect()
}

impl MatrixReport {
    /// The report of a matrix. `comparisons` are those of an estimate, with the feature of each
    /// row.
    pub(super) fn of(
        file: &MatrixFile,
        comparisons: Option<(&Preferences, Vec<usize>)>,
        quiet: bool,
    ) -> Result<Self> {
        let (comparisons, features) = comparisons.unzip();
        let matrix = &*file.matrix;
        let copeland = matrix.copeland_winners();
        let borda = matrix.borda_winners();
        let first = |items: &[ItemId]| items.first().copied().unwrap_or_default();
        let sampling = comparisons.map(Sampling::of).transpose()?;
        let winner = match &sampling {
            Some(sampling) => sampling.condorcet_winner().map(ItemId::from_index),
            None => matrix.condorcet_winner(),
        };
        let gaps = winner.map(|winner| {
            let others = matrix.shape().items().filter(|&item| item != winner);
            others.fold([f64::INFINITY, 0.0], |[least, most], item| {
                let gap = matrix.excess(winner, item);
                [least.min(gap), most.max(gap)]
            })
        });
        // With hundreds of items this takes seconds, mostly for the lottery.
        let display = Progress::start("preferences", 4, "parts of the report", quiet);
        let von_neumann = matrix.von_neumann_winner();
        display.add(1);
        let shares = shares(matrix);
        display.add(1);
        let n_three_cycles = matrix.three_cycles().count();
        display.add(1);
        let strongly_transitive = matrix.is_strongly_transitive();
        drop(display);
        Ok(Self {
            source: file.label(),
            features: features.clone().unwrap_or_default(),
            numbering: features.map_or(Numbering::Rows, Numbering::Features),
            n_items: matrix.shape().n_items(),
            condorcet_winner: winner.map(ItemId::index),
            copeland: Copeland { beaten: matrix.n_beaten(first(&copeland)), winners: numbers(&copeland) },
            borda: Borda { score: matrix.borda_score(first(&borda)), winners: numbers(&borda) },
            von_neumann,
            n_three_cycles,
            total_order: matrix.total_order().map(|order| numbers(&order)),
            strongly_transitive,
            gamma: matrix.gamma(),
            gaps,
            shares,
            sampling,
        })
    }

    /// The lines of the report: name and value of each property.
    fn lines(&self) -> Vec<[String; 2]> {
        let mut lines = self.winners();
        lines.push((
            "Sampling error",
            self.sampling.as_ref().map_or_else(
                || "none is known of: the entries are taken as exact".to_owned(),
                Sampling::error,
            ),
        ));
        // These properties are of the estimate, where pairs that are not told apart count too.
        let caveat = if self.sampling.is_some() { "of the estimate, error unknown: " } else { "" };
        lines.extend(self.structure().into_iter().map(|(what, value)| (what, format!("{caveat}{value}"))));
        lines.into_iter().map(|(what, value)| [what.to_owned(), value]).collect()
    }

    fn winners(&self) -> Vec<(&'static str, String)> {
        let others = self.n_items - 1;
        let Self { numbering, sampling, .. } = self;
        let condorcet = match (sampling, self.condorcet_winner) {
            (Some(sampling), _) => sampling.condorcet(numbering, others),
            (None, Some(winner)) => format!("{}, which beats {}", numbering.name(winner), all_others(others)),
            (None, None) => "none: no item beats all others".to_owned(),
        };
        let copeland = format!(
            "{}: beats {} of {others}",
            numbering.listed(&self.copeland.winners),
            self.copeland.beaten
        );
        let score = number::significant(self.borda.score, 4);
        let borda = format!("{}: score {score}", numbering.listed(&self.borda.winners));
        let with_certainty = |of_numbers: String, certainty: &dyn Fn(&Sampling) -> String| match sampling {
            Some(sampling) => format!("in the estimate {of_numbers}; {}", certainty(sampling)),
            None => of_numbers,
        };
        vec![
            ("Condorcet winner", condorcet),
            ("Copeland winner", with_certainty(copeland, &|sampling| sampling.copeland(numbering))),
            ("Borda winner", with_certainty(borda, &|sampling| sampling.borda(numbering))),
        ]
    }

    fn structure(&self) -> Vec<(&'static str, String)> {
        let four = |value: f64| number::significant(value, 4);
        let lottery = || {
            let mut shares: Vec<(usize, f64)> =
                self.von_neumann.iter().copied().enumerate().filter(|(_, share)| *share > 0.0).collect();
            shares.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
            let name = |item| self.numbering.name(item);
            let listed = shares.iter().map(|(item, share)| format!("{} ({})", name(*item), four(*share)));
            number::first_of(listed, SHOWN)
        };
        let mut lines = vec![("Von Neumann winner", lottery())];
        if let Some([least, most]) = self.gaps {
            lines.push(("Gaps to the winner", format!("{} to {}", four(least), four(most))));
        }
        lines.push(("Cycles of three", number::grouped(self.n_three_cycles as u64)));
        lines.push((
            "Total order",
            self.total_order.as_ref().map_or_else(
                || "none: there are ties or cycles".to_owned(),
                |order| self.numbering.listed(order),
            ),
        ));
        let strong = if self.strongly_transitive { "yes" } else { "no" };
        lines.push(("Strong stochastic transitivity", strong.to_owned()));
        lines.push((
            "Relaxed, gamma",
            self.gamma.map_or_else(|| "undefined without a Condorcet winner".to_owned(), four),
        ));
        lines
    }

    /// Sizes of subsets with their shares: powers of two, the size with the smallest share, and all
    /// items.
    fn rows(&self) -> Vec<[String; 3]> {
        let mut sizes: Vec<usize> = std::iter::successors(Some(2), |size| Some(size * 2))
            .take_while(|size| *size < self.n_items)
            .collect();
        let least =
            (1..).zip(&self.shares.condorcet).min_by(|a, b| a.1.total_cmp(b.1)).map_or(1, |(size, _)| size);
        sizes.extend([least, self.n_items]);
        sizes.sort_unstable();
        sizes.dedup();
        let row = |size: usize| {
            let share = |shares: &[f64]| {
                shares.get(size - 1).map_or_else(|| "–".to_owned(), |share| number::fixed(*share, 4))
            };
            [size.to_string(), share(&self.shares.condorcet), share(&self.shares.ordered)]
        };
        sizes.into_iter().map(row).collect()
    }

    pub(super) fn to_html(&self) -> String {
        let mut html = Html::new();
        html.element("h1", "", "A preference matrix").paragraph("lead", &self.source);
        html.open("div", "columns").open("div", "");
        html.figure("", &svg::render(&subsets::chart(None, &self.shares)));
        html.close("div").open("div", "");
        html.texts(&["What", "Value"], self.lines());
        html.texts(&["#Items in the subset", "#Condorcet winner", "#total order"], self.rows());
        html.element("p", "small muted", NOTES);
        if self.sampling.is_some() {
            html.note(NOTES_OF_ESTIMATES);
        }
        html.close("div").close("div");
        if let Some(sampling) = &self.sampling {
            sampling.table(&mut html, &self.numbering);
        }
        html.page("A preference matrix")
    }
}

const NOTES: &str = "Rows are numbered from 0, in the order of the file. The share with a Condorcet winner is counted, the share in a total \
                     order estimated from 100,000 random subsets of each size. gamma is the least for which preferences are transitive in the \
                     relaxed sense; Beat the Mean has to be told it.";

const NOTES_OF_ESTIMATES: &str = "A feature has the number of its file. The rows of `preferences.csv` are the features that any document lists, in the order of their \
     numbers. Intervals are KL intervals of the comparisons without a tie and of the share of ties.";

impl fmt::Display for MatrixReport {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(formatter, "{}\n", terminal::in_line(&self.source))?;
        formatter.write_str(&terminal::table(&self.lines(), 0..0))?;
        writeln!(formatter, "\nShare of the random subsets of each size:\n")?;
        let mut rows = vec![["items", "Condorcet winner", "total order"].map(str::to_owned)];
        rows.extend(self.rows());
        formatter.write_str(&terminal::table(&rows, 0..3))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_report_of_a_matrix_has_its_winners_cycles_and_shares() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("m.csv");
        std::fs::write(&path, "0.5,0.6,0.6,0.6\n0.4,0.5,0.9,0.1\n0.4,0.1,0.5,0.9\n0.4,0.9,0.1,0.5\n")
            .unwrap();
        let report = MatrixReport::of(&MatrixFile::read(&path).unwrap(), None, true).unwrap();
        assert_eq!((report.condorcet_winner, report.n_three_cycles), (Some(0), 1));
        assert_eq!((report.total_order.clone(), report.strongly_transitive), (None, false));
        // A preference of .4 over 1/2 among the others, and .1 against each: the ratio is four.
        assert!((report.gamma.unwrap() - 4.0).abs() < 1e-9);
        let text = report.to_string();
        assert!(text.starts_with("Preferences among 4 items, of m.csv (SHA-256 "), "{text}");
        assert!(text.contains("\n  Condorcet winner                0, which beats all 3 others\n"), "{text}");
        assert!(text.contains("\n  Sampling error                  none is known of: "), "{text}");
        assert!(text.contains("\n      3            0.7500  "), "{text}");
        assert!(report.to_html().contains("Von Neumann winner"));
        assert_eq!(
            serde_json::from_str::<serde_json::Value>(&terminal::json(&report).unwrap()).unwrap()["n_items"],
            4
        );
    }
}
