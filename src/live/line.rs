//! A way to cut a connection from outside: the HTTP server polls nothing of ours while a client does not read, so a
//! socket that must end can't end itself.

use std::any::Any;
use std::net::{Shutdown, TcpStream};
use std::os::fd::AsFd;
use std::sync::Arc;

use actix_web::dev::Extensions;

/// The connection that a request came by.
#[derive(Clone)]
pub struct Line(Arc<TcpStream>);

impl Line {
    /// Notes the line of a new connection, for its requests: given to `HttpServer::on_connect`.
    pub fn note(connection: &dyn Any, extensions: &mut Extensions) {
        let Some(stream) = connection.downcast_ref::<actix_web::rt::net::TcpStream>() else { return };
        // Without file descriptors to spare, a stalled client keeps its connection until the server ends.
        if let Ok(own) = stream.as_fd().try_clone_to_owned() {
            extensions.insert(Self(Arc::new(TcpStream::from(own))));
        }
    }

    pub fn cut(&self) {
        // Cut already is fine.
        let _ = self.0.shutdown(Shutdown::Both);
    }
}
