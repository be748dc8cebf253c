//! The lists, and the pages of their members.

use super::{commands, empty, json, printed, refused, strings};
use policies::catalogue;
use std::sync::LazyLock;

/// The lists, each with the names of its members.
static LISTS: LazyLock<[(&str, Vec<String>); 4]> = LazyLock::new(|| {
    let dir = empty();
    let names = |list: &str| {
        let all = json(dir.path(), &[list, "--json"]);
        match list {
            "formats" => [strings(&all["logs"], "name"), strings(&all["files"], "name")].concat(),
            _ => strings(&all, "name"),
        }
    };
    ["policies", "models", "formats", "experiments"].map(|list| (list, names(list)))
});

#[test]
fn lists_have_every_member() {
    let [(_, policies), (_, models), (_, formats), (_, experiments)] = &*LISTS;
    assert_eq!(*policies, catalogue::rows().iter().map(|row| row.name).collect::<Vec<_>>());
    assert_eq!(*models, spec::models::MODELS.map(|model| model.name));
    assert!(log_reader::formats::rows().iter().all(|row| formats.iter().any(|name| name == row.name)));
    assert!(experiments.iter().any(|name| name == "kdd2012") && experiments.len() >= 10);
}

#[test]
fn the_manual_says_which_command_one_wants() {
    let (_, table) = include_str!("../../README.md").split_once("## Which command do I want?").unwrap();
    let table = table.split("\n\n```").next().unwrap();
    for command in commands() {
        assert!(table.contains(&format!("`{command}`")), "{command}");
    }
}

#[test]
fn text_fits_into_eighty_columns_and_names_every_member() {
    let dir = empty();
    let fits = |text: &str, what: &str| {
        // Examples are indented by four columns and are files: their lines are as long as they have
        // to be.
        for line in text.lines().filter(|line| !line.starts_with("    ") && !line.contains("http")) {
            assert!(line.chars().count() <= 80, "{what}: {line}");
        }
    };
    for &(list, ref names) in &*LISTS {
        let text = printed(dir.path(), &[list]);
        fits(&text, list);
        for name in names {
            assert!(text.lines().any(|line| line.starts_with(&format!("  {name} "))), "{list}: {name}");
            let page = printed(dir.path(), &[list, name]);
            fits(&page, name);
            assert!(page.starts_with(&format!("{name}\n  ")), "{page}");
        }
    }
}

#[test]
fn a_policy_has_one_line_in_the_list() {
    let dir = empty();
    for line in printed(dir.path(), &["policies"]).lines().filter(|line| line.starts_with(' ')) {
        assert!(!line.starts_with("   "), "the sentence of the policy above is too long: {line}");
    }
}

#[test]
fn a_policy_s_page_has_every_parameter_with_default_and_values() {
    let dir = empty();
    for row in catalogue::rows() {
        let (page, object) = (
            printed(dir.path(), &["policies", row.name]),
            json(dir.path(), &["policies", row.name, "--json"]),
        );
        let defaults = row.spec().parameters();
        for (parameter, shown) in
            row.parameters.iter().zip(object["parameters"].as_array().expect("parameters"))
        {
            let default = defaults.get(parameter.name);
            let head = default.map_or_else(
                || format!("  {} absent", parameter.name),
                |value| format!("  {} = {value}\n", parameter.name),
            );
            assert!(page.contains(&head), "{}: {head}\n{page}", row.name);
            assert_eq!(shown["name"], parameter.name);
            assert_eq!(&shown["default"], default.unwrap_or(&serde_json::Value::Null));
            if let catalogue::Kind::Choice(names) = parameter.kind {
                assert_eq!(shown["values"], names.join(", "));
            }
        }
        let plays: Vec<&str> = spec::models::MODELS
            .iter()
            .filter(|model| row.speaks(model.protocol))
            .map(|model| model.name)
            .collect();
        assert_eq!(object["models"], serde_json::json!(plays), "{}", row.name);
    }
}

#[test]
fn a_model_s_page_has_every_key() {
    let dir = empty();
    for model in spec::models::MODELS {
        let page = printed(dir.path(), &["models", model.name]);
        for key in model.keys {
            assert!(page.contains(&format!("\n  {} (", key.name)), "{}: {}", model.name, key.name);
            for inner in key.inside() {
                // A long name has a line of its own.
                let has = |end| page.contains(&format!("\n        {}{end}", inner.name));
                assert!(has(' ') || has('\n'), "{}: {}", model.name, inner.name);
            }
        }
    }
}

#[test]
fn an_unknown_name_is_refused_with_the_nearest_one() {
    let dir = empty();
    for (list, wrong, right) in [
        ("policies", "pbm_ts", "pbm-ts"),
        ("models", "rankone", "rank-one"),
        ("formats", "session", "sessions"),
        ("experiments", "kdd2013", "kdd2012"),
        ("experiments", "pbm-synth", "pbm-synthetic"),
        ("init", "casacde", "cascade"),
    ] {
        let (status, error) = refused(dir.path(), &[list, wrong]);
        assert_eq!(status, Some(2), "{error}");
        assert!(error.contains(&format!("did you mean `{right}`?")), "{error}");
    }
    let (_, error) = refused(dir.path(), &["policies", "\u{1b}[2J"]);
    assert!(!error.contains('\u{1b}') && error.contains("known: pbm-ucb"), "{error:?}");
}
