//! What a panic says in development: its message, its place and, where backtraces are asked for, the frames of the operator's own
//! crate. Those of the runtime and of its dependencies are the same for every handler.
use crate::error::message_of;
use std::{
    backtrace::{Backtrace, BacktraceStatus},
    io::Write as _,
    panic::PanicHookInfo,
};

/// Parts of the paths of sources that are not of the operator's crate.
const FOREIGN: [&str; 4] = [
    "/rustc/",
    "/registry/src/",
    "/git/checkouts/",
    "/krator-runtime/src/",
];

/// Has all panics of this process say so.
pub(in crate::cluster) fn install() {
    std::panic::set_hook(Box::new(|panic| {
        // Nobody reads it if there is no terminal, and the panic goes on all the same.
        let _ = std::io::stderr().write_all(report(panic).as_bytes());
    }));
}

fn report(panic: &PanicHookInfo<'_>) -> String {
    let place = panic
        .location()
        .map_or(String::new(), |place| format!(" at {place}"));
    let backtrace = Backtrace::capture();
    let frames = match backtrace.status() {
        BacktraceStatus::Captured => own_frames(&backtrace.to_string()),
        _ => String::new(),
    };
    format!("panicked{place}: {}\n{frames}", message_of(panic.payload()))
}

/// The frames of a backtrace that are of the operator's crate, or all of them if none is.
fn own_frames(backtrace: &str) -> String {
    let mut own = String::new();
    let mut lines = backtrace.lines().peekable();
    while let Some(frame) = lines.next() {
        let Some(place) = lines.next_if(|line| line.trim_start().starts_with("at ")) else {
            continue;
        };
        if !FOREIGN.iter().any(|foreign| place.contains(foreign)) {
            own.push_str(&format!("{frame}\n{place}\n"));
        }
    }
    match own.is_empty() {
        true => format!("{backtrace}\n"),
        false => own,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_frames_of_the_crate_are_shown() {
        let own = "   3: <zoo::moose::states::Eat as krator_runtime::State>::next\n             at ./src/moose/states/eat.rs:12:9\n";
        let backtrace = format!(
            "   0: std::backtrace_rs::backtrace::trace\n             at /rustc/0123/library/std/src/backtrace.rs:66:14\n\
             \x20  1: core::panicking::panic_fmt\n\
             \x20  2: tokio::task::poll\n             at /home/me/.cargo/registry/src/index/tokio-1.54.0/src/task.rs:9:1\n\
             {own}\
             \x20  4: krator_runtime::poll_times::poll_inline\n             at ./vendor/krator-runtime/src/poll_times.rs:130:5\n"
        );
        assert_eq!(own_frames(&backtrace), own);
        let foreign = backtrace.replace(own, "");
        assert_eq!(
            own_frames(&foreign),
            foreign + "\n",
            "a panic of the runtime itself"
        );
    }
}
