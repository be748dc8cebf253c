//! The schema and the reader agree: what the reader accepts, the schema accepts; what the reader
//! refuses, the schema refuses, unless the list [`LEFT`] names it. The tests of the reader check
//! this with each of their texts ([`agree`]).

use super::*;
use crate::Experiment;
use crate::models::{MODELS, Model};
use documents::toml_reader::{Document, Error, Source};
use jsonschema::Validator;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

static VALIDATOR: LazyLock<Validator> = LazyLock::new(|| jsonschema::draft202012::new(&spec()).unwrap());

/// A valid spec, which the examples change.
const GOOD: &str = include_str!("../../../click-bandits/tests/data/bad_spec/good.toml");

/// An error that is left to the reader.
struct Left {
    /// A part of its message.
    message: &'static str,
    /// Why the schema does not find it.
    reason: Reason,
    /// A text of the valid spec, and what to put in its place for this error.
    example: (&'static str, &'static str),
}

/// Why an error is left to the reader.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reason {
    /// JSON has one kind of numbers.
    OneKindOfNumbers,
    /// Two values of a table have to agree.
    Related,
    /// A name was given before.
    Unique,
    /// A policy has to be able to play the users.
    Fits,
    /// As [`Reason::Fits`], unless the policy plays no lists on any users, which the schema finds.
    FitsUsually,
    /// Several values together exceed a limit.
    Limit,
    /// Another file is not as it should be.
    File,
}

const fn left(message: &'static str, reason: Reason, example: (&'static str, &'static str)) -> Left {
    Left { message, reason, example }
}

/// The parameters of the valid spec's instance.
const PBM: &str = "\"pbm\"\ntheta = [0.45, 0.35, 0.25, 0.15, 0.05]\nkappa = [0.9, 0.6, 0.3]";
/// The name of the valid spec's first policy.
const TS: &str = "\"pbm-ts\"";

/// Every error that is left to the reader.
const LEFT: &[Left] = &[
    left("1e5 is not an integer: expected whole digits", Reason::OneKindOfNumbers, ("100_000", "1e5")),
    left("positions but only", Reason::Related, ("0.3]", "0.3, 0.3, 0.3, 0.3]")),
    left("examination rises", Reason::Related, (PBM, "\"semi-bandit\"\ntheta = [1, 1]\nkappa = [0.1, 0.2]")),
    left("round 100001 does not exist", Reason::Related, ("[10000, 1000]", "[100001]")),
    left(
        "weights: 1 given, expected one for each",
        Reason::Related,
        (PBM, "\"cascade\"\nattraction = [0.1, 0.2]\npositions = 2\nweights = [1]"),
    ),
    left(
        "weights rise",
        Reason::Related,
        (PBM, "\"cascade\"\nattraction = [0.1, 0.2]\npositions = 2\nweights = [1, 2]"),
    ),
    left(
        "satisfaction: 2 given, expected one for each",
        Reason::Related,
        (PBM, "\"dbn\"\nattraction = [0.1]\nsatisfaction = [0.1, 0.2]\ncontinuation = 0.5\npositions = 1"),
    ),
    left(
        "examination[1] has 1 entries, expected 2",
        Reason::Related,
        (PBM, "\"ubm\"\nattraction = [0.1, 0.2]\nexamination = [[1], [0.5]]"),
    ),
    left(
        "is not a probability: expected at most 1 together",
        Reason::Related,
        (PBM, "\"rank-one\"\nneedle = { rows = 2, columns = 2, base = 0.5, gap = 0.6 }"),
    ),
    left(
        "an average of 0.5 with a maximum of 0.85",
        Reason::Related,
        (PBM, "\"rank-one\"\ncalibrated = { items = 100, positions = 2, mu = 0.5, p_max = 0.85, seed = 1 }"),
    ),
    left("do not add up to 1", Reason::Related, (PBM, "\"dueling\"\npreferences = [[0.5, 0.6], [0.6, 0.5]]")),
    left(
        ".arms[1]: ",
        Reason::Related,
        (PBM, "\"dueling\"\npreferences = [[0.5, 0.6], [0.4, 0.5]]\narms = [0, 2]"),
    ),
    left(
        "items: expected an integer from 2 to",
        Reason::Related,
        (PBM, "\"dueling\"\npreferences = [[0.5, 0.6], [0.4, 0.5]]\narms = { random = 3, subsets = 1 }"),
    ),
    left(
        "none of 10000 random subsets of 3 items has a Condorcet winner",
        Reason::Related,
        (
            PBM,
            "\"dueling\"\npreferences = [[0.5, 0.6, 0.4], [0.4, 0.5, 0.6], [0.6, 0.4, 0.5]]\narms = { random = 3, subsets = 1 }",
        ),
    ),
    left(
        "all instances of an experiment have the same model",
        Reason::Related,
        ("[[policies]]", "[[instances]]\nmodel = \"semi-bandit\"\ntheta = [1]\nkappa = [1]\n\n[[policies]]"),
    ),
    left("is already used in line", Reason::Unique, ("\"PBM-PIE (log T)\"", TS)),
    left("but the instances are", Reason::Fits, (TS, "\"cascade-ts\"")),
    left("already: leave it out", Reason::Fits, (TS, "\"pbm-ucb\"\nread-as = \"pbm\"")),
    left("cannot be read as each other", Reason::FitsUsually, (PBM, RANK_ONE_READ_AS)),
    left(
        "missing key: expected the examination probabilities that the policy assumes",
        Reason::Fits,
        (
            PBM,
            "\"cascade\"\nattraction = [0.1, 0.2]\npositions = 2\n[[policies]]\npolicy = \"pbm-ucb\"\nread-as = \"pbm\"",
        ),
    ),
    left("but the lists of instances[0] have", Reason::Fits, (TS, "\"pbm-ts\"\nkappa = [0.5]")),
    left("is not in the list of instances[0]", Reason::Fits, (PBM, SHORT_LISTS)),
    left("is played without disturbance", Reason::Fits, (ALL, BUDGET_LIVE)),
    left("takes `delay` alone", Reason::Fits, (ALL, IDENTIFY_LIVE)),
    left(
        "expected instances of",
        Reason::Fits,
        (
            PBM,
            "\"dbn\"\nattraction = [0.1]\nsatisfaction = [0.1]\ncontinuation = 0.5\npositions = 1\n\
        [[policies]]\npolicy = \"epsilon-greedy\"\nlive = { window = 5 }",
        ),
    ),
    left("items that come and go", Reason::Fits, ("seed = 1", "seed = 1\nlive = { availability = 0.5 }")),
    left("expected `wait` alone", Reason::Fits, ("epsilon = 0.1", "epsilon = 0.1\nlive = { window = 5 }")),
    left("so it has no prior", Reason::Fits, (TS, "\"pbm-ucb\"\nlive = { prior = [1, 9] }")),
    left("leave it out under `live`", Reason::Fits, (TS, "\"oracle\"\nlive = { wait = 5 }")),
    left(
        "not supported in live use",
        Reason::Fits,
        (TS, "\"pbm-ts\"\nkappa = [0.9, 0.6, 0.3]\nlive = { window = 5 }"),
    ),
    left(
        "at most 4096 are supported",
        Reason::Limit,
        (
            PBM,
            "\"cascade\"\npositions = 1\n\
        two-values = { items = 5000, best = 1, others = 0 }\n[[policies]]\npolicy = \"top-rank\"",
        ),
    ),
    left(
        "at most 4194304 are supported",
        Reason::Limit,
        (
            PBM,
            "\"rank-one\"\n\
        needle = { rows = 5000, columns = 5000, base = 0.5, gap = 0.1 }\n[[policies]]\npolicy = \"ucb1\"",
        ),
    ),
    left(
        "at most 4294967295 cells are supported",
        Reason::Limit,
        (
            PBM,
            "\"rank-one\"\n\
        needle = { rows = 70_000, columns = 70_000, base = 0.5, gap = 0.1 }",
        ),
    ),
    left("GiB of memory, more than 8 GiB", Reason::Limit, ("runs = 1000", "runs = 2_000_000_000")),
    left("are more than 9007199254740992 rounds", Reason::Limit, ("100_000", "9007199254740992")),
    left("expected a multiple of runs-per-draw", Reason::Related, (INSTANCE, SHARED_USERS)),
    left("user and item features, 1 included", Reason::Limit, (PBM, MANY_FEATURES)),
    left("users and items: at most 2^28", Reason::Limit, (PBM, MANY_USERS)),
    left("users and user features: at most 2^24", Reason::Limit, (PBM, LONG_USERS)),
    left("segments and items: at most 2^24", Reason::Limit, (PBM, MANY_SEGMENTS)),
    left("either all instances have a `context`", Reason::Related, ("[[instances]]", ONE_CONTEXT)),
    left("these users have no segment", Reason::Fits, (INSTANCE_AND_POLICY, SEES_NOTHING)),
    left("the instances have no `context`", Reason::Fits, (TS, "\"hybrid-ts\"\nsees = []")),
    left(
        "not supported for instances with a `context`",
        Reason::Fits,
        (INSTANCE_AND_POLICY, READ_AS_ON_CONTEXTS),
    ),
    left(
        "is not played on instances with a `context`",
        Reason::Fits,
        (INSTANCE_AND_POLICY, ORACLE_ON_CONTEXTS),
    ),
    left("cannot read the feedback of", Reason::Fits, (INSTANCE_AND_POLICY, SEGMENTED_ON_PBM)),
    left("chooses by segments or features", Reason::Fits, (TS, "\"c3-ucb\"")),
    left("values: 1 given, expected one for each", Reason::Related, ("0.3]", "0.3]\nvalues = [1]")),
    left("weights by position or values by item", Reason::Related, (PBM, WEIGHTS_AND_VALUES)),
    left("values of items need one probability to leave", Reason::Related, (PBM, OTHER_CONTINUATIONS)),
    left("with `values` the reward is that of clicks", Reason::Related, (PBM, SATISFACTION_IN_VALUE)),
    left("users who differ have no values", Reason::Related, (PBM, VALUES_OF_CONTEXTS)),
    left("leave out the `values` of instances", Reason::Fits, (ALL, IDENTIFY_VALUES)),
    left(
        "instances with `values` are played without",
        Reason::Fits,
        ("0.3]\n\n[[policies]]\npolicy = \"pbm-ts\"", LIVE_VALUES),
    ),
    left("cannot be read: no such file", Reason::File, (PBM, "\"dueling\"\nfile = \"none.csv\"")),
];

/// The valid spec but for its name, and specs of other tasks with conditions.
const ALL: &str = "task = \"regret\"\nhorizon = 100_000\nruns = 1000\nseed = 1\ncheckpoints = [10000, 1000]\n\n\
    [[instances]]\nmodel = \"pbm\"\ntheta = [0.45, 0.35, 0.25, 0.15, 0.05]\nkappa = [0.9, 0.6, 0.3]\n\n\
    [[policies]]\npolicy = \"pbm-ts\"\n\n\
    [[policies]]\npolicy = \"pbm-pie\"\nlabel = \"PBM-PIE (log T)\"\nlevel = \"log-horizon\"\nepsilon = 0.1\n";
const BUDGET_LIVE: &str = "task = \"budget\"\nhorizon = 100\nruns = 1\nseed = 1\nlive = { availability = 0.5 }\n\
    [[instances]]\nmodel = \"cascade\"\nattraction = [0.5, 0.4]\npositions = 1\n\
    [[policies]]\npolicy = \"cascade-bai\"\n";
const IDENTIFY_LIVE: &str = "task = \"identify\"\nmax_steps = 100\nruns = 1\nseed = 1\nlive = { availability = 0.5 }\n\
    [[instances]]\nmodel = \"cascade\"\nattraction = [0.5, 0.4]\npositions = 1\n\
    [[policies]]\npolicy = \"cascade-bai\"\n";

/// Instances with values where they would not count.
const WEIGHTS_AND_VALUES: &str =
    "\"cascade\"\nattraction = [0.1, 0.2]\npositions = 1\nweights = [1]\nvalues = [1, 2]";
const OTHER_CONTINUATIONS: &str = "\"dcm\"\nattraction = [0.1, 0.2]\nleave = [0.5, 0.4]\nvalues = [1, 2]";
const SATISFACTION_IN_VALUE: &str =
    "\"dcm\"\nattraction = [0.1, 0.2]\nleave = [0.5, 0.5]\nreward = \"satisfaction\"\nvalues = [1, 2]";
const VALUES_OF_CONTEXTS: &str = "\"pbm\"\nkappa = [0.9, 0.6, 0.3]\nvalues = [1, 2, 3, 4, 5]\n\
    context = { random = { users = 2, items = 5 } }";
const IDENTIFY_VALUES: &str = "task = \"identify\"\nmax_steps = 100\nruns = 1\nseed = 1\n\
    [[instances]]\nmodel = \"cascade\"\nattraction = [0.5, 0.4]\npositions = 1\nvalues = [1, 2]\n\
    [[policies]]\npolicy = \"cascade-bai\"\n";
const LIVE_VALUES: &str = "0.3]\nvalues = [1, 2, 3, 4, 5]\n\n\
    [[policies]]\npolicy = \"pbm-ts\"\nlive = { window = 5 }";

/// The valid spec's instance.
const INSTANCE: &str =
    "[[instances]]\nmodel = \"pbm\"\ntheta = [0.45, 0.35, 0.25, 0.15, 0.05]\nkappa = [0.9, 0.6, 0.3]\n";
/// Users of a fit, of whom the same three runs in a row meet; the valid spec has 1,000 runs.
const SHARED_USERS: &str = concat!(
    "[users]\nmodel = \"pbm\"\nruns-per-draw = 3\nposterior = '",
    env!("CARGO_MANIFEST_DIR"),
    "/src/experiment/tests/parameters.json'\n"
);
/// The valid spec's instance and its first policy.
const INSTANCE_AND_POLICY: &str = concat!(
    "[[instances]]\nmodel = \"pbm\"\ntheta = [0.45, 0.35, 0.25, 0.15, 0.05]\nkappa = [0.9, 0.6, 0.3]\n\n",
    "[[policies]]\npolicy = \"pbm-ts\""
);
/// Users who differ, of whom a policy sees what they do not have.
const SEES_NOTHING: &str = "[[instances]]\nmodel = \"pbm\"\nkappa = [0.9, 0.6, 0.3]\n\
    context = { random = { users = 2, items = 5 } }\n[[policies]]\npolicy = \"hybrid-ts\"\nsees = [\"segment\"]";
const READ_AS_ON_CONTEXTS: &str = "[[instances]]\nmodel = \"pbm\"\nkappa = [0.9, 0.6, 0.3]\n\
    context = { random = { users = 2, items = 5 } }\n[[policies]]\npolicy = \"cascade-ts\"\nread-as = \"cascade\"";
const ORACLE_ON_CONTEXTS: &str = "[[instances]]\nmodel = \"pbm\"\nkappa = [0.9, 0.6, 0.3]\n\
    context = { random = { users = 2, items = 5 } }\n[[policies]]\npolicy = \"oracle\"";
const SEGMENTED_ON_PBM: &str = "[[instances]]\nmodel = \"pbm\"\nkappa = [0.9, 0.6, 0.3]\n\
    context = { random = { users = 2, items = 5 } }\n[[policies]]\npolicy = \"segmented\"";
/// Users and features beyond the limits.
const MANY_FEATURES: &str = "\"pbm\"\nkappa = [0.9, 0.6, 0.3]\n\
    context = { random = { users = 2, items = 5, user-features = 100, item-features = 100 } }";
const MANY_USERS: &str = "\"pbm\"\nkappa = [0.9, 0.6, 0.3]\n\
    context = { random = { users = 1_000_000, items = 1_000 } }";
const LONG_USERS: &str = "\"pbm\"\nkappa = [0.9, 0.6, 0.3]\n\
    context = { random = { users = 1_000_000, items = 100, user-features = 100 } }";
const MANY_SEGMENTS: &str = "\"pbm\"\nkappa = [0.9, 0.6, 0.3]\n\
    context = { random = { users = 2, items = 5_000, segments = 5_000 } }";
/// A further instance, with a context.
const ONE_CONTEXT: &str = "[[instances]]\nmodel = \"pbm\"\nkappa = [0.9, 0.6, 0.3]\n\
    context = { random = { users = 2, items = 5 } }\n[[instances]]";
/// A policy that assumes a list on users of cells.
const RANK_ONE_READ_AS: &str = "\"rank-one\"\nrows = [0.5]\ncolumns = [0.5]\n[[policies]]\npolicy = \"pbm-ucb\"\n\
    read-as = \"pbm\"\nkappa = [0.5]";
/// A policy that explores at a position that the list does not have.
const SHORT_LISTS: &str =
    "\"cascade\"\nattraction = [0.5]\npositions = 1\n[[policies]]\npolicy = \"pie\"\nposition = 1";

/// Errors of the schema in a document.
fn refused(document: &Document<'_>) -> Vec<String> {
    VALIDATOR
        .iter_errors(&document.to_json())
        .map(|error| format!("{}: {error}", error.instance_path()))
        .collect()
}

fn reason(error: &Error) -> Option<Reason> {
    let message = error.to_string();
    // Every test calls the spec so; an error elsewhere is one of a file that the spec names.
    if !error.file().ends_with("spec.toml") || message.contains("two different files are called") {
        return Some(Reason::File);
    }
    LEFT.iter().find(|left| message.contains(left.message)).map(|left| left.reason)
}

/// Checks that the schema judges a document as the reader does, or leaves it to the
/// reader.
pub(crate) fn agree(document: &Document<'_>, read: &Result<Experiment, Error>) {
    let refused = refused(document);
    let Err(error) = read else {
        assert!(refused.is_empty(), "the reader accepts what the schema refuses: {refused:#?}");
        return;
    };
    let errors = error.clone().all();
    let reasons: Vec<Option<Reason>> = errors.iter().map(reason).collect();
    if refused.is_empty() {
        for (error, reason) in errors.iter().zip(reasons) {
            assert!(reason.is_some(), "the schema accepts what the reader refuses: {error}");
        }
    } else if reasons.iter().all(|reason| reason.is_some_and(|reason| reason != Reason::FitsUsually)) {
        panic!("listed as left to the reader, but the schema refuses it: {error}\n{refused:#?}");
    }
}

#[test]
fn what_is_left_to_the_reader_is_accepted_by_the_schema() {
    for Left { message, example: (from, to), .. } in LEFT {
        assert!(GOOD.contains(from), "{from:?}");
        let source = Source::from_text("spec.toml", GOOD.replacen(from, to, 1)).unwrap();
        let document = source.parse().unwrap();
        let error = Experiment::from_document(&document).unwrap_err();
        assert!(
            error.clone().all().iter().any(|error| error.to_string().contains(message)),
            "{message}: {error}"
        );
        assert_eq!(refused(&document), [""; 0], "{message}");
    }
}

#[test]
fn the_schema_is_one() {
    jsonschema::draft202012::meta::validate(&spec()).unwrap();
}

/// Every policy on users of every model, as it is and as on users of every other model, with and
/// without examination: whether the reader accepts it.
#[test]
fn no_policy_that_can_be_played_is_refused() {
    let mut accepted = 0;
    for model in MODELS {
        let replaced = |name: &str| model.keys.iter().any(|key| key.replaces.contains(&name));
        let keys =
            model.keys.iter().filter(|key| key.required && (replaced(key.name) || key.replaces.is_empty()));
        let keys: Vec<String> = keys.map(|key| format!("{} = {}\n", key.name, key.example)).collect();
        let keys = keys.concat();
        for row in rows() {
            let task = Task::ALL.into_iter().find(|task| task.is_for(&row.spec())).unwrap();
            let readings = MODELS.map(|model| format!("read-as = {:?}\n", model.name));
            for read_as in readings.iter().map(String::as_str).chain([""]) {
                for kappa in ["", "kappa = [0.9, 0.5, 0.3]\n"] {
                    let text = format!(
                        "name = \"x\"\ntask = {:?}\n{} = 10\nruns = 1\nseed = 1\n[[instances]]\nmodel = {:?}\n{keys}\
                         [[policies]]\npolicy = {:?}\n{read_as}{kappa}",
                        task.name(),
                        task.length().name,
                        model.name,
                        row.name
                    );
                    let source = Source::from_text("spec.toml", text.as_str()).unwrap();
                    let document = source.parse().unwrap();
                    if Experiment::from_document(&document).is_ok() {
                        assert_eq!(refused(&document), [""; 0], "{text}");
                        accepted += 1;
                    }
                }
            }
        }
    }
    // At least the policies that play a model's own protocol.
    let own = |model: &&Model| rows().iter().filter(|row| row.speaks(model.protocol)).count();
    assert!(accepted > MODELS.iter().map(own).sum::<usize>(), "{accepted}");
}

/// The Markdown files of the repository, besides those of its dependencies.
fn markdown(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() {
            if !name.starts_with('.') && !["target", "shared", "node_modules"].contains(&name.as_str()) {
                markdown(&path, found);
            }
        } else if path.extension().is_some_and(|end| end == "md") {
            found.push(path);
        }
    }
}

#[test]
fn the_specs_of_the_documentation_are_accepted() {
    let mut files = Vec::new();
    markdown(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."), &mut files);
    let mut specs = 0;
    for file in files {
        let text = fs::read_to_string(&file).unwrap();
        for block in text.split("```toml\n").skip(1).filter_map(|rest| rest.split("```").next()) {
            // Other blocks are parts of a file.
            if !(block.contains("[[policies]]") && block.contains("seed =") && !block.contains("[[panels]]"))
            {
                continue;
            }
            let source = Source::from_text("spec.toml", block).unwrap();
            let document = source.parse().unwrap();
            agree(&document, &Experiment::from_document(&document));
            assert_eq!(refused(&document), [""; 0], "{}:\n{block}", file.display());
            specs += 1;
        }
    }
    assert!(specs >= 2, "{specs}");
}

#[test]
fn a_refusal_names_the_value_or_the_key() {
    for (from, to, expected) in [
        ("epsilon = 0.1", "epsilon = -0.1", "/policies/1/epsilon: -0.1 is less than the minimum of 0"),
        ("0.25", "1.5", "/instances/0/theta/2: 1.5 is greater than the maximum of 1"),
        ("horizon =", "horizn =", ": Additional properties are not allowed ('horizn' was unexpected)"),
        ("horizon =", "horizn =", ": \"horizon\" is a required property"),
    ] {
        let source = Source::from_text("spec.toml", GOOD.replacen(from, to, 1)).unwrap();
        let found = refused(&source.parse().unwrap());
        assert!(found.iter().any(|found| found == expected), "{found:#?}");
    }
}
