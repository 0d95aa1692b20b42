//! Runs the operator. `database-operator --help` lists its options.

use std::process::ExitCode;

use database_operator::ABOUT;
use database_operator::backup::BackupOperator;
use database_operator::database::DatabaseOperator;
use database_operator::restore::RestoreOperator;

fn main() -> ExitCode {
    krator_runtime::main(&ABOUT, |runtime| {
        runtime
            .operator(DatabaseOperator::default())
            .operator(BackupOperator::default())
            .operator(RestoreOperator::default())
    })
}
