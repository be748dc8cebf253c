//! Suggestions for misspelt names, and plain words for the messages of serde.

use itertools::Itertools as _;
use strsim::osa_distance;

/// The candidate nearest to `word`, if it is near enough to be a suggestion.
pub fn closest<'a>(word: &str, candidates: &[&'a str]) -> Option<&'a str> {
    let normal = |text: &str| text.to_lowercase().replace(['_', ' '], "-");
    let word = normal(word);
    let enough = 1 + word.chars().count() / 4;
    // Of long words only the beginnings are compared.
    let beginning = |word: &str| -> String { word.chars().take(64).collect() };
    let distance = |left: &str, right: &str| osa_distance(&beginning(left), &beginning(right));
    // The plural and the singular of a word count as near, even if several letters differ.
    let near = |candidate: &&'a str| {
        let candidate = normal(candidate);
        distance(&word, &candidate).min(1 + distance(&singular(&word), &singular(&candidate)))
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

/// A message of serde in words for a reader who knows TOML but not Rust.
pub(crate) fn plain_serde_message(message: &str) -> String {
    let mut plain = message.to_owned();
    if let Some((unknown, known)) = unknown_and_known(message) {
        plain = format!("unknown value {unknown:?}");
        super::push_known(&mut plain, unknown, &known, "value");
    }
    if message == "integer number overflowed" {
        return "the number has too many digits for an integer".to_owned();
    }
    // For a number of more than 64 bits serde names the type that holds it.
    for wide in [" as i128", " as u128"] {
        if let Some((found, _)) = plain.split_once(wide) {
            let number = found.rsplit('`').nth(1).unwrap_or(found).to_owned();
            return if number.starts_with('-') {
                format!("{number} is negative: expected an integer of at least 0")
            } else {
                format!("{number} is too large: expected an integer of at most {}", u64::MAX)
            };
        }
    }
    for kind in ["integer", "string", "floating point", "boolean"] {
        plain = plain.replace(&format!("invalid type: {kind} "), "");
        plain = plain.replace(&format!("invalid value: {kind} "), "");
    }
    plain = plain.replace("invalid type: sequence", "an array").replace("invalid type: map", "a table");
    for (rust, words) in [
        ("expected usize", "expected an integer of at least 0"),
        ("expected u64", "expected an integer of at least 0"),
        ("expected f64", "expected a number"),
        ("expected a string", "expected a string"),
        ("expected a boolean", "expected true or false"),
    ] {
        if let Some(found) = plain.strip_suffix(&format!(", {rust}")) {
            plain = format!("{} found: {words}", found.replace('`', ""));
        }
    }
    plain
}

/// The known names in serde's message about an unknown one, as `"a" or "b"`.
pub(crate) fn known_names(message: &str) -> Option<String> {
    let (_, known) = unknown_and_known(message)?;
    Some(known.iter().map(|name| format!("{name:?}")).join(" or "))
}

/// The names in serde's "unknown variant `x`, expected one of `a`, `b`".
fn unknown_and_known(message: &str) -> Option<(&str, Vec<&str>)> {
    let names = message.strip_prefix("unknown variant ")?;
    let mut quoted = names.split('`').skip(1).step_by(2);
    Some((quoted.next()?, quoted.collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_closest_known_name_is_suggested() {
        let keys = ["horizon", "runs", "seed", "checkpoints"];
        assert_eq!(closest("horizn", &keys), Some("horizon"));
        assert_eq!(closest("Horizon", &keys), Some("horizon"));
        assert_eq!(closest("sede", &keys), Some("seed"));
        assert_eq!(closest("colour", &keys), None);
        assert_eq!(closest("", &[]), None);
        assert_eq!(closest("policy", &["instances", "policies"]), Some("policies"));
        assert_eq!(closest("instance", &["instances", "policies"]), Some("instances"));
        assert_eq!(closest("pbm_ts", &["pbm-ts", "pbm-ucb"]), Some("pbm-ts"));
    }

    #[test]
    fn messages_of_serde_are_rewritten_for_readers_of_toml() {
        assert_eq!(
            plain_serde_message("unknown variant `log-t2`, expected `log-t` or `log-horizon`"),
            "unknown value \"log-t2\": did you mean `log-t`? known: log-t, log-horizon"
        );
        assert_eq!(
            plain_serde_message("invalid type: string \"x\", expected f64"),
            "\"x\" found: expected a number"
        );
        assert_eq!(
            plain_serde_message("invalid value: integer `-1`, expected usize"),
            "-1 found: expected an integer of at least 0"
        );
        assert_eq!(
            plain_serde_message("invalid type: integer `18446744073709551616` as i128, expected usize"),
            "18446744073709551616 is too large: expected an integer of at most 18446744073709551615"
        );
    }
}
