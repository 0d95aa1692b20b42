//! The command `krator` of this build, for tests: cargo builds it with them.

use std::process::ExitCode;

fn main() -> ExitCode {
    krator::cli::run()
}
