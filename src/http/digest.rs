//! `Content-Digest` (RFC 9530): the hash that the content of a request must have.

use actix_web::HttpRequest;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::code::Code;
use super::error::ApiError;

pub const HEADER: &str = "Content-Digest";

/// Returns the SHA-256 in `Content-Digest`, hexadecimal; `None` if the header is absent or names only other algorithms.
///
/// # Errors
/// 400 for a malformed header.
pub fn expected_sha256(request: &HttpRequest) -> Result<Option<String>, ApiError> {
    let malformed = || ApiError::with_message(Code::BAD_REQUEST, "Content-Digest must be like sha-256=:BASE64:.");
    let mut expected = None;
    for value in request.headers().get_all(HEADER) {
        for item in value.to_str().map_err(|_| malformed())?.split(',') {
            let (algorithm, digest) = item.split_once('=').ok_or_else(malformed)?;
            if !algorithm.trim().eq_ignore_ascii_case("sha-256") {
                continue;
            }
            let digest = digest.trim().strip_prefix(':').and_then(|digest| digest.strip_suffix(':'));
            let bytes = digest.and_then(|digest| STANDARD.decode(digest).ok()).filter(|bytes| bytes.len() == 32);
            expected = Some(hex::encode(bytes.ok_or_else(malformed)?));
        }
    }
    Ok(expected)
}

/// The error for content that has another hash.
#[must_use]
pub fn mismatch() -> ApiError {
    ApiError::at(HEADER, Code::DIGEST_MISMATCH, Code::DIGEST_MISMATCH.sentence)
}

#[cfg(test)]
mod tests {
    use actix_web::test::TestRequest;

    use super::{HEADER, expected_sha256};

    fn read(value: &str) -> Result<Option<String>, ()> {
        expected_sha256(&TestRequest::default().insert_header((HEADER, value)).to_http_request()).map_err(drop)
    }

    #[test]
    fn the_hash_is_read_among_others() {
        let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855".to_owned();
        let ours = "sha-256=:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=:";
        assert_eq!(read(ours), Ok(Some(empty.clone())));
        assert_eq!(read(&format!("md5=:abc=:, {ours}")), Ok(Some(empty)));
        assert_eq!(read("sha-512=:AAAA:"), Ok(None));
        for wrong in ["", "sha-256", "sha-256=", "sha-256=::", "sha-256=:AAAA:", "sha-256=47DEQ", "sha-256=:!:"] {
            assert_eq!(read(wrong), Err(()), "{wrong}");
        }
    }
}
