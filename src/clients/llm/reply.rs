//! A service's reply: its text, whether it is whole, and its tokens.

use pipeline::chat::{Chat, Completion};
use reqwest::StatusCode;
use serde::Deserialize;

use super::Failed;

/// Characters of a token, where the service does not count them.
const CHARACTERS_OF_A_TOKEN: usize = 3;
/// More tokens than any question takes: a service that says more is not believed.
const MAX_TOKENS: u64 = 10_000_000;

#[derive(Deserialize)]
struct CompletionReply {
    choices: Vec<CompletionChoice>,
    #[serde(default)]
    usage: Option<Usage>,
}

#[derive(Deserialize)]
struct CompletionChoice {
    message: CompletionMessage,
    #[serde(default)]
    finish_reason: Option<String>,
}

/// Calls of tools are not read: there are none to call.
#[derive(Deserialize)]
struct CompletionMessage {
    #[serde(default)]
    content: Option<String>,
}

#[derive(Deserialize)]
struct Usage {
    #[serde(default)]
    prompt_tokens: u64,
    #[serde(default)]
    completion_tokens: u64,
    #[serde(default)]
    total_tokens: u64,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct RefusalReply {
    error: RefusalDetail,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct RefusalDetail {
    message: String,
}

/// Reads the reply to a question.
pub(super) fn read(bytes: &[u8], chat: &Chat) -> Result<Completion, Failed> {
    let reply: CompletionReply =
        serde_json::from_slice(bytes).map_err(|_| Failed::Invalid("its response is no chat completion"))?;
    let choice = reply.choices.into_iter().next().ok_or(Failed::Invalid("its response has no choice"))?;
    let finish = choice.finish_reason.unwrap_or_default();
    if finish == "content_filter" {
        return Err(Failed::Invalid("its filter withheld the answer"));
    }
    let text = choice.message.content.ok_or(Failed::Invalid("its response has no text"))?;
    let estimate = || {
        let characters = chat.system.chars().count() + chat.user.chars().count() + text.chars().count();
        u64::try_from(characters / CHARACTERS_OF_A_TOKEN).unwrap_or(u64::MAX)
    };
    let counted =
        reply.usage.map(|usage| usage.total_tokens.max(usage.prompt_tokens.saturating_add(usage.completion_tokens)));
    let tokens = counted.filter(|tokens| (1..=MAX_TOKENS).contains(tokens)).unwrap_or_else(estimate);
    Ok(Completion { is_cut: finish == "length", tokens, text, is_stored: false })
}

/// Returns the status of a refusal, and what the service says of it.
pub(super) fn refusal(status: StatusCode, said: &[u8]) -> String {
    let reply: RefusalReply = serde_json::from_slice(said).unwrap_or_default();
    format!("{} {}", status.as_u16(), reply.error.message)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chat() -> Chat {
        let (system, user) = ("s".repeat(300), "u".repeat(300));
        let (model, schema_name) = ("m".to_owned(), "n".to_owned());
        Chat { model, system, user, schema_name, schema: serde_json::Value::Null, answer_tokens: 7 }
    }

    fn read_text(reply: &str) -> Result<Completion, &'static str> {
        read(reply.as_bytes(), &chat()).map_err(|failed| match failed {
            Failed::Invalid(why) => why,
            _ => "something else",
        })
    }

    #[test]
    fn tokens_are_counted_or_estimated_and_never_believed_beyond_measure() {
        let reply = |usage: &str| {
            format!(r#"{{"choices": [{{"message": {{"content": "abc"}}, "finish_reason": "length"}}]{usage}}}"#)
        };
        let tokens = |usage: &str| read_text(&reply(usage)).unwrap().tokens;
        assert_eq!(tokens(r#", "usage": {"prompt_tokens": 20, "completion_tokens": 5, "total_tokens": 25}"#), 25);
        assert_eq!(tokens(r#", "usage": {"prompt_tokens": 20, "completion_tokens": 5}"#), 25);
        for none in ["", r#", "usage": null"#, r#", "usage": {}"#, r#", "usage": {"total_tokens": 99999999999}"#] {
            assert_eq!(tokens(none), 201, "{none}");
        }
        assert!(read_text(&reply("")).unwrap().is_cut);
    }

    #[test]
    fn what_is_no_chat_completion_is_invalid() {
        for wrong in [
            "",
            "<html>",
            "{}",
            r#"{"choices": []}"#,
            r#"{"choices": [{"message": {"content": null, "tool_calls": [{"function": {"name": "x"}}]}}]}"#,
            r#"{"choices": [{"message": {"content": "a"}, "finish_reason": "content_filter"}]}"#,
            r#"{"choices": [{"message": {"content": 7}}]}"#,
        ] {
            assert!(read_text(wrong).is_err(), "{wrong}");
        }
    }
}
