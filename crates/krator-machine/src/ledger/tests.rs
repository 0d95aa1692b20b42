use super::*;
use crate::dice::Dice;

fn place(limit: u16, of: &str) -> Place {
    Place {
        limit,
        of: Some(of.into()),
    }
}

fn holds(places: &[Place]) -> Claim {
    Claim {
        holds: places.to_vec(),
        wish: None,
    }
}

fn wishes(places: &[Place], since: i64) -> Claim {
    let since = Timestamp::from_second(since).expect("a time");
    let places = places.to_vec();
    Claim {
        holds: Vec::new(),
        wish: Some(Wish { places, since }),
    }
}

fn report(ledger: &mut Ledger<u32>, key: u32, version: u64, claim: Claim, is_unsure: bool) -> Vec<u32> {
    ledger.report(
        &key,
        Report {
            name: "",
            version,
            claim,
            is_unsure,
        },
    )
}

#[test]
fn who_has_waited_longest_is_first_and_nobody_before_all_are_known() {
    let mut ledger = Ledger::new(vec![2]);
    let all = [place(0, "")];
    for (key, since) in [(1, 30), (2, 10), (3, 20)] {
        assert!(report(&mut ledger, key, 1, wishes(&all, since), false).is_empty());
    }
    assert_eq!(ledger.complete(), [2, 3]);
    assert!(ledger.has_turn(&2) && !ledger.has_turn(&1));
    assert_eq!(ledger.counts(), [(2, 1)]);
    // One of them enters, and the other one withdraws.
    assert!(report(&mut ledger, 2, 2, holds(&all), false).is_empty());
    assert_eq!(report(&mut ledger, 3, 2, Claim::default(), false), [1]);
    assert_eq!(ledger.turns().collect::<Vec<_>>(), [&1]);
}

#[test]
fn a_place_is_kept_for_a_write_of_which_nobody_knows_how_it_ended() {
    let mut ledger = Ledger::new(vec![1]);
    ledger.complete();
    let all = [place(0, "")];
    assert_eq!(report(&mut ledger, 1, 5, wishes(&all, 0), false), [1]);
    report(&mut ledger, 2, 1, wishes(&all, 1), false);
    report(&mut ledger, 1, 5, holds(&all), true);
    // The process has resumed it in its former state, and the write may still arrive.
    assert!(report(&mut ledger, 1, 5, Claim::default(), false).is_empty());
    assert_eq!(report(&mut ledger, 1, 6, Claim::default(), false), [2]);
}

#[test]
fn a_full_zone_holds_up_nobody_else_and_an_unknown_one_counts_everywhere() {
    let mut ledger = Ledger::new(vec![3, 1]);
    ledger.complete();
    let in_zone = |zone: &str| [place(0, ""), place(1, zone)];
    assert_eq!(report(&mut ledger, 1, 1, wishes(&in_zone("a"), 0), false), [1]);
    assert!(report(&mut ledger, 2, 1, wishes(&in_zone("a"), 1), false).is_empty());
    assert_eq!(report(&mut ledger, 3, 1, wishes(&in_zone("b"), 2), false), [3]);
    let unknown = Place { limit: 1, of: None };
    report(&mut ledger, 4, 1, holds(&[unknown]), false);
    assert!(report(&mut ledger, 5, 1, wishes(&in_zone("c"), 3), false).is_empty());
    assert!(ledger.forget(&3).is_empty());
    assert_eq!(ledger.forget(&4), [5]);
    assert_eq!(ledger.forget(&1), [2]);
    assert!(ledger.forget(&1).is_empty());
}

/// The incremental counts equal a count of all objects.
#[test]
fn the_counts_are_those_of_all_objects() {
    let mut dice = Dice(1);
    let mut ledger = Ledger::new(vec![2, 1]);
    ledger.complete();
    for version in 0..20_000 {
        let key = u32::try_from(dice.below(8)).expect("small");
        let zone = if dice.one_in(2) { "a" } else { "b" };
        let places = [place(0, ""), place(1, zone)];
        let claim = match dice.below(4) {
            0 => Claim::default(),
            1 if ledger.has_turn(&key) => holds(&places),
            _ => wishes(&places, i64::try_from(dice.below(50)).expect("small")),
        };
        let is_unsure = dice.one_in(9);
        if dice.one_in(20) {
            ledger.forget(&key);
        } else {
            report(&mut ledger, key, version / 3, claim, is_unsure);
        }
        let mut counted: BTreeMap<Place, u32> = BTreeMap::new();
        for place in ledger.objects.values().flat_map(LedgerEntry::takes) {
            *counted.entry(place).or_default() += 1;
        }
        assert_eq!(counted, ledger.taken);
        let line = |known: &LedgerEntry| known.wish.is_some() && known.turn.is_none();
        let waiting = ledger.objects.values().filter(|known| line(known)).count();
        assert_eq!(waiting, ledger.waiting.values().map(BTreeSet::len).sum::<usize>());
        let free = |known: &LedgerEntry| {
            known
                .wish
                .iter()
                .flat_map(|wish| &wish.places)
                .all(|place| ledger.is_free(place))
        };
        assert!(!ledger.objects.values().any(|known| line(known) && free(known)));
    }
}
