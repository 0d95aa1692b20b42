//! Random quantities, parsed, formatted, compared and added by the runtime and by the library of Kubernetes:
//! `tools/quantity`.

use crate::cluster::say;
use crate::dice::{Dice, number};
use krator_runtime::Amount;
use std::io::Write as _;
use std::process::{Command, Stdio};

const SUFFIXES: [&str; 17] = [
    "", "n", "u", "m", "k", "M", "G", "T", "P", "E", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei", "e",
];

#[test]
fn random_quantities_are_what_kubernetes_makes_of_them() {
    let mut dice = Dice::new(number("KRATOR_SEED", 7));
    let texts: Vec<String> = (0..number("KRATOR_QUANTITIES", 20_000))
        .map(|_| text(&mut dice))
        .collect();
    let Some(answers) = answers(&texts) else {
        return;
    };
    let (mut before, mut read, mut refused) = (Amount::units(0), 0, 0);
    // Only the runtime refuses amounts with more digits than Rust's integers.
    let mut is_known = true;
    for (text, answer) in texts.iter().zip(&answers) {
        let fields: Vec<&str> = answer.split('\t').collect();
        let amount = match (Amount::parse(text), &fields[..]) {
            (Err(why), [expected]) => {
                assert_eq!(why, *expected, "{text}");
                refused += 1;
                continue;
            }
            (Err(_), _) if text.bytes().filter(u8::is_ascii_digit).count() > 17 => {
                is_known = false;
                continue;
            }
            (Ok(amount), [_, _, _, _, _, _]) => amount,
            (ours, theirs) => panic!("{text}: {ours:?} and {theirs:?}"),
        };
        read += 1;
        // Beyond the last suffix, Kubernetes writes none, which changes the number.
        let is_same =
            |ours: String, theirs: &str| ours == theirs || ours.ends_with('E') && !theirs.ends_with('E');
        assert!(
            is_same(amount.to_string(), fields[0]),
            "{text}: {amount}, not {}",
            fields[0]
        );
        let zero = Amount::units(0);
        let canonical = amount.checked_add(&zero).expect("it is as small as before");
        assert!(
            is_same(canonical.to_string(), fields[1]),
            "{text}: {canonical}, not {}",
            fields[1]
        );
        assert_eq!(
            Amount::parse(&canonical.to_string()).as_ref(),
            Ok(&amount),
            "{text}"
        );
        // Rust's integers have 38 digits.
        let whole = match amount.whole() {
            None if fields[2].len() > 38 => Some(fields[2].to_owned()),
            whole => whole.map(|whole| whole.to_string()),
        };
        assert_eq!(whole.unwrap_or_default(), fields[2], "{text}");
        let nearest: f64 = fields[3].parse().expect("a number");
        let is_near = |ours: f64| ours == nearest || (ours - nearest).abs() <= nearest.abs() * 1e-15;
        assert!(
            is_near(amount.to_f64()),
            "{text}: {}, not {nearest}",
            amount.to_f64()
        );
        if is_known {
            let order = before.cmp(&amount) as i32;
            assert_eq!(order.to_string(), fields[4], "{before} and {text}");
            if let Some(sum) = before.checked_add(&amount) {
                assert!(
                    is_same(sum.to_string(), fields[5]),
                    "{before} and {text}: {sum}, not {}",
                    fields[5]
                );
            }
        }
        (before, is_known) = (amount, true);
    }
    say(&format!("quantities: {read} read, {refused} refused alike"));
    assert!(
        read > texts.len() / 2 && refused > texts.len() / 50,
        "{read}, {refused}"
    );
}

/// A text that is mostly a valid quantity.
fn text(dice: &mut Dice) -> String {
    let mut text = (*dice.among(&["", "", "", "-", "+"])).to_owned();
    let longest = *dice.among(&[1, 3, 6, 19, 25]);
    for _ in 0..dice.below(longest + 1) {
        text.push(*dice.among(&['0', '0', '1', '2', '4', '5', '8', '9']));
    }
    if dice.one_in(3) {
        text.push('.');
        for _ in 0..dice.below(13) {
            text.push(*dice.among(&['0', '0', '1', '5', '9']));
        }
    }
    text.push_str(dice.among::<&str>(&SUFFIXES));
    if text.ends_with(['e', 'E']) && dice.one_in(2) {
        text += &format!("{}{}", dice.among(&["", "-", "+"]), dice.below(30));
    }
    // Not an `E`, which could create an exponent with many digits: Kubernetes computes all zeros of it.
    if dice.one_in(30) {
        text.insert(
            dice.below(text.len() + 1),
            *dice.among(&['i', 'x', '.', ' ', '-', 'k', 'é']),
        );
    }
    text
}

/// The answers of the library of Kubernetes, one line for each text. None without Go.
fn answers(texts: &[String]) -> Option<Vec<String>> {
    let go = Command::new("go")
        .args(["run", "./quantity"])
        .current_dir(krator_tests::root().join("tools"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn();
    let Ok(mut go) = go else {
        say("quantities: skipped: there is no Go");
        return None;
    };
    let mut input = go.stdin.take().expect("it is piped");
    let lines = texts.join("\n") + "\n";
    let writer = std::thread::spawn(move || input.write_all(lines.as_bytes()));
    let output = go.wait_with_output().expect("it ends with its input");
    writer.join().expect("it does not panic").expect("it reads all");
    assert!(output.status.success(), "go run ./quantity");
    let answers = String::from_utf8(output.stdout).expect("its answers are text");
    let answers: Vec<String> = answers.lines().map(str::to_owned).collect();
    assert_eq!(answers.len(), texts.len());
    Some(answers)
}
