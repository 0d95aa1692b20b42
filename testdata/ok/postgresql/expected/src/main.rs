//! Runs the operator. `postgres-operator --help` lists its options.

use std::process::ExitCode;

use postgres_operator::ABOUT;
use postgres_operator::postgresql::PostgresqlOperator;

fn main() -> ExitCode {
    krator_runtime::main(&ABOUT, |runtime| {
        runtime.operator(PostgresqlOperator::default())
    })
}
