//! Runs the operator. `memcached-operator --help` lists its options.

use std::process::ExitCode;

use memcached_operator::ABOUT;
use memcached_operator::memcached::MemcachedOperator;

fn main() -> ExitCode {
    krator_runtime::main(&ABOUT, |runtime| {
        runtime.operator(MemcachedOperator::default())
    })
}
