//! Users who differ.

use super::read;
use crate::models::Contexts;
use crate::{ClicksByList, ContextFit, ContextReport, Experiment, Instances};
use click_models::{
    CascadeFeedback, CascadeModel, Context, ContextKnown, ItemId, ListShape, RandomUsers, Ranking,
};
use documents::toml_reader::Source;
use policies::{Decision, FeatureScale, HybridSettings, HybridTs, UpdateFor as _};
use sim::Sees;
use std::fs;
use std::path::Path;
use tempfile::tempdir;

const HEAD: &str = "name = \"x\"\ntask = \"regret\"\nhorizon = 50\nruns = 4\nseed = 1\n";
const RANDOM: &str =
    "users = 6, items = 5, segments = 2, user-features = 1, item-features = 1, interaction = 0.5, share = 2";
const USERS: &str = "user,segment,x\na,0,1.0\nb,1,-1.0\nc,0,0.5\n";
const ITEMS: &str = "z,item\n0.5,one\n-1.5,two\n1.0,three\n";
const COEFFICIENTS: &str = r#"{ "mean": -1.0, "main": [0.3], "interaction": [[0.7]], "item": [0.1, 0.2, 0.3], "item-slope": [[1], [2], [3]], "segment": [[0, 0, 1], [1, 0, 0]] }"#;

fn random(distribution: &str, rest: &str) -> String {
    format!(
        "{HEAD}[[instances]]\nmodel = \"cascade\"\npositions = 2\ncontext = {{ random = {{ {distribution} }} }}\n{rest}"
    )
}

/// An experiment with these files beside it, on the users of `model`.
fn of_files(
    folder: &Path,
    [users, items, coefficients]: [&str; 3],
    model: &str,
) -> Result<Experiment, String> {
    for (name, text) in [("users.csv", users), ("items.csv", items), ("coefficients.json", coefficients)] {
        fs::write(folder.join(name), text).unwrap();
    }
    let text = format!(
        "{HEAD}[[instances]]\n{model}\ncontext = {{ users = \"users.csv\", items = \"items.csv\", coefficients = \"coefficients.json\" }}\n\
         [[policies]]\npolicy = \"hybrid-ts\"\n"
    );
    fs::write(folder.join("spec.toml"), text).unwrap();
    let source = Source::read(&folder.join("spec.toml")).map_err(|error| error.to_string())?;
    let document = source.parse().map_err(|error| error.to_string())?;
    let read = Experiment::from_document(&document);
    crate::schema::tests::agree(&document, &read);
    read.map_err(|error| error.to_string().replace(&format!("{}/", folder.display()), ""))
}

const CASCADE: &str = "model = \"cascade\"\npositions = 2";

#[test]
fn random_users_are_written_as_they_were_read() {
    let policies = "[[policies]]\npolicy = \"hybrid-ts\"\nsees = [\"segment\"]\n[[policies]]\npolicy = \"segmented\"\n[[policies]]\npolicy = \"cascade-ts\"\n";
    let experiment = read(&random(RANDOM, policies)).unwrap();
    assert_eq!(experiment.instances().contexts(), Some(Sees::default()));
    assert_eq!(
        experiment.policies()[0].sees,
        Sees { segment: true, user_features: false, item_features: false }
    );
    let again = read(&experiment.to_toml()).unwrap();
    assert_eq!(again.canonical(), experiment.canonical());
    let users = RandomUsers {
        users: 6,
        items: 5,
        segments: 2,
        user_features: 1,
        item_features: 1,
        interaction: 0.5,
        share: 2,
        ..RandomUsers::default()
    };
    let model = CascadeModel::from_values(&[0.5; 5], 2).unwrap();
    let instances = Instances::differing(model, Contexts::Random(users)).unwrap();
    let mut built = Experiment::builder("x", instances).horizon(50).runs(4);
    for entrant in experiment.policies() {
        built = built.entrant(entrant.clone());
    }
    assert_eq!(built.build().unwrap().canonical(), experiment.canonical());
}

#[test]
fn users_of_files_have_the_attraction_of_the_formula() {
    let folder = tempdir().unwrap();
    let pbm = "model = \"pbm\"\nkappa = [1.0, 0.5]";
    let dcm = "model = \"dcm\"\nleave = [0.5, 0.5]";
    for model in [CASCADE, pbm, dcm] {
        let experiment = of_files(folder.path(), [USERS, ITEMS, COEFFICIENTS], model).unwrap();
        assert_eq!(experiment.inputs().len(), 3);
        assert!(experiment.to_toml().contains("context = { users = \"users.csv\", items = \"items.csv\""));
        let values = experiment.instances().values_of_users(experiment.assignment(), 1, &[0]);
        assert!(values.yardsticks[0].best_list >= values.yardsticks[0].best_list_of_segment);
    }
    let experiment = of_files(folder.path(), [USERS, ITEMS, COEFFICIENTS], CASCADE).unwrap();
    // -1 + .3 z + .7 x z + d + s x + e, by hand.
    let sigmoid = |x: f64| 1.0 / (1.0 + libm::exp(-x));
    let users: [[f64; 3]; 3] = [
        [-1.0 + 0.15 + 0.35 + 0.1 + 1.0, -1.0 - 0.45 - 1.05 + 0.2 + 2.0, -1.0 + 0.3 + 0.7 + 0.3 + 3.0 + 1.0],
        [-1.0 + 0.15 - 0.35 + 0.1 - 1.0 + 1.0, -1.0 - 0.45 + 1.05 + 0.2 - 2.0, -1.0 + 0.3 - 0.7 + 0.3 - 3.0],
        [
            -1.0 + 0.15 + 0.175 + 0.1 + 0.5,
            -1.0 - 0.45 - 0.525 + 0.2 + 1.0,
            -1.0 + 0.3 + 0.35 + 0.3 + 1.5 + 1.0,
        ],
    ];
    let best = users.map(|mut log_odds| {
        log_odds.sort_by(|a, b| b.total_cmp(a));
        1.0 - (1.0 - sigmoid(log_odds[0])) * (1.0 - sigmoid(log_odds[1]))
    });
    let values = experiment.instances().values_of_users(experiment.assignment(), 1, &[0]);
    assert!((values.optimal_clicks[0] - best.iter().sum::<f64>() / 3.0).abs() < 1e-12);
    // The same attraction as a table.
    let table = users.map(|user| format!("{:?}", user.map(sigmoid)));
    let table = format!("{{ \"attraction\": [{}] }}", table.join(", "));
    let as_table = of_files(folder.path(), [USERS, ITEMS, &table], CASCADE).unwrap();
    let again = as_table.instances().values_of_users(experiment.assignment(), 1, &[0]);
    assert!((values.optimal_clicks[0] - again.optimal_clicks[0]).abs() < 1e-12);
    assert_ne!(experiment.identity(), as_table.identity());
}

#[test]
fn faults_of_files_have_their_place() {
    let folder = tempdir().unwrap();
    let cells = r#"{ "mean": 0, "segment": [[0, 0, 0]] }"#;
    for (files, expected) in [
        (
            ["user,x\na,1\nb,NaN\n", ITEMS, "{\"mean\": 0}"],
            "users.csv:3:1: x: \"NaN\" found: expected a finite number",
        ),
        (["user,x\na,1\nb\n", ITEMS, "{\"mean\": 0}"], "users.csv:3:1: "),
        (["user,x\na,1\na,2\n", ITEMS, "{\"mean\": 0}"], "users.csv:3:1: user: \"a\" is there twice"),
        (["x\n1\n", ITEMS, "{\"mean\": 0}"], "users.csv:1:1: user: no such column"),
        (["user,x,x\na,1,1\n", ITEMS, "{\"mean\": 0}"], "users.csv:1:1: x: this column is there twice"),
        (["user,x\n", ITEMS, "{\"mean\": 0}"], "users.csv:1:1: user: no rows"),
        (["user,segment\na,x\n", ITEMS, "{\"mean\": 0}"], "users.csv:2:1: segment: \"x\" found"),
        ([USERS, "item\none\none\n", "{\"mean\": 0}"], "items.csv:3:1: item: \"one\" is there twice"),
        // Logs also have their spaces, but not those of separators.
        (
            [USERS, "x, item\n1, one\n2, one\n", "{\"mean\": 0}"],
            "items.csv:3:1: item: \"one\" is there twice",
        ),
        ([USERS, "item\none\n one\n one\n", "{\"mean\": 0}"], "items.csv:4:1: item: \" one\" is there twice"),
        ([USERS, ITEMS, cells], "users.csv:3:1: segment: 1 found: expected a segment below 1"),
        ([USERS, ITEMS, "{}"], "coefficients.json: mean: missing, as is attraction"),
        (
            [USERS, ITEMS, "{\"mean\": 0, \"main\": [1, 2]}"],
            "coefficients.json: main: 2 coefficients: expected 1",
        ),
        (
            [USERS, ITEMS, "{\"mean\": 0, \"interaction\": [[1, 2]]}"],
            "coefficients.json: interaction: expected 1 rows of 1",
        ),
        ([USERS, ITEMS, "{\"mean\": 0, \"slope\": 1}"], "coefficients.json:1:"),
        ([USERS, ITEMS, "{\"attraction\": [[0.5]]}"], "coefficients.json: attraction: expected 3 rows of 3"),
        ([USERS, ITEMS, "{\"attraction\": [[0,0,0],[0,0,2],[0,0,0]]}"], "coefficients.json: "),
    ] {
        let error = of_files(folder.path(), files, CASCADE).unwrap_err();
        assert!(error.starts_with(expected), "{error:?} instead of {expected:?}");
    }
    let doubts = |users: &str, items: &str| {
        of_files(folder.path(), [users, items, "{\"mean\": 0}"], CASCADE).unwrap().doubts().join("\n")
    };
    assert!(doubts("user,x\na,1\nb,1\n", ITEMS).contains("users.csv: the feature \"x\" is constant"));
    let off_scale = doubts(USERS, "item,z\none,1e5\ntwo,-1e5\nthree,0\n");
    assert!(off_scale.contains("items.csv: the feature \"z\" is off scale"), "{off_scale}");
}

#[test]
fn faults_of_keys_name_them() {
    let hybrid = "[[policies]]\npolicy = \"hybrid-ts\"\n";
    let with = |from: &str, to: &str| random(&RANDOM.replace(from, to), hybrid);
    for (text, expected) in [
        (with("users = 6", "users = 0"), "instances[0].context.random.users"),
        (with("items = 5, ", ""), "instances[0].context.random.items: missing key"),
        (
            with("interaction = 0.5", "interaction = -0.5"),
            "instances[0].context.random.interaction: -0.5 found",
        ),
        (
            with("share = 2", "mean = 31.0"),
            "instances[0].context.random.mean: 31.0 found: expected a number from -30 to 30",
        ),
        (with("share = 2", "shares = 2"), "instances[0].context.random.shares: unknown key"),
        (
            with("user-features = 1", "user-features = 1500"),
            "instances[0].context: 1501 x 2 user and item features",
        ),
        (
            with("users = 6", "users = 16_000_000").replace("items = 5", "items = 5_000"),
            "instances[0].context: 16000000 x 5000 users and items",
        ),
        (
            with("segments = 2", "segments = 16_000_000"),
            "instances[0].context: 16000000 x 5 segments and items",
        ),
        (with("items = 5", "items = 1"), "instances[0].positions"),
        (
            random(RANDOM, hybrid).replace("context", "attraction = [0.5]\ncontext"),
            "instances[0].attraction: `context` already gives",
        ),
        (
            random(
                RANDOM,
                &format!("[[instances]]\nmodel = \"cascade\"\nattraction = [0.5]\npositions = 1\n{hybrid}"),
            ),
            "instances[1].context: missing key",
        ),
        (
            with("segments = 2, ", "") + "sees = [\"segment\"]\n",
            "policies[0].sees[0]: these users have no segment",
        ),
        (random(RANDOM, hybrid) + "sees = [\"age\"]\n", "policies[0].sees[0]: unknown"),
        (
            random(RANDOM, "[[policies]]\npolicy = \"cascade-ts\"\nsees = []\n"),
            "policies[0].sees: \"cascade-ts\" does not see",
        ),
        (
            random(RANDOM, "[[policies]]\npolicy = \"oracle\"\n"),
            "policies[0].policy: \"oracle\" is not played",
        ),
        (
            random(RANDOM, "[[policies]]\npolicy = \"pbm-ts\"\nread-as = \"pbm\"\nkappa = [1.0, 0.5]\n"),
            "policies[0].read-as: not supported",
        ),
        (
            random(RANDOM, "[[policies]]\npolicy = \"segmented\"\nof = \"pbm-ts\"\n"),
            "policies[0].of: \"pbm-ts\" cannot read",
        ),
        (random(RANDOM, "[[policies]]\npolicy = \"segmented\"\nof = \"rucb\"\n"), "policies[0].of"),
        (random(RANDOM, hybrid).replace("\"regret\"", "\"budget\""), "task"),
        (
            format!(
                "{HEAD}[[instances]]\nmodel = \"cascade\"\npositions = 1\nattraction = [0.5]\n[[policies]]\npolicy = \"c3-ucb\"\n"
            ),
            "policies[0].policy: \"c3-ucb\" chooses by segments or features",
        ),
    ] {
        let errors = read(&text).unwrap_err();
        let messages: Vec<String> =
            errors.all().iter().map(|error| format!("{}: {}", error.field(), error.message())).collect();
        assert!(
            messages.iter().any(|message| message.starts_with(expected)),
            "{messages:?} instead of {expected:?}"
        );
    }
}

/// The fit of a log of three items, two segments, and a feature of users and of items each.
fn fit(model: &str) -> serde_json::Value {
    let known = ContextKnown::new(3, &[0.5, -1.5, 1.0]).unwrap().with_user_features(1).with_segments(2);
    let scale = FeatureScale::new(vec![[10.0, 2.0]], vec![[0.0, 1.0]]).unwrap();
    let policy = HybridTs::new(ListShape::new(3, 2).unwrap(), known, HybridSettings::default()).unwrap();
    let mut policy = policy.standardising(scale).unwrap();
    for round in 0..40 {
        let old = round % 2 == 0;
        let note = Context { segment: round % 2, features: vec![if old { 12.0 } else { 8.0 }] };
        let action = [0, 1].map(ItemId::new).into_iter().collect::<Ranking>();
        let decision = Decision { action, note };
        policy.update_for(&decision, &CascadeFeedback::new(Some(usize::from(old)), 2).unwrap());
    }
    let clicks = ClicksByList { best_list: 0.0, best_list_of_segment: 0.0, personal: 0.0 };
    let report = ContextReport {
        held_out_one_in: 10,
        lists: 4,
        units: 4,
        log_loss: Some(1.0),
        log_loss_without: Some(1.1),
        gain: None,
        columns: vec![],
        clicks,
        personal_gain: None,
    };
    let names = |names: &[&str]| names.iter().map(ToString::to_string).collect::<Vec<_>>();
    let fit = ContextFit {
        version: ContextFit::VERSION,
        model: model.to_owned(),
        query: None,
        lists: 40,
        positions: 2,
        segments: names(&["at", "de"]),
        items: names(&["one", "two", "three"]),
        user_features: names(&["x"]),
        item_features: names(&["z"]),
        item_type: documents::parameters::IdType::Text,
        ranges: vec![[8.0, 12.0]],
        of_positions: if model == "cascade" { vec![] } else { vec![0.5, 0.5] },
        users: [8.0, 12.0].map(|x| Context { segment: u32::from(x > 10.0), features: vec![x] }).into(),
        report,
        prior: policy.learned(),
    };
    serde_json::to_value(fit).unwrap()
}

/// An experiment on these users beside `context.json` and the other files.
fn with_fit(
    folder: &Path,
    fit: &serde_json::Value,
    context: &str,
    policy: &str,
) -> Result<Experiment, String> {
    let files = [("users.csv", USERS), ("items.csv", ITEMS), ("coefficients.json", COEFFICIENTS)];
    for (name, text) in files.into_iter().chain([("context.json", fit.to_string().as_str())]) {
        fs::write(folder.join(name), text).unwrap();
    }
    let text = format!(
        "{HEAD}[[instances]]\n{CASCADE}\ncontext = {{ {context} }}\n[[policies]]\npolicy = \"hybrid-ts\"\n{policy}\n"
    );
    fs::write(folder.join("spec.toml"), text).unwrap();
    let source = Source::read(&folder.join("spec.toml")).map_err(|error| error.to_string())?;
    let document = source.parse().map_err(|error| error.to_string())?;
    let read = Experiment::from_document(&document);
    crate::schema::tests::agree(&document, &read);
    read.map_err(|error| error.to_string().replace(&format!("{}/", folder.display()), ""))
}

const PRIOR: &str = "prior = \"fitted\"\nprior_file = \"context.json\"";
const POSTERIOR: &str = "posterior = \"context.json\"";
const FILES: &str = "users = \"users.csv\", items = \"items.csv\", coefficients = \"coefficients.json\"";

#[test]
fn a_log_s_fit_is_users_and_the_prior_of_hybrid_ts() {
    let folder = tempdir().unwrap();
    let fit = fit("cascade");
    for context in [POSTERIOR, FILES] {
        let experiment = with_fit(folder.path(), &fit, context, PRIOR).unwrap();
        let plain = with_fit(folder.path(), &fit, context, "").unwrap();
        assert_ne!(experiment.canonical(), plain.canonical());
        assert!(experiment.to_toml().contains(PRIOR));
        assert_eq!(experiment.instances().contexts(), Some(Sees::default()));
        let hash = &experiment.policies()[0].priors.as_ref().unwrap().file.sha256;
        assert!(format!("{:?}", experiment.canonical()).contains(hash));
        // The same from the command line.
        let (mut begun, content) = (plain, fit.to_string().into_bytes());
        begun.begin_with("elsewhere/context.json", content.clone()).unwrap();
        assert_eq!(begun.identity(), experiment.identity());
        assert_eq!(begun.to_toml(), experiment.to_toml());
        let refused = begun.begin_with("elsewhere/context.json", content).unwrap_err().to_string();
        assert!(refused.contains("context.json: no policy without a `prior`"), "{refused}");
    }
    let mut flat = with_fit(folder.path(), &fit, POSTERIOR, "prior = \"flat\"").unwrap();
    let refused = flat.begin_with("context.json", fit.to_string().into_bytes()).unwrap_err().to_string();
    assert!(refused.contains("no policy without a `prior`"), "{refused}");
    // Two files of one name cannot lie beside the result.
    let mut plain = with_fit(folder.path(), &fit, POSTERIOR, "").unwrap();
    let other = format!("{fit} ").into_bytes();
    let refused = plain.begin_with("elsewhere/context.json", other.clone()).unwrap_err().to_string();
    assert!(refused.contains("two different files are called \"context.json\""), "{refused}");
    fs::create_dir(folder.path().join("of")).unwrap();
    fs::write(folder.path().join("of/context.json"), other).unwrap();
    let refused = with_fit(folder.path(), &fit, POSTERIOR, &PRIOR.replace("context.json", "of/context.json"));
    let refused = refused.unwrap_err();
    assert!(refused.contains("two different files are called \"context.json\""), "{refused}");
    let experiment = with_fit(folder.path(), &fit, POSTERIOR, PRIOR).unwrap();
    assert!(experiment.to_toml().contains("context = { posterior = \"context.json\" }"));
    assert_eq!(experiment.inputs().len(), 1);
    let doubts = experiment.doubts();
    assert!(doubts.len() == 2 && doubts[1].contains("not those of the exact posterior"), "{doubts:?}");
    // Every run draws other users, and the same again.
    let values = |seed| experiment.instances().values_of_users(experiment.assignment(), seed, &[0, 0]);
    let clicks = values(1).optimal_clicks;
    assert!((clicks[0] - clicks[1]).abs() > 1e-6, "{clicks:?}");
    assert_eq!(values(1).optimal_clicks, clicks);
}

#[test]
fn a_fit_of_others_is_refused() {
    let folder = tempdir().unwrap();
    let random = "random = { users = 6, items = 3, segments = 2, user-features = 1, item-features = 1 }";
    let changed = |pointer: &str, value: serde_json::Value| {
        let mut fit = fit("cascade");
        *fit.pointer_mut(pointer).unwrap() = value;
        fit
    };
    for (fit, context, policy, message) in [
        (fit("cascade"), random, PRIOR, "random users and items are not those of a log"),
        (
            changed("/items/1", "zwei".into()),
            FILES,
            PRIOR,
            "item 2: the users have \"two\", the file \"zwei\"",
        ),
        (changed("/user_features/0", "y".into()), FILES, PRIOR, "feature of users 1: the users have \"x\""),
        (changed("/version", 3.into()), FILES, PRIOR, "version: 3 found: expected 1"),
        (changed("/prior/shared/factor/0", 0.0.into()), POSTERIOR, "", "a precision that is not positive"),
        (
            fit("cascade"),
            FILES,
            "interactions = false\nprior = \"fitted\"\nprior_file = \"context.json\"",
            "interactions = true",
        ),
        (
            fit("cascade"),
            FILES,
            "sees = [\"segment\"]\nprior = \"fitted\"\nprior_file = \"context.json\"",
            "sees",
        ),
        (fit("cascade"), FILES, "prior = \"fitted\"", "prior_file"),
        (fit("pbm"), POSTERIOR, "", "a fit of \"pbm\": expected one of \"cascade\""),
        (
            fit("cascade"),
            "posterior = \"context.json\", items = \"items.csv\"",
            "",
            "`posterior` is given already",
        ),
        (fit("cascade"), "posterior = \"none.json\"", "", "none.json"),
    ] {
        let error = with_fit(folder.path(), &fit, context, policy).unwrap_err();
        assert!(error.contains(message), "{error}\n{message}");
    }
}
