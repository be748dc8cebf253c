//! Values of the command line.

use super::*;

#[test]
fn another_horizon_recomputes_the_checkpoints() {
    let mut listed = read(GOOD).unwrap();
    let mut logarithmic = read(&GOOD.replace("[10000, 1000]", "{ log = 6 }")).unwrap();
    let mut by_default = read(&GOOD.replace("checkpoints = [10000, 1000]", "")).unwrap();
    assert!(by_default.checkpoints.len() > 150 && by_default.checkpoints.len() <= 200);
    for experiment in [&mut listed, &mut logarithmic, &mut by_default] {
        let horizon = Some(1024);
        experiment
            .apply(Overrides { horizon, runs: Some(3), seed: Some(u64::MAX), ..Overrides::default() })
            .unwrap();
        assert_eq!((experiment.horizon, experiment.runs, experiment.seed), (1024, 3, u64::MAX));
    }
    assert_eq!(listed.checkpoints, [1000, 1024]);
    assert_eq!(logarithmic.checkpoints, [1, 4, 16, 64, 256, 1024]);
    listed.apply(Overrides { horizon: Some(20_000), ..Overrides::default() }).unwrap();
    assert_eq!(listed.checkpoints, [1000, 10_000, 20_000]);

    let before = listed.canonical();
    let refused = |overrides| listed.clone().apply(overrides).unwrap_err().to_string();
    assert_eq!(
        refused(Overrides { runs: Some(0), ..Overrides::default() }),
        "runs 0: expected an integer from 1 to 4294967295"
    );
    assert_eq!(
        refused(Overrides { horizon: Some(0), ..Overrides::default() }),
        "horizon 0: expected an integer from 1 to 9007199254740992"
    );
    assert_eq!(
        refused(Overrides { runs: Some(1 << 31), ..Overrides::default() }),
        "runs 2147483648: 2147483648 runs of 2 policies at 3 checkpoints take about 161 GiB of memory, more than 8 GiB: reduce \
         runs or policies"
    );
    assert_eq!(
        refused(Overrides { horizon: Some(1 << 52), ..Overrides::default() }),
        "horizon 4503599627370496: 3 runs of 4503599627370496 rounds are more than 9007199254740992 rounds"
    );
    assert_eq!(listed.canonical(), before);
}

#[test]
fn values_of_the_command_line_replace_those_of_the_file_which_are_not_read() {
    let overridden = |from: &str, to: &str, overrides: Overrides| {
        assert!(GOOD.contains(from), "{from:?}");
        let source = Source::from_text("spec.toml", GOOD.replacen(from, to, 1)).unwrap();
        Experiment::check(&source.parse().unwrap(), overrides).map_err(|errors| errors[0].to_string())
    };
    let runs = Overrides { runs: Some(3), ..Overrides::default() };
    let horizon = Overrides { horizon: Some(2000), ..Overrides::default() };
    let seed = Overrides { seed: Some(5), ..Overrides::default() };
    for faulty in ["runs = 0", "runs = 9999999999", "runs = \"many\"", "runs = 4_294_967_295", ""] {
        assert_eq!(overridden("runs = 1000", faulty, runs).unwrap().runs, 3, "{faulty:?}");
    }
    for faulty in ["horizon = 0", "horizon = -1", "horizon = 9007199254740992", "horizon = 900", ""] {
        let experiment = overridden("horizon = 100_000", faulty, horizon).unwrap();
        assert_eq!((experiment.horizon, experiment.checkpoints), (2000, vec![1000, 2000]), "{faulty:?}");
    }
    assert_eq!(overridden("seed = 1", "seed = -1", seed).unwrap().seed, 5);
    let per_instance = overridden("runs = 1000", "runs = { per-instance = 0 }", runs).unwrap();
    assert_eq!((per_instance.runs, per_instance.runs_per_instance()), (3, Some(3)));
    // Overriding while reading and overriding afterwards give the same experiment.
    let mut applied = read(GOOD).unwrap();
    applied.apply(Overrides { horizon: Some(2000), seed: Some(5), ..runs }).unwrap();
    let at_once =
        overridden("seed = 1", "seed = 1", Overrides { horizon: Some(2000), seed: Some(5), ..runs });
    assert_eq!(at_once.unwrap().identity(), applied.identity());
    // The error is about the value that counts: of the file if it is not overridden, otherwise of
    // the command line.
    for (from, to, overrides, fault) in [
        ("runs = 1000", "runs = 0", horizon, "spec.toml:5:8: runs: 0 is too small: "),
        (
            "runs = 1000",
            "runs = 0",
            Overrides { runs: Some(0), ..runs },
            "runs 0: expected an integer from 1 to ",
        ),
        ("runs = 1000", "runs = 1000", Overrides { runs: Some(1 << 31), ..runs }, "runs 2147483648: "),
        ("runs = 1000", "runs = 1000", Overrides { horizon: Some(1 << 53), ..runs }, "runs 3: "),
        (
            "seed = 1",
            "seed = 1",
            Overrides { max_steps: Some(9), ..seed },
            "max_steps 9: task \"regret\" plays ",
        ),
    ] {
        let found = overridden(from, to, overrides).unwrap_err();
        assert!(found.starts_with(fault), "{found:?} instead of {fault:?}");
    }
}
