//! Follows a run over its event stream.

use super::answer::RunAnswer;
use super::caller::ApiClient;
use super::events::Events;

/// How many times the stream is opened before giving up.
const TRIES: u32 = 5;

/// Reads the event stream until the run has ended; a stream that ends early is reopened after its last event. `seen` is
/// called with the run at each event.
///
/// # Errors
/// Returns a message if a call fails, an event can't be parsed, or the stream ended early `TRIES` times.
pub async fn follow(
    caller: &ApiClient,
    run: &RunAnswer,
    mut seen: impl FnMut(&RunAnswer),
) -> Result<RunAnswer, String> {
    let mut last_id: Option<String> = None;
    for _ in 0..TRIES {
        let mut events = Events::open(caller, &run.events_url, last_id.as_deref()).await?;
        while let Some(event) = events.next().await? {
            let now: RunAnswer = serde_json::from_str(&event.data)
                .map_err(|error| format!("The event {} can't be parsed: {error}", event.name))?;
            seen(&now);
            if now.is_over() {
                return Ok(now);
            }
        }
        last_id = events.last_id().map(str::to_owned);
    }
    Err(format!("The event stream was interrupted {TRIES} times before the run ended."))
}
