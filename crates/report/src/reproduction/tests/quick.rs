//! Changes that a quick check makes to panels and claims.

use super::*;
use crate::claims::judge;

const EXPERIMENT: &str = r#"
name = "sized"
title = "Several sizes"
task = "identify"
max_steps = 1000
runs = 20
seed = 1

[[papers]]
key = "P"
citation = "Somebody: Something"

[[panels]]
name = "sizes"
title = "Several sizes"
paper = "P"
place = "figure 1"
statement = "It stops."
model = "cascade"
policies = [{ policy = "cascade-bai" }, { policy = "batrac" }]
figures = [{ kind = "final" }]
printed = [
  { variant = "small", policy = "batrac", stopping-time = 10 },
  { variant = "large", policy = "batrac", stopping-time = 20 },
]
quick = { runs = 30, variants = ["small", "large"] }

[[panels.variants]]
name = "small"
title = "two items"
instances = [{ attraction = [0.5, 0.2], positions = 1 }]

[[panels.variants]]
name = "large"
title = "four items"
instances = [{ attraction = [0.5, 0.5, 0.5, 0.2], positions = 1 }]
quick = { title = "three items", instances = [{ attraction = [0.5, 0.5, 0.2], positions = 1 }] }

[[panels.variants]]
name = "largest"
instances = [{ attraction = [0.5, 0.5, 0.5, 0.5, 0.2], positions = 1 }]

[[panels]]
name = "long"
title = "Long"
paper = "P"
place = "figure 2"
statement = "It stops."
model = "cascade"
instances = [{ attraction = [0.5, 0.2], positions = 1 }]
policies = [{ policy = "cascade-bai" }, { policy = "batrac" }]
quick = { left = "a run takes an hour" }
"#;
const CLAIMS: &str = r#"
[[claims]]
name = "smaller"
panel = "sizes"
says = "Fewer for two items than for four."
place = "section 1"
test = { kind = "order", lower = ["small/batrac"], upper = ["large/batrac"] }
known = { verdict = "reproduced", evidence = "seen" }
quick = { instead = "two items and three", known = { verdict = "undecided", evidence = "seen, too" } }

[[claims]]
name = "faster"
panel = "sizes"
says = "Faster for five items."
place = "section 1"
test = { kind = "order", lower = ["largest/batrac"], upper = ["largest/cascade-bai"] }
known = { verdict = "reproduced", evidence = "seen" }

[claims.quick]
instead = "two items"
test = { kind = "order", lower = ["small/batrac"], upper = ["small/cascade-bai"] }
known = { verdict = "contradicted", evidence = "seen" }

[[claims]]
name = "as-printed"
panel = "sizes"
says = "As printed."
place = "table 1"
test = { kind = "within", by = "printed", series = ["large/batrac"], least = 0.9 }
known = { verdict = "reproduced", evidence = "seen" }
quick = { left = "printed is of four items" }

[[claims]]
name = "ends"
panel = "long"
says = "It is faster."
place = "section 1"
test = { kind = "order", lower = ["batrac"], upper = ["cascade-bai"] }
known = { verdict = "reproduced", evidence = "seen" }
"#;

#[test]
fn a_quick_check_may_simulate_something_else_and_its_claims_name_it() {
    let (full, quick) = (read(EXPERIMENT, CLAIMS).unwrap(), read_quick(EXPERIMENT, CLAIMS).unwrap());
    let sizes = |reproduction: &Reproduction| -> Vec<(String, u64, usize)> {
        let of = |variant: &Variant| {
            let n_items = variant.experiment.instances().tables()[0].n_items;
            (variant.title.clone(), variant.experiment.runs(), n_items)
        };
        reproduction.panels[0].variants.iter().map(of).collect()
    };
    let expected = [("two items", 20, 2), ("four items", 20, 4), ("largest", 20, 5)];
    assert_eq!(sizes(&full), expected.map(|(title, runs, n)| (title.to_owned(), runs, n)));
    let expected = [("two items", 30, 2), ("three items", 30, 3)];
    assert_eq!(sizes(&quick), expected.map(|(title, runs, n)| (title.to_owned(), runs, n)));
    // The printed value is for four items.
    assert_eq!((full.panels[0].printed.len(), quick.panels[0].printed.len()), (2, 1));

    let [smaller, faster, ..] = quick.claims.as_slice() else { panic!("four claims") };
    assert_eq!(smaller.says, "Fewer for two items than for four. Quick check: two items and three.");
    assert_eq!((smaller.known, &*smaller.evidence), (Verdict::Undecided, "seen, too"));
    assert_eq!((full.claims[0].known, full.claims[1].known), (Verdict::Reproduced, Verdict::Reproduced));
    assert_eq!(faster.known, Verdict::Contradicted);
    assert_eq!(smaller.known_words(), "undecided (full run: reproduced)");
    assert_eq!(full.claims[0].known_words(), "reproduced");
    assert_eq!(test_of::<Order>(faster).lower[0].to_string(), "small/batrac");
}

#[test]
fn panels_and_claims_that_a_quick_check_leaves_out_have_a_reason() {
    let (full, mut quick) = (read(EXPERIMENT, CLAIMS).unwrap(), read_quick(EXPERIMENT, CLAIMS).unwrap());
    assert_eq!((full.panels.len(), full.awaiting.len()), (2, 0));
    assert_eq!((quick.panels.len(), quick.awaiting.len()), (1, 1));
    for (claim, reason) in
        [(&quick.claims[2], "printed is of four items"), (&quick.claims[3], "a run takes an hour")]
    {
        let finding = judge(claim, None, &[]).unwrap();
        assert_eq!((finding.verdict, &*finding.summary), (Verdict::Left, reason));
        assert_eq!(claim.known, Verdict::Reproduced);
    }
    let error = quick.keep_only("long").unwrap_err();
    assert!(error.contains("a quick check leaves the panel to the full run"), "{error}");
}

#[test]
fn errors_in_a_quick_check_name_their_place() {
    let error = |from: &str, to: &str| {
        let (experiment, claims) = (EXPERIMENT.replacen(from, to, 1), CLAIMS.replacen(from, to, 1));
        assert!(experiment != EXPERIMENT || claims != CLAIMS, "{from:?} is nowhere");
        // Both extents report the error.
        let message = read(&experiment, &claims).unwrap_err().to_string();
        assert_eq!(message, read_quick(&experiment, &claims).unwrap_err().to_string());
        message
    };
    for (from, to, expected) in [
        ("\"large\"] }", "\"huge\"] }", "panels[0].quick.variants[1]: unknown variant \"huge\""),
        ("left = \"a run", "lift = \"a run", "panels[1].quick.lift: unknown key"),
        ("0.2], positions = 1 }] }", "1.2], positions = 1 }] }", "quick.instances[0].attraction[2]: 1.2"),
        ("quick = { instead = \"two items and three\", ", "other = { ", "claims[0].other: unknown key"),
        (
            "quick = { instead = \"two items and three\", known = { verdict = \"undecided\", evidence = \"seen, too\" } }",
            "",
            "claims[0].quick: missing key: expected the verdict known for a quick check, which simulates something else",
        ),
        ("instead = \"two items and three\", ", "", "claims[0].quick.instead: missing key"),
        (", evidence = \"seen, too\"", "", "claims[0].quick.known.evidence: missing key"),
        (
            "quick = { left = \"printed",
            "quick = { instead = \"x\", left = \"printed",
            "claims[2].quick.instead: unknown key",
        ),
    ] {
        let message = error(from, to);
        assert!(message.contains(expected), "{message:?} instead of {expected:?}");
    }
}
