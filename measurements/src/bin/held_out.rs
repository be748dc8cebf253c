//! Held-out log-likelihood of every model over several hold-outs, with the errors of paired
//! differences, and the processor time of fits.
//!
//! ```text
//! cargo run --release -p measurements --bin held_out -- sessions sessions.tsv 5 1 2 3
//! cargo run --release -p measurements --bin held_out -- speed yandex sessions.txt pbm cascade dcm ubm sdbn
//! ```
//!
//! The first holds out one session in five, with the seeds 1, 2 and 3. The second fits the named
//! models to the whole log.

use click_logs::fit::{Comparison, Difference, Model, Options, Scope, fit};
use log_reader::{Format, Part, Reader, formats};
use rustix::time::{ClockId, clock_gettime};

type Outcome = Result<(), Box<dyn std::error::Error>>;

fn main() -> Outcome {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.as_slice() {
        [task, format, path, models @ ..] if task == "speed" => speed(&self::format(format)?, path, models),
        [format, path, one_in, seeds @ ..] if !seeds.is_empty() => {
            held_out(&self::format(format)?, path, one_in.parse()?, seeds)
        }
        _ => Err("expected: FORMAT FILE ONE_IN SEEDS.. | speed FORMAT FILE MODELS..".into()),
    }
}

fn format(name: &str) -> Result<Format, Box<dyn std::error::Error>> {
    let row = formats::find(name).ok_or_else(|| format!("`{name}` is no format"))?;
    Ok(row.format(None)?)
}

/// Models with examination or leaving of queries, and the user browsing model with that of the
/// site.
fn held_out(format: &Format, path: &str, one_in: u64, seeds: &[String]) -> Outcome {
    let mut sums = vec![(0.0, 0.0, 0.0); Model::ALL.len()];
    for scope in [Scope::Query, Scope::Site] {
        sums.fill((0.0, 0.0, 0.0));
        for seed in seeds {
            let log = Reader::new(format.clone()).keep_sessions().read_files(&[path])?;
            let parts = log.sessions.without_one_in(one_in, seed.parse()?);
            let [log, held_out] = parts.ok_or("the order is not known")?.map(Part::from);
            let options = Options { scope, ..Options::default() };
            let fits = Model::ALL.map(|model| fit(model, &log.counts, &log.sessions, &options));
            let comparison = Comparison::new(&held_out, fits)?;
            let place = |model| comparison.scores.iter().position(|score| score.model == model);
            let dcm = place(Model::Dcm).ok_or("no DCM")?;
            for (sum, model) in sums.iter_mut().zip(Model::ALL) {
                let place = place(model).ok_or("a model is missing")?;
                let Difference { mean, standard_error } = comparison.difference(place, dcm);
                sum.0 += comparison.scores[place].log_likelihood / seeds.len() as f64;
                sum.1 += mean / seeds.len() as f64;
                sum.2 += standard_error.unwrap_or(f64::NAN) / seeds.len() as f64;
            }
        }
        println!("{scope:?}: mean over {} hold-outs; difference to the DCM, its standard error", seeds.len());
        for (model, (score, difference, error)) in Model::ALL.iter().zip(&sums) {
            println!("{:<13} {score:.5} {difference:+.5} {error:.5}", model.name());
        }
    }
    Ok(())
}

fn speed(format: &Format, path: &str, models: &[String]) -> Outcome {
    let log = Reader::new(format.clone()).keep_sessions().read_files(&[path])?;
    println!("{} sessions, {} queries", log.sessions.n_sessions(), log.counts.n_queries());
    let mut all = 0.0;
    for name in models {
        let model = Model::from_name(name).ok_or_else(|| format!("`{name}` is no model"))?;
        let before = seconds();
        let fit = fit(model, &log.counts, &log.sessions, &Options::default())?;
        let took = seconds() - before;
        all += took;
        println!("{name:<13} {took:.2} CPU-seconds, {:?}", fit.attractions.site.convergence);
    }
    println!("{all:.2} CPU-seconds in all");
    Ok(())
}

/// Processor time of the process.
fn seconds() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}
