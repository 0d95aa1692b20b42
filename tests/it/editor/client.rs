//! A client of the language server.

use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

pub struct Client {
    server: Child,
    to: Option<ChildStdin>,
    from: BufReader<ChildStdout>,
    last: u64,
    /// The version of each open text.
    versions: BTreeMap<String, u64>,
    /// The latest findings of each text, with its version.
    published: BTreeMap<String, (u64, Vec<Value>)>,
}

impl Client {
    /// Starts a server and begins a session.
    pub fn start() -> Client {
        let mut server = Command::new(krator_tests::program())
            .arg("lsp")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("krator runs");
        let mut client = Client {
            to: server.stdin.take(),
            from: BufReader::new(server.stdout.take().expect("piped")),
            server,
            last: 0,
            versions: BTreeMap::new(),
            published: BTreeMap::new(),
        };
        let edit = json!({"documentChanges": true, "resourceOperations": ["rename"]});
        let capabilities = json!({"workspace": {"workspaceEdit": edit}});
        let answer = client.ask(
            "initialize",
            json!({"processId": null, "rootUri": null, "capabilities": capabilities}),
        );
        assert_eq!(answer["result"]["serverInfo"]["name"], "krator", "{answer}");
        client.tell("initialized", json!({}));
        client
    }

    fn send(&mut self, message: &Value) {
        let text = message.to_string();
        let to = self.to.as_mut().expect("the session has not ended");
        write!(to, "Content-Length: {}\r\n\r\n{text}", text.len()).expect("krator reads");
        to.flush().expect("krator reads");
    }

    fn receive(&mut self) -> Value {
        let mut length = 0;
        loop {
            let mut line = String::new();
            let read = self.from.read_line(&mut line).expect("krator writes");
            assert!(read > 0, "krator ended");
            match line.trim_end().split_once(": ") {
                Some(("Content-Length", value)) => length = value.parse().expect("a number"),
                Some(_) => {}
                None => break,
            }
        }
        let mut text = vec![0; length];
        self.from.read_exact(&mut text).expect("krator writes");
        serde_json::from_slice(&text).expect("JSON")
    }

    fn tell(&mut self, method: &str, params: Value) {
        self.send(&json!({"jsonrpc": "2.0", "method": method, "params": params}));
    }

    /// Sends a request and waits for its answer.
    pub fn ask(&mut self, method: &str, params: Value) -> Value {
        self.last += 1;
        let id = self.last;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        loop {
            let message = self.receive();
            if message["id"] == id {
                return message;
            }
            self.take(message);
        }
    }

    fn take(&mut self, message: Value) {
        assert_eq!(message["method"], "textDocument/publishDiagnostics", "{message}");
        let params = &message["params"];
        let findings = params["diagnostics"].as_array().expect("findings").clone();
        let (uri, version) = (params["uri"].as_str().expect("a URI"), params["version"].as_u64());
        self.published
            .insert(uri.to_owned(), (version.unwrap_or(0), findings));
    }

    /// Opens a text.
    pub fn open(&mut self, uri: &str, text: &str) {
        self.versions.insert(uri.to_owned(), 1);
        let item = json!({"uri": uri, "languageId": "yaml", "version": 1, "text": text});
        self.tell("textDocument/didOpen", json!({"textDocument": item}));
    }

    /// Replaces an open text.
    pub fn change(&mut self, uri: &str, text: &str) {
        let version = self.versions.get_mut(uri).expect("it is open");
        *version += 1;
        let identifier = json!({"uri": uri, "version": *version});
        let params = json!({"textDocument": identifier, "contentChanges": [{"text": text}]});
        self.tell("textDocument/didChange", params);
    }

    /// Waits for the findings about the present version of an open text.
    pub fn findings(&mut self, uri: &str) -> Vec<Value> {
        let wanted = self.versions[uri];
        loop {
            if let Some((version, findings)) = self.published.get(uri)
                && *version == wanted
            {
                return findings.clone();
            }
            let message = self.receive();
            self.take(message);
        }
    }

    /// Ends the session, as editors do.
    pub fn end(mut self) {
        let answer = self.ask("shutdown", Value::Null);
        assert!(answer["error"].is_null(), "{answer}");
        self.tell("exit", Value::Null);
        drop(self.to.take());
        let status = self.server.wait().expect("krator ends");
        assert!(status.success(), "{status}");
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        // Only needed after a failed test. After the end of a session this fails.
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

/// The URI of a file of the tests.
pub fn uri_of(path: &Path) -> String {
    format!("file://{}", path.to_str().expect("UTF-8").replace(' ', "%20"))
}

/// A text after edits in the form of the protocol.
pub fn applied(text: &str, edits: &Value) -> String {
    let offset = |position: &Value| {
        let number = |key: &str| position[key].as_u64().expect("a number") as usize;
        let start: usize = text
            .split_inclusive('\n')
            .take(number("line"))
            .map(str::len)
            .sum();
        let mut units = 0;
        let column = text[start..].char_indices().find(|(_, c)| {
            let is_there = units >= number("character");
            units += c.len_utf16();
            is_there
        });
        column.map_or(text.len(), |(at, _)| start + at)
    };
    let mut edits: Vec<(usize, usize, &str)> = edits
        .as_array()
        .expect("edits")
        .iter()
        .map(|edit| {
            let range = &edit["range"];
            (
                offset(&range["start"]),
                offset(&range["end"]),
                edit["newText"].as_str().expect("a text"),
            )
        })
        .collect();
    edits.sort();
    let mut out = text.to_owned();
    for (start, end, new) in edits.into_iter().rev() {
        out.replace_range(start..end, new);
    }
    out
}
