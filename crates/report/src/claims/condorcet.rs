//! Whether enough subsets of items have a Condorcet winner, at every size. The shares are exact.

use crate::keys::required;
use spec::schema::probability;
use std::sync::Arc;

use super::{Basis, Comparison, Finding, JudgeError, Kind, KindReader, Sample, Test, Verdict};
use documents::number;
use documents::toml_reader::Error;

pub(super) static KIND: Kind = Kind {
    name: "condorcet",
    says: "of dueling users: random subsets of every size have a Condorcet winner with at least this probability; exact",
    keys: &[required("least", probability, "the probability")],
    relations: Vec::new,
    needs: &[],
    read,
};

/// At least this share of the subsets of every size has a Condorcet winner.
#[derive(Debug, Clone, PartialEq)]
pub struct Condorcet {
    /// The stated share.
    pub least: f64,
    /// The shares of subsets of 1 item, of 2 items, and so on.
    pub shares: Vec<f64>,
}

fn read(reading: &KindReader<'_, '_>) -> Result<Arc<dyn Test>, Error> {
    let (panel, kind) = (reading.panel()?, &reading.kind);
    let matrix = panel.matrix().ok_or_else(|| kind.error("the panel has no preferences"))?;
    let shares = (1..=matrix.shape().n_items()).map(|size| matrix.condorcet_share(size));
    let shares = shares.collect::<Result<_, _>>().map_err(|error| kind.error(error.to_string()))?;
    Ok(Arc::new(Condorcet { least: reading.table.required("least")?, shares }))
}

impl Test for Condorcet {
    fn sample(&self) -> Sample {
        Sample::Exact
    }

    fn judge(&self, _basis: &Basis<'_>) -> Result<Finding, JudgeError> {
        let Self { least, shares } = self;
        let lowest = (1..).zip(shares).min_by(|a, b| a.1.total_cmp(b.1));
        let (size, share) = lowest.map_or((0, 0.0), |(size, share)| (size, *share));
        let verdict = if share >= *least { Verdict::Reproduced } else { Verdict::Contradicted };
        let measured = number::fixed(share, 4);
        let what = format!("smallest share, at {size} items");
        let summary = format!(
            "At least {least} at every size: the smallest is {measured}, of subsets of {size} items (exact)."
        );
        let comparison = Comparison {
            readers: what.clone(),
            what,
            difference: least - share,
            says: verdict,
            measured,
            ..Comparison::default()
        };
        let quantity = "share with a Condorcet winner";
        Ok(Finding { verdict, summary, quantity, comparisons: vec![comparison] })
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
