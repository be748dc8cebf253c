//! Whether a printed table is what the instances have.

use anyhow::{Result, bail};

use super::{Column, Comparison, Finding, Row, Verdict, number};

pub(super) fn judge(rows: &[Row], columns: &[Column], decimals: u32) -> Result<Finding> {
    let unit = libm::pow(10.0, f64::from(decimals));
    let mut comparisons = Vec::new();
    let mut entries = 0;
    for row in rows {
        for &column in columns {
            let name = column.name();
            let Some((_, printed)) = row.printed.iter().find(|(key, _)| key == name) else {
                bail!("instance `{}` has no printed `{name}`", row.name);
            };
            entries += 1;
            let value = column.of(&row.theta);
            if libm::round(value * unit) != libm::round(printed * unit) {
                let digits = if column == Column::Items { 0 } else { decimals as usize };
                let what = format!("{} of {}", name.replace('_', " "), row.name);
                comparisons.push(Comparison {
                    readers: what.clone(),
                    what,
                    t: None,
                    difference: value - printed,
                    se: None,
                    statistic: None,
                    says: Verdict::Contradicted,
                    leads_from: None,
                    measured: format!(
                        "{}, printed {}",
                        number::fixed(value, digits),
                        number::fixed(*printed, digits)
                    ),
                });
            }
        }
    }
    let verdict = if comparisons.is_empty() { Verdict::Reproduced } else { Verdict::Contradicted };
    let differing: Vec<String> =
        comparisons.iter().map(|one| format!("{} is {}", one.what, one.measured)).collect();
    let summary = match differing.len() {
        0 if entries == 1 => "The entry is as printed.".to_owned(),
        0 => format!("All {entries} entries are as printed."),
        1..=3 => format!(
            "{} of {entries} entries as printed; {}.",
            entries - differing.len(),
            differing.join("; ")
        ),
        many => format!("{} of {entries} entries as printed, {many} are not.", entries - many),
    };
    Ok(Finding { verdict, summary, quantity: "value", comparisons })
}
