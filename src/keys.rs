//! Cryptographic keys: generated at the first start and stored in files that only the server's user can read.

use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;

use chacha20poly1305::aead::{Aead, Payload};
use chacha20poly1305::{XChaCha20Poly1305, XNonce};
use hmac::{Hmac, KeyInit, Mac};
use rand::TryRng;
use rand::rngs::SysRng;
use sha2::Sha256;

const BYTES: usize = 32;
const NONCE: usize = 24;
/// The file of the key for keyed hashes and encryption.
const SECRET: &str = "secret.key";

/// A key of the ring that signs access tokens.
pub struct SigningKey {
    /// The `kid` in a token's header.
    pub id: String,
    pub secret: Vec<u8>,
}

/// A key for keyed hashes and encryption, unique to this installation.
#[derive(Clone)]
pub struct Secret(Vec<u8>);

impl Secret {
    #[must_use]
    pub const fn of(key: Vec<u8>) -> Self {
        Self(key)
    }

    /// Returns a keyed hash (HMAC-SHA-256) of `parts`. `purpose` separates the uses; length prefixes separate the
    /// parts.
    #[must_use]
    pub fn hash(&self, purpose: &str, parts: &[&[u8]]) -> [u8; 32] {
        // HMAC accepts keys of any length, so the fallback is never reached.
        let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(&self.0) else { return [0; 32] };
        for part in std::iter::once(purpose.as_bytes()).chain(parts.iter().copied()) {
            mac.update(&(part.len() as u64).to_be_bytes());
            mac.update(part);
        }
        mac.finalize().into_bytes().into()
    }

    /// Like [`Secret::hash`], in hexadecimal.
    #[must_use]
    pub fn hex(&self, purpose: &str, parts: &[&[u8]]) -> String {
        hex::encode(self.hash(purpose, parts))
    }

    /// Encrypts `plain` so that only this installation can decrypt it, for the same purpose and with the same
    /// `associated` data (such as the id of the row that stores it). Uses XChaCha20-Poly1305, whose nonces are long
    /// enough to be random.
    ///
    /// # Errors
    /// The operating system's random number generator fails, or `plain` is too long.
    pub fn seal(&self, purpose: &str, associated: &[u8], plain: &[u8]) -> io::Result<Vec<u8>> {
        let nonce = random::<NONCE>()?;
        let sealed = self.cipher(purpose).encrypt(&XNonce::from(nonce), Payload { msg: plain, aad: associated });
        let sealed = sealed.map_err(|_| io::Error::other("the text is too long to be encrypted"))?;
        Ok([nonce.as_slice(), &sealed].concat())
    }

    /// Decrypts what [`Secret::seal`] encrypted. `None` if the key, the purpose or the associated data differ, or the
    /// data was changed.
    #[must_use]
    pub fn open(&self, purpose: &str, associated: &[u8], sealed: &[u8]) -> Option<Vec<u8>> {
        let (nonce, sealed) = sealed.split_first_chunk::<NONCE>()?;
        let opened = self.cipher(purpose).decrypt(&XNonce::from(*nonce), Payload { msg: sealed, aad: associated });
        opened.ok()
    }

    /// Derives a key for each purpose from this one.
    fn cipher(&self, purpose: &str) -> XChaCha20Poly1305 {
        XChaCha20Poly1305::new(&self.hash("seal", &[purpose.as_bytes()]).into())
    }
}

/// Returns random bytes from the operating system.
///
/// # Errors
/// The operating system's random number generator fails.
pub fn random<const N: usize>() -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    SysRng.try_fill_bytes(&mut bytes).map_err(io::Error::other)?;
    Ok(bytes)
}

/// Loads the ring of signing keys from a folder, highest file name first. Every file `access-NAME.key` is a key;
/// `access-1.key` is generated if there is none.
///
/// # Errors
/// The folder or a key can't be read or created.
pub fn ring(folder: &Path) -> io::Result<Vec<SigningKey>> {
    make_folder(folder)?;
    let mut names: Vec<String> = fs::read_dir(folder)?
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter(|name| name.starts_with("access-") && name.ends_with(".key"))
        .collect();
    if names.is_empty() {
        names.push("access-1.key".to_owned());
    }
    names.sort_by(|a, b| (b.len(), b).cmp(&(a.len(), a)));
    names
        .into_iter()
        .map(|name| Ok(SigningKey { secret: key(&folder.join(&name))?, id: name.replace(".key", "") }))
        .collect()
}

/// Loads the key for keyed hashes and encryption, or generates it if the file does not exist.
///
/// # Errors
/// The key can't be read or created.
pub fn secret(folder: &Path) -> io::Result<Secret> {
    make_folder(folder)?;
    key(&folder.join(SECRET)).map(Secret)
}

/// Whether a server has made its secret in the folder.
#[must_use]
pub fn has_secret(folder: &Path) -> bool {
    folder.join(SECRET).exists()
}

fn make_folder(folder: &Path) -> io::Result<()> {
    fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

fn key(file: &Path) -> io::Result<Vec<u8>> {
    let text = match fs::read_to_string(file) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return make(file),
        Err(error) => return Err(error),
    };
    let mode = fs::metadata(file)?.permissions().mode() & 0o077;
    let wrong = |what: &str| io::Error::new(io::ErrorKind::InvalidData, format!("{}: {what}", file.display()));
    if mode != 0 {
        return Err(wrong("other users can read this key file; set its mode to 0600"));
    }
    let key = hex::decode(text.trim()).map_err(|_| wrong("this is not a valid key"))?;
    if key.len() < BYTES { Err(wrong("this key is too short")) } else { Ok(key) }
}

/// Writes the key to a temporary file and renames it, so that a process that is killed half-way leaves no partial key.
fn make(file: &Path) -> io::Result<Vec<u8>> {
    let key = random::<BYTES>()?;
    let folder = file.parent().unwrap_or(Path::new("."));
    let aside = folder.join(format!(".new-{}", std::process::id()));
    let mut new = fs::OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&aside)?;
    writeln!(new, "{}", hex::encode(key))?;
    new.sync_all()?;
    fs::rename(&aside, file)?;
    fs::File::open(folder)?.sync_all()?;
    Ok(key.to_vec())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn keys_are_made_once_and_nobody_else_can_read_them() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().join("keys");
        let first = super::ring(&folder).unwrap();
        let again = super::ring(&folder).unwrap();
        assert_eq!(first[0].secret, again[0].secret);
        let mode = std::fs::metadata(folder.join("access-1.key")).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        std::fs::set_permissions(folder.join("access-1.key"), std::fs::Permissions::from_mode(0o644)).unwrap();
        assert!(super::ring(&folder).is_err());
    }

    #[test]
    fn parts_are_kept_apart() {
        let secret = super::Secret::of(vec![7; 32]);
        assert_ne!(secret.hash("x", &[b"ab", b"c"]), secret.hash("x", &[b"a", b"bc"]));
        assert_ne!(secret.hash("x", &[b"a"]), secret.hash("y", &[b"a"]));
    }

    #[test]
    fn what_is_sealed_opens_for_its_purpose_and_place_alone() {
        let secret = super::Secret::of(vec![7; 32]);
        let sealed = secret.seal("mail", b"row 1", b"a code").unwrap();
        assert_eq!(secret.open("mail", b"row 1", &sealed).unwrap(), b"a code");
        assert!(!sealed.windows(6).any(|part| part == b"a code"));
        assert_ne!(
            sealed,
            secret.seal("mail", b"row 1", b"a code").unwrap(),
            "equal texts are not told by their seals"
        );
        assert_eq!(secret.open("mail", b"row 2", &sealed), None);
        assert_eq!(secret.open("cookie", b"row 1", &sealed), None);
        assert_eq!(super::Secret::of(vec![8; 32]).open("mail", b"row 1", &sealed), None);
        for place in 0..sealed.len() {
            let mut changed = sealed.clone();
            changed[place] ^= 1;
            assert_eq!(secret.open("mail", b"row 1", &changed), None);
            assert_eq!(secret.open("mail", b"row 1", &sealed[..place]), None);
        }
    }
}
