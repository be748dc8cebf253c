//! The schema of `claims.toml`.

use crate::claims::{KINDS, Kind, Verdict};
use crate::keys::{QUANTITY, any_text};
use serde_json::{Value, json};
use spec::schema::{DIALECT, array, choice, described, object_of, reference, refuse, with};

/// The schema of `claims.toml`.
pub fn claims() -> Value {
    let level = described(
        &json!({ "type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 0.5, "default": 0.001 }),
        "The largest probability of a wrong verdict.",
    );
    let claim = object_of(
        [
            ("name", described(&any_text(), "A short name; unique.")),
            ("panel", described(&any_text(), "The panel that is judged; none for a table of the instances.")),
            ("says", described(&any_text(), "What the paper says, in our own words.")),
            ("place", described(&any_text(), "Where the paper says it.")),
            ("level", level.clone()),
            ("remark", any_text()),
            ("test", reference("test")),
            ("known", reference("known")),
            ("quick", reference("quick")),
        ],
        &["name", "says", "place", "test", "known"],
    );
    let known = object_of(
        [
            ("verdict", choice(&Verdict::NAMES.map(|(name, _)| (name, "")))),
            (
                "evidence",
                described(
                    &json!({ "type": "string", "pattern": "\\S" }),
                    "The run, or the reason, that the verdict rests on.",
                ),
            ),
        ],
        &["verdict", "evidence"],
    );
    let mut root = object_of(
        [
            ("level", level),
            ("claims", described(&array(&reference("claim"), 1..=u64::MAX), "The claims of the paper.")),
        ],
        &["claims"],
    );
    with(
        &mut root,
        &json!({
            "$schema": DIALECT,
            "title": "Claims of a paper",
            "description": "Each claim as a statistical test, with its known verdict. `click-bandits reproduce` judges them.",
            "$defs": { "claim": claim, "test": Kind::schema(&KINDS, &[(QUANTITY.name, QUANTITY.schema())]), "known": known, "quick": quick() },
        }),
    );
    root
}

/// The test of a quick check in place of a claim, or why there is none.
fn quick() -> Value {
    let left = refuse("`left` leaves the claim to the full run");
    let mut schema = object_of(
        [
            ("instead", described(&any_text(), "What is tested instead, for readers.")),
            ("left", described(&any_text(), "Why the claim is left to the full run.")),
            ("panel", any_text()),
            ("test", reference("test")),
            ("known", reference("known")),
        ],
        &[],
    );
    with(
        &mut schema,
        &json!({
            "if": { "required": ["left"] },
            "then": { "properties": { "instead": left, "test": left, "known": left } },
            "else": { "required": ["instead", "known"] },
        }),
    );
    schema
}
