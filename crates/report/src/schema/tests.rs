//! The schemas and the readers agree, as in [`spec::schema`].

use super::*;
use documents::toml_reader::{Document, Error, Source};
use jsonschema::Validator;
use std::fs;
use std::path::Path;
use std::sync::LazyLock;

static EXPERIMENT: LazyLock<Validator> =
    LazyLock::new(|| jsonschema::draft202012::new(&experiment()).unwrap());
static CLAIMS: LazyLock<Validator> = LazyLock::new(|| jsonschema::draft202012::new(&claims()).unwrap());

/// Parts of the messages of errors that are left to the readers, since they relate several tables,
/// names or files.
const LEFT: &[&str] = &[
    // Names of panels, papers, variants, policies, instances, columns and bounds that other tables
    // have.
    "unknown panel ",
    "unknown paper ",
    "unknown variant ",
    "unknown policy ",
    "unknown variant/policy ",
    "unknown instance ",
    " has no \"max_theta\"",
    "has no number in the panel's `printed`",
    "no bound has the label",
    "names.pbm-us: unknown key",
    // Names that are given once.
    "is already given: expected another name",
    "is already the name of another policy",
    "is already the size of another variant",
    // Keys that may be in another table.
    "quick: missing key: expected the verdict",
    "missing key: expected the name of the panel",
    "missing key: expected an integer of at least 1, here",
    "missing key: expected a checkpoint, since the variants",
    // Names of files and folders.
    "is the name of a file of the report",
    "is a name for a figure of the panel",
    // Rounds and the checkpoints of the panel.
    "is not a checkpoint of the",
    "is not after round",
    "there is nothing to show from round",
    // Limits by the task, the variants or the users of the panel.
    "meet the same users",
    "expected `quantity`, \"wrong\" or \"capped\"",
    "the panel's printed numbers are of another quantity",
    "which the panel's runs do not record",
    "the panel's runs are judged as a whole",
    "the panel's runs have no checkpoints",
    "has another task than the first",
    "compares variants, and the panel has none",
    "shows regret round by round, which task",
    "the panel has no variants: leave it out",
    "needs at least three variants, each with a `size`",
    "ends when the policy stops: expected `max_steps` in its place",
    "unknown quantity \"regret\"",
    "printed[0].wrong: missing key",
    // Series that are compared.
    "expected the same, since they are compared run by run",
    "by itself at the same round is 1",
    "expected as many, the first by the first",
    "`most` is not above `least`",
    "is in `lower` and in `upper`",
];

/// As [`LEFT`], but the schema may refuse the file: a figure has other errors, which the reader
/// does not reach; the task may be in the same table.
const SOMETIMES: &[&str] = &[
    "compares variants, and the panel has none",
    "ends when the policy stops: expected `max_steps` in its place",
];

/// Errors of a schema in a document.
fn refused(schema: &Validator, document: &Document<'_>) -> Vec<String> {
    let json = document.to_json();
    let errors = schema.iter_errors(&json);
    errors.map(|error| format!("{}: {error}", error.instance_path())).collect()
}

/// Checks that the schemas judge two files as the readers do, or leave it to the
/// readers.
pub(crate) fn agree(experiment: &Source, claims: &Source, read: Result<(), &Error>) {
    let (Ok(experiment), Ok(claims)) = (experiment.parse(), claims.parse()) else { return };
    let mut refused_by_either = refused(&EXPERIMENT, &experiment);
    refused_by_either.extend(refused(&CLAIMS, &claims));
    let Err(error) = read else {
        assert!(
            refused_by_either.is_empty(),
            "the reader accepts what the schema refuses: {refused_by_either:#?}"
        );
        return;
    };
    let is_left = |error: &Error| LEFT.iter().any(|left| error.to_string().contains(left));
    let errors = error.clone().all();
    if refused_by_either.is_empty() {
        for error in &errors {
            assert!(is_left(error), "the schema accepts what the reader refuses: {error}");
        }
    } else if errors
        .iter()
        .all(|error| is_left(error) && !SOMETIMES.iter().any(|part| error.to_string().contains(part)))
    {
        panic!("listed as left to the reader, but the schema refuses it: {error}\n{refused_by_either:#?}");
    }
}

#[test]
fn the_schemas_are_ones() {
    jsonschema::draft202012::meta::validate(&experiment()).unwrap();
    jsonschema::draft202012::meta::validate(&claims()).unwrap();
}

#[test]
fn the_experiments_of_the_repository_are_accepted() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../xtask/experiments");
    let mut files = 0;
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        for (name, schema) in [("experiment.toml", &*EXPERIMENT), ("claims.toml", &*CLAIMS)] {
            if path.is_dir() {
                let source = Source::read(&path.join(name)).unwrap();
                let refused = refused(schema, &source.parse().unwrap());
                assert!(refused.is_empty(), "{}: {refused:#?}", path.display());
                files += 1;
            }
        }
    }
    assert!(files >= 20, "{files}");
}
