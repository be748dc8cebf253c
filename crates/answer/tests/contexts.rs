//! Logs with contexts: the replay is that of `hybrid-ts`, in the order of the log, on features that
//! are standardised once; and what it is worth on users whose coefficients are known.

use answer::{ContextError, ContextSettings, fit_contexts};
use click_logs::fit::Model;
use click_models::{
    CascadeFeedback, CascadeModel, ClickModel as _, Context, ContextKnown, DcmReward, DependentClick, ItemId,
    ListFeedback as _, ListShape, Personal, PositionBased, RandomUsers, Ranking, WithAttraction,
};
use confidence::Probability;
use log_reader::{Error as LogError, Format, Input, PersonalLists};
use policies::{Decision, FeatureScale, HybridSettings, HybridTs, UpdateFor as _};
use rand::{RngExt as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;
use spec::{ContextFit, FeatureTable};
use std::fmt::Write as _;

/// The users F2 of the design, with this many items.
fn random(segments: u32) -> RandomUsers {
    RandomUsers {
        users: 500,
        share: 25,
        segments,
        user_features: 3,
        item_features: 3,
        main: 0.6,
        interaction: 0.6,
        item: 0.5,
        item_slope: 0.4,
        ..RandomUsers::default()
    }
}

fn items(known: ContextKnown<'_>) -> FeatureTable {
    FeatureTable {
        rows: (0..known.n_items()).map(|item| format!("item {item}")).collect(),
        features: ["p", "q", "r"].map(String::from).into(),
        values: known.item_features().to_vec(),
    }
}

const COLUMNS: &str = "user=u,session=s,item=i,position=p,click=c,segment=g,features=x;y;z";

/// A log of uniform lists, with features times `factor`.
fn log<M: WithAttraction>(users: &Personal<M>, lists: usize, factor: f64) -> String
where
    click_models::Feedback<M>: click_models::ListFeedback,
{
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(7);
    let (n_items, n_positions) = (users.known().n_items(), users.user(0).n_positions());
    let mut text = "u,s,i,p,c,g,x,y,z\n".to_owned();
    let mut order: Vec<u32> = (0..u32::try_from(n_items).unwrap()).collect();
    for list in 0..lists {
        let user = users.arrive(&mut rng);
        for position in 0..n_positions {
            let other = rng.random_range(position..n_items);
            order.swap(position, other);
        }
        let shown: Ranking = order[..n_positions].iter().map(|&item| ItemId::new(item)).collect();
        let clicks = users.user(user).respond(&shown, &mut rng).list_clicks();
        let Context { segment, features } = &users.contexts()[user];
        let features: Vec<String> = features.iter().map(|feature| (feature * factor).to_string()).collect();
        for (position, item) in shown.by_position() {
            let click = u8::from(position < clicks.len() && clicks.get(position));
            let (item, features) = (item.index(), features.join(","));
            writeln!(text, "u{user},{list},item {item},{},{click},s{segment},{features}", position + 1)
                .unwrap();
        }
    }
    text
}

#[derive(Debug, thiserror::Error)]
enum Failed {
    #[error(transparent)]
    Log(#[from] LogError),
    #[error(transparent)]
    Fit(#[from] ContextError),
}

fn settings(model: Model, items: Option<FeatureTable>) -> ContextSettings {
    let features = ["x", "y", "z"].map(String::from).into();
    ContextSettings { model, query: None, features, items, held_out_one_in: 10, seed: 1, ablate: false }
}

fn fitted(settings: &ContextSettings, log: &str) -> Result<ContextFit, Failed> {
    let format = Format::delimited(COLUMNS).unwrap();
    let lists = PersonalLists::new(&format, None).unwrap();
    let read = |names: &mut _, take: &mut answer::TakeList<'_>| {
        Ok::<_, Failed>(lists.read(vec![Input::stream("log.csv", log.as_bytes())], names, take)?)
    };
    fit_contexts(settings, read).map(|(fit, _)| fit)
}

fn cascade(n_items: usize, n_positions: usize, segments: u32) -> Personal<CascadeModel> {
    let model = CascadeModel::from_values(&vec![0.5; n_items], n_positions).unwrap();
    let users = RandomUsers { items: n_items, ..random(segments) };
    users.draw(&model, &mut Xoshiro256PlusPlus::seed_from_u64(3)).unwrap()
}

/// Mean regret of the lists that are best by the mean coefficients.
fn regret(users: &Personal<CascadeModel>, fit: &ContextFit) -> f64 {
    let (mean, known) = (fit.prior.mean(), fit.prior.known());
    let of_user = |user: usize| {
        let context = fit.prior.standardised(&users.contexts()[user]);
        let log_odds = mean.for_user(&context, known.n_items(), known.item_features());
        let mut order: Vec<u32> = (0..200).collect();
        order.sort_by(|&a, &b| log_odds(b as usize).total_cmp(&log_odds(a as usize)));
        users.user(user).gap(
            &order[..users.user(user).shape().n_positions()].iter().map(|&item| ItemId::new(item)).collect(),
        )
    };
    (0..users.n_users()).map(of_user).sum::<f64>() / users.n_users() as f64
}

#[test]
fn a_loss_of_nothing_is_not_known() {
    let text = log(&cascade(9, 3, 2), 20, 1.0);
    let settings = ContextSettings { held_out_one_in: 1_000_000, ..settings(Model::Cascade, None) };
    let report = fitted(&settings, &text).unwrap().report;
    assert_eq!((report.lists, report.log_loss, report.log_loss_without, report.gain), (0, None, None, None));
}

/// Shares of last clicks would be far too large: .66 to 1 in place of .3.
#[test]
fn leaving_is_that_of_the_users() {
    let leaving = [0.3; 4].map(|leave| Probability::new(leave).unwrap()).to_vec();
    let half = vec![Probability::new(0.5).unwrap(); 12];
    let model = DependentClick::new(half, leaving, DcmReward::Clicks).unwrap();
    let users = RandomUsers { items: 12, mean: -1.5, ..random(2) };
    let users = users.draw(&model, &mut Xoshiro256PlusPlus::seed_from_u64(3)).unwrap();
    let fit = fitted(&settings(Model::Dcm, Some(items(users.known()))), &log(&users, 4_000, 1.0)).unwrap();
    // The last position tells nothing.
    let found = &fit.of_positions[..3];
    assert!(found.iter().all(|leave| (leave - 0.3).abs() < 0.1), "{found:?}");
    let personal = (0..users.n_users()).map(|user| users.user(user).optimal_reward()).sum::<f64>();
    let truth = personal / users.n_users() as f64;
    assert!((fit.report.clicks.personal / truth - 1.0).abs() < 0.1, "{:?}, {truth}", fit.report.clicks);
}

#[test]
fn the_fit_is_the_state_of_hybrid_ts_after_the_log_s_lists_in_order() {
    let users = cascade(9, 3, 2);
    let text = log(&users, 300, 1.0);
    let fit = fitted(&settings(Model::Cascade, Some(items(users.known()))), &text).unwrap();
    assert_eq!((fit.lists, fit.positions, fit.segments.len(), fit.items.len()), (300, 3, 2, 9));
    let scale = FeatureScale::new(fit.prior.scale().user().to_vec(), fit.prior.scale().item().to_vec());
    let mut policy = HybridTs::new(ListShape::new(9, 3).unwrap(), users.known(), HybridSettings::default())
        .unwrap()
        .standardising(scale.unwrap())
        .unwrap();
    let rows: Vec<Vec<&str>> = text.lines().skip(1).map(|line| line.split(',').collect()).collect();
    let number = |text: &str| text.rsplit(' ').next().unwrap().parse::<u32>().unwrap();
    for rows in rows.chunks(3) {
        let segment = fit.segments.iter().position(|segment| segment == rows[0][5]).unwrap();
        let features = rows[0][6..].iter().map(|text| text.parse().unwrap()).collect();
        let decision = Decision {
            action: rows.iter().map(|row| ItemId::new(number(row[2]))).collect::<Ranking>(),
            note: Context { segment: u32::try_from(segment).unwrap(), features },
        };
        let click = rows.iter().position(|row| row[4] == "1");
        policy.update_for(&decision, &CascadeFeedback::new(click, 3).unwrap());
    }
    let state = |prior| serde_json::to_value::<policies::HybridPrior>(prior).unwrap();
    assert_eq!(state(fit.prior.clone()), state(policy.learned()));
    // Means and deviations of the log's lists.
    let mean = rows.iter().step_by(3).map(|row| row[6].parse::<f64>().unwrap()).sum::<f64>() / 300.0;
    assert!((fit.prior.scale().user()[0][0] - mean).abs() < 1e-12);
    // Features of later users are clipped to their range.
    let of_feature = |place: usize| rows.iter().map(move |row| row[6 + place].parse::<f64>().unwrap());
    for (place, [least, largest]) in fit.ranges().into_iter().enumerate() {
        assert_eq!(least.to_bits(), of_feature(place).fold(f64::INFINITY, f64::min).to_bits());
        assert_eq!(largest.to_bits(), of_feature(place).fold(f64::NEG_INFINITY, f64::max).to_bits());
    }
    assert_eq!(fit.ranges.len(), fit.user_features.len());
    // The same bytes again.
    let again = fitted(&settings(Model::Cascade, Some(items(users.known()))), &text).unwrap();
    assert_eq!(serde_json::to_string(&again).unwrap(), serde_json::to_string(&fit).unwrap());
}

/// The bar is .06. The best single list, which nobody knows, loses .048 here.
#[test]
fn greedy_lists_after_500_lists_lose_little_and_units_do_not_matter() {
    let users = cascade(200, 12, 1);
    let fit = |factor: f64| {
        fitted(&settings(Model::Cascade, Some(items(users.known()))), &log(&users, 500, factor)).unwrap()
    };
    let (fit, other) = (fit(1.0), fit(1000.0));
    let lost = regret(&users, &fit);
    assert!(lost < users.yardsticks().best_list && users.yardsticks().best_list < 0.06, "{lost}");
    for user in [0, 100, 499] {
        let Context { segment, features } = &users.contexts()[user];
        let scaled = Context { segment: *segment, features: features.iter().map(|x| x * 1000.0).collect() };
        let [one, two] = [(&fit, &users.contexts()[user]), (&other, &scaled)].map(|(fit, context)| {
            let context = fit.prior.standardised(context);
            let (mean, known) = (fit.prior.mean(), fit.prior.known());
            let log_odds = mean.for_user(&context, 200, known.item_features());
            let mut order: Vec<usize> = (0..200).collect();
            order.sort_by(|&a, &b| log_odds(b).total_cmp(&log_odds(a)));
            order[..12].to_vec()
        });
        assert_eq!(one, two);
    }
}

/// Contexts help where they matter; each model reads the log in its own way.
#[test]
fn the_report_tells_what_contexts_and_columns_are_worth() {
    let half = vec![0.5; 20];
    let random = RandomUsers { items: 20, mean: -1.0, ..random(1) };
    let rng = || Xoshiro256PlusPlus::seed_from_u64(5);
    let positions: Vec<f64> = vec![1.0, 0.6, 0.4, 0.3];
    let pbm = random.draw(&PositionBased::from_values(&half, &positions).unwrap(), &mut rng()).unwrap();
    let dcm = DependentClick::from_values(&half, &[0.7, 0.5, 0.4, 0.3], DcmReward::Clicks).unwrap();
    let dcm = random.draw(&dcm, &mut rng()).unwrap();
    for (model, log, known) in
        [(Model::Pbm, log(&pbm, 4000, 1.0), pbm.known()), (Model::Dcm, log(&dcm, 4000, 1.0), dcm.known())]
    {
        let mut settings =
            ContextSettings { ablate: model == Model::Pbm, ..settings(model, Some(items(known))) };
        let fit = fitted(&settings, &log).unwrap();
        let report = &fit.report;
        let gain = report.gain.unwrap();
        assert!(gain.lower > 0.0 && gain.lower < gain.mean, "{model} {report:?}");
        assert!((report.log_loss_without.unwrap() - report.log_loss.unwrap() - gain.mean).abs() < 1e-9);
        // Held out: all lists of one user in ten.
        assert!((300..=500).contains(&report.lists) && report.units < 70, "{model} {report:?}");
        let clicks = report.clicks;
        assert!(clicks.best_list < clicks.personal && clicks.best_list_of_segment <= clicks.personal);
        if model == Model::Pbm {
            for (found, expected) in fit.of_positions.iter().zip(&positions) {
                assert!((found - expected).abs() < 0.1, "{:?}", fit.of_positions);
            }
            let names: Vec<&str> = report.columns.iter().map(|column| column.column.as_str()).collect();
            assert_eq!(names, ["x", "y", "z", "p", "q", "r"]);
            assert!(report.columns.iter().any(|column| column.gain.unwrap().lower > 0.0));
        } else {
            assert!(report.columns.is_empty());
        }
        settings.seed = 2;
        assert_ne!(fitted(&settings, &log).unwrap().report.log_loss, report.log_loss);
    }
}

#[test]
fn what_cannot_be_fitted_is_refused() {
    let users = cascade(9, 3, 1);
    let refused = |model, items, log: &str| fitted(&settings(model, items), log).unwrap_err().to_string();
    let constant = log(&users, 5, 0.0);
    assert!(refused(Model::Cascade, None, &constant).starts_with("user feature `x`: constant"));
    for factor in [1e200, 1e-200, 1e300] {
        let error = refused(Model::Cascade, None, &log(&users, 5, factor));
        assert!(error.starts_with("user feature `x`: its deviation is too large or too small"), "{error}");
    }
    let text = log(&users, 5, 1.0);
    let mut same = items(users.known());
    same.values.iter_mut().skip(1).step_by(3).for_each(|value| *value = 4.0);
    assert!(refused(Model::Cascade, Some(same), &text).starts_with("item feature `q`: constant"));
    let mut few = items(users.known());
    few.rows[0] = "another".to_owned();
    let error = refused(Model::Cascade, Some(few), &log(&users, 50, 1.0));
    assert!(error.contains("an item without a row in the table of items, found `item 0`"), "{error}");
    assert!(refused(Model::Ubm, None, &text).contains("cascade, dcm and pbm are fitted"));
    assert!(matches!(
        fitted(&settings(Model::Pbm, None), "u,s,i,p,c,g,x,y,z\n"),
        Err(Failed::Log(_) | Failed::Fit(ContextError::NoLists))
    ));
}

/// `context.json` is read back, and not if its parts are damaged.
#[test]
fn a_damaged_file_is_refused() {
    let users = cascade(9, 3, 2);
    let fit = fitted(&settings(Model::Cascade, Some(items(users.known()))), &log(&users, 40, 1.0)).unwrap();
    let json = serde_json::to_value(&fit).unwrap();
    let read = |json: &serde_json::Value| ContextFit::read("context.json", json.to_string().as_bytes());
    assert_eq!(serde_json::to_value(read(&json).unwrap()).unwrap(), json);
    let cases: [(&str, serde_json::Value, &str); 9] = [
        ("/version", 2.into(), "version: 2 found: expected 1"),
        ("/version", "new".into(), "invalid type: string \"new\", expected u64"),
        ("/model", "ubm".into(), "of_positions"),
        ("/items/3", "item 2".into(), "items: a name is there twice"),
        ("/segments", serde_json::json!(["a"]), "segments: 1 found: expected 2"),
        ("/users/0/segment", 2.into(), "users: expected contexts"),
        ("/prior/shared/factor/0", (-1.0).into(), "a precision that is not positive"),
        ("/prior/intercepts/deviation", 9.0.into(), "a deviation outside"),
        ("/prior/products/scale/user/0/1", 0.0.into(), "expected finite numbers, the second above 0"),
    ];
    for (pointer, value, message) in cases {
        let mut damaged = json.clone();
        *damaged.pointer_mut(pointer).unwrap_or_else(|| panic!("{pointer}: {json}")) = value;
        let error = read(&damaged).unwrap_err().to_string();
        assert!(error.starts_with("context.json") && error.contains(message), "{pointer}: {error}");
    }
    assert!(
        ContextFit::read("context.json", b"{}").unwrap_err().to_string().contains("missing field `version`")
    );
    assert!(ContextFit::read("context.json", b"[1").is_err());
}

/// Features that mean nothing gain nothing on users that took no part, whatever the fit expects.
#[test]
fn features_that_mean_nothing_gain_nothing() {
    let (mut recommended, mut sum, mut expected) = (0, 0.0, 0.0);
    for seed in 1..=8 {
        let rng = &mut Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut log = "s,i,k,c,a,b,d\n".to_owned();
        for session in 0..2000 {
            let mut feature = || format!("{:.3}", rng.random::<f64>() + rng.random::<f64>() - 1.0);
            let features = [feature(), feature(), feature()].join(",");
            let mut items: Vec<usize> = (0..8).collect();
            for place in 0..5 {
                items.swap(place, rng.random_range(place..8));
                let attraction = 0.1 + 0.06 * items[place] as f64;
                let click = u8::from(rng.random_bool(attraction / (1.0 + 0.5 * place as f64)));
                writeln!(log, "s{session},i{},{},{click},{features}", items[place], place + 1).unwrap();
            }
        }
        let format = Format::delimited("session=s,item=i,position=k,click=c,features=a;b;d").unwrap();
        let settings = ContextSettings {
            model: Model::Pbm,
            query: None,
            features: ["a", "b", "d"].map(str::to_owned).to_vec(),
            items: None,
            held_out_one_in: 10,
            seed: 1,
            ablate: false,
        };
        let lists = PersonalLists::new(&format, None).unwrap();
        let read = |names: &mut log_reader::ListNames, take: &mut answer::TakeList<'_>| {
            let inputs = vec![Input::stream("log", log.as_bytes())];
            Ok::<_, ContextError>(lists.read(inputs, names, take).unwrap())
        };
        let (fit, _) = fit_contexts(&settings, read).unwrap();
        let gain = fit.report.personal_gain.unwrap();
        recommended += usize::from(gain.is_surely_above_zero());
        sum += gain.mean;
        expected += fit.report.clicks.personal - fit.report.clicks.best_list;
    }
    assert!(recommended <= 1 && sum < 0.0 && expected > 0.0, "{recommended} {sum} {expected}");
}
