//! Lists that are learned from a log: valued on other users they earn what they earn, valued on the
//! same log they look better than any list is.

use super::examination;
use super::world::{COLUMNS, Logger, Users, World};
use click_logs::fit::{Model, Options, fit};
use evaluation::{Basis, Evaluation, Key, Question, Ranking, Row};
use log_reader::{Error, Format, Ids, Input, Reader};

fn evaluated(log: &str, ranking: Ranking) -> (Evaluation, log_reader::Log) {
    let reader = Reader::new(Format::delimited(COLUMNS).unwrap()).keep_sessions();
    let ids = Ids::new();
    let question = Question::new(ranking, reader.format(), None, &ids).unwrap();
    let inputs = |_| Ok::<_, Error>(vec![Input::stream("log.csv", log.as_bytes())]);
    let read = reader.read_lists(ids, inputs, || question.tally()).unwrap();
    let log = read.log.clone().unwrap();
    (Evaluation::new(&question, read, &[Model::Pbm], |_| true).unwrap(), log)
}

#[test]
fn learned_lists_are_valued_on_other_users() {
    // All items of a query are alike: no list is better than another.
    let world = World::new(Users::PositionBased(examination()), 60, 9, 5, true, 3);
    let of = world.generate(Logger::EpsilonGreedy(1.0), 4_000, 1, false, 3);
    let (learned, log) = evaluated(&of.log, Ranking::learned());
    assert!(learned.levels.is_none());
    let found = &learned.findings.all[0];
    let (low, high) = found.difference.as_ref().unwrap().interval().unwrap();
    assert!(found.basis == Basis::Model(Model::Pbm) && low < 0.0 && 0.0 < high, "{found:?}");

    let fitted = fit(Model::Pbm, &log.counts, &log.sessions, &Options::default()).unwrap();
    let name = |id| log.counts.names().name(id).into_owned();
    let mut rows: Vec<(String, u64, String)> = Vec::new();
    for query in fitted.queries() {
        let users = fitted.users(query, 5).unwrap();
        let items = users.best_list().iter().map(|item| query.items[item.index()].item);
        rows.extend((1..).zip(items).map(|(position, item)| (name(query.id), position, name(item))));
    }
    let rows = rows.iter().map(|(query, position, item)| Row {
        query,
        list: "",
        probability: 1.0,
        position: *position,
        item,
    });
    let (same_log, _) = evaluated(&of.log, Ranking::from_rows(Key::Query, rows).unwrap());
    let model = same_log.findings.all.iter().find(|found| found.basis == Basis::Model(Model::Pbm)).unwrap();
    let (low, _) = model.difference.as_ref().unwrap().interval().unwrap();
    let overvalued = model.difference.as_ref().unwrap().value / same_log.levels.unwrap().today.value;
    assert!(low > 0.0 && overvalued > 0.2, "{overvalued}");
}
