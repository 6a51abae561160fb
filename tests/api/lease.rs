//! Test of a server that is suspended until its lease on PostgreSQL has expired, as on a machine that was paused.

use std::process::Command;
use std::time::Duration;

use futures_util::future::join_all;
use serde_json::json;

use crate::support::world::run_on;
use crate::support::{Kind, Server, ServerSetup};

fn signal(server: &Server, signal: &str) {
    assert!(Command::new("kill").arg(signal).arg(server.pid().to_string()).status().unwrap().success());
}

#[test]
fn a_server_suspended_past_its_lease_saves_no_write_and_exits() {
    run_on(Kind::Postgres, |setup: ServerSetup| async move {
        let mut slept = setup.start(&[]);
        let ada = slept.user().await;
        let project = ada.project().await;
        let paths = join_all((0..16).map(|_| ada.meeting_path(&project))).await;
        signal(&slept, "-STOP");
        // The start waits until the lease has expired.
        let next = setup.start(&[]);
        // These requests wait in the sockets of the suspended server.
        let late = join_all(paths.iter().map(|path| {
            let late = ada.client.patch(path).json(json!({"title": "late"}));
            async { late.tried().await.map(|answer| answer.status) }
        }));
        let wakes = async {
            tokio::time::sleep(Duration::from_millis(300)).await;
            signal(&slept, "-CONT");
        };
        let (late, ()) = tokio::join!(late, wakes);
        // Refused, or cut off when the server exits.
        assert!(late.iter().all(|status| !matches!(status, Ok(200))), "{late:?}");
        let ended = slept.wait(Duration::from_secs(30)).unwrap();
        assert!(!ended.success());
        let ada = ada.at(&next);
        for path in &paths {
            assert_ne!(ada.client.get(path).await.is(200).text_of("title"), "late");
            ada.client.patch(path).json(json!({"title": "next"})).await.is(200);
        }
    });
}
