//! Whether random subsets of items have a Condorcet winner often enough, at every size: counted, not simulated.

use super::{Comparison, Finding, Verdict, number, verdict_of};

/// `shares`: of the subsets of 1 item, of 2 and so on.
pub(super) fn judge(least: f64, shares: &[f64]) -> Finding {
    let lowest =
        (1..).zip(shares).min_by(|a, b| a.1.total_cmp(b.1)).map_or((0, 0.0), |(size, share)| (size, *share));
    let (size, share) = lowest;
    let says = if share >= least { Verdict::Reproduced } else { Verdict::Contradicted };
    let measured = number::fixed(share, 4);
    let comparisons = vec![Comparison {
        what: format!("smallest share, at {size} items"),
        readers: format!("smallest share, at {size} items"),
        t: None,
        difference: least - share,
        se: None,
        statistic: None,
        says,
        leads_from: None,
        measured: measured.clone(),
    }];
    Finding {
        verdict: verdict_of(&comparisons),
        summary: format!(
            "At least {least} at every size: the smallest is {measured}, of subsets of {size} items (exact)."
        ),
        quantity: "share with a Condorcet winner",
        comparisons,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_smallest_share_decides() {
        let finding = judge(0.97, &[1.0, 1.0, 0.971, 0.98]);
        assert_eq!(
            (finding.verdict, finding.comparisons[0].measured.as_str()),
            (Verdict::Reproduced, "0.9710")
        );
        assert!(finding.summary.contains("of subsets of 3 items"), "{}", finding.summary);
        assert_eq!(judge(0.975, &[1.0, 1.0, 0.971, 0.98]).verdict, Verdict::Contradicted);
    }
}
