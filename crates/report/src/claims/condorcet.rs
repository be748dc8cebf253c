//! Whether enough subsets of items have a Condorcet winner, at every size. The shares are exact.

use crate::schema::Keys;
use experiment::schema::probability;
use std::sync::Arc;

use super::{Basis, Comparison, Finding, Kind, Reading, Sample, Test, Verdict, number, verdict_of};
use confidence::Probability;
use experiment::toml_reader::Error;

pub(super) static KIND: Kind = Kind {
    name: "condorcet",
    keys: "`least`",
    holds: "of dueling users: random subsets of every size have a Condorcet winner with at least this probability; exact",
    schema: || Keys::required([("least", probability())]),
    read: |reading| Ok(Arc::new(read(reading)?)),
};

/// At least this share of the subsets of every size has a Condorcet winner.
#[derive(Debug, Clone, PartialEq)]
pub struct Condorcet {
    /// The stated share.
    pub least: f64,
    /// The shares of subsets of 1 item, of 2 items, and so on.
    pub shares: Vec<f64>,
}

fn read(reading: &Reading<'_, '_>) -> Result<Condorcet, Error> {
    let (panel, kind) = (reading.panel()?, &reading.kind);
    let matrix = panel.matrix().ok_or_else(|| kind.error("the panel has no preferences"))?;
    let shares = (1..=matrix.shape().n_items()).map(|size| matrix.condorcet_share(size));
    let shares = shares.collect::<Result<_, _>>().map_err(|error| kind.error(error.to_string()))?;
    Ok(Condorcet { least: reading.table.required::<Probability>("least")?.get(), shares })
}

impl Test for Condorcet {
    fn tests(&self) -> usize {
        1
    }

    fn sample(&self) -> Sample {
        Sample::Exact
    }

    fn judge(&self, _basis: &Basis<'_>) -> anyhow::Result<Finding> {
        let Self { least, shares } = self;
        let lowest = (1..)
            .zip(shares)
            .min_by(|a, b| a.1.total_cmp(b.1))
            .map_or((0, 0.0), |(size, share)| (size, *share));
        let (size, share) = lowest;
        let says = if share >= *least { Verdict::Reproduced } else { Verdict::Contradicted };
        let measured = number::fixed(share, 4);
        let comparisons = vec![Comparison {
            what: format!("smallest share, at {size} items"),
            readers: format!("smallest share, at {size} items"),
            difference: least - share,
            says,
            measured: measured.clone(),
            ..Comparison::default()
        }];
        Ok(Finding {
            verdict: verdict_of(&comparisons),
            summary: format!(
                "At least {least} at every size: the smallest is {measured}, of subsets of {size} items (exact)."
            ),
            quantity: "share with a Condorcet winner",
            comparisons,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::claims::Levels;

    #[test]
    fn the_smallest_share_decides() {
        let judged = |least: f64| {
            let test = Condorcet { least, shares: vec![1.0, 1.0, 0.971, 0.98] };
            test.judge(&Basis { evidence: None, rows: &[], levels: Levels::of(1e-3, 1) }).unwrap()
        };
        let finding = judged(0.97);
        assert_eq!(
            (finding.verdict, finding.comparisons[0].measured.as_str()),
            (Verdict::Reproduced, "0.9710")
        );
        assert!(finding.summary.contains("of subsets of 3 items"), "{}", finding.summary);
        assert_eq!(judged(0.975).verdict, Verdict::Contradicted);
    }
}
