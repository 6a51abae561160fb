//! The frames exchanged by parent and child: a short JSON header, and for some kinds a body of raw bytes.
//!
//! `[u32: length of the header][u32: length of the body][header][body]`, big-endian. A frame that is longer than its
//! kind allows is rejected, and memory is allocated as the bytes arrive, not as they are announced.

use std::io::{Error, ErrorKind, Read, Result, Write};

use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

const HEADER_BYTES: usize = 64 * 1024;

/// The kinds of frames in one direction.
pub(super) trait Header: Serialize + DeserializeOwned {
    /// Returns the maximum length of the body in bytes.
    fn body_bytes(&self) -> usize;
}

/// Writes one frame and flushes.
///
/// # Errors
/// `InvalidData` if the header can't be serialized or a part is too long for its length field; any other error means
/// that the pipe is closed.
pub(super) async fn write(to: &mut (impl AsyncWrite + Unpin), header: &impl Header, body: &[u8]) -> Result<()> {
    to.write_all(&encode_head(header, body)?).await?;
    to.write_all(body).await?;
    to.flush().await
}

/// Reads one frame.
///
/// # Errors
/// `InvalidData` if the bytes are no valid frame; any other error means that the pipe is closed.
pub(super) async fn read<H: Header>(from: &mut (impl AsyncRead + Unpin)) -> Result<(H, Vec<u8>)> {
    let mut lengths = [0; 8];
    from.read_exact(&mut lengths).await?;
    let (header, body) = lengths_of(lengths);
    let mut bytes = Vec::new();
    from.take(within(header, HEADER_BYTES)?).read_to_end(&mut bytes).await?;
    let parsed: H = parse(&bytes, header)?;
    let mut bytes = Vec::new();
    from.take(within(body, parsed.body_bytes())?).read_to_end(&mut bytes).await?;
    check_length(&bytes, body)?;
    Ok((parsed, bytes))
}

/// Same as [`write`], on a thread that may block.
///
/// # Errors
/// Same as [`write`].
pub(super) fn write_blocking(to: &mut impl Write, header: &impl Header, body: &[u8]) -> Result<()> {
    to.write_all(&encode_head(header, body)?)?;
    to.write_all(body)?;
    to.flush()
}

/// Same as [`read`], on a thread that may block.
///
/// # Errors
/// Same as [`read`].
pub(super) fn read_blocking<H: Header>(from: &mut impl Read) -> Result<(H, Vec<u8>)> {
    let mut lengths = [0; 8];
    from.read_exact(&mut lengths)?;
    let (header, body) = lengths_of(lengths);
    let mut bytes = Vec::new();
    from.take(within(header, HEADER_BYTES)?).read_to_end(&mut bytes)?;
    let parsed: H = parse(&bytes, header)?;
    let mut bytes = Vec::new();
    from.take(within(body, parsed.body_bytes())?).read_to_end(&mut bytes)?;
    check_length(&bytes, body)?;
    Ok((parsed, bytes))
}

fn encode_head(header: &impl Header, body: &[u8]) -> Result<Vec<u8>> {
    let text = serde_json::to_vec(header).map_err(|_| invalid_data("a header that can't be written"))?;
    let length = |bytes: &[u8]| u32::try_from(bytes.len()).map_err(|_| invalid_data("more than a frame holds"));
    let mut head = Vec::with_capacity(8 + text.len());
    head.extend_from_slice(&length(&text)?.to_be_bytes());
    head.extend_from_slice(&length(body)?.to_be_bytes());
    head.extend_from_slice(&text);
    Ok(head)
}

fn lengths_of([a, b, c, d, e, f, g, h]: [u8; 8]) -> (u32, u32) {
    (u32::from_be_bytes([a, b, c, d]), u32::from_be_bytes([e, f, g, h]))
}

fn within(length: u32, most: usize) -> Result<u64> {
    if u64::from(length) <= most as u64 { Ok(u64::from(length)) } else { Err(invalid_data("a frame that is too long")) }
}

fn parse<H: Header>(bytes: &[u8], length: u32) -> Result<H> {
    check_length(bytes, length)?;
    // Not serde_json's conversion to `io::Error`, which can turn invalid JSON into `UnexpectedEof`, the error of a
    // closed pipe.
    serde_json::from_slice(bytes).map_err(|_| invalid_data("a header that is none"))
}

fn check_length(bytes: &[u8], length: u32) -> Result<()> {
    if bytes.len() as u64 == u64::from(length) { Ok(()) } else { Err(ErrorKind::UnexpectedEof.into()) }
}

fn invalid_data(what: &'static str) -> Error {
    Error::new(ErrorKind::InvalidData, what)
}
