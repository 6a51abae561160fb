//! `bench enumeration`: whether response times reveal if an e-mail address has an account (trust S6).
//!
//! Makes the same call for addresses with and without an account, alternating, one at a time. Reports both
//! distributions, and how often a known address takes longer than an unknown one; 50 % means that they can't be told
//! apart. The figures are for inspection on one machine and not asserted: a test of times would fail for unrelated
//! reasons.

use std::time::{Duration, Instant};

use api_client::account::ClientAccount;
use api_client::caller::ApiClient;
use serde_json::{Value, json};

use super::server;

/// Turns off the rate limits, which the measurement would exceed.
const SETTINGS: [(&str, &str); 9] = [
    ("COLLOQUY__LIMITS__CALLS__MOST", "0"),
    ("COLLOQUY__LIMITS__LOGINS__MOST", "0"),
    ("COLLOQUY__LIMITS__LOGIN_FAILURES__MOST", "0"),
    ("COLLOQUY__LIMITS__LOGIN_FAILURES_OF_CLIENT__MOST", "0"),
    ("COLLOQUY__LIMITS__CODE_FAILURES__MOST", "0"),
    ("COLLOQUY__LIMITS__CODE_PAUSE__MOST", "0"),
    ("COLLOQUY__LIMITS__CODE_MAILS__MOST", "0"),
    ("COLLOQUY__LIMITS__CODE_MAILS_OF_CLIENT__MOST", "0"),
    ("COLLOQUY__LOG__FILTER", "warn"),
];

/// Number of accounts, and of addresses without an account.
const PEOPLE: usize = 10;

#[derive(clap::Args)]
pub struct EnumerationBench {
    /// Number of calls of each kind for known addresses, and again for unknown ones.
    #[arg(long, default_value_t = 300, value_parser = clap::value_parser!(u64).range(10..=100_000))]
    calls: u64,
}

/// A call whose response time must not reveal whether the account exists.
struct Probe {
    what: &'static str,
    path: &'static str,
    status: u16,
    known: Addresses,
    unknown: Addresses,
    body: fn(&str) -> Value,
}

/// Returns the address for the call with the given number.
type Addresses = fn(u64) -> String;

fn person(number: u64) -> String {
    format!("person-{:06}@colloquy.example", number % PEOPLE as u64)
}
fn nobody(number: u64) -> String {
    format!("nobody-{:06}@colloquy.example", number % PEOPLE as u64)
}
fn waiting(number: u64) -> String {
    format!("waiter-{:06}@colloquy.example", number % PEOPLE as u64)
}
fn newcomer(number: u64) -> String {
    format!("newest-{number:06}@colloquy.example")
}

const PASSWORD: &str = "correct horse battery staple";

fn registration(email: &str) -> Value {
    json!({ "email": email, "password": PASSWORD, "fullName": "Somebody" })
}

const ALL: [Probe; 5] = [
    Probe {
        what: "login, wrong password",
        path: "/api/auth/login",
        status: 401,
        known: person,
        unknown: nobody,
        body: |email| json!({ "email": email, "password": "wrong horse battery staple" }),
    },
    Probe {
        what: "register",
        path: "/api/auth/register",
        status: 201,
        known: person,
        unknown: newcomer,
        body: registration,
    },
    Probe {
        what: "sendResetPasswordEmail",
        path: "/api/auth/password/forgot",
        status: 200,
        known: person,
        unknown: nobody,
        body: |email| json!({ "email": email }),
    },
    Probe {
        what: "resendOtp, RESET_PASSWORD",
        path: "/api/auth/otp/resend",
        status: 200,
        known: person,
        unknown: nobody,
        body: |email| json!({ "email": email, "purpose": "RESET_PASSWORD" }),
    },
    Probe {
        what: "resendOtp, CONFIRM_ACCOUNT",
        path: "/api/auth/otp/resend",
        status: 200,
        known: waiting,
        unknown: nobody,
        body: |email| json!({ "email": email, "purpose": "CONFIRM_ACCOUNT" }),
    },
];

/// Runs the measurement and prints its results.
///
/// # Errors
/// Returns a message if the server doesn't start or gives an unexpected answer.
pub async fn measure(arguments: &EnumerationBench) -> Result<(), String> {
    let server = server::start(&SETTINGS).await?;
    let caller = ApiClient::at(&server.url)?;
    for number in 0..PEOPLE as u64 {
        ClientAccount::named("Somebody", &person(number)).open(&caller, server.data()).await?;
        answered_in(&caller, "/api/auth/register", &registration(&waiting(number)), 201).await?;
    }
    println!(
        "{} calls each, alternating known and unknown addresses, one at a time; times in milliseconds.",
        arguments.calls
    );
    println!(
        "longer: in how many of 100 pairs the call for the known address took longer; 50 means indistinguishable.\n"
    );
    println!("{:28} {:>17}   {:>17}", "", "known", "unknown");
    println!("{:28} {:>8} {:>8}   {:>8} {:>8}   {:>6}", "what", "median", "p95", "median", "p95", "longer");
    for call in &ALL {
        let (mut known, mut unknown) = (Vec::new(), Vec::new());
        for number in 0..arguments.calls {
            let of_known = (call.body)(&(call.known)(number));
            let of_unknown = (call.body)(&(call.unknown)(number));
            // Alternates the order, because the second call may find warmer caches.
            if number % 2 == 0 {
                known.push(answered_in(&caller, call.path, &of_known, call.status).await?);
                unknown.push(answered_in(&caller, call.path, &of_unknown, call.status).await?);
            } else {
                unknown.push(answered_in(&caller, call.path, &of_unknown, call.status).await?);
                known.push(answered_in(&caller, call.path, &of_known, call.status).await?);
            }
        }
        println!(
            "{:28} {:>8.2} {:>8.2}   {:>8.2} {:>8.2}   {:>6.1}",
            call.what,
            percentile(&known, 50),
            percentile(&known, 95),
            percentile(&unknown, 50),
            percentile(&unknown, 95),
            longer(&known, &unknown),
        );
    }
    Ok(())
}

async fn answered_in(caller: &ApiClient, path: &str, body: &Value, status: u16) -> Result<Duration, String> {
    let started = Instant::now();
    let answer = caller.http.post(format!("{}{path}", caller.url)).json(body).send().await;
    let answer = answer.map_err(|error| format!("{path}: {error}"))?;
    let answered = answer.status().as_u16();
    // Reads the whole body: its late parts could reveal the account as well.
    answer.bytes().await.map_err(|error| format!("{path}: {error}"))?;
    let took = started.elapsed();
    if answered == status { Ok(took) } else { Err(format!("{path} returned {answered}.")) }
}

fn percentile(times: &[Duration], percent: usize) -> f64 {
    let mut sorted = times.to_vec();
    sorted.sort_unstable();
    let place = (sorted.len().saturating_sub(1) * percent) / 100;
    sorted.get(place).map_or(0.0, |time| time.as_secs_f64() * 1000.0)
}

/// Returns in how many of 100 pairs the first time is the longer one; equal times count half.
fn longer(one: &[Duration], other: &[Duration]) -> f64 {
    let pairs = one.iter().flat_map(|one| other.iter().map(move |other| one.cmp(other)));
    let sum: f64 = pairs
        .map(|order| match order {
            std::cmp::Ordering::Greater => 1.0,
            std::cmp::Ordering::Equal => 0.5,
            std::cmp::Ordering::Less => 0.0,
        })
        .sum();
    100.0 * sum / (one.len() * other.len()).max(1) as f64
}
