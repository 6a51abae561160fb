//! The memory limit of the tests in `attacks` and `bounds` takes effect, and memory is released after use.

use futures_util::future::join_all;

use crate::support::memory::{Limited, Memory, limited};
use crate::support::{Kind, ServerSetup};

/// The limit in MiB: far more than a server at rest needs, far less than any attack would take.
const MEBIBYTES: u64 = 512;

#[test]
fn a_server_starts_and_answers_within_its_limit() {
    let setup = ServerSetup::new(Kind::Sqlite).unwrap();
    let server = setup.start_within(MEBIBYTES, &[]);
    let Memory { resident, peak, addresses, .. } = server.memory();
    println!("at rest: {resident} KiB resident, {peak} KiB at most, {addresses} KiB of addresses");
    assert!(resident <= peak && peak <= addresses && addresses <= MEBIBYTES * 1024);
    // The tests with this limit rely on the margin; this one fails first when it becomes thin.
    assert!(addresses < MEBIBYTES * 1024 * 3 / 4, "{addresses} KiB of addresses at rest");
}

#[test]
fn a_process_that_asks_for_more_than_its_limit_does_not_get_it() {
    let mut greedy = std::process::Command::new("sh");
    greedy.args(["-c", r#"head -c 200000000 /dev/zero | tail -c 200000000 | wc -c"#]);
    let count = |what: Limited, mebibytes: u64| {
        let output = limited(&greedy, what, mebibytes).output().unwrap();
        String::from_utf8(output.stdout).unwrap().trim().parse::<u64>().unwrap()
    };
    for what in [Limited::Addresses, Limited::Own] {
        assert_eq!(count(what, 1024), 200_000_000);
        assert_eq!(count(what, 100), 0);
    }
}

/// How much more than at rest may stay allocated, in KiB.
const STAYS: u64 = 24 * 1024;

#[tokio::test]
async fn memory_used_by_large_responses_is_released() {
    let setup = ServerSetup::new(Kind::Sqlite).unwrap();
    let server = setup.start(&[]);
    let ada = server.user().await;
    let project = ada.project().await;
    let words = "A text of some length, of which many copies are on their way at once.\n\n".repeat(50_000);
    let (path, _) = ada.read(&project, "long.txt", words.as_bytes()).await;
    let at_rest = server.memory().own;
    for _ in 0..12 {
        // As much as one client may have in flight.
        join_all((0..3).map(|_| async { ada.client.get(format!("{path}/text")).await.is(200) })).await;
    }
    let Memory { own, peak, .. } = server.memory();
    println!("at rest {at_rest} KiB, after it {own} KiB; at most, with pages of files, {peak} KiB");
    assert!(own < at_rest + STAYS, "from {at_rest} KiB at rest to {own} KiB");
}
