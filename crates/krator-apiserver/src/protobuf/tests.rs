use super::*;

/// Objects of all kinds with values in all fields, as Go encodes them: the type, protobuf in base64, and JSON.
const SAMPLES: &str = include_str!("samples.txt");

struct Sample {
    body: Vec<u8>,
    json: Json,
}

/// A field of bytes, whose length fits into two bytes of a varint.
fn field(number: u8, bytes: &[u8]) -> Vec<u8> {
    let mut field = vec![number << 3 | 2];
    let mut length = bytes.len();
    while length >= 0x80 {
        field.push(u8::try_from(length & 0x7f).expect("seven bits") | 0x80);
        length >>= 7;
    }
    field.push(u8::try_from(length).expect("seven bits"));
    field.extend(bytes);
    field
}

fn body(api_version: &str, kind: &str, raw: &[u8]) -> Vec<u8> {
    let names = [field(1, api_version.as_bytes()), field(2, kind.as_bytes())].concat();
    [
        PREFIX.to_vec(),
        field(1, &names),
        field(2, raw),
        field(3, b""),
        field(4, b""),
    ]
    .concat()
}

fn samples() -> impl Iterator<Item = Sample> {
    SAMPLES.lines().map(|line| {
        let mut words = line.splitn(3, ' ');
        let mut word = || words.next().expect("three words a line");
        let (name, raw, json) = (word(), word(), word());
        let (package, kind) = name.split_once('.').expect("a package and a kind");
        let api_version = package.strip_prefix("core/").unwrap_or(package);
        let raw = STANDARD.decode(raw).expect("base64");
        let mut json: Json = serde_json::from_str(json).expect("JSON");
        json["apiVersion"] = api_version.into();
        json["kind"] = kind.into();
        Sample {
            body: body(api_version, kind, &raw),
            json,
        }
    })
}

/// Removes values that Go omits only in JSON or only in protobuf. Returns whether the value is empty.
fn without_empty(value: &mut Json) -> bool {
    match value {
        Json::Object(fields) => {
            fields.retain(|_, field| !without_empty(field));
            fields.is_empty()
        }
        Json::Array(items) => {
            for item in items.iter_mut() {
                without_empty(item);
            }
            items.is_empty()
        }
        Json::Null | Json::Bool(false) => true,
        Json::String(text) => text.is_empty(),
        Json::Number(number) => number.as_f64() == Some(0.0),
        Json::Bool(true) => false,
    }
}

#[test]
fn every_kind_is_read_as_go_reads_it() {
    for Sample {
        body,
        json: mut expected,
    } in samples()
    {
        let mut found = read(&body).unwrap_or_else(|refusal| panic!("{}: {refusal}", expected["kind"]));
        without_empty(&mut found);
        without_empty(&mut expected);
        assert_eq!(found, expected);
    }
    // There are samples of all kinds, and of the options of requests.
    assert!(samples().count() > crate::builtin::kinds().len());
}

#[test]
fn bytes_that_are_no_object_are_refused() {
    let deep = (0..200).fold(field(1, b"x"), |inner, _| field(1, &inner));
    let cases: [(&str, Vec<u8>, u16, &str); 10] = [
        ("nothing", vec![], 400, "empty data"),
        ("only the prefix", PREFIX.to_vec(), 400, "empty body"),
        (
            "JSON",
            b"{}".to_vec(),
            400,
            "provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]",
        ),
        ("no kind", [PREFIX.to_vec(), field(2, b"")].concat(), 501, ""),
        (
            "unknown kind",
            body("v1", "Nothing", b""),
            400,
            "no kind \"Nothing\" is registered for version \"v1\"",
        ),
        (
            "cut off",
            body("v1", "Pod", &[0x0a, 0x05, 0x00]),
            400,
            "unexpected EOF",
        ),
        (
            "long number",
            body("v1", "Pod", &[0xff; 11]),
            400,
            "proto: integer overflow",
        ),
        (
            "group",
            body("v1", "Pod", &[0x0b]),
            400,
            "proto: illegal wireType 3",
        ),
        (
            "number for a message",
            body("v1", "Pod", &[0x08, 0x01]),
            400,
            "proto: wrong wireType = 0",
        ),
        (
            "unknown fields within each other",
            body("v1", "ConfigMap", &field(15, &deep)),
            0,
            "",
        ),
    ];
    for (name, body, code, message) in cases {
        match read(&body) {
            Ok(_) => assert_eq!(code, 0, "{name} was read"),
            Err(refusal) => {
                assert_eq!(refusal.code, code, "{name}: {refusal}");
                assert!(
                    message.is_empty() || refusal.message == message,
                    "{name}: {refusal}"
                );
            }
        }
    }
}

#[test]
fn every_group_has_options_of_deletion() {
    let options = body("apps/v1", "DeleteOptions", &field(5, b"All"));
    let read = read(&options).expect("options");
    assert_eq!(
        read,
        serde_json::json!({"apiVersion": "apps/v1", "kind": "DeleteOptions", "dryRun": ["All"]})
    );
}

#[test]
fn the_last_value_counts_and_messages_are_merged() {
    let metadata = |fields: &[u8]| field(1, fields);
    let twice = [
        metadata(&field(1, b"first")),
        metadata(&[field(3, b"there"), field(1, b"last")].concat()),
    ]
    .concat();
    let read = read(&body("v1", "ConfigMap", &twice)).expect("a config map");
    assert_eq!(
        read["metadata"],
        serde_json::json!({"name": "last", "namespace": "there"})
    );
}

/// SplitMix64: the same seed gives the same mutations.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        let end = u64::try_from(end).expect("usize fits");
        usize::try_from((z ^ (z >> 31)) % end.max(1)).expect("it is below the end")
    }
}

#[test]
fn hostile_bytes_are_read_or_refused() {
    let samples: Vec<Sample> = samples().collect();
    let mut random = Random(7);
    let mut refused = 0;
    for round in 0..4000 {
        let mut body = samples[round % samples.len()].body.clone();
        for _ in 0..=random.below(4) {
            let at = random.below(body.len());
            match random.below(4) {
                0 => body[at] = u8::try_from(random.below(256)).expect("a byte"),
                1 => body[at] ^= 1 << random.below(8),
                2 => body.truncate(at),
                _ => {
                    let other = &samples[random.below(samples.len())].body;
                    body.splice(
                        at..at,
                        other[random.below(other.len())..].iter().copied().take(20),
                    );
                }
            }
            if body.is_empty() {
                break;
            }
        }
        refused += usize::from(read(&body).is_err());
    }
    assert!((500..3999).contains(&refused), "{refused} of 4000 were refused");
}
