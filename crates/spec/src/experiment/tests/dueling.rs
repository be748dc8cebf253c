//! Dueling users.

use super::*;

const DUELING: &str = "name = \"x\"\ntask = \"regret\"\nhorizon = 10\nruns = 1\nseed = 1\n[[instances]]\nmodel = \"dueling\"\n\
    preferences = [[0.5, 0.6, 0.7], [0.4, 0.5, 0.8], [0.3, 0.2, 0.5]]\n[[policies]]\npolicy = \"rucb\"\n";

#[test]
fn errors_in_a_dueling_instance_name_their_place() {
    read(DUELING).unwrap();
    let error = |from: &str, to: &str| {
        assert!(DUELING.contains(from), "{from:?}");
        let found = read(&DUELING.replacen(from, to, 1)).unwrap_err().to_string();
        found.strip_prefix("spec.toml:").unwrap_or(&found).to_owned()
    };
    let matrix = "[[0.5, 0.6, 0.7], [0.4, 0.5, 0.8], [0.3, 0.2, 0.5]]";
    for (from, to, expected) in [
        (matrix, "[[0.5, 0.6], [0.4]]", "8:15: instances[0].preferences: "),
        (matrix, "[[0.5]]", "8:15: instances[0].preferences: "),
        ("0.3, 0.2", "0.3, nan", "8:56: instances[0].preferences[2][1]: nan is not allowed"),
        ("0.3, 0.2", "0.4, 0.2", "8:15: instances[0].preferences: "),
        ("preferences = ", "file = \"a\"\npreferences = ", "8:8: instances[0].file: `preferences` already"),
        ("preferences", "arms", "6:1: instances[0].preferences: missing key: expected rows of probabilities"),
        ("[[policies]]", "arms = [0]\n[[policies]]", "9:8: instances[0].arms: "),
        ("[[policies]]", "arms = [0, 3]\n[[policies]]", "9:12: instances[0].arms[1]: 3 is too large"),
        ("[[policies]]", "arms = [0, 0]\n[[policies]]", "9:8: instances[0].arms: "),
        ("[[policies]]", "arms = 3\n[[policies]]", "9:8: instances[0].arms: 3 found: expected items"),
        (
            "[[policies]]",
            "arms = { random = 4, subsets = 1 }\n[[policies]]",
            "9:19: instances[0].arms.random: 4 of 3 items: expected an integer from 2 to 3",
        ),
        (
            "\"rucb\"",
            "\"ucb1\"",
            "10:10: policies[0].policy: \"ucb1\" plays \"rank-one\", but the instances are \"dueling\"",
        ),
        ("\"rucb\"", "\"rucb\"\ntold = \"gamma\"", "11:8: policies[0].told: only `beat-the-mean` needs"),
        (
            "\"rucb\"",
            "\"rsf-ts\"\nread-as = \"cascade\"",
            "11:11: policies[0].read-as: feedback on a list and on a pair cannot be read as each other",
        ),
    ] {
        let found = error(from, to);
        assert!(found.starts_with(expected), "{found:?} instead of {expected:?}");
    }
}

#[test]
fn a_matrix_file_is_read_from_the_folder_of_the_spec() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("spec.toml");
    let text = DUELING
        .replace("preferences = [[0.5, 0.6, 0.7], [0.4, 0.5, 0.8], [0.3, 0.2, 0.5]]", "file = \"m.csv\"");
    std::fs::write(&path, text).unwrap();
    let read_file = || {
        let source = Source::read(&path)?;
        Experiment::from_document(&source.parse()?)
    };
    let message = || {
        let message = read_file().unwrap_err().to_string();
        message.strip_prefix(&folder.path().display().to_string()).unwrap_or(&message).to_owned()
    };
    let spec = format!("/spec.toml:8:8: instances[0].file: {}", folder.path().join("m.csv").display());
    assert_eq!(message(), format!("{spec}: cannot be read: no such file or directory"));
    std::fs::write(folder.path().join("m.csv"), "0.5,0.6\n0.4,0.5x\n").unwrap();
    assert!(message().starts_with("/m.csv:2:5: "), "{}", message());
    std::fs::write(folder.path().join("m.csv"), b"0.5,0.6\n0.4,\xff\n").unwrap();
    assert!(message().starts_with("/m.csv:2:5: byte 0xff is not UTF-8"), "{}", message());
    std::fs::write(folder.path().join("m.csv"), "0.5 0.6 0.7\n0.4 0.5 0.8\n0.3 0.2 0.5\n").unwrap();
    // The identity depends on the numbers, not on the file.
    assert_eq!(read_file().unwrap().identity(), read(DUELING).unwrap().identity());
}

#[test]
fn random_subsets_depend_on_the_seed_only_and_have_a_condorcet_winner() {
    let text = DUELING.replace("[[policies]]", "arms = { random = 2, subsets = 40 }\n[[policies]]");
    let matrices = |experiment: &Experiment| -> Vec<Vec<Vec<f64>>> {
        let duels = experiment.instances.duels().unwrap();
        duels.list().iter().map(|one| one.model.preferences().clone().into()).collect()
    };
    let mut experiment = read(&text).unwrap();
    let drawn = matrices(&experiment);
    assert_eq!(drawn.len(), 40);
    // All three pairs occur.
    for excess in [0.6, 0.7, 0.8] {
        assert!(drawn.iter().any(|matrix| matrix[0][1] == excess), "{excess}");
    }
    experiment.apply(Overrides { subsets: Some(7), ..Overrides::default() }).unwrap();
    assert_eq!(matrices(&experiment), drawn[..7]);
    experiment.apply(Overrides { seed: Some(2), ..Overrides::default() }).unwrap();
    assert_ne!(matrices(&experiment), drawn[..7]);
    experiment.apply(Overrides { seed: Some(1), ..Overrides::default() }).unwrap();
    assert_eq!(matrices(&experiment), drawn[..7]);
    // A cycle never has a winner.
    let cycle = DUELING.replace("0.6, 0.7", "0.6, 0.3").replace("0.3, 0.2", "0.7, 0.2");
    let cycle = cycle.replace("[[policies]]", "arms = { random = 3, subsets = 1 }\n[[policies]]");
    let error = read(&cycle).unwrap_err().to_string();
    assert!(error.contains("none of 10000 random subsets of 3 items has a Condorcet winner"), "{error}");
}
