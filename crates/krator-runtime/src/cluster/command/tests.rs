//! Tests of the command line of operators.

use super::{log::fields, *};
use tracing_subscriber::fmt;

const ABOUT: About = About {
    name: "moose-operator",
    version: "0.1.0",
    about: "Looks after moose",
    crd: "",
};

/// It has the name of a struct of krator's.
#[derive(Args, Debug, PartialEq)]
struct RunArgs {
    /// The weather station to ask
    #[arg(long)]
    station: String,
}

/// Hostile texts of all lengths, the same in each run.
fn hostile() -> impl Iterator<Item = String> {
    let parts = [
        "\n",
        "\r\n",
        "\u{1b}[31m",
        "\u{1b}]0;x\u{7}",
        "\u{202e}",
        "\0",
        "\"",
        "'",
        "\\",
        "{}",
        "%s",
        "\u{9b}",
        "\u{2028}",
        "\u{feff}",
        "é",
        "INFO fake",
        " ",
    ];
    let mut dice: u64 = 1;
    (0..2_000_u64).map(move |at| {
        let length = if at % 100 == 0 { 10_000 } else { at % 20 };
        let part = |_| {
            dice = dice
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            parts[(dice >> 33) as usize % parts.len()]
        };
        (0..length).map(part).collect()
    })
}

#[derive(Clone, Default)]
struct Log(std::sync::Arc<std::sync::Mutex<Vec<u8>>>);

impl std::io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().expect("a lock").write(bytes)
    }
    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[test]
fn no_text_breaks_out_of_its_line_of_the_log() {
    for is_coloured in [false, true] {
        let written = Log::default();
        let writer = written.clone();
        let log = fmt()
            .with_ansi(is_coloured)
            .with_writer(move || writer.clone())
            .fmt_fields(fields())
            .finish();
        tracing::subscriber::with_default(log, || {
            for text in hostile() {
                let error = Error::from(text.clone());
                let span = tracing::info_span!("update", object = text, entry = %text);
                span.in_scope(
                    || tracing::warn!(%error, namespace = text, ?text, "the handler failed: {text}"),
                );
            }
        });
        let mut log = String::from_utf8(written.0.lock().expect("a lock").clone()).expect("text");
        if is_coloured {
            // The colours of the log itself.
            for colour in ["[0m", "[1m", "[2m", "[3m", "[33m"] {
                log = log.replace(&format!("\u{1b}{colour}"), "");
            }
        }
        assert_eq!(log.lines().count(), 2_000);
        assert!(!log.replace('\n', "").contains(crate::text::is_unprintable));
    }
}

fn asked(line: &str) -> Result<Command<RunArgs>, clap::Error> {
    let words = ["moose-operator"].into_iter().chain(line.split_whitespace());
    read(&ABOUT, words.map(OsString::from))
}

#[test]
fn arguments_of_the_author_stand_beside_those_of_krator() {
    for line in [
        "--station arctic --namespace a --namespace b",
        "run --namespace a --station arctic --namespace b",
    ] {
        let Ok(Command::Run(run, own)) = asked(line) else {
            panic!("{line:?} runs the operator");
        };
        assert_eq!(own.station, "arctic", "{line:?}");
        assert_eq!(run.namespace, ["a", "b"], "{line:?}");
    }
    assert!(matches!(asked("crd"), Ok(Command::Crd)), "it needs no station");
    for line in ["", "run"] {
        let missing = asked(line).expect_err("the station is required");
        assert_eq!(missing.exit_code(), 2, "{line:?}");
        assert!(missing.to_string().contains("--station"), "{missing}");
    }
    for line in ["--help", "run --help"] {
        let help = asked(line).expect_err("help ends the program").to_string();
        for shown in ["--station", "The weather station to ask", "--selector"] {
            assert!(help.contains(shown), "{line:?}: {help}");
        }
    }
}

#[test]
fn without_own_arguments_none_is_taken() {
    let words = |line: &str| line.split_whitespace().map(OsString::from).collect::<Vec<_>>();
    assert!(read::<NoArgs>(&ABOUT, words("moose-operator")).is_ok());
    assert!(read::<NoArgs>(&ABOUT, words("moose-operator --station arctic")).is_err());
    clap::Command::debug_assert(NoArgs::augment_args(super::RunArgs::augment_args(
        clap::Command::new("moose-operator"),
    )));
}
