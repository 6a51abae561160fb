//! The access log: a line for each answered request, like the other lines of the log, with the request's id.
//!
//! The log's thread formats and writes the lines, some milliseconds after the responses. A worker never waits for it: when
//! the thread is too far behind, lines are dropped and counted. Of refused calls only some have a line, see `refused`.

use std::borrow::Cow;
use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};

use actors::live::RequestId;
use actors::time::Time;
use serde::Serialize;
use tracing::Level;

use super::{LogFormat, OUTPUT};

/// The target of the lines, for the setting `log.filter`.
pub(super) const TARGET: &str = "colloquy::access";

static IS_ON: AtomicBool = AtomicBool::new(false);

/// An answered request.
#[derive(Debug)]
pub struct AccessLine {
    pub at: Time,
    pub request_id: RequestId,
    pub method: &'static str,
    /// The path with its parameters in braces; `none` for a request that no route takes.
    pub route: Cow<'static, str>,
    pub status: u16,
    /// From the head of the request to that of the response, in microseconds.
    pub micros: u64,
    /// The origin of the page that can't read the response, because the settings don't list it.
    pub missing_origin: Option<String>,
    /// The setting that would list it.
    pub missing_in: Option<&'static str>,
}

/// Has requests logged from now on, unless the log's filter leaves these lines out.
pub(super) fn begin() {
    IS_ON.store(tracing::enabled!(target: TARGET, Level::INFO), Ordering::Relaxed);
}

/// Whether anybody writes the lines.
#[must_use]
pub fn is_on() -> bool {
    IS_ON.load(Ordering::Relaxed)
}

/// Has a line written.
pub fn write(line: AccessLine) {
    if let Some(output) = OUTPUT.get() {
        output.take_request(line);
    }
}

/// The form of the log's other lines.
#[derive(Serialize)]
struct JsonLine<'a> {
    timestamp: Time,
    level: &'static str,
    message: &'static str,
    method: &'static str,
    route: &'a str,
    status: u16,
    micros: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    missing_origin: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    missing_in: Option<&'a str>,
    target: &'static str,
    span: JsonSpan<'a>,
    spans: [JsonSpan<'a>; 1],
}

#[derive(Clone, Copy, Serialize)]
struct JsonSpan<'a> {
    request_id: &'a str,
    name: &'static str,
}

impl AccessLine {
    pub(super) fn append(&self, text: &mut Vec<u8>, format: LogFormat) {
        // Writing to memory does not fail.
        let _ = match format {
            LogFormat::Json => serde_json::to_writer(&mut *text, &self.json()).map_err(std::io::Error::from),
            LogFormat::Text => self.append_text(text),
        };
        text.push(b'\n');
    }

    fn json(&self) -> JsonLine<'_> {
        let span = JsonSpan { request_id: &self.request_id, name: "request" };
        JsonLine {
            timestamp: self.at,
            level: "INFO",
            message: "answered",
            method: self.method,
            route: &self.route,
            status: self.status,
            micros: self.micros,
            missing_origin: self.missing_origin.as_deref(),
            missing_in: self.missing_in,
            target: TARGET,
            span,
            spans: [span],
        }
    }

    fn append_text(&self, text: &mut Vec<u8>) -> std::io::Result<()> {
        let Self { at, request_id, method, route, status, micros, .. } = self;
        write!(
            text,
            "{at}  INFO request{{request_id={request_id}}}: {TARGET}: answered method={method:?} route={route:?} \
             status={status} micros={micros}"
        )?;
        match (&self.missing_origin, self.missing_in) {
            (Some(origin), Some(setting)) => write!(text, " missing_origin={origin:?} missing_in={setting:?}"),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use actors::time::Time;

    use super::super::LogFormat;
    use super::AccessLine;

    fn line(missing_origin: Option<&str>) -> AccessLine {
        AccessLine {
            at: Time::from_millis(1_800_000_000_123).unwrap(),
            request_id: "a\"b".into(),
            method: "GET",
            route: "/api/meetings/{meetingId}".into(),
            status: 200,
            micros: 57,
            missing_origin: missing_origin.map(str::to_owned),
            missing_in: missing_origin.map(|_| "http.origins"),
        }
    }

    fn text(line: &AccessLine, format: LogFormat) -> String {
        let mut text = Vec::new();
        line.append(&mut text, format);
        String::from_utf8(text).unwrap()
    }

    #[test]
    fn a_line_is_an_object_or_a_text_and_ends() {
        let json = text(&line(None), LogFormat::Json);
        let value: serde_json::Value = serde_json::from_str(json.strip_suffix('\n').unwrap()).unwrap();
        assert_eq!(value["timestamp"], "2027-01-15T08:00:00.123Z");
        assert_eq!((&value["span"]["request_id"], &value["status"]), (&"a\"b".into(), &200.into()));
        assert!(value.get("missing_origin").is_none());
        let shown = text(&line(Some("https://x.example\n")), LogFormat::Text);
        assert_eq!(shown.lines().count(), 1, "{shown}");
        assert!(shown.contains("status=200") && shown.contains(r#"missing_origin="https://x.example\n""#), "{shown}");
    }
}
