//! Tests of where uploaded files are stored: in folders or in a bucket, whole, and never another content than was
//! uploaded.

use std::time::Duration;

use crate::support::bucket::Bucket;
use crate::support::{Server, ServerSetup, User};

/// Larger than one part of an upload to a bucket, in few enough characters to be read.
fn long_text() -> Vec<u8> {
    let lines =
        (0..70_000).map(|number| format!("{number}: يجب أن يحفظ النظام كل تغيير لمدة عشر سنوات من تاريخه.\n\n"));
    lines.collect::<String>().into_bytes()
}

/// Returns the name of a document's object in a bucket.
fn object_of(sha256: &str) -> String {
    format!("documents/{}/{sha256}", &sha256[..2])
}

async fn with_project(server: &Server) -> (User, String) {
    let ada = server.user().await;
    let project = ada.project().await;
    (ada, project)
}

on_sqlite! {
    async fn documents_and_avatars_are_stored_in_a_bucket_and_deleted_there(setup: ServerSetup) {
        let Some(bucket) = Bucket::new().await else { return };
        let server = setup.start(&bucket.settings());
        let (ada, project) = with_project(&server).await;
        let text = long_text();
        let (path, document) = ada.read(&project, "long.txt", &text).await;
        let object = object_of(document["sha256"].as_str().unwrap());
        assert_eq!(bucket.object(&object).await.as_deref(), Some(text.as_slice()));
        let sent = ada.client.get(format!("{path}/content")).await.is(200);
        assert_eq!(sent.bytes, text);

        let picture = image::RgbImage::from_pixel(64, 64, image::Rgb([9, 99, 199]));
        let mut png = std::io::Cursor::new(Vec::new());
        picture.write_to(&mut png, image::ImageFormat::Png).unwrap();
        let form = [("file", Some("me.png"), png.get_ref().as_slice())];
        let avatar = ada.client.post_form("/api/profile/avatar", &form).await.is(200).text_of("avatarUrl");
        let face = ada.client.get(&avatar).await.is(200);
        assert!(face.bytes.starts_with(b"RIFF"));

        // The next server finds what the former stored.
        server.kill();
        let server = setup.start(&bucket.settings());
        let ada = ada.at(&server);
        assert_eq!(ada.client.get(format!("{path}/content")).await.is(200).bytes, text);
        assert_eq!(ada.client.get(&avatar).await.is(200).bytes, face.bytes);

        ada.client.delete(&path).await.is(200);
        while bucket.object(&object).await.is_some() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    async fn a_bucket_that_is_away_is_a_503_and_nothing_is_lost(setup: ServerSetup) {
        let Some(bucket) = Bucket::new().await else { return };
        let server = setup.start(&bucket.settings());
        let (ada, project) = with_project(&server).await;
        let (path, _) = ada.read(&project, "here.txt", b"The system shall answer.").await;
        server.kill();
        // Nothing listens on this port.
        let mut settings = bucket.settings();
        settings[1].1 = "http://127.0.0.1:9";
        let server = setup.start(&settings);
        let ada = ada.at(&server);
        ada.upload(&project, "lost.txt", b"The system shall wait.").await.is(503);
        ada.client.get(format!("{path}/content")).await.is(503);
        let listed = ada.client.get(crate::support::documents::documents(&project)).await.is(200);
        assert_eq!(listed.data()["totalCount"], 1);
        // Its text is in the database.
        ada.client.get(format!("{path}/text")).await.is(200);
    }

    async fn a_stored_file_that_was_changed_is_refused_in_a_bucket(setup: ServerSetup) {
        let Some(bucket) = Bucket::new().await else { return };
        let server = setup.start(&bucket.settings());
        let (ada, project) = with_project(&server).await;
        let (path, document) = ada.read(&project, "agreed.txt", b"What was agreed.").await;
        bucket.overwrite(&object_of(document["sha256"].as_str().unwrap()), b"What was not.").await;
        let refused = ada.client.get(format!("{path}/content")).await.is(500);
        assert!(refused.text().contains("changed after it was stored"), "{}", refused.text());
        // The same content, uploaded again, takes its place.
        ada.read(&project, "again.txt", b"What was agreed.").await;
        assert_eq!(ada.client.get(format!("{path}/content")).await.is(200).bytes, b"What was agreed.");
    }

    async fn a_stored_file_that_was_changed_is_refused_in_a_folder(setup: ServerSetup) {
        let server = setup.start(&[]);
        let (ada, project) = with_project(&server).await;
        let (path, document) = ada.read(&project, "agreed.txt", b"What was agreed.").await;
        let sha256 = document["sha256"].as_str().unwrap();
        let file = server.data.join("files").join(&sha256[..2]).join(sha256);
        std::fs::write(file, "What was not.").unwrap();
        let refused = ada.client.get(format!("{path}/content")).await.is(500);
        assert!(refused.text().contains("changed after it was stored"), "{}", refused.text());
    }
}
