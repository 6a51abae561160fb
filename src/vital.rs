//! What must not end while the process runs: a panic there ends the process, so that whatever supervises it starts it again.
//!
//! A process that goes on without such a part looks alive and does nothing: without the database's writer each write is a
//! 503 until somebody restarts it by hand. Other loops begin anew by themselves ([`crate::tasks::Tasks::spawn_loop`]).

use std::panic::AssertUnwindSafe;

use futures_util::FutureExt;

/// The exit code of a process that ended itself because of a bug (EX_SOFTWARE of sysexits.h).
pub const EXIT_CODE: i32 = 70;

/// Runs what a thread does. A panic in it ends the process.
pub fn run(what: &str, work: impl FnOnce()) {
    if std::panic::catch_unwind(AssertUnwindSafe(work)).is_err() {
        end_process(what);
    }
}

/// Does the work of a task. A panic in it ends the process; being aborted does not.
pub async fn live<T>(what: &'static str, work: impl Future<Output = T>) -> T {
    match AssertUnwindSafe(work).catch_unwind().await {
        Ok(done) => done,
        Err(_) => end_process(what),
    }
}

/// Says why, and ends the process at once: what goes on beside it is as after `kill -9`.
fn end_process(what: &str) -> ! {
    tracing::error!(what, "a vital part of the process panicked: the process ends, to be started again");
    crate::log::end();
    std::process::exit(EXIT_CODE)
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    const WHICH: &str = "COLLOQUY_TEST_VITAL";

    /// Runs in a process of its own, which it ends; does nothing in any other run.
    #[tokio::test]
    async fn child() {
        match std::env::var(WHICH).as_deref() {
            Ok("thread") => super::run("a thread", || panic!("by intention")),
            Ok("task") => super::live("a task", async { panic!("by intention") }).await,
            Ok("aborted") => {
                let task = tokio::runtime::Handle::current().spawn(super::live("a task", std::future::pending::<()>()));
                tokio::task::yield_now().await;
                task.abort();
                assert!(task.await.unwrap_err().is_cancelled());
                super::run("a thread", || {});
            }
            _ => {}
        }
    }

    fn exit_code_of(which: &str) -> Option<i32> {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "vital::tests::child"]).env(WHICH, which).stdout(Stdio::null()).stderr(Stdio::null());
        command.status().unwrap().code()
    }

    #[test]
    fn a_panic_in_a_vital_part_ends_the_process_and_its_end_or_abortion_does_not() {
        for which in ["thread", "task"] {
            assert_eq!(exit_code_of(which), Some(super::EXIT_CODE), "{which}");
        }
        assert_eq!(exit_code_of("aborted"), Some(0));
    }
}
