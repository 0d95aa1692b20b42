//! The embedded API server of this repository over HTTPS, as a cluster for tests: with the same users and rights, and
//! the same audit log.

use krator_apiserver::{Server, Serving};
use std::fs::{self, File};
use std::io::LineWriter;
use std::net::Ipv4Addr;
use std::path::Path;
use tokio::runtime::Runtime;

/// A running server.
pub struct Embedded {
    // Dropped in this order.
    _serving: Serving,
    _runtime: Runtime,
}

impl Embedded {
    /// Starts a server. The folder gets `admin.kubeconfig`, `operator.kubeconfig` and `audit.log`.
    pub fn start(dir: &Path) -> Embedded {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .expect("threads");
        let audit = File::create(dir.join("audit.log")).expect("a folder of our own");
        let serving = runtime.block_on(async {
            let server = Server::builder().rbac(true).audit(LineWriter::new(audit)).start();
            let serving = server.serve((Ipv4Addr::LOCALHOST, 0).into()).await;
            let serving = serving.expect("a free port");
            let operator = server.add_user("operator", &["operators"]);
            for (user, kubeconfig) in [
                ("admin", serving.kubeconfig()),
                ("operator", serving.kubeconfig_of("operator", &operator)),
            ] {
                fs::write(dir.join(format!("{user}.kubeconfig")), kubeconfig).expect("a folder of our own");
            }
            serving
        });
        Embedded {
            _serving: serving,
            _runtime: runtime,
        }
    }
}
