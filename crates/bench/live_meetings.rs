//! Many live meetings.

use std::sync::Arc;

use serde_json::{Value, json};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use api_client::answer::MeetingAnswer;
use api_client::caller::ApiClient;

/// How many meetings are created concurrently.
const AT_ONCE: usize = 64;

/// Creates a meeting; returns its id. `meetings`: the path of the meetings of its project.
///
/// # Errors
/// Returns a message if it is refused.
pub async fn scheduled(host: &ApiClient, meetings: &str) -> Result<String, String> {
    let body = json!({ "title": "Goes on", "scheduledAt": "2026-11-21T09:00:00.000Z" });
    Ok(host.post::<MeetingAnswer>(meetings, &body).await?.id)
}

/// Creates and starts a meeting that these people join; returns its id.
///
/// # Errors
/// Returns a message if a call is refused.
pub async fn live(host: &ApiClient, meetings: &str, people: &[ApiClient]) -> Result<String, String> {
    let id = scheduled(host, meetings).await?;
    let _: Value = host.post(&format!("/api/meetings/{id}/start"), &json!({})).await?;
    for person in people {
        let _: Value = person.post(&format!("/api/meetings/{id}/join"), &json!({})).await?;
    }
    Ok(id)
}

/// Makes many meetings concurrently; returns their ids.
///
/// # Errors
/// Returns a message if one can't be made.
pub async fn many<M>(count: usize, make: impl Fn() -> M) -> Result<Vec<String>, String>
where
    M: Future<Output = Result<String, String>> + Send + 'static,
{
    let permits = Arc::new(Semaphore::new(AT_ONCE));
    let mut making = JoinSet::new();
    for _ in 0..count {
        let (made, permits) = (make(), Arc::clone(&permits));
        making.spawn(async move {
            let _permit = permits.acquire().await.map_err(|error| error.to_string())?;
            made.await
        });
    }
    let mut ids = Vec::with_capacity(count);
    while let Some(made) = making.join_next().await {
        ids.push(made.map_err(|error| error.to_string())??);
    }
    Ok(ids)
}
