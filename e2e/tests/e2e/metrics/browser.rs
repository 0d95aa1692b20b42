//! Not a test: a page in headless Chromium, with its mouse and its keyboard.
//!
//! It uses the DevTools protocol over two pipes, which are the file descriptors 3 and 4 of Chromium: JSON with a zero
//! byte at the end of each message.

use crate::cluster::process_guard::ProcessGuard;
use crate::cluster::{Cluster, say, until};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Arc;
use tempfile::TempDir;

/// The name of the browser. None if it is not installed, with a message about the skipped part.
pub fn chromium() -> Option<&'static str> {
    let found = ["chromium", "chromium-browser", "google-chrome"]
        .into_iter()
        .find(|name| Command::new(name).arg("--version").output().is_ok());
    if found.is_none() {
        say("the page in a browser: skipped: Chromium is not installed");
    }
    found
}

/// An open page.
pub struct Page {
    guard: Arc<ProcessGuard>,
    browser: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
    last: u64,
    session: Option<String>,
    _profile: TempDir,
}

impl Page {
    /// Opens a page. It ends with the test run at the latest.
    pub fn open(cluster: &Cluster, chromium: &str, url: &str) -> Page {
        let profile = tempfile::tempdir().expect("a temporary folder");
        let mut browser = Command::new("sh")
            .args(["-c", r#"exec "$0" "$@" 3<&0 4>&1 </dev/null >/dev/null 2>&1"#])
            .arg(chromium)
            .args([
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--remote-debugging-pipe",
            ])
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("a shell runs");
        cluster.process_guard().hold(&browser);
        let (to, from) = (browser.stdin.take(), browser.stdout.take());
        let mut page = Page {
            guard: Arc::clone(cluster.process_guard()),
            browser,
            to: to.expect("a pipe"),
            from: BufReader::new(from.expect("a pipe")),
            last: 0,
            session: None,
            _profile: profile,
        };
        let target = page.call("Target.createTarget", json!({"url": url}))["targetId"].clone();
        let attach = json!({"targetId": target, "flatten": true});
        let session = page.call("Target.attachToTarget", attach)["sessionId"].clone();
        page.session = session.as_str().map(str::to_owned);
        page
    }

    fn call(&mut self, method: &str, params: Value) -> Value {
        let answer = self.try_call(method, params);
        answer.unwrap_or_else(|error| panic!("{method}: {error}"))
    }

    fn try_call(&mut self, method: &str, params: Value) -> Result<Value, Value> {
        self.last += 1;
        let mut message = json!({"id": self.last, "method": method, "params": params});
        if let Some(session) = &self.session {
            message["sessionId"] = json!(session);
        }
        write!(self.to, "{message}\0").expect("Chromium reads");
        loop {
            let mut bytes = Vec::new();
            self.from.read_until(0, &mut bytes).expect("Chromium writes");
            assert_eq!(bytes.pop(), Some(0), "Chromium has ended");
            let mut answer: Value = serde_json::from_slice(&bytes).expect("JSON");
            // Events have no id.
            if answer["id"] == self.last {
                return match answer["error"].take() {
                    Value::Null => Ok(answer["result"].take()),
                    error => Err(error),
                };
            }
        }
    }

    /// The value of an expression in the page.
    pub fn value(&mut self, expression: &str) -> Value {
        let mut answer = self.call("Runtime.evaluate", evaluation(expression));
        let exception = &answer["exceptionDetails"];
        assert!(exception.is_null(), "{expression}: {exception}");
        answer["result"]["value"].take()
    }

    /// Waits until an expression of the page is true.
    pub fn wait(&mut self, expression: &str) {
        until(expression, || {
            // The document, and the context in which Chromium evaluates the expression, may not exist at first.
            let expression =
                format!("(() => {{ try {{ return {expression} }} catch {{ return false }} }})()");
            let answer = self.try_call("Runtime.evaluate", evaluation(&expression));
            answer
                .is_ok_and(|answer| answer["result"]["value"] == true)
                .then_some(())
        });
    }

    /// Presses and releases a key.
    pub fn press(&mut self, key: &str) {
        let (code, text) = match key {
            "Tab" => (9, ""),
            "Enter" => (13, "\r"),
            "Escape" => (27, ""),
            other => panic!("{other} has no code here"),
        };
        for kind in ["keyDown", "keyUp"] {
            let mut event = json!({"type": kind, "key": key, "code": key, "windowsVirtualKeyCode": code});
            if kind == "keyDown" && !text.is_empty() {
                event["text"] = json!(text);
            }
            self.call("Input.dispatchKeyEvent", event);
        }
    }

    /// Presses Tab until the element of an expression has the focus, as a user without a mouse does.
    pub fn tab_to(&mut self, element: &str) {
        for _ in 0..40 {
            if self.value(&format!("document.activeElement === {element}")) == true {
                return;
            }
            self.press("Tab");
        }
        panic!("{element} is not reached by the keyboard");
    }

    /// Replaces the text in the field that has the focus.
    pub fn write(&mut self, text: &str) {
        self.value("document.activeElement.select()");
        self.call("Input.insertText", json!({"text": text}));
    }
}

impl Drop for Page {
    fn drop(&mut self) {
        // `kill` fails if Chromium has ended already, which does not matter here.
        let _ = self.browser.kill();
        let _ = self.browser.wait();
        self.guard.free(&self.browser);
    }
}

/// The parameters that request the value of an expression.
fn evaluation(expression: &str) -> Value {
    json!({"expression": expression, "returnByValue": true, "awaitPromise": true})
}
