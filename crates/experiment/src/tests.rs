//! Runs with users of the posterior distribution of a log's fit.

use crate::{Measurement, ResultFile, Runner, Runs};
use click_models::{Cascade, CascadeModel, ClickModel as _, Clicks, ListFeedback as _, Ranking};
use documents::toml_reader::Error;
use rand::SeedableRng as _;
use rand_xoshiro::Xoshiro256PlusPlus;
use spec::models::{OwnAnswers, OwnRun, OwnUsers};
use spec::{Experiment, Instances};
use std::sync::{Arc, Mutex};

const PARAMETERS: &str = include_str!("../../spec/src/experiment/tests/parameters.json");
const LISTS: &str = "instance,query,lists,items\n0,shoes,9,2 0\n1,hats,4,0\n";
const UNCERTAIN: &str = "name = \"x\"\ntask = \"regret\"\nhorizon = 50\nruns = 40\nseed = 1\ncheckpoints = [50]\n\
    users = { posterior = \"p.json\", model = \"pbm\" }\n[[policies]]\npolicy = \"pbm-ts\"\n[[policies]]\npolicy = \"oracle\"\n\
    [[policies]]\npolicy = \"logged\"\nlists = \"l.csv\"\n";

fn read_beside(spec: &str, parameters: &str, lists: &str) -> Result<Experiment, Error> {
    let folder = tempfile::tempdir().unwrap();
    for (name, content) in [("spec.toml", spec), ("p.json", parameters), ("l.csv", lists)] {
        std::fs::write(folder.path().join(name), content).unwrap();
    }
    Experiment::read_file(&folder.path().join("spec.toml"))
}

#[test]
fn users_are_drawn_from_the_posterior_of_a_log_and_its_lists_are_played() {
    let experiment = read_beside(UNCERTAIN, PARAMETERS, LISTS).unwrap();
    let measured = Runner::new(&experiment).run().unwrap();
    let (regret, drawn) = (|policy| measured.regret(policy, 0).unwrap(), measured.runs.instances());
    // The oracle knows the users that are drawn; today's list of two items is worse than theirs, by
    // another amount in every run.
    assert!(regret(1).iter().all(|regret| *regret == 0.0));
    let mut regrets: Vec<f64> = (0..40)
        .filter(|&run| drawn[run] == 0)
        .map(|run| regret(2)[run])
        // For some draws it is the best list.
        .filter(|&regret| regret > 0.0)
        .collect();
    let n = regrets.len();
    regrets.sort_by(f64::total_cmp);
    regrets.dedup();
    assert!(n > 10 && regrets.len() == n, "{regrets:?}");
    let one = Runner::new(&experiment).threads(1).run().unwrap();
    assert_eq!(one.result.to_json(), measured.result.to_json());
}

/// With three runs a draw: the same users and instance in three runs in a row, and the first ten
/// draws are those of ten runs with users of their own.
#[test]
fn runs_share_their_users() {
    let alone = read_beside(UNCERTAIN, PARAMETERS, LISTS).unwrap();
    let shared = UNCERTAIN.replace("\"pbm\" }", "\"pbm\", runs-per-draw = 3 }").replace("= 40", "= 30");
    let experiment = read_beside(&shared, PARAMETERS, LISTS).unwrap();
    let measured = Runner::new(&experiment).run().unwrap();
    let of_each = Runner::new(&alone).run().unwrap();
    // The loss of the log's lists depends on the users alone if all lists of a query are the same.
    let (together, each) = (measured.regret(2, 0).unwrap(), of_each.regret(2, 0).unwrap());
    for run in 0..30 {
        assert_eq!(measured.runs.instances()[run], of_each.runs.instances()[run / 3]);
        assert_eq!(together[run], each[run / 3], "run {run}");
    }
    let result = &measured.result;
    assert_eq!((result.runs, result.runs_per_draw, result.observations()), (30, Some(3), 5));
    let pair = |result: &ResultFile| {
        result.paired.iter().find(|pair| (pair.a.as_str(), pair.b.as_str()) == ("oracle", "logged")).cloned()
    };
    // Both lose the same in all runs of a draw, so everything comes from the users: but two
    // instances leave eight degrees of freedom.
    assert_eq!(pair(result).unwrap().difference.share_of_users(), None);
    assert_eq!(pair(&of_each.result).unwrap().difference.share_of_users(), None);
    let more = shared.replace("= 30", "= 60");
    let measured = Runner::new(&read_beside(&more, PARAMETERS, LISTS).unwrap()).run().unwrap();
    let share = pair(&measured.result).unwrap().difference.share_of_users().unwrap();
    assert!((share.mean - 1.0).abs() < 1e-9 && share.se < 1e-9, "{share:?}");
    // The error is that of ten blocks: one draw of each of two queries.
    let draws: Vec<f64> = measured.regret(2, 0).unwrap().into_iter().step_by(3).collect();
    let blocks: Vec<f64> = draws.chunks_exact(2).map(|of| f64::midpoint(of[0], of[1])).collect();
    let (mean, se) = sim::mean_and_error(&blocks);
    let found = measured.result.at_the_end("logged", measured.result.outcome()).unwrap();
    assert!((found.0 - mean).abs() < 1e-12 && (found.1 - se).abs() < 1e-12, "{found:?} {mean} {se}");
}

/// `pbm-gibbs` before and after a log, on the users of its fit and on others.
const WARM: &str = "name = \"x\"\ntask = \"regret\"\nhorizon = 300\nruns = 600\nseed = 1\ncheckpoints = [300]\n\
    [[instances]]\nname = \"shoes\"\nmodel = \"pbm\"\ntheta = [0.4, 0.2, 0.1, 0.05]\nkappa = [0.9, 0.45]\n\
    [[policies]]\npolicy = \"pbm-gibbs\"\n\
    [[policies]]\npolicy = \"pbm-gibbs\"\nlabel = \"warm\"\nprior = \"fitted\"\nprior_file = \"p.json\"\n";

#[test]
fn a_policy_begins_with_the_fit_of_a_log() {
    let experiment = read_beside(WARM, PARAMETERS, LISTS).unwrap();
    // The log is right about the best two of four items, so less is lost. Without an effect a gain
    // of 5 standard errors has a probability of 3e-7. A first 60 runs gained 2.4 with a standard
    // error of .6, so 600 are expected to gain 12 of them: less than 5 has a probability below
    // 1e-11.
    let measured = Runner::new(&experiment).run().unwrap();
    let [cold, warm] = [0, 1].map(|policy| measured.regret(policy, 0).unwrap());
    let gains: Vec<f64> = cold.iter().zip(warm).map(|(cold, warm)| cold - warm).collect();
    let n = gains.len() as f64;
    let mean = gains.iter().sum::<f64>() / n;
    let variance = gains.iter().map(|gain| (gain - mean) * (gain - mean)).sum::<f64>() / (n - 1.0);
    assert!(mean > 5.0 * (variance / n).sqrt(), "{mean} {}", (variance / n).sqrt());

    // Users of the fit itself, and users of another model whose clicks are read as those of
    // position-based ones.
    let of_file =
        UNCERTAIN.replace("\"pbm-ts\"", "\"pbm-gibbs\"\nprior = \"fitted\"\nprior_file = \"p.json\"");
    Runner::new(&read_beside(&of_file, PARAMETERS, LISTS).unwrap()).run().unwrap();
    let cascade = WARM.replace(
        "model = \"pbm\"\ntheta = [0.4, 0.2, 0.1, 0.05]\nkappa = [0.9, 0.45]",
        "model = \"cascade\"\nattraction = [0.4, 0.2, 0.1, 0.05]\npositions = 2",
    );
    let cascade = cascade.replace("\"pbm-gibbs\"\n", "\"pbm-gibbs\"\nread-as = \"pbm\"\n");
    Runner::new(&read_beside(&cascade, PARAMETERS, LISTS).unwrap()).run().unwrap();
}

const CONTEXTS: &str = "name = \"x\"\ntask = \"regret\"\nhorizon = 400\nruns = 10\nseed = 1\ncheckpoints = [100, 400]\n\
    [[instances]]\nmodel = \"cascade\"\npositions = 2\n\
    context = { random = { users = 12, items = 8, segments = 3, user-features = 1, mean = -1.0, item-slope = 1.0, share = 4 } }\n\
    [[policies]]\npolicy = \"hybrid-ts\"\n[[policies]]\npolicy = \"cascade-ts\"\n";

/// A policy of one's own that sees who asks has the numbers of the same policy of the catalogue.
#[test]
fn an_own_policy_sees_who_asks() {
    use click_models::{CascadeModel, Personal};
    use policies::{HybridSettings, HybridTs};
    use sim::{Entry, PersonalKnown, Schedule};

    let experiment = Experiment::from_toml(CONTEXTS).unwrap();
    let own = || {
        Entry::for_users("mine", |(shape, context): PersonalKnown<'_, CascadeModel>| {
            HybridTs::new(shape, context, HybridSettings::default()).unwrap()
        })
    };
    let runner = Runner::new(&experiment).with_contender::<Personal<CascadeModel>, Schedule>(own());
    let measured = runner.run().unwrap();
    let [hybrid, mine] = ["hybrid-ts", "mine"].map(|label| {
        let outcome = measured.result.outcome();
        measured.result.at_the_end(label, outcome).unwrap()
    });
    // Another label has other random numbers.
    assert!((hybrid.0 - mine.0).abs() < 5.0 * (hybrid.1 + mine.1), "{hybrid:?} {mine:?}");

    let result = &measured.result;
    let labels: Vec<&str> = result.bounds.iter().map(|bound| bound.label.as_str()).collect();
    assert_eq!(labels, ["one list for all users", "one list for each segment"]);
    let [one, of_segment] = [0, 1].map(|bound| &result.bounds[bound].value);
    assert!(one[1] > of_segment[1] && of_segment[1] > 0.0 && (one[1] / one[0] - 4.0).abs() < 1e-12);
    assert_eq!(result.lost_by_one_list(), Some(one[1]));
}

/// A cascade model as users of the caller.
#[derive(Debug, Clone)]
struct Answers(CascadeModel);

#[derive(Debug)]
struct Run(CascadeModel, Mutex<Xoshiro256PlusPlus>);

impl OwnAnswers for Answers {
    fn begin(&self, seed: u64) -> Arc<dyn OwnRun> {
        Arc::new(Run(self.0.clone(), Mutex::new(Xoshiro256PlusPlus::seed_from_u64(seed))))
    }

    fn expected(&self, list: &Ranking) -> f64 {
        self.0.expected_reward(list)
    }
}

impl OwnRun for Run {
    fn respond(&self, list: &Ranking) -> Clicks {
        self.0.respond(list, &mut *self.1.lock().unwrap()).list_clicks()
    }
}

/// Users of the caller with the distribution of a compiled model, beside that model.
#[test]
fn users_of_the_caller_are_met_as_compiled_ones() {
    let model = CascadeModel::from_values(&[0.5, 0.4, 0.2, 0.1], 2).unwrap();
    let experiment = |instances| {
        let builder = Experiment::builder("own", instances).horizon(300).runs(60).checkpoints([300]);
        builder.policy("cascade-ts").policy("oracle").policy("rsf-kl-ucb").build().unwrap()
    };
    let own = || Instances::of([OwnUsers::<Cascade>::new(model.shape(), vec![], model.best().clone())]);
    let mut answered = experiment(own());
    let nobody = Runner::new(&answered).run().unwrap_err().to_string();
    assert_eq!(nobody, "model \"own-cascade\": only the program that has these users can play them");
    let answers: Arc<dyn OwnAnswers> = Arc::new(Answers(model.clone()));
    assert!(!answered.answer_with(&[Arc::clone(&answers), Arc::clone(&answers)]));
    assert!(answered.answer_with(&[answers]));
    let measured = Runner::new(&answered).run().unwrap();
    let compiled = Runner::new(&experiment(Instances::of([model]))).run().unwrap();
    for policy in 0..3 {
        let [own, other] = [&measured, &compiled].map(|measured| {
            let (regret, n) = (measured.regret(policy, 0).unwrap(), 60.0);
            let mean = regret.iter().sum::<f64>() / n;
            (mean, regret.iter().map(|one| (one - mean).powi(2)).sum::<f64>() / n / (n - 1.0))
        });
        assert!((own.0 - other.0).abs() <= 4.0 * (own.1 + other.1).sqrt(), "{policy}: {own:?} {other:?}");
    }
    // The same users meet all policies, in any order and number of threads.
    assert_eq!(Runner::new(&answered).threads(1).run().unwrap().result, measured.result);
    // The file has what a result needs, and nobody to play.
    let read = Experiment::from_toml(&answered.to_toml()).unwrap();
    assert_eq!(read.identity(), answered.identity());
    let runs = Runs::restored(&read, &measured.runs.records().unwrap()).unwrap();
    assert_eq!(Measurement::of_runs(&read, &[], runs).unwrap().result, measured.result);
}

#[test]
fn records_that_are_no_runs_are_refused() {
    let experiment = read_beside(UNCERTAIN, PARAMETERS, LISTS).unwrap();
    let records = Runner::new(&experiment).run().unwrap().runs.records().unwrap();
    let error = |change: &dyn Fn(&mut Vec<Vec<u8>>)| {
        let mut records = records.clone();
        change(&mut records[1]);
        Runs::restored(&experiment, &records).unwrap_err().to_string()
    };
    assert!(error(&|runs| drop(runs.pop())).ends_with("a run of policy 1 is missing"));
    assert!(error(&|runs| runs.push(runs[0].clone())).contains("a run of policy 1 has number 1"));
    assert!(error(&|runs| runs[3].clear()).ends_with("a run of policy 1 has no number"));
    assert!(error(&|runs| runs[3].truncate(9)).contains("a run of policy 1 has "));
    let runs = Runs::restored(&experiment, &records[..2]).unwrap();
    let error = Measurement::of_runs(&experiment, &[], runs).unwrap_err().to_string();
    assert!(error.contains("of 2 policies: expected 3"), "{error}");
}

/// In shops whose cheap items attract most: the optimum is that of all lists, found by enumeration,
/// policies with values come to earn it, and policies for clicks do not.
#[test]
fn regret_clicks_and_optimum_are_in_value() {
    const ATTRACTION: [f64; 6] = [0.8, 0.6, 0.3, 0.2, 0.1, 0.9];
    const VALUES: [f64; 6] = [1.0, 2.0, 6.0, 20.0, 30.0, 0.0];
    let seen: [fn(f64) -> [f64; 2]; 4] =
        [|a| [1.0, 1.0 - a], |_| [0.5, 0.9], |a| [1.0, 1.0 - 0.4 * a], |_| [0.9, 0.5]];
    let shops = [
        ("cascade", "attraction", "positions = 2", "cascade-ts", "cascade-ts\"\nread-as = \"cascade"),
        ("pbm", "theta", "kappa = [0.5, 0.9]", "pbm-ts", "pbm-pie"),
        ("dcm", "attraction", "leave = [0.4, 0.4]", "dcm-ts\"\ncontinuation = \"0.6", "dcm-ts"),
        ("semi-bandit", "theta", "kappa = [0.9, 0.5]", "rsf-ts", "rsf-kl-ucb"),
    ];
    for ((model, of_items, others, valued, for_clicks), seen) in shops.into_iter().zip(seen) {
        let text = format!(
            "name = \"x\"\ntask = \"regret\"\nhorizon = 6000\nruns = 20\nseed = 1\ncheckpoints = [3000, 6000]\n\
             [[instances]]\nmodel = \"{model}\"\n{of_items} = {ATTRACTION:?}\n{others}\nvalues = {VALUES:?}\n\
             [[policies]]\npolicy = \"{valued}\"\n[[policies]]\npolicy = \"{for_clicks}\"\nlabel = \"clicks\"\n\
             [[policies]]\npolicy = \"oracle\"\n"
        );
        let text = text.replace("\"0.6\"", "0.6");
        let experiment = read_beside(&text, PARAMETERS, LISTS).unwrap_or_else(|error| panic!("{error}"));
        let measured = Runner::new(&experiment).run().unwrap();
        let pairs =
            (0..6).flat_map(|one| (0..6).map(move |other| (one, other))).filter(|(one, other)| one != other);
        let earned = |(one, other): (usize, usize)| {
            let [first, second] = seen(ATTRACTION[one]);
            first * ATTRACTION[one] * VALUES[one] + second * ATTRACTION[other] * VALUES[other]
        };
        let best = pairs.map(earned).fold(0.0, f64::max);
        let optimum = measured.result.optimum.as_ref().unwrap().clicks.mean.clone();
        assert!((optimum[1] / (6000.0 * best) - 1.0).abs() < 1e-12, "{model}: {optimum:?}, {best}");
        let regret =
            |policy, checkpoint| measured.regret(policy, checkpoint).unwrap().iter().sum::<f64>() / 20.0;
        let [early, late] = [regret(0, 0), regret(0, 1) - regret(0, 0)];
        assert!(late < 0.5 * early, "{model}: {early}, then {late}");
        assert!(regret(1, 1) - regret(1, 0) > 5.0 * late, "{model}: {}", regret(1, 1));
        assert!(regret(1, 1) > 0.1 * optimum[1], "{model}: {}", regret(1, 1));
        assert_eq!(regret(2, 1), 0.0);
        for (policy, result) in measured.result.policies.iter().enumerate() {
            let clicks = &result.curves().unwrap().clicks;
            let expected = optimum[1] - regret(policy, 1);
            assert!(
                (clicks.mean[1] - expected).abs() < 5.0 * clicks.se[1],
                "{model}: {clicks:?}, {expected}"
            );
        }
        assert_eq!(measured.result.unit, "value");
    }
}
