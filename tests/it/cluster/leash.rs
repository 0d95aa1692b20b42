//! What ends the processes of a test run, however the run ends.
//!
//! A destructor is not enough: statics are never dropped, and a killed test binary drops nothing. So a shell holds the
//! list of processes and reads its standard input; when the last writer is gone, which the kernel sees to, it ends them.

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

/// Ends the processes that it holds and removes a folder, at the latest when this process is gone.
pub struct Leash {
    shell: Child,
    held: Mutex<Option<ChildStdin>>,
}

impl Leash {
    /// A leash that removes `folder` at its end.
    pub fn new(folder: &Path) -> Leash {
        let mut shell = Command::new("sh")
            .args(["-c", SCRIPT, "leash"])
            .arg(folder)
            .stdin(Stdio::piped())
            // A group of its own: Ctrl-C on the test run must not end the one that cleans up.
            .process_group(0)
            .spawn()
            .expect("a shell for the leash");
        let held = shell.stdin.take();
        Leash {
            shell,
            held: Mutex::new(held),
        }
    }

    /// From here on `child` ends with the test run.
    pub fn hold(&self, child: &Child) {
        self.tell("hold", child);
    }

    /// The caller has waited for `child`: its number may belong to another process soon.
    pub fn free(&self, child: &Child) {
        self.tell("free", child);
    }

    fn tell(&self, verb: &str, child: &Child) {
        let mut held = self.held.lock().expect("no holder of the leash panics");
        let pipe = held
            .as_mut()
            .expect("the pipe is there until the leash is dropped");
        writeln!(pipe, "{verb} {}", child.id()).expect("the leash reads");
    }
}

impl Drop for Leash {
    fn drop(&mut self) {
        if let Ok(held) = self.held.get_mut() {
            held.take();
        }
        // Nothing to do about a shell that cannot be waited for.
        let _ = self.shell.wait();
    }
}

#[test]
fn a_leash_ends_what_it_holds_and_nothing_else() {
    let folder = tempfile::tempdir().expect("a folder").keep();
    let leash = Leash::new(&folder);
    let sleeper = || Command::new("sleep").arg("1000").spawn().expect("sleep");
    let (mut held, mut freed) = (sleeper(), sleeper());
    leash.hold(&held);
    leash.hold(&freed);
    leash.free(&freed);

    drop(leash);

    assert!(!held.wait().expect("the held one").success(), "ended by a signal");
    assert!(
        freed.try_wait().expect("the freed one").is_none(),
        "still running"
    );
    assert!(!folder.exists());
    freed.kill().expect("our own child");
    freed.wait().expect("our own child");
}
