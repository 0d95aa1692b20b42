use super::*;

const LIFE: Duration = Duration::from_secs(60);

fn names() -> Names {
    Names::of("moose", "forest")
}

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_second(1_800_000_000 + seconds).expect("a time")
}

/// The contents of the Secret after a replica has read it once a second until this time, with the times of the steps.
fn kept_until(end: i64, trusted: impl Fn(i64) -> bool) -> (CertificateSet, Vec<(i64, &'static str)>) {
    let mut set = CertificateSet::new(None, &names(), LIFE, at(0)).expect("keys");
    let mut steps = Vec::new();
    for now in 0..end {
        let before = set.clone();
        if let Some((next, what)) = set.next(&names(), LIFE, at(now), trusted(now)).expect("keys") {
            set = next;
            steps.push((now, what));
        }
        // A client with either bundle accepts either leaf.
        for (bundle, leaf) in [(&before, &set), (&set, &before)] {
            let trusts = leaf.verify(&bundle.cas, &names(), at(now));
            assert!(trusts.is_ok(), "at {now}: {trusts:?}");
        }
        let read = CertificateSet::read(&set.data(), &names(), at(now));
        assert_eq!(read.expect("what was written can be read"), set);
    }
    (set, steps)
}

#[test]
fn leaves_and_authorities_are_renewed_with_an_overlap() {
    let (_, steps) = kept_until(420, |_| true);
    let (renewed, announced, removed) = (
        "renewed the certificate of the webhooks",
        "announced a new certificate authority of the webhooks",
        "removed the former certificate authority of the webhooks",
    );
    let expected = [
        (41, renewed),
        (82, renewed),
        (123, renewed),
        (161, announced),
        (166, renewed),
        (181, removed),
        (207, renewed),
        (248, renewed),
        (289, renewed),
        (322, announced),
        (327, renewed),
        (342, removed),
        (368, renewed),
        (409, renewed),
    ];
    assert_eq!(steps, expected);
}

#[test]
fn no_leaf_of_an_authority_is_used_that_the_api_server_does_not_know() {
    // From the announcement on, nobody can write the configurations for 15 s.
    let (_, steps) = kept_until(200, |now| !(160..175).contains(&now));
    let after: Vec<i64> = steps.iter().map(|(at, _)| *at).filter(|at| *at > 150).collect();
    assert_eq!(after, [161, 175, 181]);
}

#[test]
fn a_lost_secret_becomes_a_new_authority_beside_the_old_one() {
    let set = CertificateSet::new(None, &names(), LIFE, at(0)).expect("keys");
    let made = CertificateSet::new(Some(&set), &names(), LIFE, at(10)).expect("keys");
    assert_eq!((made.cas.len(), &made.leaf), (2, &set.leaf));
    let late = CertificateSet::new(Some(&set), &names(), LIFE, at(70)).expect("keys");
    assert!(
        late.verify(&late.cas, &names(), at(70)).is_ok(),
        "the leaf before has expired"
    );
    let (next, _) = made
        .next(&names(), LIFE, at(16), true)
        .expect("keys")
        .expect("a leaf of the new one");
    assert!(next.verify(&next.cas[..1], &names(), at(16)).is_ok());
}

#[test]
fn what_cannot_be_used_is_told() {
    let set = CertificateSet::new(None, &names(), LIFE, at(0)).expect("keys");
    let other = CertificateSet::new(None, &names(), LIFE, at(0)).expect("keys");
    let damaged = |change: &dyn Fn(&mut CertificateSet)| {
        let mut set = set.clone();
        change(&mut set);
        CertificateSet::read(&set.data(), &names(), at(0)).is_err()
    };
    assert!(!damaged(&|_| ()));
    assert!(damaged(&|set| set.cas.clone_from(&other.cas)));
    assert!(damaged(&|set| set.cas[0] = "garbage".to_owned()));
    assert!(damaged(&|set| set.ca_key.clear()));
    assert!(damaged(&|set| set.leaf_key.clone_from(&other.leaf_key)));
    assert!(damaged(&|set| set.leaf.clone_from(&other.leaf)));
    assert!(CertificateSet::read(&BTreeMap::new(), &names(), at(0)).is_err());
    assert!(
        CertificateSet::read(&set.data(), &names(), at(61)).is_err(),
        "it has expired"
    );
    let elsewhere = Names::of("moose", "tundra");
    assert!(
        CertificateSet::read(&set.data(), &elsewhere, at(0)).is_err(),
        "another namespace"
    );
}
