//! Suggestions for misspelt names.

use strsim::osa_distance;

/// Names that earlier versions knew, and those that take their place.
const EARLIER: [(&str, &str); 2] = [("pbm-ucb-plug-in", "pbm-gibbs"), ("pbm-ts-plug-in", "pbm-gibbs")];

/// The candidate nearest to `word`, if it is near enough to be a suggestion.
pub fn closest<'a>(word: &str, candidates: &[&'a str]) -> Option<&'a str> {
    let later = EARLIER.iter().find(|(earlier, _)| *earlier == word).map(|(_, later)| later);
    if let Some(later) = candidates.iter().find(|one| Some(*one) == later) {
        return Some(later);
    }
    let normal = |text: &str| text.to_lowercase().replace(['_', ' '], "-");
    let word = normal(word);
    let enough = 1 + word.chars().count() / 4;
    // For long words, only the beginnings are compared.
    let beginning = |word: &str| -> String { word.chars().take(64).collect() };
    let distance = |left: &str, right: &str| osa_distance(&beginning(left), &beginning(right));
    // The plural and the singular of a word count as near, even if several letters differ, and so
    // does the beginning of a name.
    let near = |candidate: &&'a str| {
        let candidate = normal(candidate);
        let begins = candidate.starts_with(&word) && word.len() > 3;
        let plural = 1 + distance(&singular(&word), &singular(&candidate));
        distance(&word, &candidate).min(plural).min(if begins { enough } else { usize::MAX })
    };
    candidates.iter().copied().min_by_key(near).filter(|candidate| near(candidate) <= enough)
}

/// A word without the ending of an English plural.
fn singular(word: &str) -> String {
    match word.strip_suffix("ies") {
        Some(stem) => format!("{stem}y"),
        None => word.strip_suffix('s').unwrap_or(word).to_owned(),
    }
}

#[cfg(test)]
mod tests;
