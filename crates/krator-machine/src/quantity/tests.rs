use super::*;

#[test]
fn quantities_are_written_in_canonical_form() {
    for (text, expected) in [
        ("0", "0"),
        ("0.0", "0"),
        ("00", "0"),
        ("1000m", "1"),
        ("0.5", "500m"),
        ("1.5", "1500m"),
        ("1.500", "1.500"),
        ("100m", "100m"),
        ("1500m", "1500m"),
        ("1024Mi", "1Gi"),
        ("1025Mi", "1025Mi"),
        ("0.5Gi", "512Mi"),
        ("1.5Gi", "1536Mi"),
        ("1Gi", "1Gi"),
        ("1e3", "1e3"),
        ("10e2", "1e3"),
        ("1000", "1k"),
        ("1000k", "1M"),
        ("128974848", "128974848"),
        ("129e6", "129e6"),
        ("129M", "129M"),
        ("0.1n", "1n"),
        ("0.5Ki", "512"),
        ("-5", "-5"),
        ("+5", "+5"),
        ("1E", "1E"),
    ] {
        assert_eq!(
            Amount::parse(text)
                .map(|quantity| quantity.to_string())
                .as_deref(),
            Ok(expected),
            "{text}"
        );
    }
}

#[test]
fn other_texts_are_refused() {
    for (text, message) in [
        ("", WRONG_FORMAT),
        ("abc", WRONG_FORMAT),
        ("1 Gi", WRONG_FORMAT),
        ("1gi", WRONG_FORMAT),
        ("1GI", WRONG_FORMAT),
        ("1Gim", WRONG_SUFFIX),
        ("1mm", WRONG_SUFFIX),
        ("-Ei", WRONG_NUMBER),
    ] {
        assert_eq!(Amount::parse(text).err(), Some(message), "{text}");
    }
}

#[test]
fn amounts_compare_whatever_their_form() {
    let parse = |text| Amount::parse(text).expect("a quantity");
    assert!(parse("1Gi") > parse("1G"));
    assert_eq!(parse("1000m"), parse("1"));
    assert!(parse("-1").is_negative() && !parse("0").is_negative());
    assert!(!parse("100m").is_whole() && parse("1Gi").is_whole());
    assert_eq!(parse("0.0001").rounded_up(-3).to_string(), "1m");
    assert!(parse("1e2147483647") > parse("9E") && parse("-1e2147483647") < parse("1n"));
}

#[test]
fn amounts_are_exact_numbers() {
    let parse = |text| Amount::parse(text).expect("a quantity");
    assert_eq!(parse("0.1").millis(), Some(100));
    assert_eq!(parse("1.5Gi").whole(), Some(3 << 29));
    assert_eq!((parse("1m").whole(), parse("1u").millis()), (None, None));
    assert_eq!(parse("1m").rounded_up(0).whole(), Some(1));
    assert_eq!(parse("-1m").rounded_up(0).whole(), Some(-1));
    assert_eq!(parse("12E").whole(), Some(12_000_000_000_000_000_000));
    assert_eq!(parse("1e2147483647").whole(), None);
    assert!((parse("100m").to_f64() - 0.1).abs() < f64::EPSILON);
    assert_eq!(Amount::bytes(5 << 30).to_string(), "5Gi");
    assert_eq!(Amount::units(5_000_000).to_string(), "5M");
    assert_eq!(Amount::thousandths(1500).to_string(), "1500m");
}

#[test]
fn sums_are_exact_or_none() {
    let parse = |text| Amount::parse(text).expect("a quantity");
    let sum = |a, b| parse(a).checked_add(&parse(b)).map(|sum| sum.to_string());
    assert_eq!(sum("0.1", "0.2").as_deref(), Some("300m"));
    assert_eq!(sum("1Gi", "1").as_deref(), Some("1073741825"));
    assert_eq!(sum("0", "1e2147483647").as_deref(), Some("10e2147483646"));
    assert_eq!(sum("1n", "1e2147483647"), None);
    let difference = parse("1Gi").checked_sub(&parse("512Mi"));
    assert_eq!(difference.expect("it is small").to_string(), "512Mi");
    // Kubernetes writes this one without its suffix.
    let product = parse("999E").checked_mul(1000);
    assert_eq!(product.expect("it is small").to_string(), "999000E");
    let digits = "9".repeat(36);
    assert_eq!(parse(&digits).to_string(), digits);
    assert_eq!(parse(&digits).checked_mul(2), None);
    assert_eq!(
        Amount::parse(&"9".repeat(37)).err(),
        Some(Amount::TOO_MANY_DIGITS)
    );
}

#[test]
fn amounts_have_the_form_in_which_kubernetes_reads_them() {
    let form = |text| Amount::parse(text).expect("a quantity").as_read();
    assert_eq!(
        (form("1"), form("1000m"), form("1.0")),
        ((1, 0, true), (1000, -3, true), (10, -1, true))
    );
    assert_eq!(
        (form("1Gi"), form("1.0Ki")),
        ((1 << 30, 0, true), (10240, -1, false))
    );
    assert!(!form("1234567890123456789").2);
}

#[test]
fn an_exponent_costs_no_time() {
    for (text, expected) in [
        ("1e-2147483648", "1e-9"),
        ("-7e-2147483648", "-1e-9"),
        ("10e2147483647", "100e2147483646"),
        ("1e2147483647", "10e2147483646"),
    ] {
        let amount = Amount::parse(text).expect("a quantity");
        assert_eq!(amount.to_string(), expected);
    }
}
