//! The experiments of the project.

use super::*;
use crate::claims::judge;

#[test]
fn a_figure_of_parameters_shows_calibrated_users_and_is_empty_without_data() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../xtask/experiments/yandex");
    let reproduction = Reproduction::read(&folder, Inputs::default(), Extent::Full).unwrap();
    let figures = |panels: &[Panel], name: &str| {
        let panel = panels.iter().find(|panel| panel.name == name).unwrap();
        let plots = panel.figures.iter().map(|figure| &*figure.plot as &dyn Any);
        plots.filter_map(|plot| plot.downcast_ref::<Parameters>()).cloned().collect::<Vec<_>>()
    };
    let largest = |list: &[f64]| list.iter().copied().fold(0.0, f64::max);
    let both: Vec<Vec<(String, usize, f64)>> = figures(&reproduction.panels, "both")
        .into_iter()
        .map(|figure| figure.numbers.into_iter().map(|(name, list)| (name, list.len(), largest(&list))))
        .map(Iterator::collect)
        .collect();
    let lines = |lengths: [usize; 2]| {
        vec![("query 1".to_owned(), lengths[0], 0.85), ("query 2".to_owned(), lengths[1], 0.66)]
    };
    assert_eq!(both, [lines([871, 807]), lines([10, 10])]);
    let awaiting = figures(&reproduction.awaiting, "figure-3");
    assert!(awaiting.len() == 2 && awaiting.iter().all(|figure| figure.numbers.is_empty()));
}

mod kdd2012 {
    use super::*;

    fn reproduction() -> Reproduction {
        Reproduction::read(
            &Path::new(env!("CARGO_MANIFEST_DIR")).join("../../xtask/experiments/kdd2012"),
            Inputs::default(),
            Extent::Full,
        )
        .unwrap()
    }

    #[test]
    fn it_has_the_scale_of_the_papers() {
        let reproduction = reproduction();
        let scale: Vec<_> = reproduction
            .panels
            .iter()
            .map(|panel| {
                let experiment = &panel.variants[0].experiment;
                (&*panel.name, experiment.runs(), experiment.horizon())
            })
            .collect();
        assert_eq!(scale, [("pbm-figure-2", 2000, 100_000), ("rsf-figure-3", 250, 100_000)]);
        for panel in &reproduction.panels {
            let instances = panel.variants[0].experiment.instances().tables();
            assert_eq!(instances.len(), 8);
            let kappas = instances.into_iter().map(|instance| instance.parameters[1].1.numbers().to_vec());
            assert!(kappas.into_iter().all(|kappa| kappa.len() == 3 && kappa[0] == 1.0));
        }
    }

    #[test]
    fn a_single_panel_can_be_kept() {
        let mut alone = reproduction();
        alone.keep_only("rsf-figure-3").unwrap();
        assert_eq!((alone.panels.len(), alone.panels[0].name.as_str()), (1, "rsf-figure-3"));
        assert!(alone.claims.len() == 2);
        let error = alone.keep_only("pbm-figure-2").unwrap_err();
        assert_eq!(error, "kdd2012 has no such panel: did you mean `rsf-figure-3`? known: rsf-figure-3");
    }

    #[test]
    fn its_parameters_agree_with_table_1_except_for_one_entry() {
        let reproduction = reproduction();
        let rows = &reproduction.printed.as_ref().unwrap().rows;
        let names: Vec<_> = rows.iter().map(|row| &*row.name).collect();
        let instances: Vec<_> = reproduction.panels[0].variants[0]
            .experiment
            .instances()
            .tables()
            .into_iter()
            .map(|instance| instance.name)
            .collect();
        assert_eq!(names, instances);
        let mut differing = Vec::new();
        for claim in reproduction.claims.iter().filter(|claim| claim.test.is_of_rows()) {
            let finding = judge(claim, None, rows).unwrap();
            assert_eq!(finding.verdict, claim.known, "{}", claim.name);
            differing.extend(finding.comparisons.into_iter().map(|comparison| comparison.what));
        }
        assert_eq!(differing, ["min theta of query 9"]);
    }
}

#[test]
fn every_experiment_of_the_project_is_valid_and_has_evidence_for_every_claim() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../xtask/experiments");
    let mut names = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if !path.is_dir() {
            continue;
        }
        let source = |name: &str| Source::read(&path.join(name)).unwrap();
        let (experiment, claims) = (source("experiment.toml"), source("claims.toml"));
        let [reproduction, quick_check] = [Extent::Full, Extent::Quick].map(|extent| {
            let read = Reproduction::from_sources(&experiment, &claims, Inputs::default(), extent);
            read.unwrap_or_else(|error| panic!("{error}"))
        });
        assert_eq!(Some(reproduction.name.as_str()), path.file_name().and_then(|name| name.to_str()));
        let panels = quick_check.panels.iter().map(|quick| (reproduction.panel(&quick.name).unwrap(), quick));
        for (full, quick) in panels {
            let sizes = |panel: &Panel| -> Vec<usize> {
                panel.instances().iter().map(|instance| instance.n_items).collect()
            };
            let (sizes, of_quick) = (sizes(full), sizes(quick));
            let runs = full.variants[0].experiment.runs();
            let mut numbers = quick.title.split(|c: char| !c.is_ascii_digit()).filter_map(|n| n.parse().ok());
            let is_old = numbers.any(|n| sizes.contains(&n) && !of_quick.contains(&n))
                || quick.variants[0].experiment.runs() != runs
                    && quick.title.contains(&format!("{runs} runs"));
            assert!(!is_old, "the title {:?} is of the full run", quick.title);
            let ends = quick.variants.iter().map(|variant| variant.experiment.horizon());
            let long = ["million rounds", "200,000 rounds"].iter().any(|end| quick.title.contains(end));
            assert!(!long || ends.max() >= Some(200_000), "{} is shorter than its title", quick.name);
        }
        for claim in reproduction.claims.iter().chain(&quick_check.claims) {
            assert!(claim.evidence.len() > 30, "{}: {}", reproduction.name, claim.name);
        }
        assert!(path.join("README.md").is_file());
        names.push(reproduction.name);
    }
    names.sort();
    assert_eq!(
        names,
        [
            "cascade-bai",
            "cascade-synthetic",
            "context",
            "kdd2012",
            "live",
            "pbm-beyond",
            "pbm-synthetic",
            "rank1",
            "rank1-needle",
            "robustness",
            "rsf-synthetic",
            "rucb",
            "yandex"
        ]
    );
}
