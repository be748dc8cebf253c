use super::super::Source;

fn error(text: &str) -> String {
    Source::from_text("spec.toml", text)
        .and_then(|source| source.parse().map(|_| ()))
        .unwrap_err()
        .to_string()
}

#[test]
fn a_duplicate_key_names_the_table_and_the_first_line() {
    assert_eq!(
        error("seed = 1\nruns = 2\nseed = 3\n"),
        "spec.toml:3:1: seed: duplicate key: it was already given in line 1"
    );
    assert_eq!(
        error("[[instances]]\nkappa = [1]\n[[instances]]\nkappa = [1]\ntheta = [1]\nkappa = [2]\n"),
        "spec.toml:6:1: instances[1].kappa: duplicate key: it was already given in line 4"
    );
    assert_eq!(
        error("checkpoints = { log = 2, log = 3 }\n"),
        "spec.toml:1:26: checkpoints.log: duplicate key: it was already given in line 1"
    );
    assert_eq!(
        error("checkpoints = { log = 2 }\nseed = 1\ncheckpoints = { log = 2 }\n"),
        "spec.toml:3:1: checkpoints: duplicate key: it was already given in line 1"
    );
}

#[test]
fn an_error_in_the_syntax_names_the_field() {
    for (text, place) in [
        ("name = \"a\nruns = 2\n", "spec.toml:1:"),
        (
            "runs = 1\n\n[[instances]]\ntheta = [0.5, oops]\n",
            "spec.toml:4:15: instances[0].theta: not TOML: ",
        ),
        ("runs = \n", "spec.toml:1:8: runs: not TOML: a value is missing"),
        ("hello world\n", "spec.toml:1:7: not TOML: "),
        ("runs = 1e\n", "spec.toml:1:10: runs: not TOML: "),
        (
            "runs = .9\n",
            "spec.toml:1:8: runs: not TOML: a number needs a digit before its point, such as 0.9",
        ),
        ("runs = 00\n", "spec.toml:1:8: runs: not TOML: "),
        ("name = pbm\n", "spec.toml:1:8: name: not TOML: \"pbm\" is neither a number nor a string in quotes"),
        ("\"a b\" = 1\n\"a b\" = 2\n", "spec.toml:2:1: \"a b\": duplicate key"),
        ("[[instances]\n", "spec.toml:1:13: instances: not TOML: "),
    ] {
        let error = error(text);
        assert!(error.starts_with(place), "{text:?} gives {error:?}");
    }
}
