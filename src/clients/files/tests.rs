//! The store in a folder; the one in a bucket is tested with a server, in `tests/api/stored_files.rs`.

use std::fs::File;
use std::io::ErrorKind;
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use futures_util::FutureExt;
use tokio::io::AsyncReadExt;
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

use super::{Files, SETTLED, StoredFile, key};

/// Stores a text and sets its time to long ago; returns its hash.
async fn stored_long_ago(files: &Files, text: &str) -> (String, StoredFile) {
    let mut incoming = files.receive().await.unwrap();
    incoming.write(text.as_bytes()).await.unwrap();
    let received = incoming.end().await.unwrap();
    let sha256 = received.sha256.clone();
    let stored = files.store(received).await.unwrap();
    age(files, &sha256, 2 * SETTLED);
    (sha256, stored)
}

fn age(files: &Files, sha256: &str, by: Duration) {
    let file = File::options().write(true).open(files.storage.path(&key(sha256))).unwrap();
    file.set_modified(SystemTime::now() - by).unwrap();
}

async fn sweep(files: &Files, named: Vec<String>) -> usize {
    let named = move |_| {
        let named = named.clone();
        async move { Ok(named) }.boxed()
    };
    files.sweep(SystemTime::now() - SETTLED, named, &CancellationToken::new()).await.unwrap()
}

#[tokio::test]
async fn what_nothing_names_goes_once_it_is_old_and_what_is_not_ours_stays() {
    let folder = tempfile::tempdir().unwrap();
    let files = Files::at(folder.path().to_owned()).unwrap();
    let (orphan, _) = stored_long_ago(&files, "nobody's").await;
    let (named, _) = stored_long_ago(&files, "somebody's").await;
    let (young, _) = stored_long_ago(&files, "somebody's soon").await;
    age(&files, &young, SETTLED / 2);
    let other = files.storage.path(&key(&orphan)).with_file_name("README");
    std::fs::write(&other, "").unwrap();
    File::options().write(true).open(&other).unwrap().set_modified(SystemTime::UNIX_EPOCH).unwrap();
    assert_eq!(sweep(&files, vec![named.clone()]).await, 1);
    let left = [&orphan, &named, &young].map(|sha256| files.storage.path(&key(sha256)).exists());
    assert_eq!((left, other.exists()), ([false, true, true], true));
}

#[tokio::test]
async fn a_file_that_a_row_is_about_to_name_stays_however_old_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let files = Files::at(folder.path().to_owned()).unwrap();
    let (sha256, stored) = stored_long_ago(&files, "kept again").await;
    let rows: Arc<Mutex<Vec<String>>> = Arc::default();
    // The row is committed after the sweep has seen that there is none.
    let (looked, look) = oneshot::channel();
    let looked = Arc::new(Mutex::new(Some(looked)));
    let committing = {
        let (rows, sha256) = (Arc::clone(&rows), sha256.clone());
        async move {
            look.await.unwrap();
            rows.lock().unwrap().push(sha256);
            drop(stored);
        }
    };
    let named = move |_| {
        let named = rows.lock().unwrap().clone();
        if let Some(looked) = looked.lock().unwrap().take() {
            looked.send(()).unwrap();
        }
        async move { Ok(named) }.boxed()
    };
    let stopping = CancellationToken::new();
    let (swept, ()) = tokio::join!(files.sweep(SystemTime::now() - SETTLED, named, &stopping), committing);
    assert_eq!(swept, Ok(0));
    assert!(files.storage.path(&key(&sha256)).exists());
}

#[tokio::test]
async fn a_file_that_was_changed_since_is_not_opened() {
    let folder = tempfile::tempdir().unwrap();
    let files = Files::at(folder.path().to_owned()).unwrap();
    let (sha256, _) = stored_long_ago(&files, "what was agreed").await;
    let mut opened = files.open(&sha256).await.unwrap();
    let mut text = String::new();
    opened.read_to_string(&mut text).await.unwrap();
    assert_eq!(text, "what was agreed");
    std::fs::write(files.storage.path(&key(&sha256)), "what was not").unwrap();
    assert_eq!(files.open(&sha256).await.unwrap_err().kind(), ErrorKind::InvalidData);
    // Storing the same content again heals it.
    let (again, _) = stored_long_ago(&files, "what was agreed").await;
    assert_eq!(again, sha256);
    files.open(&sha256).await.unwrap();
    assert_eq!(files.open(&"0".repeat(64)).await.unwrap_err().kind(), ErrorKind::NotFound);
}
