//! Users of fitted models: all parameters are probabilities, with defaults for unknown ones.

use click_logs::fit::{Fit, Model, Options, QueryFit, Users, fit};
use click_logs::{Format, Log, Reader};
use confidence::Probability;

/// Sessions in which item b is always below a click, and the last position is never clicked.
const SESSIONS: &str = "query\turls\tclicked_mask\nq\ta,b\t10\nq\ta,b\t10\nq\ta,b\t10\n";

fn read(format: Format, log: &str) -> Log {
    Reader::new(format).keep_sessions().read("log", log.as_bytes()).unwrap()
}

fn without_priors(model: Model, log: &Log) -> Fit {
    let options = Options { prior_strength: Some(0.0), ..Options::default() };
    fit(model, &log.counts, &log.sessions, &options).unwrap()
}

fn values(probabilities: &[Probability]) -> Vec<f64> {
    probabilities.iter().map(|probability| probability.get()).collect()
}

fn query(fit: &Fit) -> &QueryFit {
    &fit.queries()[0]
}

#[test]
fn an_item_without_data_is_the_typical_one() {
    let cascade = without_priors(Model::Cascade, &read(Format::Sessions, SESSIONS));
    assert!(query(&cascade).items[1].attraction.value.is_nan());
    let Some(Users::Cascade(users)) = cascade.users(query(&cascade), 2) else { panic!("no users") };
    assert_eq!(values(users.attraction()), [1.0, query(&cascade).typical]);
    assert_eq!(users.shape().n_positions(), 2);
}

#[test]
fn a_position_without_data_is_left_as_any_other() {
    // Two lists: one of three items, of which the last was never clicked, and a shorter query.
    let log = format!("{SESSIONS}r\ta,b,c\t100\nr\tb,a,c\t010\n");
    let dcm = without_priors(Model::Dcm, &read(Format::Sessions, &log));
    let Fit::Dcm { typical_leave, .. } = &dcm else { panic!("{dcm:?}") };
    for query in dcm.queries() {
        let Some(Users::DependentClick(users)) = dcm.users(query, 3) else { panic!("no users") };
        // At most as many positions as items.
        let n = query.items.len();
        assert_eq!((users.attraction().len(), users.leave().len()), (n, n));
        for (position, leave) in values(users.leave()).into_iter().enumerate() {
            let known =
                dcm.positions(query).get(position).map(|leave| leave.value).filter(|leave| !leave.is_nan());
            assert_eq!(leave, known.unwrap_or(*typical_leave).clamp(0.0, 1.0), "{position}");
        }
    }
    // A list longer than those of the log.
    let Fit::Dcm { attractions, mut leave, typical_leave } = dcm else { panic!("no dcm") };
    leave.site.clear();
    leave.queries = None;
    let dcm = Fit::Dcm { attractions, leave, typical_leave };
    let Some(Users::DependentClick(users)) = dcm.users(query(&dcm), 2) else { panic!("no users") };
    assert_eq!(values(users.leave()), [typical_leave.clamp(0.0, 1.0); 2]);
}

#[test]
fn the_most_examined_position_is_the_first_and_always_examined() {
    let log = "query,item,position,clicks,impressions\n\
               q,a,1,100,1000\nq,a,2,200,1000\nq,b,1,50,1000\nq,b,2,100,1000\n";
    let pbm = without_priors(Model::Pbm, &read(Format::counts(), log));
    let Some(Users::PositionBased { model, positions }) = pbm.users(query(&pbm), 5) else {
        panic!("no users")
    };
    assert_eq!(positions, [1, 0]);
    let near =
        |found: Vec<f64>, expected: [f64; 2]| found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-9);
    assert!(near(values(model.attraction()), [0.2, 0.1]) && near(values(model.examination()), [1.0, 0.5]));
    let Some(Users::PositionBased { positions, .. }) = pbm.users(query(&pbm), 1) else { panic!("no users") };
    assert_eq!(positions, [0]);
}

#[test]
fn rates_have_no_users_and_a_list_has_a_position() {
    let log = read(Format::Sessions, SESSIONS);
    for model in Model::ALL {
        let fit = without_priors(model, &log);
        for query in fit.queries() {
            let is_rate = model.name().starts_with("ctr");
            assert_eq!(fit.users(query, 2).is_some(), !is_rate, "{model}");
            assert_eq!(fit.users(query, 0), None, "{model}");
        }
    }
}
