//! The examples of the OpenAPI document, carried out: the requests of `story.json` are sent in order to a server, with
//! the ids and secrets that the server gave in place of those of the examples. With `COLLOQUY_RECORD_STORY=1` the
//! responses are recorded anew.

use std::collections::BTreeMap;
use std::time::{Duration, Instant, SystemTime};

use chrono::{DateTime, SecondsFormat, TimeDelta, Utc};
use colloquy::api::operation::Operation;
use colloquy::routes;
use serde_json::{Map, Value, json};

use crate::support::client::{Client, Request};
use crate::support::{Answer, Server, ServerSetup, documents, outbox};

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src/api/openapi/story.json");

/// Properties whose values are secrets, each with what stands for it in the story.
const SECRETS: [(&str, &str); 7] = [
    ("accessToken", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhZGEifQ.c2lnbmF0dXJl"),
    ("refreshToken", "kLq0v3b8Yw2nT5xR7sJ1mD4fH6gP9aZcE-uVoWiXyQD"),
    ("guestToken", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJqb2FuIn0.c2lnbmF0dXJl"),
    ("reviewToken", "kLq0v3b8Yw2nT5xR7sJ1mD4fH6gP9aZcE-uVoWiXyQH"),
    ("ticket", "kLq0v3b8Yw2nT5xR7sJ1mD4fH6gP9aZcE-uVoWiXyQF"),
    ("resetToken", "kLq0v3b8Yw2nT5xR7sJ1mD4fH6gP9aZcE-uVoWiXyQE"),
    ("token", "kLq0v3b8Yw2nT5xR7sJ1mD4fH6gP9aZcE-uVoWiXyQG"),
];

/// What stands for what: the values of the story, and those of this server.
#[derive(Default)]
pub struct Cast {
    /// By the value in the story.
    real: BTreeMap<String, String>,
    /// By the value of the server.
    told: BTreeMap<String, String>,
    people: BTreeMap<String, Client>,
    made: usize,
}

impl Cast {
    fn know(&mut self, told: &str, real: &str) {
        self.real.insert(told.to_owned(), real.to_owned());
        self.told.insert(real.to_owned(), told.to_owned());
    }

    /// A value of the story as this server has it.
    fn real(&self, value: &Value) -> Value {
        match value {
            Value::String(text) => json!(self.real.get(text).unwrap_or(text)),
            Value::Array(items) => items.iter().map(|item| self.real(item)).collect(),
            Value::Object(fields) => fields.iter().map(|(name, value)| (name.clone(), self.real(value))).collect(),
            other => other.clone(),
        }
    }

    /// Learns the ids and secrets of a response from the recorded one.
    pub fn learn(&mut self, told: &Value, real: &Value) {
        match (told, real) {
            (Value::String(told), Value::String(real)) if told != real => {
                let is_secret = SECRETS.iter().any(|(_, secret)| secret == told);
                if is_secret || uuid::Uuid::parse_str(told).is_ok() {
                    self.know(told, real);
                }
            }
            (Value::Array(told), Value::Array(real)) => {
                told.iter().zip(real).for_each(|(told, real)| self.learn(told, real))
            }
            (Value::Object(told), Value::Object(real)) => {
                for (name, told) in told {
                    self.learn(told, real.get(name).unwrap_or(&Value::Null));
                }
            }
            _ => {}
        }
    }
}

/// Who carries the steps of the story out.
pub struct Teller<'a> {
    pub server: &'a Server,
    operations: Vec<Operation>,
    pub cast: Cast,
    /// How many mails to an address were read.
    read: BTreeMap<String, usize>,
}

impl<'a> Teller<'a> {
    pub fn of(server: &'a Server) -> Self {
        Self { server, operations: routes::public(), cast: Cast::default(), read: BTreeMap::new() }
    }

    pub fn operation(&self, id: &str) -> &Operation {
        self.operations.iter().find(|operation| operation.id == id).unwrap_or_else(|| panic!("{id} is no operation"))
    }

    /// Reads the code or the token that the next mail to a person brings.
    async fn read_mail(&mut self, mail: &Value) {
        let to = mail["to"].as_str().unwrap();
        let count = self.read.entry(to.to_owned()).or_default();
        *count += 1;
        let text = outbox::wait_for(&self.server.data, to, *count).await;
        let token = outbox::token_in(&text).or_else(|| outbox::invitation_in(&text));
        let found = [("code", outbox::code_in(&text)), ("token", token)];
        for (what, real) in found {
            if let Some(told) = mail[what].as_str() {
                self.cast.know(told, &real.unwrap_or_else(|| panic!("no {what} in {text}")));
            }
        }
    }

    pub fn request(&self, step: &Value) -> Request {
        let operation = self.operation(step["operation"].as_str().unwrap());
        let mut path = operation.path.to_owned();
        for (name, value) in step["path"].as_object().into_iter().flatten() {
            let real = self.cast.real(value);
            let real = real.as_str().map_or_else(|| real.to_string(), str::to_owned);
            path = path.replace(&format!("{{{name}}}"), &real);
        }
        let query: Vec<String> = step["query"]
            .as_object()
            .into_iter()
            .flatten()
            .map(|(name, value)| format!("{name}={}", value.as_str().unwrap()))
            .collect();
        if !query.is_empty() {
            path = format!("{path}?{}", query.join("&"));
        }
        let nobody = self.server.client();
        let client = step["caller"].as_str().map_or(&nobody, |name| &self.cast.people[name]);
        let request = client.request(operation.method.as_str().parse().unwrap(), path);
        if let Some(form) = step["form"].as_object() {
            let text = |name: &str| form[name].as_str().unwrap();
            let mut parts = vec![("file", Some(text("fileName")), text("file").as_bytes())];
            if form.contains_key("language") {
                parts.push(("language", None, text("language").as_bytes()));
            }
            let (content_type, body) = documents::form(&parts);
            return request.body(&content_type, body);
        }
        match &step["body"] {
            Value::Null => request,
            body => request.json(self.cast.real(body)),
        }
    }

    /// Sends the request of a step, again and again where it waits for something.
    pub async fn answer(&mut self, step: &Value) -> Answer {
        if step["mail"].is_object() {
            self.read_mail(&step["mail"]).await;
        }
        let success = self.operation(step["operation"].as_str().unwrap()).success;
        let deadline = Instant::now() + Duration::from_secs(60);
        loop {
            let answer = self.request(step).await;
            let is_done = |(pointer, wanted): (&String, &Value)| answer.body["data"].pointer(pointer) == Some(wanted);
            if answer.status != 409 && step["until"].as_object().into_iter().flatten().all(is_done) {
                let answer = answer.is(success);
                if let Some(name) = step["signsIn"].as_str() {
                    let data = answer.data();
                    let client = match (data["accessToken"].as_str(), data["reviewToken"].as_str()) {
                        (Some(token), _) => self.server.client().bearing(token),
                        (None, token) => self.server.client().reviewing(token.unwrap()),
                    };
                    self.cast.people.insert(name.to_owned(), client);
                }
                return answer;
            }
            assert!(Instant::now() < deadline, "{} takes too long: {}", step["operation"], answer.text());
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }
}

/// The steps of the story.
pub fn read() -> Vec<Value> {
    serde_json::from_str(&std::fs::read_to_string(FILE).unwrap()).unwrap()
}

/// Whether a text is one of an enumeration's.
fn is_value(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_')
}

/// Whether two values have the same keys and kinds of values all the way down, and the same values of enumerations; of
/// lists, the first items.
fn same_shape(told: &Value, real: &Value) -> bool {
    match (told, real) {
        (Value::Object(told), Value::Object(real)) => {
            told.keys().eq(real.keys()) && told.iter().all(|(name, told)| same_shape(told, &real[name]))
        }
        (Value::Array(told), Value::Array(real)) => match (told.first(), real.first()) {
            (Some(told), Some(real)) => same_shape(told, real),
            (told, real) => told.is_some() == real.is_some(),
        },
        (Value::String(told), Value::String(real)) => told == real || !(is_value(told) && is_value(real)),
        (Value::Number(_), Value::Number(_)) => true,
        (told, real) => told == real,
    }
}

on_sqlite! {
    async fn the_examples_work_one_after_the_other(setup: ServerSetup) {
        let server = setup.start(&[]);
        let mut teller = Teller::of(&server);
        let is_recording = std::env::var("COLLOQUY_RECORD_STORY").is_ok();
        let mut steps = read();
        for (index, step) in steps.iter_mut().enumerate() {
            let answer = teller.answer(step).await;
            let has_data = teller.operation(step["operation"].as_str().unwrap()).answer.data.is_some();
            if !has_data {
                continue;
            }
            if is_recording {
                let response = Recorder { teller: &mut teller, step, index, now: SystemTime::now().into() }.record(answer.data());
                step["response"] = response;
            } else {
                let (told, real) = (&step["response"], answer.data());
                assert!(same_shape(told, real), "{}: COLLOQUY_RECORD_STORY=1 records it anew\n{told:#}\n{real:#}", step["operation"]);
                teller.cast.learn(told, real);
            }
        }
        if is_recording {
            std::fs::write(FILE, format!("{:#}\n", Value::Array(steps))).unwrap();
        }
    }
}

/// Turns a response of this server into one of the story.
struct Recorder<'a, 'b> {
    teller: &'a mut Teller<'b>,
    step: &'a Value,
    index: usize,
    now: DateTime<Utc>,
}

impl Recorder<'_, '_> {
    fn record(mut self, data: &Value) -> Value {
        for (told, pointer) in self.step["gives"].as_object().into_iter().flatten() {
            let real = data.pointer(pointer.as_str().unwrap()).and_then(Value::as_str);
            self.teller.cast.know(told, real.unwrap_or_else(|| panic!("no {pointer} in {data:#}")));
        }
        self.told("", data)
    }

    fn told(&mut self, name: &str, real: &Value) -> Value {
        match real {
            Value::String(text) => json!(self.told_text(name, text)),
            Value::Array(items) => items.iter().map(|item| self.told(name, item)).collect(),
            Value::Object(fields) => {
                fields.iter().map(|(name, value)| (name.clone(), self.told(name, value))).collect::<Map<_, _>>().into()
            }
            other => other.clone(),
        }
    }

    fn told_text(&mut self, name: &str, real: &str) -> String {
        if let Some(told) = self.teller.cast.told.get(real) {
            return told.clone();
        }
        if name == "device" {
            return "Firefox 145 on Linux".to_owned();
        }
        let cast = &mut self.teller.cast;
        let secret = SECRETS.iter().find(|(secret, _)| *secret == name);
        let is_hash = real.len() == 64 && real.bytes().all(|byte| byte.is_ascii_hexdigit());
        let told = if let Some((_, secret)) = secret {
            (*secret).to_owned()
        } else if uuid::Uuid::parse_str(real).is_ok() {
            cast.made += 1;
            format!("0193b6a0-8c00-7000-8000-{:012}", 100 + cast.made)
        } else if is_hash && !["sha256", "textHash"].contains(&name) {
            cast.made += 1;
            hash_like(cast.made)
        } else if let Ok(time) = real.parse::<DateTime<Utc>>() {
            self.told_time(real, time)
        } else {
            return self.told_within(real);
        };
        self.teller.cast.know(&told, real);
        told
    }

    /// A time as far from the step's own minute of the story as it is from now.
    fn told_time(&self, text: &str, real: DateTime<Utc>) -> String {
        if self.step["body"].to_string().contains(text) {
            return text.to_owned();
        }
        let begin: DateTime<Utc> = "2026-11-24T09:00:00Z".parse().unwrap();
        let now = begin + TimeDelta::minutes(i64::try_from(self.index).unwrap());
        let away = TimeDelta::seconds((real - self.now + TimeDelta::milliseconds(500)).num_seconds());
        (now + away).to_rfc3339_opts(SecondsFormat::Millis, true)
    }

    /// A text with the application's address, today's date and known ids replaced.
    fn told_within(&self, real: &str) -> String {
        let today = self.now.format("%Y-%m-%d").to_string();
        let mut text =
            real.replace("http://app.colloquy.test", "https://colloquy.example.org").replace(&today, "2026-11-24");
        for (real, told) in &self.teller.cast.told {
            if uuid::Uuid::parse_str(real).is_ok() {
                text = text.replace(real, told);
            }
        }
        text
    }
}

/// 64 hexadecimal digits, different for each number.
fn hash_like(number: usize) -> String {
    (0..4_u64)
        .map(|part| {
            format!(
                "{:016x}",
                (number as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(u32::try_from(part).unwrap() * 13)
            )
        })
        .collect()
}
