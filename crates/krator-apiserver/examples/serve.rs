//! Runs the server until Ctrl-C, and writes a kubeconfig for kubectl:
//!
//! ```sh
//! cargo run -p krator-apiserver --example serve -- kubeconfig.yaml
//! KUBECONFIG=kubeconfig.yaml kubectl api-resources
//! ```

use std::{env, error::Error, fs, net::Ipv4Addr};

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let file = env::args().nth(1).unwrap_or_else(|| "kubeconfig.yaml".to_owned());
    let server = krator_apiserver::Server::start();
    let serving = server.serve((Ipv4Addr::LOCALHOST, 0).into()).await?;
    fs::write(&file, serving.kubeconfig())?;
    println!("{} is ready: export KUBECONFIG={file}", serving.url);
    tokio::signal::ctrl_c().await?;
    Ok(())
}
