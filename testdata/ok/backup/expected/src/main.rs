//! Runs the operator. `backup-operator --help` lists its options.

use std::process::ExitCode;

use backup_operator::ABOUT;
use backup_operator::backup::BackupOperator;

fn main() -> ExitCode {
    krator_runtime::main(&ABOUT, |runtime| {
        runtime.operator(BackupOperator::default())
    })
}
