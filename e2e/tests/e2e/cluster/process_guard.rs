//! Ends the processes that a test run has started, however the run ends.
//!
//! A destructor is not enough: statics are never dropped, and a killed test binary drops nothing. So a shell keeps the
//! list of processes, which it reads from its standard input. When that is closed, at the latest by the kernel at the end
//! of this process, the shell ends the processes.

use std::io::Write;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::Mutex;

const SCRIPT: &str = r#"
trap '' INT TERM HUP
held=
while read -r verb pid; do
  case $verb in
  hold) held="$held $pid" ;;
  free)
    kept=
    for other in $held; do [ "$other" = "$pid" ] || kept="$kept $other"; done
    held=$kept
    ;;
  esac
done
for pid in $held; do kill -9 "$pid"; done 2>/dev/null
rm -rf "$1"
"#;

/// Ends its processes and removes a folder when it is dropped, or at the end of this process.
pub struct ProcessGuard {
    shell: Child,
    held: Mutex<Option<ChildStdin>>,
}

impl ProcessGuard {
    /// A guard that removes `folder` at its end.
    pub fn new(folder: &Path) -> ProcessGuard {
        let mut shell = Command::new("sh")
            .args(["-c", SCRIPT, "process-guard"])
            .arg(folder)
            .stdin(Stdio::piped())
            // A process group of its own, so that Ctrl-C on the test run does not end the shell that cleans up.
            .process_group(0)
            .spawn()
            .expect("a shell for the guard");
        let held = shell.stdin.take();
        ProcessGuard {
            shell,
            held: Mutex::new(held),
        }
    }

    /// From here on `child` ends with the test run.
    pub fn hold(&self, child: &Child) {
        self.send("hold", child);
    }

    /// Forgets `child` after the caller has waited for it: its process ID may soon belong to another process.
    pub fn free(&self, child: &Child) {
        self.send("free", child);
    }

    fn send(&self, verb: &str, child: &Child) {
        let mut held = self.held.lock().expect("nobody panics with the lock");
        let pipe = held
            .as_mut()
            .expect("the pipe is there until the guard is dropped");
        writeln!(pipe, "{verb} {}", child.id()).expect("the guard reads");
    }
}

impl Drop for ProcessGuard {
    fn drop(&mut self) {
        if let Ok(held) = self.held.get_mut() {
            held.take();
        }
        // A failure to wait for the shell cannot be handled.
        let _ = self.shell.wait();
    }
}

#[test]
fn a_guard_ends_the_processes_that_it_holds_and_no_others() {
    let folder = tempfile::tempdir().expect("a folder").keep();
    let guard = ProcessGuard::new(&folder);
    let sleeper = || Command::new("sleep").arg("1000").spawn().expect("sleep");
    let (mut held, mut freed) = (sleeper(), sleeper());
    guard.hold(&held);
    guard.hold(&freed);
    guard.free(&freed);

    drop(guard);

    assert!(!held.wait().expect("the held one").success(), "ended by a signal");
    assert!(
        freed.try_wait().expect("the freed one").is_none(),
        "still running"
    );
    assert!(!folder.exists());
    freed.kill().expect("our own child");
    freed.wait().expect("our own child");
}
