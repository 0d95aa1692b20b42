//! `krator demo` and `krator dev`: operators in development, without a cluster.

mod conversions;
mod edits;

use crate::moose::{DESCRIPTION, replaced};
use crate::operator::{Crate, build_folder};
use rustix::process::{Pid, Signal, getpgid, kill_process, kill_process_group};
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

/// Long enough for a build on a busy machine, which first waits for the builds of other tests, because they share one
/// folder. Every awaited line arrives earlier, or never.
const LONG: Duration = Duration::from_secs(900);

/// The crate of the first example. Its operator needs a name of its own, because cargo would confuse crates of the same
/// name in different folders.
fn generate(operator: &str) -> Crate {
    Crate::generate(&named(operator, DESCRIPTION), |_| ())
}

/// The description with another name of the operator.
fn named(operator: &str, description: &str) -> String {
    let name = format!("operator: {operator}");
    replaced(description, "operator: moose-tracker", &name)
}

/// A subcommand that runs until it is ended.
pub struct Session {
    process: Child,
    lines: Receiver<String>,
    seen: Vec<String>,
}

impl Session {
    pub fn start(dir: &Path, args: &[&str]) -> Self {
        let mut process = Command::new(krator_tests::program())
            .args(args)
            .current_dir(dir)
            .env("CARGO_TARGET_DIR", build_folder())
            .env("CARGO_PROFILE_DEV_DEBUG", "0")
            .env("CARGO_INCREMENTAL", "0")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .spawn()
            .expect("krator runs");
        let (sender, lines) = channel();
        let err = BufReader::new(process.stderr.take().expect("piped"));
        let out = BufReader::new(process.stdout.take().expect("piped"));
        let of_out = sender.clone();
        // After the test has ended, no more lines are received.
        thread::spawn(move || {
            out.lines()
                .map_while(Result::ok)
                .try_for_each(|line| of_out.send(line))
        });
        thread::spawn(move || {
            err.lines()
                .map_while(Result::ok)
                .try_for_each(|line| sender.send(line))
        });
        Session {
            process,
            lines,
            seen: Vec::new(),
        }
    }

    /// Waits for a line that contains a text, and returns it.
    pub fn wait_for(&mut self, text: &str) -> String {
        self.wait_for_any(&[text], "from the start")
    }

    /// Waits for a line that contains one of several texts, and returns it. `since` is part of the panic message.
    fn wait_for_any(&mut self, texts: &[&str], since: &str) -> String {
        let deadline = Instant::now() + LONG;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let Ok(line) = self.lines.recv_timeout(left) else {
                panic!("{since}: krator never said {texts:?}");
            };
            self.seen.push(line.clone());
            if texts.iter().any(|text| line.contains(text)) {
                return line;
            }
        }
    }

    /// Waits for a line for each of these texts, in any order: the output of krator and the log of its operator are not
    /// synchronized.
    fn wait_for_all<const N: usize>(&mut self, texts: [&str; N]) -> [String; N] {
        let mut found = [const { String::new() }; N];
        while found.iter().any(String::is_empty) {
            let line = self.wait_for_any(&texts, "from the start");
            let at = texts.iter().position(|text| line.contains(text));
            found[at.expect("it has one of them")] = line;
        }
        found
    }

    /// Marks all lines so far as read, so that later waits only match later lines.
    fn drain(&mut self) {
        self.seen.extend(self.lines.try_iter());
    }

    fn id(&self) -> Pid {
        let id = i32::try_from(self.process.id()).expect("ids of processes are small");
        Pid::from_raw(id).expect("it runs")
    }

    /// Ends the subcommand as a supervisor does.
    pub fn end(mut self) -> ExitStatus {
        kill_process(self.id(), Signal::TERM).expect("it runs");
        self.process.wait().expect("our own child")
    }

    /// Ends the subcommand as Ctrl-C does, which is sent to all processes of its group.
    fn interrupt(mut self) -> ExitStatus {
        kill_process_group(self.id(), Signal::INT).expect("it runs");
        self.process.wait().expect("our own child")
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // The process may have ended already.
        let _ = self.process.kill();
        if thread::panicking() {
            self.drain();
            eprintln!("--- what krator has said\n{}", self.seen.join("\n"));
        }
    }
}

/// The ids of the processes with this kubeconfig among their arguments.
pub fn running_with(kubeconfig: &str) -> Vec<Pid> {
    let processes = fs::read_dir("/proc").expect("Linux").flatten();
    let has_it = |process: &fs::DirEntry| {
        let arguments = fs::read(process.path().join("cmdline")).unwrap_or_default();
        let arguments = String::from_utf8_lossy(&arguments);
        arguments.contains("--health-probe-bind-address") && arguments.contains(kubeconfig)
    };
    let id = |process: fs::DirEntry| Pid::from_raw(process.file_name().to_str()?.parse().ok()?);
    processes.filter(has_it).filter_map(id).collect()
}

#[test]
fn the_demo_shows_moose_that_sleep_and_dev_goes_on_with_its_operator() {
    let krate = generate("moose-demo");
    let kept = krate.dir();
    let mut demo = Session::start(&kept, &["demo", "--keep", "."]);
    let line = demo.wait_for("KUBECONFIG=");
    let kubeconfig = line.rsplit('=').next().expect("it is after the sign").to_owned();
    demo.wait_for("Sleep");
    let running = running_with(&kubeconfig);
    assert_eq!(running.len(), 1);
    // In the same group, the operator would also receive Ctrl-C, and might end before the demo knows why.
    assert_eq!(
        getpgid(Some(running[0])),
        Ok(running[0]),
        "the operator is in the group of the demo"
    );
    assert!(demo.interrupt().success());
    assert_eq!(running_with(&kubeconfig), [], "the operator still runs");
    assert!(!Path::new(&kubeconfig).exists(), "a token was left behind");

    let mut dev = Session::start(&kept, &["dev"]);
    dev.wait_for("ready after");
    dev.wait_for("name=\"moose-sample\" state=\"Eat\"");
    let said = dev.seen.iter().find(|line| line.contains("KUBECONFIG=")).cloned();
    let line = said.unwrap_or_else(|| dev.wait_for("KUBECONFIG="));
    let kubeconfig = line.rsplit('=').next().expect("it is after the sign");
    assert_eq!(running_with(kubeconfig).len(), 1);
    // A killed `krator dev` cannot stop its operator, so the operator has to end by itself.
    dev.process.kill().expect("it runs");
    crate::cluster::until("the operator ends with dev", || {
        running_with(kubeconfig).is_empty().then_some(())
    });
}

/// The edits of an author: mistakes of all kinds, each of which is reported while the last sound operator keeps
/// running.
#[test]
fn dev_follows_edits_and_keeps_objects() {
    let krate = generate("moose-keeper");
    let dir = krate.dir();
    let edit = |path: &str, from: &str, to: &str| {
        let path = dir.join(path);
        let text = fs::read_to_string(&path).expect("generated");
        assert!(text.contains(from), "{from:?} is not in {}", path.display());
        fs::write(&path, text.replace(from, to)).expect("our own");
    };
    let (description, eat) = ("krator.yaml", "src/moose/states/eat.rs");

    let mut dev = Session::start(&dir, &["dev"]);
    dev.wait_for("ready after");
    dev.wait_for("state=\"Roam\"");

    // A second session would work on the same objects.
    let mut second = Session::start(&dir, &["dev", "--fresh"]);
    second.wait_for(&format!(
        "another `krator dev` (process {}) runs",
        dev.process.id()
    ));
    assert_eq!(second.process.wait().expect("it has ended").code(), Some(2));

    edit(eat, "Transition::to(Sleep)", "Transition::to(Slep)");
    dev.wait_for("cannot find");
    dev.wait_for("does not compile; the previous one keeps running");
    edit(eat, "Transition::to(Slep)", "Transition::to(Sleep)");
    dev.wait_for("ready after");

    edit(description, "initial: Tagged", "initial: Taged");
    dev.wait_for("there is no state `Taged`");
    edit(description, "initial: Taged", "initial: Tagged");
    dev.wait_for("up to date");

    // An incomplete rename must not count as a removal, which would leave the handler behind.
    let renamed = fs::read_to_string(dir.join(description)).expect("our own");
    edit(description, "Sleep", "Rest");
    dev.wait_for("if it is now called `Rest`, add `renamedFrom: Sleep` there");
    dev.wait_for("nothing was built; the previous operator keeps running");
    assert!(dir.join("src/moose/states/sleep.rs").exists());
    edit(description, "  Rest:\n", "  Rest:\n    renamedFrom: Sleep\n");
    dev.wait_for("src/moose/states/sleep.rs -> src/moose/states/rest.rs");
    dev.wait_for("ready after");
    // The name that was generated before can be restored without `renamedFrom`.
    fs::write(dir.join(description), renamed).expect("our own");
    dev.wait_for("src/moose/states/rest.rs -> src/moose/states/sleep.rs");
    dev.wait_for("ready after");

    // The sample weighs 1; the effect on it is reported before the definition is applied.
    edit(
        description,
        "weight: {type: number, minimum: 0",
        "weight: {type: number, minimum: 100",
    );
    dev.wait_for("1 stored, 1 break");
    dev.wait_for("ready after");
    edit(
        description,
        "antlers: boolean",
        "antlers: boolean\n  age: {type: integer, default: 3}",
    );
    dev.wait_for("ready after");
    // The stored object has the new default, so the operator can read it.
    edit(
        eat,
        "use super::",
        "// An edit that changes nothing.\nuse super::",
    );
    dev.wait_for("ready after");
    let unreadable = dev
        .seen
        .iter()
        .find(|line| line.contains("cannot decode an object"));
    assert_eq!(unreadable, None);

    // While no operator serves the page, another process takes its address.
    let main = "src/main.rs";
    edit(
        main,
        "    krator_runtime",
        "    return 3.into();\n    krator_runtime",
    );
    dev.wait_for("it starts again after the next edit");
    let page = |dev: &Session| {
        let mut lines = dev.seen.iter().rev();
        let page = lines.find_map(|line| line.strip_prefix("page:    http://"));
        page.expect("it was said").to_owned()
    };
    let former = page(&dev);
    let _taken = TcpListener::bind(&former).expect("the operator has ended");
    edit(main, "    return 3.into();\n", "");
    dev.wait_for("page:");
    assert_ne!(page(&dev), former);

    let line = dev.seen.iter().find(|line| line.contains("KUBECONFIG="));
    let kubeconfig = line
        .and_then(|line| line.split('=').nth(1))
        .expect("it was said")
        .to_owned();
    assert!(dev.end().success());
    assert_eq!(running_with(&kubeconfig), [], "the operator still runs");

    let mut again = Session::start(&dir, &["dev"]);
    again.wait_for("ready after");
    assert!(again.end().success());
    let objects = fs::read_to_string(dir.join("target/krator/objects.json")).expect("it was saved");
    let created = objects.matches("\"message\":\"entered Tagged\"").count();
    assert_eq!(created, 1, "the sample was not kept");
}

/// Sends a request to a control of the page, and returns the answer.
fn control(page: &str, path: &str, body: &str) -> String {
    let mut stream = TcpStream::connect(page).expect("the operator serves its page");
    let length = body.len();
    let request = format!(
        "POST /dev/{path} HTTP/1.0\r\nHost: {page}\r\nkrator-dev: test\r\nContent-Length: {length}\r\n\r\n{body}"
    );
    stream.write_all(request.as_bytes()).expect("it listens");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("it answers");
    answer
}

/// A new user who has not written a handler.
#[test]
fn an_object_stays_where_no_handler_is_written_until_somebody_leads_it() {
    let krate = Crate::untouched(&named("moose-unwritten", DESCRIPTION));
    let dir = krate.dir();
    let mut dev = Session::start(&dir, &["dev"]);
    let expected = [
        "some handlers are not written, so objects stay in their states",
        "to=\"Tagged\"",
        "page:",
    ];
    let [_, _, page] = dev.wait_for_all(expected);
    let page = page.replace("page:    http://", "");
    let take = |to: &str| {
        let object =
            r#"{"group": "animals.com", "kind": "Moose", "namespace": "default", "name": "moose-sample"}"#;
        control(&page, "take", &format!(r#"{{"object": {object}, "to": "{to}"}}"#))
    };
    let look = |args: &[&str]| {
        let output = Command::new(krator_tests::program())
            .args(args)
            .current_dir(&dir)
            .env("KUBECONFIG", dir.join("target/krator/kubeconfig"))
            .output()
            .expect("krator runs");
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        (
            output.status.success(),
            said + &String::from_utf8_lossy(&output.stderr),
        )
    };
    let (is_fine, said) = look(&["doctor"]);
    let acts = format!("`krator dev` (process {}) runs the operator", dev.process.id());
    assert!(is_fine && said.contains(&acts), "{said}");
    let (is_fine, said) = look(&["why", "moose-sample"]);
    assert!(is_fine && said.contains("the handler of"), "{said}");
    assert!(!said.contains("Lease"), "{said}");
    // The sample is in its first state, although handlers poll every few seconds.
    assert!(take("Sleep").contains("404"), "there is no such edge");
    assert!(take("Roam").contains("led default/moose-sample to Roam"));
    let line = dev.wait_for("to=\"Roam\"");
    assert!(line.contains("ByHand"), "{line}");
    assert!(dev.end().success());

    let mut dev = Session::start(&dir, &["dev", "--walk"]);
    dev.wait_for("to=\"Sleep\"");
    assert!(dev.end().success());

    // All transitions of the first session were made by hand.
    let objects = fs::read_to_string(dir.join("target/krator/objects.json")).expect("it was saved");
    assert!(objects.contains("NotWritten"), "{objects}");
}

#[test]
fn without_cargo_the_reason_is_told() {
    let krate = generate("moose-nowhere");
    for args in [&["dev"][..], &["demo", "--keep", "kept"]] {
        let output = Command::new(krator_tests::program())
            .args(args)
            .current_dir(krate.dir())
            .env_clear()
            .env("HOME", krate.dir())
            .env("PATH", krate.dir())
            .output()
            .expect("krator runs");
        assert_eq!(output.status.code(), Some(2));
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(error.contains("https://rustup.rs"), "{error}");
    }
    // The description is kept for the next attempt.
    let kept = krate.dir().join("kept");
    assert!(
        fs::read_to_string(kept.join("krator.yaml"))
            .expect("it was written")
            .contains("moose-tracker")
    );
}
