//! An HTTP server with one file, which answers each request as the test says: also by cutting, stalling and lying.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// How a request is answered.
#[derive(Debug, Clone)]
pub enum Reply {
    /// As HTTP has it, with ranges and an entity tag.
    Well,
    /// As [`Reply::Well`], without an entity tag.
    Untagged,
    /// The connection ends after so many bytes of the content.
    Cut(usize),
    /// As [`Reply::Whole`] and [`Reply::Cut`] together.
    WholeCut(usize),
    /// Nothing comes after so many bytes of the content, until the server is told to go on.
    Hold(usize),
    /// The whole file, whatever range is asked for.
    Whole,
    /// The range from another byte than the one that is asked for.
    Shifted,
    /// This content, with its length.
    Other(Vec<u8>),
    /// Zeros without end, and without a length.
    Endless,
    /// This status line, and further header lines.
    Status(&'static str, &'static str),
}

/// The header fields of a request that matter.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Asked {
    pub range: Option<String>,
    pub if_range: Option<String>,
}

struct Inside {
    content: Vec<u8>,
    /// The answers to the first requests; the last one holds for all later ones.
    replies: Vec<Reply>,
    asked: Mutex<Vec<Asked>>,
    goes_on: AtomicBool,
}

pub struct PackageServer {
    inside: Arc<Inside>,
    pub url: String,
}

const TAG: &str = "\"the-tag\"";

impl PackageServer {
    pub fn start(content: &[u8], replies: &[Reply]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/package.whl", listener.local_addr().unwrap());
        let inside = Arc::new(Inside {
            content: content.to_vec(),
            replies: replies.to_vec(),
            asked: Mutex::default(),
            goes_on: AtomicBool::new(false),
        });
        let shared = Arc::clone(&inside);
        // Ends with the test's process.
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let (inside, stream) = (Arc::clone(&shared), stream.unwrap());
                // A client that has ended is no fault of the server.
                std::thread::spawn(move || inside.answer(stream).unwrap_or_default());
            }
        });
        Self { inside, url }
    }

    /// Lets the answers that are held go on.
    pub fn go_on(&self) {
        self.inside.goes_on.store(true, Ordering::SeqCst);
    }

    /// Returns what was asked so far.
    pub fn asked(&self) -> Vec<Asked> {
        self.inside.asked.lock().unwrap().clone()
    }

    /// Returns the ranges that were asked for so far.
    pub fn ranges(&self) -> Vec<Option<String>> {
        self.asked().into_iter().map(|asked| asked.range).collect()
    }
}

impl Inside {
    fn answer(&self, mut stream: TcpStream) -> std::io::Result<()> {
        let asked = head_of(&stream)?;
        let reply = {
            let mut all = self.asked.lock().unwrap();
            all.push(asked.clone());
            self.replies.get(all.len() - 1).or(self.replies.last()).unwrap().clone()
        };
        let whole = self.content.len();
        let first = asked
            .range
            .as_deref()
            .map(|range| range.strip_prefix("bytes=").unwrap().strip_suffix('-').unwrap().parse::<usize>().unwrap());
        let is_current = asked.if_range.as_deref().is_none_or(|tag| tag == TAG);
        let first =
            first.filter(|_| is_current && !matches!(reply, Reply::Whole | Reply::WholeCut(_) | Reply::Other(_)));
        match &reply {
            Reply::Status(status, fields) => {
                return write!(stream, "HTTP/1.1 {status}\r\n{fields}content-length: 0\r\nconnection: close\r\n\r\n");
            }
            Reply::Endless => {
                write!(stream, "HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n")?;
                return std::io::copy(&mut std::io::repeat(0), &mut stream).map(drop);
            }
            _ => {}
        }
        let tag = if matches!(reply, Reply::Untagged) { String::new() } else { format!("etag: {TAG}\r\n") };
        let content = if let Reply::Other(other) = &reply { other } else { &self.content };
        let rest = match first {
            Some(first) if first >= whole => {
                return write!(
                    stream,
                    "HTTP/1.1 416 Range Not Satisfiable\r\ncontent-range: bytes */{whole}\r\ncontent-length: 0\r\n\
                     connection: close\r\n\r\n"
                );
            }
            Some(first) => {
                let first = if matches!(reply, Reply::Shifted) { first + 1 } else { first };
                let range = format!("content-range: bytes {first}-{}/{whole}\r\n", whole - 1);
                write!(stream, "HTTP/1.1 206 Partial Content\r\n{range}{tag}")?;
                &content[first..]
            }
            None => {
                write!(stream, "HTTP/1.1 200 OK\r\n{tag}")?;
                &content[..]
            }
        };
        write!(stream, "content-length: {}\r\nconnection: close\r\n\r\n", rest.len())?;
        match reply {
            Reply::Cut(bytes) | Reply::WholeCut(bytes) => stream.write_all(&rest[..bytes.min(rest.len())]),
            Reply::Hold(bytes) => {
                stream.write_all(&rest[..bytes])?;
                while !self.goes_on.load(Ordering::SeqCst) {
                    std::thread::sleep(Duration::from_millis(10));
                }
                stream.write_all(&rest[bytes..])
            }
            _ => stream.write_all(rest),
        }
    }
}

fn head_of(stream: &TcpStream) -> std::io::Result<Asked> {
    let mut asked = Asked::default();
    for line in BufReader::new(stream.take(65_536)).lines() {
        let line = line?;
        let Some((name, value)) = line.split_once(": ") else { if line.is_empty() { break } else { continue } };
        match name.to_ascii_lowercase().as_str() {
            "range" => asked.range = Some(value.to_owned()),
            "if-range" => asked.if_range = Some(value.to_owned()),
            _ => {}
        }
    }
    Ok(asked)
}
