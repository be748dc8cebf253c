//! Every policy that the reader accepts for a model can also play it.

use super::tournament;
use policies::catalogue::{Family, Purpose, Row, rows};
use spec::Experiment;
use spec::models::{MODELS, Model};

/// Every model, with the examples of its required keys.
fn instances() -> impl Iterator<Item = (&'static Model, String)> {
    MODELS.into_iter().map(|model| {
        let required = model.keys.iter().filter(|key| key.required);
        (
            model,
            required.map(|key| format!("{} = {}", key.name, key.example)).collect::<Vec<_>>().join("\n")
                + "\n",
        )
    })
}

/// The number of pairs of a policy and a model that the reader accepts, with these additional keys.
fn entered(keys: &str) -> usize {
    let mut entered = 0;
    for name in rows().iter().map(|row| row.name) {
        for (model, parameters) in instances() {
            let head = "name = \"x\"\ntask = \"regret\"\nhorizon = 10\nruns = 1\nseed = 1\n";
            let users = format!("[[instances]]\nmodel = {:?}\n{parameters}", model.name);
            let text = format!("{head}{users}[[policies]]\npolicy = \"{name}\"\n{keys}\n");
            let Ok(experiment) = Experiment::from_toml(&text) else { continue };
            drop(tournament(&experiment, &[], 1).unwrap());
            entered += 1;
        }
    }
    entered
}

#[test]
fn every_policy_can_be_entered_on_exactly_the_models_that_it_plays() {
    // Policies that name best items have other tasks, and `logged` needs the lists of a log.
    let plays = |row: &Row, model: &Model| {
        row.purpose() == Purpose::Regret
            && !row.families.contains(&Family::Logged)
            && row.speaks(model.protocol)
    };
    let pairs = MODELS.iter().flat_map(|model| rows().iter().filter(|row| plays(row, model)));
    assert_eq!(entered(""), pairs.count());
    // Policies for any list need no `read-as`, so it is refused; all others can read the feedback
    // of another model of lists.
    let others = MODELS.iter().filter(|model| model.protocol.has_lists()).count() - 1;
    let pairs = |family| others * rows().iter().filter(|row| row.families.contains(&family)).count();
    assert_eq!(entered("read-as = \"pbm\"\nkappa = [0.5, 0.4, 0.3]"), pairs(Family::PositionBased));
    assert_eq!(entered("read-as = \"pbm\""), pairs(Family::UnknownExamination));
    assert_eq!(entered("read-as = \"cascade\""), pairs(Family::Prefix));
}
