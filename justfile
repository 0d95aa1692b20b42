# The recurring tasks of this repository: `just` lists them. CONTRIBUTING.md explains each.

# List the recipes.
default:
    @just --list

# Run the tests that need only Rust.
test *ARGS:
    cargo test {{ARGS}}

# Run the tests that need servers, compile many crates or take minutes, with a real API server.
e2e *ARGS:
    KUBEBUILDER_ASSETS="$(tools/apiserver/build)" cargo test -p e2e -p krator-messages {{ARGS}}

# Rewrite the expectations whose path contains WHAT (all of them with 1); FILTER selects the tests.
update WHAT='1' FILTER='':
    KRATOR_UPDATE={{WHAT}} cargo test --test it {{FILTER}}

# Format the code, and show the warnings of clippy and rustdoc.
lint:
    cargo fmt --all
    cargo clippy --workspace --all-targets --all-features -- -D warnings
    RUSTDOCFLAGS='-D warnings' cargo doc --workspace --all-features --no-deps --lib --examples

# Run all checks that have to pass before a merge.
ci:
    .ci/run

# Run the thorough tests, which take hours, or those with WORD in their names; target/nightly.log has the last results.
nightly WORD='':
    .ci/nightly "{{WORD}}"
