//! From a keystroke to its findings: how long `krator lsp` takes from a changed text of 100 and 1,000 states to the findings about
//! it, over stdio.

use std::fmt::Write as _;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use serde_json::{Value, json};

/// A ring of states, each with a way to a failed one.
fn description(states: usize) -> String {
    let mut text = String::from(
        "krator: 1\nresource: {group: example.com, version: v1, kind: Big}\nspec: {size: integer}\n\
         machine: {initial: S0}\nstates:\n",
    );
    for at in 0..states {
        let next = (at + 1) % states;
        let _ = writeln!(
            text,
            "  S{at}:\n    doc: State number {at}.\n    next: [S{next}, Failed]\n    wait: {{poll: 30s}}\n    \
             timeout: {{after: 1h, to: Failed}}"
        );
    }
    text.push_str("  Failed: {kind: failed, next: [S0], wait: {poll: 1m}}\n");
    text
}

struct Editor {
    server: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
    version: u64,
}

impl Editor {
    fn start(text: &str) -> Editor {
        let mut server = Command::new(env!("CARGO_BIN_EXE_krator"))
            .arg("lsp")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("krator runs");
        let to = server.stdin.take().expect("piped");
        let from = BufReader::new(server.stdout.take().expect("piped"));
        let mut editor = Editor {
            server,
            to,
            from,
            version: 1,
        };
        let params = json!({"processId": null, "rootUri": null, "capabilities": {}});
        editor.send(&json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}));
        editor.receive();
        editor.send(&json!({"jsonrpc": "2.0", "method": "initialized", "params": {}}));
        let item = json!({"uri": "untitled:big", "languageId": "yaml", "version": 1, "text": text});
        editor.send(&json!({
            "jsonrpc": "2.0", "method": "textDocument/didOpen", "params": {"textDocument": item},
        }));
        editor.receive();
        editor
    }

    fn send(&mut self, message: &Value) {
        let text = message.to_string();
        write!(self.to, "Content-Length: {}\r\n\r\n{text}", text.len()).expect("krator reads");
        self.to.flush().expect("krator reads");
    }

    fn receive(&mut self) -> Value {
        let mut length = 0;
        loop {
            let mut line = String::new();
            self.from.read_line(&mut line).expect("krator writes");
            match line.trim_end().split_once(": ") {
                Some((_, value)) => length = value.parse().unwrap_or(length),
                None => break,
            }
        }
        let mut text = vec![0; length];
        self.from.read_exact(&mut text).expect("krator writes");
        serde_json::from_slice(&text).expect("JSON")
    }

    /// Replaces the text, and waits for its findings.
    fn change(&mut self, text: &str) -> Value {
        self.version += 1;
        let identifier = json!({"uri": "untitled:big", "version": self.version});
        let params = json!({"textDocument": identifier, "contentChanges": [{"text": text}]});
        self.send(&json!({"jsonrpc": "2.0", "method": "textDocument/didChange", "params": params}));
        self.receive()
    }
}

fn keystroke(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("keystroke");
    group.sample_size(20);
    for states in [100, 1_000] {
        let correct = description(states);
        let wrong = correct.replacen("[S7, ", "[S7x, ", 1);
        let mut editor = Editor::start(&correct);
        let found = editor.change(&wrong);
        assert_eq!(
            found["params"]["diagnostics"][0]["code"], "unknown-state",
            "{found}"
        );
        group.bench_with_input(
            BenchmarkId::from_parameter(states),
            &correct,
            |bencher, correct| {
                let mut texts = [correct, &wrong].into_iter().cycle();
                bencher.iter(|| texts.next().map(|text| editor.change(text)));
            },
        );
        editor.server.kill().expect("krator runs");
        editor.server.wait().expect("krator ends");
    }
    group.finish();
}

criterion_group!(benches, keystroke);
criterion_main!(benches);
