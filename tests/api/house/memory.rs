//! Stories about bounds are told with a limit on the server's memory; here that there is one.

use futures_util::future::join_all;

use crate::support::memory::{Memory, limited};
use crate::support::{Kind, Place};

/// Far more than a server at rest needs, far less than any attack would take.
const MEBIBYTES: u64 = 512;

#[test]
fn a_server_starts_and_answers_within_its_limit() {
    let place = Place::new(Kind::Sqlite).unwrap();
    let server = place.start_within(MEBIBYTES, &[]);
    let Memory { resident, peak, addresses, .. } = server.memory();
    println!("at rest: {resident} KiB resident, {peak} KiB at most, {addresses} KiB of addresses");
    assert!(resident <= peak && peak <= addresses && addresses <= MEBIBYTES * 1024);
    // Whoever relies on it has to be told here where the margin becomes thin.
    assert!(addresses < MEBIBYTES * 1024 * 3 / 4, "{addresses} KiB of addresses at rest");
}

#[test]
fn a_process_that_asks_for_more_than_its_limit_does_not_get_it() {
    let mut greedy = std::process::Command::new("sh");
    greedy.args(["-c", r#"head -c 200000000 /dev/zero | tail -c 200000000 | wc -c"#]);
    let count = |mebibytes: u64| {
        let output = limited(&greedy, mebibytes).output().unwrap();
        String::from_utf8(output.stdout).unwrap().trim().parse::<u64>().unwrap()
    };
    assert_eq!(count(1024), 200_000_000);
    assert_eq!(count(100), 0);
}

/// How much more than at rest may stay, in KiB.
const STAYS: u64 = 24 * 1024;

#[tokio::test]
async fn what_was_needed_for_a_moment_is_given_back() {
    let place = Place::new(Kind::Sqlite).unwrap();
    let server = place.start(&[]);
    let ada = server.user().await;
    let project = ada.project().await;
    let words = "A text of some length, of which many copies are on their way at once.\n\n".repeat(50_000);
    let (path, _) = ada.read(&project, "long.txt", words.as_bytes()).await;
    let at_rest = server.memory().own;
    for _ in 0..12 {
        // What one client may have on its way.
        join_all((0..3).map(|_| async { ada.client.get(format!("{path}/text")).await.is(200) })).await;
    }
    let Memory { own, peak, .. } = server.memory();
    println!("at rest {at_rest} KiB, after it {own} KiB; at most, with pages of files, {peak} KiB");
    assert!(own < at_rest + STAYS, "from {at_rest} KiB at rest to {own} KiB");
}
