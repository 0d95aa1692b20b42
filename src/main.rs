//! The command `krator`: arguments in, exit code out.

use std::process::ExitCode;

fn main() -> ExitCode {
    krator::cli::run()
}
