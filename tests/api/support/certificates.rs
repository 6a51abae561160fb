//! Certificates of a story's own, made by openssl.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A server's certificate for 127.0.0.1 and localhost, its key, and that of who signed it.
pub struct Certificates {
    pub ca: PathBuf,
    pub certificate: PathBuf,
    pub key: PathBuf,
}

/// Makes them in a folder. `None`: no openssl on this machine, and the story is to end here.
pub fn make(folder: &Path) -> Option<Certificates> {
    if Command::new("openssl").arg("version").stdout(Stdio::null()).status().is_err() {
        assert!(std::env::var_os("CI").is_none(), "no openssl on this machine, and CI must have it");
        println!("SKIPPED: no openssl on this machine");
        return None;
    }
    std::fs::create_dir_all(folder).unwrap();
    let run = |arguments: &[&str]| {
        let output = Command::new("openssl").args(arguments).current_dir(folder).output().unwrap();
        assert!(output.status.success(), "openssl: {}", String::from_utf8_lossy(&output.stderr));
    };
    let key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"];
    let ca = ["req", "-x509", "-subj", "/CN=An authority of a story", "-keyout", "ca.key", "-out", "ca.pem"];
    run(&[&ca[..], &key].concat());
    let own = ["req", "-x509", "-subj", "/CN=localhost", "-keyout", "own.key", "-out", "own.pem"];
    let of = ["-CA", "ca.pem", "-CAkey", "ca.key", "-addext", "basicConstraints=critical,CA:FALSE"];
    let names = ["-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"];
    run(&[&own[..], &key, &of, &names].concat());
    let file = |name: &str| folder.join(name);
    Some(Certificates { ca: file("ca.pem"), certificate: file("own.pem"), key: file("own.key") })
}
