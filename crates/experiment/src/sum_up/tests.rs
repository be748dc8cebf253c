use crate::result::{Difference, EndValue};
use crate::{Measurement, ResultFile, Runner};
use click_models::CascadeModel;
use contenders::Entrant;
use policies::catalogue::PolicySpec;
use spec::{Experiment, Instances};

fn experiment(runs: u64) -> Experiment {
    let users = CascadeModel::from_values(&[0.5, 0.4, 0.2], 2).unwrap();
    let builder = Experiment::builder("small", Instances::of([users])).horizon(50).runs(runs);
    builder.policy("cascade-ts").policy("uniform").build().unwrap()
}

/// The spread of one policy at the end: mean and standard error over its observations.
fn at_the_end(measured: &Measurement) -> (f64, f64) {
    measured.result.at_the_end("cascade-ts", measured.result.outcome()).unwrap()
}

#[test]
fn a_single_run_has_no_standard_error() {
    let measured = Runner::new(&experiment(1)).run().unwrap();
    assert!(at_the_end(&measured).1.is_nan());
    let text = String::from_utf8(measured.result.to_json()).unwrap();
    let (nulls, all) = (text.matches("\"se\":[null,").count(), text.matches("\"se\":").count());
    // Regret and clicks of two policies, their difference, and the optimum.
    assert_eq!((nulls, all), (6, 6), "{text}");
    let table = String::from_utf8(crate::tables::curves(&measured).unwrap()).unwrap();
    assert!(table.lines().skip(1).all(|line| line.split(',').nth(4) == Some("")), "{table}");
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("result.json"), &text).unwrap();
    let read = ResultFile::read(&dir.path().join("result.json")).unwrap();
    assert_eq!(String::from_utf8(read.to_json()).unwrap(), text);
}

/// Three instances with different regrets: the observations are the blocks of three runs.
#[test]
fn runs_on_several_instances_are_observed_block_by_block() {
    let model = |last| CascadeModel::from_values(&[0.5, 0.4, last], 2).unwrap();
    let of = |runs: u64| {
        let builder = Experiment::builder("three", Instances::of([0.1, 0.2, 0.9].map(model)));
        builder.horizon(50).runs(runs).policy("cascade-ts").policy("uniform").build().unwrap()
    };
    let [seven, eleven] = [7, 11].map(of);
    let base = |experiment: &Experiment| experiment.canonical().base;
    assert_eq!(base(&seven), base(&eleven));
    assert!(seven.canonical().json.contains("\"order_of_instances\":\"drawn blocks\""));
    assert!(!experiment(4).canonical().json.contains("order_of_instances"));
    let measured = Runner::new(&eleven).run().unwrap();
    assert_eq!((measured.result.instances, measured.result.observations()), (Some(3), 3));
    let instances = measured.runs.instances();
    assert!(instances.chunks_exact(3).all(|block| (0..3).all(|instance| block.contains(&instance))));
    // An experiment that is extended keeps the instances of its runs.
    assert_eq!(instances[..7], *Runner::new(&seven).run().unwrap().runs.instances());
    assert_eq!(instances, eleven.instances_of_runs());
    let regret = |policy| measured.values(policy, EndValue::Regret).unwrap();
    let blocks: Vec<f64> = regret(0).chunks_exact(3).map(|block| block.iter().sum::<f64>() / 3.0).collect();
    assert_eq!(at_the_end(&measured), sim::mean_and_error(&blocks));
    let paired = |of: &Difference| match of {
        Difference::Curves { regret, .. } => (*regret.mean.last().unwrap(), *regret.se.last().unwrap()),
        Difference::Answers { .. } => panic!("regret"),
    };
    let others = regret(1);
    let differences: Vec<f64> = regret(0).iter().zip(&others).map(|(a, b)| a - b).collect();
    let blocks: Vec<f64> = differences.chunks_exact(3).map(|block| block.iter().sum::<f64>() / 3.0).collect();
    assert_eq!(paired(&measured.result.paired[0].difference), sim::mean_and_error(&blocks));
    // The optimum of a block is that of its three instances: it does not vary.
    assert!(measured.result.optimum.unwrap().clicks.se.iter().all(|se| *se < 1e-12));
    // One whole block is one observation.
    assert!(at_the_end(&Runner::new(&of(5)).run().unwrap()).1.is_nan());
}

/// With more than thirty policies, only the pairs that sentences mention are compared.
#[test]
fn pairs_of_many_policies_are_those_of_the_best_and_of_neighbours() {
    let builder = Experiment::builder("many", experiment(4).instances().clone()).horizon(20).runs(2);
    let builder = (0..40).fold(builder, |builder, at| {
        builder.entrant(Entrant {
            label: format!("p{at}"),
            ..Entrant::new("cascade-ts", PolicySpec::CascadeTs {})
        })
    });
    let result = Runner::new(&builder.build().unwrap()).run().unwrap().result;
    let mut order: Vec<(f64, &str)> = result
        .policies
        .iter()
        .map(|policy| (result.at_the_end(&policy.label, EndValue::Regret).unwrap().0, policy.label.as_str()))
        .collect();
    order.sort_by(|a, b| a.0.total_cmp(&b.0));
    let has = |a: &str, b: &str| {
        result.paired.iter().any(|pair| (pair.a == a && pair.b == b) || (pair.a == b && pair.b == a))
    };
    assert!(order[1..].iter().all(|other| has(order[0].1, other.1)));
    assert!(order.windows(2).all(|two| has(two[0].1, two[1].1)));
    assert_eq!(result.paired.len(), 39 + 38);
}

/// Random subsets of one matrix are a sample, so every run is an observation; two matrices are a
/// block.
#[test]
fn runs_on_random_subsets_are_observations() {
    let read = |instances: &str| {
        let head =
            "name = \"duels\"\ntask = \"regret\"\nhorizon = 30\nruns = { per-instance = 1 }\nseed = 1\n";
        let text = format!("{head}policies = [{{ policy = \"rucb\" }}]\ninstances = [{instances}]\n");
        Experiment::from_toml(&text).unwrap()
    };
    let matrix = "model = \"dueling\", preferences = [[0.5, 0.6, 0.7], [0.4, 0.5, 0.8], [0.3, 0.2, 0.5]]";
    let subsets = format!("{{ {matrix}, arms = {{ random = 2, subsets = 12 }} }}");
    let measured = Runner::new(&read(&subsets)).run().unwrap();
    assert_eq!((measured.result.instances, measured.result.observations()), (None, 12));
    let regret = measured.values(0, EndValue::Regret).unwrap();
    let found = measured.result.at_the_end("rucb", measured.result.outcome()).unwrap();
    assert_eq!(found, sim::mean_and_error(&regret));
    let two = format!("{{ {matrix} }}, {{ {matrix}, arms = [0, 2] }}");
    let measured = Runner::new(&read(&two)).run().unwrap();
    assert_eq!((measured.result.instances, measured.result.observations()), (Some(2), 1));
}
