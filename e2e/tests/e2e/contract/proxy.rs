//! A proxy in front of the API server that can stop passing anything on for a while. What clients send in that time waits in
//! it, and arrives late, even when they have ended by then.

use std::fs;
use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;

/// Runs until the tests end.
pub struct Proxy {
    address: SocketAddr,
    kubeconfig: String,
    server: String,
    stalled: Arc<Stalled>,
}

#[derive(Default)]
struct Stalled {
    is: Mutex<bool>,
    changed: Condvar,
}

impl Stalled {
    fn set(&self, stalled: bool) {
        *self.is.lock().unwrap_or_else(PoisonError::into_inner) = stalled;
        self.changed.notify_all();
    }
    fn wait_for_the_end(&self) {
        let is = self.is.lock().unwrap_or_else(PoisonError::into_inner);
        drop(self.changed.wait_while(is, |is| *is));
    }
}

impl Proxy {
    /// A proxy for the server of a kubeconfig.
    pub fn start(kubeconfig: &Path) -> Proxy {
        let kubeconfig = fs::read_to_string(kubeconfig).expect("a kubeconfig");
        let (_, rest) = kubeconfig
            .split_once("https://")
            .expect("the address of the server");
        let end = rest.find(|c: char| c != '.' && c != ':' && !c.is_ascii_digit());
        let server = rest[..end.unwrap_or(rest.len())].to_owned();
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("it listens");
        let stalled = Arc::<Stalled>::default();
        let (of_connections, to) = (Arc::clone(&stalled), server.clone());
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                of_connections.wait_for_the_end();
                let Ok(server) = TcpStream::connect(&to) else {
                    continue;
                };
                for (from, to) in [(&client, &server), (&server, &client)] {
                    let (from, to) = (from.try_clone(), to.try_clone());
                    let (from, to) = (from.expect("a socket"), to.expect("a socket"));
                    let stalled = Arc::clone(&of_connections);
                    thread::spawn(move || pass_on(from, to, &stalled));
                }
            }
        });
        Proxy {
            address,
            kubeconfig,
            server,
            stalled,
        }
    }

    /// A kubeconfig that leads through the proxy, in a folder.
    pub fn kubeconfig(&self, folder: &Path) -> String {
        let path: PathBuf = folder.join("through-proxy.kubeconfig");
        let text = self.kubeconfig.replace(&self.server, &self.address.to_string());
        fs::write(&path, text).expect("a folder for tests");
        path.to_str().expect("a plain name").to_owned()
    }

    /// Passes nothing on any more.
    pub fn stall(&self) {
        self.stalled.set(true);
    }

    /// Passes on what has waited, and everything after that.
    pub fn go_on(&self) {
        self.stalled.set(false);
    }
}

fn pass_on(mut from: TcpStream, mut to: TcpStream, stalled: &Stalled) {
    let mut buffer = [0; 16 * 1024];
    while let Ok(read @ 1..) = from.read(&mut buffer) {
        stalled.wait_for_the_end();
        if to.write_all(&buffer[..read]).is_err() {
            break;
        }
    }
    let _ = to.shutdown(Shutdown::Write);
}
