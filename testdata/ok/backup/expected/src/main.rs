//! The program: `backup-operator --help` tells what it can do.

use std::process::ExitCode;

use backup_operator::ABOUT;
use backup_operator::backup::BackupOperator;

fn main() -> ExitCode {
    krator_runtime::main(&ABOUT, |runtime| {
        runtime.operator(BackupOperator::default())
    })
}
