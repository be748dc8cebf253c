//! The files that a spec may name: those beside it and below, and what the caller allows.

use super::{LISTS, PARAMETERS, UNCERTAIN, WARM};
use crate::Experiment;
use documents::toml_reader::{Error, Source};
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::tempdir;

const DUELS: &str = "name = \"x\"\ntask = \"regret\"\nhorizon = 50\nruns = 4\nseed = 1\npolicies = [{ policy = \"rucb\" }]\n\
    [[instances]]\nmodel = \"dueling\"\nfile = \"m.txt\"\n";

/// Every key with a file: a spec, the name in it, the key in messages, and the content.
const KEYS: [(&str, &str, &str, &str); 4] = [
    (UNCERTAIN, "p.json", "users.posterior", PARAMETERS),
    (UNCERTAIN, "l.csv", "policies[2].lists", LISTS),
    (WARM, "p.json", "policies[1].prior_file", PARAMETERS),
    (DUELS, "m.txt", "instances[0].file", "0.5,0.6\n0.4,0.5\n"),
];

fn read(folder: &Path, spec: &str, allowed: &[PathBuf]) -> Result<Experiment, Error> {
    fs::write(folder.join("spec.toml"), spec).unwrap();
    let source = Source::read(&folder.join("spec.toml"))?.allowing(allowed);
    let document = source.parse()?;
    Experiment::from_document(&document)
}

#[test]
fn files_are_beside_the_spec_and_below_or_allowed() {
    for (spec, name, key, content) in KEYS {
        let top = tempdir().unwrap();
        let (folder, elsewhere) = (top.path().join("own"), top.path().join("elsewhere"));
        for folder in [&folder.join("below"), &elsewhere] {
            fs::create_dir_all(folder).unwrap();
            for (other, content) in [("p.json", PARAMETERS), ("l.csv", LISTS), (name, content)] {
                fs::write(folder.join(other), content).unwrap();
                fs::write(top.path().join("own").join(other), content).unwrap();
            }
        }
        let named = |path: &Path| spec.replace(name, path.to_str().unwrap());
        let within =
            [name.into(), Path::new("below").join(name), folder.join(name), Path::new("../own").join(name)];
        for path in within {
            assert!(read(&folder, &named(&path), &[]).is_ok(), "{key} = {path:?}");
        }
        let mut outside = vec![
            elsewhere.join(name),
            Path::new("../elsewhere").join(name),
            Path::new("below/../../elsewhere").join(name),
        ];
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(elsewhere.join(name), folder.join("linked")).unwrap();
            std::os::unix::fs::symlink(&elsewhere, folder.join("folder")).unwrap();
            outside.extend(["linked".into(), Path::new("folder").join(name)]);
        }
        for path in outside {
            // A folder whose name begins in the same way is another one.
            for allowed in [vec![], vec![top.path().join("else"), folder.join("below")]] {
                let message = read(&folder, &named(&path), &allowed).unwrap_err().to_string();
                let expected = format!(
                    " {key}: {}: is outside of the folder of this file: move it there, or allow its folder",
                    folder.join(&path).display()
                );
                assert!(message.ends_with(&expected), "{message}\n{expected}");
            }
            for allowed in [elsewhere.clone(), top.path().to_owned(), elsewhere.join(name)] {
                let experiment = read(&folder, &named(&path), &[folder.join("below"), allowed]).unwrap();
                assert!(experiment.inputs().iter().all(|(name, _)| !name.contains('/')), "{key}");
            }
        }
    }
}
