//! Users of fitted models: all parameters are probabilities, with defaults for unknown ones.

use click_logs::fit::{Estimates, Fit, Model, Options, QueryFit, Scope, Users, fit};
use click_models::{CascadeModel, DependentClick, PositionBased};
use confidence::Probability;
use log_reader::{Format, Log, Reader};
use std::fmt::Write as _;

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

/// Users of this type.
fn users<M: 'static>(fit: &Fit, query: &QueryFit, n_positions: usize) -> Option<M> {
    fit.users(query, n_positions).and_then(Users::model)
}

#[test]
fn an_item_without_data_is_the_typical_one() {
    let cascade = without_priors(Model::Cascade, &read(Format::Sessions, SESSIONS));
    assert!(query(&cascade).items[1].attraction.value.is_nan());
    let users: CascadeModel = users(&cascade, query(&cascade), 2).unwrap();
    assert_eq!(values(users.attraction()), [1.0, query(&cascade).typical]);
    assert_eq!(users.shape().n_positions(), 2);
}

#[test]
fn a_position_without_data_is_left_as_any_other() {
    // Two lists: one of three items, of which the last was never clicked, and a shorter query.
    let log = format!("{SESSIONS}r\ta,b,c\t100\nr\tb,a,c\t010\n");
    let mut dcm = without_priors(Model::Dcm, &read(Format::Sessions, &log));
    let typical_leave = dcm.typical_leave.unwrap();
    for query in dcm.queries() {
        let users: DependentClick = users(&dcm, query, 3).unwrap();
        // At most as many positions as items.
        let n = query.items.len();
        assert_eq!((users.attraction().len(), users.leave().len()), (n, n));
        for (position, leave) in values(users.leave()).into_iter().enumerate() {
            let known =
                dcm.positions(query).get(position).map(|leave| leave.value).filter(|leave| !leave.is_nan());
            assert_eq!(leave, known.unwrap_or(typical_leave).clamp(0.0, 1.0), "{position}");
        }
    }
    // A list longer than those of the log.
    dcm.positions = Estimates::default();
    let users: DependentClick = users(&dcm, query(&dcm), 2).unwrap();
    assert_eq!(values(users.leave()), [typical_leave.clamp(0.0, 1.0); 2]);
}

#[test]
fn positions_keep_their_order_and_the_most_examined_one_is_always_examined() {
    let log = "query,item,position,clicks,impressions\n\
               q,a,1,100,1000\nq,a,2,200,1000\nq,b,1,50,1000\nq,b,2,100,1000\n";
    let pbm = without_priors(Model::Pbm, &read(Format::counts(), log));
    let model: PositionBased = users(&pbm, query(&pbm), 5).unwrap();
    assert!(query(&pbm).first_positions(5).eq([0, 1]));
    let near =
        |found: Vec<f64>, expected: [f64; 2]| found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-9);
    assert!(near(values(model.attraction()), [0.2, 0.1]) && near(values(model.examination()), [0.5, 1.0]));
    assert!(query(&pbm).first_positions(1).eq([0]));
    assert_eq!(users::<PositionBased>(&pbm, query(&pbm), 1).unwrap().shape().n_positions(), 1);
}

#[test]
fn rates_have_no_users_and_a_list_has_a_position() {
    let log = read(Format::Sessions, SESSIONS);
    for model in Model::ALL {
        let fit = without_priors(model, &log);
        for query in fit.queries() {
            let is_rate = model.name().starts_with("ctr");
            assert_eq!(fit.users(query, 2).is_some(), !is_rate, "{model}");
            assert!(fit.users(query, 0).is_none(), "{model}");
        }
    }
}

/// Clicks of items `a` to `d` at three positions, and impressions. Attraction .6, .4, .2, .1;
/// examination 1, .6, .3.
const AT_THREE: [[(u64, u64); 3]; 4] = [
    [(458, 747), (305, 766), (135, 768)],
    [(282, 767), (169, 734), (78, 754)],
    [(163, 733), (92, 733), (47, 715)],
    [(83, 753), (51, 767), (18, 763)],
];

/// Counts of queries, each at three positions of its own.
fn at_positions(queries: &[(&str, [usize; 3])]) -> Log {
    let mut log = String::from("query,item,position,clicks,impressions\n");
    for (query, positions) in queries {
        for (item, cells) in ["a", "b", "c", "d"].iter().zip(AT_THREE) {
            for (position, (clicks, impressions)) in positions.iter().zip(cells) {
                writeln!(log, "{query},{item},{position},{clicks},{impressions}").unwrap();
            }
        }
    }
    read(Format::counts(), &log)
}

/// A log need not show the first position, and may leave gaps. Only the names of positions differ
/// then.
#[test]
fn positions_that_the_log_never_shows_are_no_positions() {
    for (scope, prior_strength) in [Scope::Query, Scope::Site]
        .into_iter()
        .flat_map(|scope| [None, Some(0.0), Some(5.0)].map(|s| (scope, s)))
    {
        let options = Options { scope, prior_strength, ..Options::default() };
        let fit_at = |positions| {
            let log = at_positions(&[("q", positions)]);
            let fit_of = |model| fit(model, &log.counts, &log.sessions, &options).unwrap();
            [Model::Pbm, Model::CtrRank].map(fit_of)
        };
        let usual = fit_at([1, 2, 3]);
        for positions in [[3, 5, 7], [2, 3, 4], [1, 2, 64], [11, 12, 13]] {
            for (fit, usual) in fit_at(positions).iter().zip(&usual) {
                let rows: Vec<_> = fit.rows(&fit.positions.site).collect();
                assert_eq!(rows.iter().map(|row| row.0 + 1).collect::<Vec<_>>(), positions);
                assert!(rows.iter().map(|row| row.2).eq(&usual.positions.site), "{positions:?} {scope:?}");
                for (query, usual_query) in fit.queries().iter().zip(usual.queries()) {
                    assert_eq!(query.items, usual_query.items);
                    let own: Vec<_> = fit.rows(fit.own_positions(query.id)).collect();
                    assert!(own.iter().map(|row| row.2).eq(usual.own_positions(query.id)));
                    assert!(own.iter().zip(positions).all(|(row, position)| row.0 + 1 == position));
                    let model: Option<PositionBased> = users(fit, query, 3);
                    assert_eq!(model.is_some(), fit.model() == Model::Pbm);
                    assert_eq!(model, users(usual, usual_query, 3));
                    assert!(query.first_positions(3).map(|of| of + 1).eq(positions));
                }
            }
        }
        let pbm = &fit_at([3, 5, 7])[0];
        let estimates = pbm.rows(&pbm.positions.site).map(|row| row.2.value);
        for (found, (truth, allowed)) in estimates.zip([(1.0, 1e-9), (0.631, 0.026), (0.282, 0.017)]) {
            assert!((found - truth).abs() <= allowed, "{found} {truth}");
        }
        for (item, truth) in query(pbm).items.iter().zip([0.619, 0.367, 0.216, 0.105]) {
            assert!((item.attraction.value - truth).abs() < 0.016, "{item:?}");
        }
    }
}

/// A query without the first position of the log: examination relative to its own first one, and
/// users with its positions only.
#[test]
fn queries_have_their_own_positions() {
    let log = at_positions(&[("q", [1, 2, 3]), ("r", [2, 3, 5]), ("s", [3, 5, 9])]);
    for scope in [Scope::Query, Scope::Site] {
        let options = Options { scope, ..Options::default() };
        let pbm = fit(Model::Pbm, &log.counts, &log.sessions, &options).unwrap();
        for (query, expected) in pbm.queries().iter().zip([[0, 1, 2], [1, 2, 4], [2, 4, 8]]) {
            let model: PositionBased = users(&pbm, query, 64).unwrap();
            assert!(query.first_positions(64).eq(expected));
            let own: Vec<_> = pbm.rows(pbm.own_positions(query.id)).collect();
            if scope == Scope::Query {
                assert!(own.iter().map(|row| row.0).eq(expected) && (own[0].2.value - 1.0).abs() < 1e-9);
                // Fewer than the three standard errors of the ratio, and of attraction.
                let [kappa, theta] = [values(model.examination()), values(model.attraction())];
                assert!((kappa[1] - 0.62).abs() < 0.08 && (kappa[2] - 0.29).abs() < 0.05, "{kappa:?}");
                assert!((theta[0] - 0.61).abs() < 0.05, "{theta:?}");
            }
            // A position of other queries is predicted, and one of no query.
            for position in 0..12 {
                let item = query.items[0].item;
                let p = pbm.click_probability(query.id, item, position).unwrap();
                assert!(p > 0.02 && p < 1.0, "{position}: {p}");
            }
        }
    }
}
