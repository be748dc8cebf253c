use super::*;
use std::os::unix::fs::symlink;

/// The temporary name can be guessed; the target of a link of that name must not change.
#[test]
fn a_planted_link_is_not_followed() {
    let dir = tempfile::tempdir().unwrap();
    let victim = dir.path().join("victim");
    fs::write(&victim, "mine").unwrap();
    let path = dir.path().join("result.json");
    symlink(&victim, dir.path().join(format!(".result.json.{}{END}", std::process::id()))).unwrap();
    TemporaryFile::write(&path, b"{}").unwrap().rename().unwrap();
    assert_eq!(fs::read_to_string(&victim).unwrap(), "mine");
    assert!(fs::symlink_metadata(&path).unwrap().is_file());
    assert_eq!(fs::read_to_string(&path).unwrap(), "{}");
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 2);
}

#[test]
fn a_file_that_is_not_renamed_is_removed() {
    let dir = tempfile::tempdir().unwrap();
    drop(TemporaryFile::write(&dir.path().join("a"), b"x").unwrap());
    try_to_create_in(dir.path()).unwrap();
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
    assert!(try_to_create_in(&dir.path().join("missing")).is_err());
}
