//! Users lose as much through the service as through the library, and no more through two servers.

use crate::engine::template;
use crate::postgres::{Database, configured};
use crate::server::Server;
use click_models::{Cascade, ListShape};
use live::{Among, Live};
use policies::NamedLive;
use rand::{RngExt as _, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::process::Command;

const QUERIES: usize = 400;
const ROUNDS: u64 = 120;
/// As in regret.py.
const ATTRACTION: [f64; 5] = [0.5, 0.4, 0.3, 0.2, 0.1];

/// Mean regret of a query, and the variance of the mean, of a client in Python; `None` without
/// Python.
fn of_client(servers: &[&Server], seed: u64) -> Option<[f64; 2]> {
    let here = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/regret.py");
    let document = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/service.md");
    let mut client = Command::new("python3");
    client.args([here, document, &QUERIES.to_string(), &ROUNDS.to_string(), &seed.to_string()]);
    client.args(servers.iter().map(|server| &server.address));
    let Ok(output) = client.output() else {
        println!("skipped: there is no python3");
        return None;
    };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(mean(&serde_json::from_slice::<Vec<f64>>(&output.stdout).unwrap()))
}

fn mean(values: &[f64]) -> [f64; 2] {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    [mean, values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (n - 1.0) / n]
}

/// The same users and policy without a service.
fn in_process() -> [f64; 2] {
    let rng = &mut Xoshiro256PlusPlus::seed_from_u64(9);
    let reward = |list: &[usize]| 1.0 - list.iter().map(|&item| 1.0 - ATTRACTION[item]).product::<f64>();
    let template = template("");
    let mut regrets = vec![];
    for _ in 0..QUERIES {
        let policy =
            NamedLive::<Cascade>::build(template.policy.0, ListShape::new(3, 3).unwrap(), None).unwrap();
        let mut live = Live::<Cascade, _>::empty(policy, template.settings()).unwrap();
        for _ in ATTRACTION {
            _ = live.add_item();
        }
        let mut regret = 0.0;
        for id in 0..ROUNDS {
            let list: Vec<usize> =
                live.decide(&id, Among::All, rng).iter().map(|item| item.slot.index()).collect();
            regret += reward(&[0, 1, 2]) - reward(&list);
            if let Some(click) = list.iter().position(|&item| rng.random_bool(ATTRACTION[item])) {
                _ = live.click(&id, click);
            }
            _ = live.close(&id, None);
        }
        regrets.push(regret);
    }
    mean(&regrets)
}

#[test]
fn the_regret_of_a_client_is_that_of_the_library() {
    let server = Server::start("");
    let Some([one, variance]) = of_client(&[&server], 1) else { return };
    let [library, of_library] = in_process();
    let z = (one - library) / (variance + of_library).sqrt();
    println!("regret {one:.3} through the service, {library:.3} in process: z = {z:.2}");
    assert!(library > 1.0 && z.abs() < 4.0, "{one} and {library}: z = {z}");
    // Two servers that share a database.
    let Some(mut database) = Database::start() else { return };
    database.wait();
    let directories = [(); 2].map(|()| configured(&database.url(), ""));
    let servers =
        directories.each_ref().map(|directory| Server::start_in(directory.path(), "127.0.0.1:0").unwrap());
    let Some([two, _]) = of_client(&servers.each_ref(), 2) else { return };
    println!("regret {two:.3} through two servers: {:.3} times that of one", two / one);
    assert!(two <= 1.1 * one, "{two} and {one}");
}
