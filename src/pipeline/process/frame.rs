//! What parent and child say to each other: a short header in JSON, and for some a body that is passed on as it is.
//!
//! `[u32: length of the header][u32: length of the body][header][body]`, big-endian. Nothing is taken that is longer than its kind may
//! be, and memory is taken as the bytes come, not as they are announced.

use std::io::{Error, ErrorKind, Read, Result, Write};

use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

const HEADER_BYTES: usize = 64 * 1024;

/// The kinds of frames in one direction.
pub(super) trait Header: Serialize + DeserializeOwned {
    /// How long its body may be.
    fn body_bytes(&self) -> usize;
}

/// # Errors
/// The pipe is closed.
pub(super) async fn write(to: &mut (impl AsyncWrite + Unpin), header: &impl Header, body: &[u8]) -> Result<()> {
    to.write_all(&head(header, body)?).await?;
    to.write_all(body).await?;
    to.flush().await
}

/// # Errors
/// `InvalidData`: what came is no frame. Else the pipe is closed.
pub(super) async fn read<H: Header>(from: &mut (impl AsyncRead + Unpin)) -> Result<(H, Vec<u8>)> {
    let mut lengths = [0; 8];
    from.read_exact(&mut lengths).await?;
    let (header, body) = split(lengths);
    let mut bytes = Vec::new();
    from.take(within(header, HEADER_BYTES)?).read_to_end(&mut bytes).await?;
    let parsed: H = parse(&bytes, header)?;
    let mut bytes = Vec::new();
    from.take(within(body, parsed.body_bytes())?).read_to_end(&mut bytes).await?;
    whole(&bytes, body)?;
    Ok((parsed, bytes))
}

/// [`write`], on a thread that may wait.
///
/// # Errors
/// The pipe is closed.
pub(super) fn write_blocking(to: &mut impl Write, header: &impl Header, body: &[u8]) -> Result<()> {
    to.write_all(&head(header, body)?)?;
    to.write_all(body)?;
    to.flush()
}

/// [`read`], on a thread that may wait.
///
/// # Errors
/// As [`read`].
pub(super) fn read_blocking<H: Header>(from: &mut impl Read) -> Result<(H, Vec<u8>)> {
    let mut lengths = [0; 8];
    from.read_exact(&mut lengths)?;
    let (header, body) = split(lengths);
    let mut bytes = Vec::new();
    from.take(within(header, HEADER_BYTES)?).read_to_end(&mut bytes)?;
    let parsed: H = parse(&bytes, header)?;
    let mut bytes = Vec::new();
    from.take(within(body, parsed.body_bytes())?).read_to_end(&mut bytes)?;
    whole(&bytes, body)?;
    Ok((parsed, bytes))
}

fn head(header: &impl Header, body: &[u8]) -> Result<Vec<u8>> {
    let text = serde_json::to_vec(header).map_err(|_| nonsense("a header that can't be written"))?;
    let length = |bytes: &[u8]| u32::try_from(bytes.len()).map_err(|_| nonsense("more than a frame holds"));
    let mut head = Vec::with_capacity(8 + text.len());
    head.extend_from_slice(&length(&text)?.to_be_bytes());
    head.extend_from_slice(&length(body)?.to_be_bytes());
    head.extend_from_slice(&text);
    Ok(head)
}

fn split([a, b, c, d, e, f, g, h]: [u8; 8]) -> (u32, u32) {
    (u32::from_be_bytes([a, b, c, d]), u32::from_be_bytes([e, f, g, h]))
}

fn within(length: u32, most: usize) -> Result<u64> {
    if u64::from(length) <= most as u64 { Ok(u64::from(length)) } else { Err(nonsense("a frame that is too long")) }
}

fn parse<H: Header>(bytes: &[u8], length: u32) -> Result<H> {
    whole(bytes, length)?;
    // Not serde's own conversion, which may take a fault for the end of the pipe.
    serde_json::from_slice(bytes).map_err(|_| nonsense("a header that is none"))
}

fn whole(bytes: &[u8], length: u32) -> Result<()> {
    if bytes.len() as u64 == u64::from(length) { Ok(()) } else { Err(ErrorKind::UnexpectedEof.into()) }
}

fn nonsense(what: &'static str) -> Error {
    Error::new(ErrorKind::InvalidData, what)
}
