//! Documents for tests: builds upload forms, and waits until documents are parsed.

use actors::ids::{self, Id};
use colloquy::db::schema::document_texts;
use colloquy::db::{DbError, RunQueryDsl};
use diesel::{ExpressionMethods, QueryDsl};
use serde_json::Value;

use super::Server;
use super::builders::User;
use super::client::{Client, Request};
use super::patience::Patience;

/// A part of a multipart form: its name, its file name, its content.
pub type Part<'a> = (&'a str, Option<&'a str>, &'a [u8]);

const BOUNDARY: &str = "a-boundary-that-no-file-has";

/// Builds a multipart form; returns its content type and its body.
pub fn form(parts: &[Part<'_>]) -> (String, Vec<u8>) {
    let mut body = Vec::new();
    for (name, file_name, content) in parts {
        let file_name = file_name.map(|name| format!("; filename=\"{name}\"")).unwrap_or_default();
        let head = format!("--{BOUNDARY}\r\nContent-Disposition: form-data; name=\"{name}\"{file_name}\r\n\r\n");
        body.extend_from_slice(head.as_bytes());
        body.extend_from_slice(content);
        body.extend_from_slice(b"\r\n");
    }
    body.extend_from_slice(format!("--{BOUNDARY}--\r\n").as_bytes());
    (format!("multipart/form-data; boundary={BOUNDARY}"), body)
}

/// Reads a file of tests/samples. Panics when there is none of this name.
pub fn sample(name: &str) -> Vec<u8> {
    std::fs::read(format!("{}/tests/samples/{name}", env!("CARGO_MANIFEST_DIR"))).unwrap()
}

pub fn documents(project: &str) -> String {
    format!("/api/projects/{project}/documents")
}

impl Client {
    pub fn post_form(&self, path: &str, parts: &[Part<'_>]) -> Request {
        let (content_type, body) = form(parts);
        self.post(path).body(&content_type, body)
    }
}

impl User {
    pub fn upload(&self, project: &str, name: &str, content: &[u8]) -> Request {
        self.client.post_form(&documents(project), &[("file", Some(name), content)])
    }

    /// Uploads a document and returns its path. Panics unless the server accepts it.
    pub async fn uploaded(&self, project: &str, name: &str, content: &[u8]) -> String {
        let made = self.upload(project, name, content).await.is(201);
        format!("{}/{}", documents(project), made.text_of("id"))
    }

    /// Waits until a document is READY or FAILED and returns it. Panics after 90 s.
    pub async fn settled(&self, path: &str) -> Value {
        let patience = Patience::of_seconds(90);
        loop {
            let document = self.client.get(path).await.is(200).data().clone();
            if matches!(document["status"].as_str(), Some("READY" | "FAILED")) {
                return document;
            }
            patience.pause(|| format!("it is not read: {document}")).await;
        }
    }

    /// As [`User::uploaded`], and waits until the document is READY; returns its path and the document. Panics when it
    /// is FAILED.
    pub async fn read(&self, project: &str, name: &str, content: &[u8]) -> (String, Value) {
        let path = self.uploaded(project, name, content).await;
        let document = self.settled(&path).await;
        assert_eq!(document["status"], "READY", "{name}: {document}");
        (path, document)
    }

    /// Lets a document have another text, as if a later reader had read it otherwise: a document itself never changes.
    pub async fn reread(&self, server: &Server, project: &str, document: &str, text: &str) {
        let (other, _) = self.read(project, "again.md", text.as_bytes()).await;
        let id = |path: &str| path.rsplit('/').next().unwrap().parse::<Id<ids::Document>>().unwrap();
        let (own, read) = (id(document), id(&other));
        let db = server.db().await;
        let changed = db.write(move |conn| {
            Box::pin(async move {
                let read = document_texts::table.find(read).select(document_texts::source_text);
                let read: String = read.first(conn).await?;
                let own = document_texts::table.find(own);
                diesel::update(own).set(document_texts::source_text.eq(read)).execute(conn).await?;
                Ok::<_, DbError>(())
            })
        });
        changed.await.unwrap();
        self.client.delete(&other).await.is(200);
    }
}
