//! When a policy passes today's ranking, the policy `logged`, and what it has gained at the end.

use documents::number;
use experiment::ResultFile;
use experiment::result::{Difference, MeanSe};

/// A sentence for each policy that plays beside the lists of a log; empty without such lists.
pub(super) fn sentences(result: &ResultFile) -> Vec<String> {
    let is_logged =
        |label: &str| result.policies.iter().any(|policy| policy.label == label && policy.policy == "logged");
    let unit = result.unit;
    let mut sentences = Vec::new();
    for paired in &result.paired {
        let (today, policy, sign) = match (is_logged(&paired.a), is_logged(&paired.b)) {
            (true, false) => (&paired.a, &paired.b, 1.0),
            (false, true) => (&paired.b, &paired.a, -1.0),
            _ => continue,
        };
        let Difference::Curves { t, regret: MeanSe { mean, se }, .. } = &paired.difference else { continue };
        let (Some(end), Some(error)) = (mean.last().map(|last| sign * last), se.last()) else { continue };
        let amount = number::with_error(end.abs(), *error);
        // The first checkpoint from which on the policy is ahead.
        let behind = mean.iter().rposition(|gain| sign * gain <= 0.0);
        sentences.push(match t.get(behind.map_or(0, |place| place + 1)) {
            Some(&round) => {
                let rounds = number::counted(round, "round");
                format!("{policy} has passed {today} after {rounds}, on average, and has gained {amount} {unit} at the end.")
            }
            None => format!("{policy} does not pass {today}: it has lost {amount} {unit} at the end."),
        });
    }
    sentences
}
