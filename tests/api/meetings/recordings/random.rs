//! Random uploads of many recordings at once, while the server is killed again and again: what was acknowledged stays,
//! and the content is what was sent. `COLLOQUY_TEST_SEQUENCES` sets another number of recordings.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::time::Duration;

use futures_util::future::join_all;
use futures_util::{StreamExt, stream};
use serde_json::json;

use super::{Recorder, digest, sum, wav};
use crate::meetings::participants::TestMeeting;
use crate::support::chance::Chance;
use crate::support::client::Request;
use crate::support::full::rounds;
use crate::support::{Answer, Role, Server, ServerSetup, User};

/// How often the server is killed.
const KILLS: u64 = 2;
/// Recordings that are uploaded at the same time.
const AT_ONCE: usize = 100;

/// Recordings that are completed at the same time.
const ENDING: usize = 8;

/// One recording, and what is known of it.
struct Sequence {
    room: TestMeeting,
    recorder: Recorder,
    /// A participant who comes and consents only later: then the recording is paused.
    late: Option<(User, String)>,
    whole: Vec<u8>,
    piece: usize,
    acknowledged: RefCell<BTreeSet<usize>>,
    chance: RefCell<Chance>,
}

impl Sequence {
    async fn begin(server: &Server, ada: &User, project: &str, seed: u64) -> Self {
        let mut chance = Chance::of(seed);
        let body = json!({"title": "Recorded", "scheduledAt": "2026-03-02T09:00:00.000Z"});
        let made = ada.client.post(format!("/api/projects/{project}/meetings")).json(body).await.is(201);
        let path = format!("/api/meetings/{}", made.text_of("id"));
        ada.client.post(format!("{path}/start")).await.is(200);
        let room = TestMeeting { ada: ada.at(server), project: project.to_owned(), path };
        let recorder = Recorder::chunked(&room).await;
        let late = match chance.below(8) {
            0 => {
                let eve = room.member(server, Role::Stakeholder).await;
                let id = room.joined(&eve).await;
                Some((eve, id))
            }
            _ => None,
        };
        let whole = wav(500 + u32::try_from(chance.below(9_000)).unwrap());
        let piece = 100 + usize::try_from(chance.below(1_500)).unwrap();
        Self { room, recorder, late, whole, piece, acknowledged: RefCell::default(), chance: RefCell::new(chance) }
    }

    fn at(&mut self, server: &Server) {
        self.recorder = self.recorder.at(server);
        self.room.ada = self.room.ada.at(server);
        self.late = self.late.take().map(|(eve, id)| (eve.at(server), id));
    }

    fn pieces(&self) -> Vec<&[u8]> {
        self.whole.chunks(self.piece).collect()
    }

    /// A chunk that was recorded at the beginning, or while somebody who came later had not consented.
    fn chunk(&self, index: usize, bytes: &[u8]) -> Request {
        let from_ms = if self.late.is_some() { 50_000 } else { 0 } + index as u64;
        self.recorder.spanning(index, bytes, from_ms, from_ms + 1)
    }

    fn below(&self, bound: usize) -> usize {
        usize::try_from(self.chance.borrow_mut().below(bound as u64)).unwrap()
    }

    /// Sends some chunks, in any order, some twice, some corrupted, until the server is killed.
    async fn send(&self) {
        let pieces = self.pieces();
        for _ in 0..pieces.len() {
            let index = self.below(pieces.len());
            let what = self.below(10);
            let request = match what {
                // The end of it was lost on the way.
                0 => self.chunk(index, &pieces[index][1..]).header("content-digest", digest(pieces[index])),
                // Something else under this index, once it is taken.
                1 if self.acknowledged.borrow().contains(&index) => self.chunk(index, b"something else"),
                _ => self.chunk(index, pieces[index]),
            };
            // Without an answer nothing is known.
            let Ok(answer) = request.tried().await else { return };
            let was_known = self.acknowledged.borrow().contains(&index);
            match (what, answer.status) {
                (_, 503) => {}
                (0, status) => assert_eq!(status, 422, "{}", answer.text()),
                (1, status) if was_known => assert_eq!(status, 409, "{}", answer.text()),
                (_, 409) if self.late.is_some() => {
                    answer.refused(409, "RecordingPaused");
                    assert!(!was_known);
                }
                (_, status) => {
                    assert_eq!(status, 200, "{}", answer.text());
                    assert!(!was_known || answer.data()["duplicate"] == true, "{}", answer.text());
                    self.acknowledged.borrow_mut().insert(index);
                }
            }
        }
    }

    /// Everyone consents, what is missing is sent, and the content is complete.
    async fn end(&self) {
        if let Some((eve, id)) = &self.late {
            assert!(self.acknowledged.borrow().is_empty(), "nothing is taken while somebody has not consented");
            let grant =
                json!({"recordingConsent": true, "scopes": ["RECORDING"], "wordingVersion": self.room.wording().await});
            self.room.consents(eve, id, grant).await.is(200);
            assert_eq!(self.recorder.status().await["paused"], false);
            self.recorder.client.delete(&self.recorder.path).await.is(200);
            return;
        }
        let pieces = self.pieces();
        let stop = json!({"lastChunkIndex": pieces.len() - 1});
        let path = format!("{}/stop", self.recorder.path);
        taken(|| self.recorder.client.post(&path).json(stop.clone())).await.is(200);
        let missing = self.recorder.status().await["missingChunks"].clone();
        for index in missing.as_array().unwrap() {
            let index = usize::try_from(index.as_u64().unwrap()).unwrap();
            assert!(!self.acknowledged.borrow().contains(&index), "chunk {index} was acknowledged and is gone");
            taken(|| self.recorder.chunk(index, pieces[index])).await.is(200);
        }
        let ready = self.recorder.until("READY").await;
        assert_eq!((&ready["sha256"], &ready["sizeBytes"]), (&json!(sum(&self.whole)), &json!(self.whole.len())));
    }
}

/// Sends a request again while the server is too busy for it, as a client does.
async fn taken(request: impl Fn() -> Request) -> Answer {
    loop {
        let answer = request().await;
        if answer.status != 503 {
            return answer;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

on_both! {
    async fn whatever_happens_to_uploads_what_was_acknowledged_is_in_the_content(setup: ServerSetup) {
        let count = std::env::var("COLLOQUY_TEST_SEQUENCES").map_or(rounds(8, 20), |count| count.parse().unwrap());
        let (mut chance, mut left) = (Chance::new(), count);
        // The calls of one account are many here.
        let settings = [("COLLOQUY__LIMITS__CALLS__MOST", "0")];
        let mut server = setup.start(&settings);
        let mut ada = server.user().await;
        let project = ada.project().await;
        while left > 0 {
            let some = left.min(AT_ONCE);
            left -= some;
            let beginning = (0..some).map(|_| Sequence::begin(&server, &ada, &project, chance.below(u64::MAX)));
            let mut sequences: Vec<Sequence> = stream::iter(beginning).buffered(4).collect().await;
            for round in 0..KILLS {
                let sending = join_all(sequences.iter().map(Sequence::send));
                // Cut off at any moment, answered or not.
                let _ = tokio::time::timeout(Duration::from_millis(40 * (round + 1)), sending).await;
                server.kill();
                server = setup.start(&settings);
                ada = ada.at(&server);
                sequences.iter_mut().for_each(|sequence| sequence.at(&server));
            }
            stream::iter(&sequences).for_each_concurrent(ENDING, Sequence::end).await;
        }
        println!("{count} recordings were uploaded");
    }
}
