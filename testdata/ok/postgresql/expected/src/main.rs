//! The program: `postgres-operator --help` tells what it can do.

use std::process::ExitCode;

use postgres_operator::ABOUT;
use postgres_operator::postgresql::PostgresqlOperator;

fn main() -> ExitCode {
    krator_runtime::main(&ABOUT, |runtime| {
        runtime.operator(PostgresqlOperator::default())
    })
}
