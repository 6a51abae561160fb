//! A client of event streams (`text/event-stream`) that decodes events as they arrive.

use reqwest::Method;

use super::caller::{ApiClient, unanswered};

/// One event of the stream.
#[derive(Debug, PartialEq, Eq)]
pub struct Event {
    pub name: String,
    pub data: String,
}

/// An open event stream.
pub struct Events {
    answer: reqwest::Response,
    decoder: Decoder,
    path: String,
}

impl Events {
    /// Opens the stream; `last_id` is the id of the last event received.
    ///
    /// # Errors
    /// Returns a message if the server does not answer or refuses.
    pub async fn open(caller: &ApiClient, path: &str, last_id: Option<&str>) -> Result<Self, String> {
        let mut request = caller.request(Method::GET, path).header("accept", "text/event-stream");
        if let Some(id) = last_id {
            request = request.header("last-event-id", id);
        }
        let answer = request.send().await.map_err(|error| unanswered(path, &error))?;
        if !answer.status().is_success() {
            return Err(format!("GET {path} was refused with {}.", answer.status().as_u16()));
        }
        Ok(Self { answer, decoder: Decoder::default(), path: path.to_owned() })
    }

    /// Returns the next event, or `None` when the stream has ended.
    ///
    /// # Errors
    /// Returns a message if the connection fails.
    pub async fn next(&mut self) -> Result<Option<Event>, String> {
        loop {
            if let Some(event) = self.decoder.next() {
                return Ok(Some(event));
            }
            match self.answer.chunk().await.map_err(|error| unanswered(&self.path, &error))? {
                Some(bytes) => self.decoder.feed(&bytes),
                None => return Ok(None),
            }
        }
    }

    /// Returns the id of the last event, from which the stream can be resumed.
    pub fn last_id(&self) -> Option<&str> {
        self.decoder.last_id.as_deref()
    }
}

/// Decodes events from bytes: lines of fields, terminated by an empty line.
#[derive(Default)]
struct Decoder {
    bytes: Vec<u8>,
    name: String,
    data: Option<String>,
    last_id: Option<String>,
}

impl Decoder {
    fn feed(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    fn next(&mut self) -> Option<Event> {
        while let Some(end) = self.bytes.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = self.bytes.drain(..=end).collect();
            let line = String::from_utf8_lossy(&line);
            let line = line.trim_end_matches(['\n', '\r']);
            if line.is_empty() {
                let name = std::mem::take(&mut self.name);
                if let Some(data) = self.data.take() {
                    return Some(Event { name, data });
                }
            } else {
                self.take_field(line);
            }
        }
        None
    }

    /// Ignores comments, which begin with a colon, and unknown fields.
    fn take_field(&mut self, line: &str) {
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "event" => value.clone_into(&mut self.name),
            "id" => self.last_id = Some(value.to_owned()),
            "data" => match &mut self.data {
                Some(data) => {
                    data.push('\n');
                    data.push_str(value);
                }
                None => self.data = Some(value.to_owned()),
            },
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Decoder, Event};

    #[test]
    fn events_come_out_of_bytes_wherever_they_were_cut() {
        let stream =
            b":\n\nid: 7\nevent: run.progressed\ndata: {\"a\":\"\xc3\xa4\"}\n\nid: 8\r\ndata: 1\r\ndata:2\r\n\r\n";
        for cut in 0..stream.len() {
            let mut decoder = Decoder::default();
            let mut events = Vec::new();
            for part in [&stream[..cut], &stream[cut..]] {
                decoder.feed(part);
                events.extend(std::iter::from_fn(|| decoder.next()));
            }
            let event = |name: &str, data: &str| Event { name: name.to_owned(), data: data.to_owned() };
            assert_eq!(events, [event("run.progressed", "{\"a\":\"ä\"}"), event("", "1\n2")]);
            assert_eq!(decoder.last_id.as_deref(), Some("8"));
        }
    }
}
