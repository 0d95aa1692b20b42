//! Children that outlive the deletion path of their owner, with the garbage collector of Kubernetes: they stay during
//! the deletion path, whatever the propagation policy of the deletion is, and are then deleted or released, even if the
//! operator is killed meanwhile.

mod random;
mod vault;

use crate::cluster::until;
use serde_json::{Value, json};
use vault::{Cascade, FORMS, Form, LABEL, Vaults, installed, metadata};

#[test]
fn children_go_as_the_description_says_however_their_owner_is_deleted() {
    let Some(installed) = &installed() else { return };
    let vaults = Vaults::new(installed, "outliving", 0);
    let _operator = vaults.start();
    for cascade in Cascade::ALL {
        vaults.create(cascade.name(), &[cascade.name()], true);
    }
    for cascade in Cascade::ALL {
        let name = cascade.name();
        vaults.ready(name);
        // The deletion of a child requeues its owner, whose handler creates it again.
        for form in FORMS {
            vaults.delete_child(form, name);
        }
        until("all children are there again", || {
            let there = |form: &Form| vaults.child(*form, name).is_some();
            FORMS.iter().all(there).then_some(())
        });
        vaults.ready(name);
    }
    // These children never have an owner reference, not even between two writes, so the collector never deletes them.
    for form in [Form::Last, Form::Keep] {
        let applied = vaults.applied(form, Cascade::ALL[0].name());
        let label = format!("/f:metadata/f:labels/f:{}", LABEL.replace('/', "~1"));
        assert!(applied.pointer(&label).is_some(), "{form:?}: {applied}");
        assert_eq!(applied["f:metadata"].get("f:ownerReferences"), None, "{form:?}");
    }
    let uids: Vec<String> = Cascade::ALL
        .iter()
        .map(|cascade| vaults.uid(cascade.name()))
        .collect();
    for cascade in Cascade::ALL {
        vaults.delete(cascade.name(), cascade);
    }
    for cascade in Cascade::ALL {
        let name = cascade.name();
        vaults.saving(name);
        if cascade == Cascade::Foreground {
            until("the collector has taken the one with an owner reference", || {
                vaults.child(Form::Owner, name).is_none().then_some(())
            });
        }
        if cascade == Cascade::Orphan {
            until("the collector has taken the owner reference off", || {
                let child = vaults.child(Form::Owner, name)?;
                child["metadata"].get("ownerReferences").is_none().then_some(())
            });
        }
        for form in [Form::Last, Form::Keep] {
            assert!(
                vaults.child(form, name).is_some(),
                "{form:?} is there until the end"
            );
        }
    }
    // A child that was deleted before is no error.
    vaults.create_child(Form::Last, "extra", &uids[0], Cascade::ALL[0].name());
    vaults.delete_child(Form::Last, Cascade::ALL[0].name());
    for (cascade, uid) in Cascade::ALL.into_iter().zip(&uids) {
        let name = cascade.name();
        vaults.release(name);
        vaults.gone(name);
        assert!(
            vaults.child(Form::Last, name).is_none(),
            "it goes before its owner"
        );
        assert!(vaults.child(Form::Last, "extra").is_none());
        vaults.ends_before_its_owner(if cascade == Cascade::ALL[0] { "extra" } else { name }, name);
        vaults.is_released(Form::Keep, name, name, uid);
        if cascade == Cascade::Orphan {
            assert!(vaults.child(Form::Owner, name).is_some());
        } else {
            until("the collector has followed", || {
                vaults.child(Form::Owner, name).is_none().then_some(())
            });
        }
    }
    until("an event says what is kept", || {
        vaults
            .kubectl(&["get", "events", "-o", "jsonpath={.items[*].reason}"])
            .contains("Released")
            .then_some(())
    });
}

#[test]
fn what_is_left_behind_is_ended_when_the_operator_sees_it() {
    let Some(installed) = &installed() else { return };
    let vaults = Vaults::new(installed, "left-behind", 0);
    let operator = vaults.start();
    // A user removes the finalizer: from one object while the operator runs, and from the others while it does not.
    for name in ["watched", "unwatched", "again"] {
        vaults.create(name, &[name], true);
    }
    for name in ["watched", "unwatched", "again"] {
        vaults.ready(name);
    }
    let uids = ["watched", "unwatched"].map(|name| vaults.uid(name));
    let force = |name: &str| {
        vaults.delete(name, Cascade::Background);
        vaults.patch(
            &format!("vault/{name}"),
            &json!({"metadata": {"finalizers": null}}),
        );
        vaults.gone(name);
    };
    vaults.delete("watched", Cascade::Background);
    vaults.saving("watched");
    force("watched");
    let ended = |name: &str, uid: &str| {
        until("nothing is left of a vault but what is kept", || {
            let gone = |form| vaults.child(form, name).is_none();
            (gone(Form::Last) && gone(Form::Owner)).then_some(())
        });
        vaults.is_released(Form::Keep, name, name, uid);
    };
    ended("watched", &uids[0]);
    operator.kill();
    for name in ["unwatched", "again"] {
        force(name);
    }
    // The name is used again before the children of the former object are cleaned up.
    vaults.create("again", &["again-2", "again"], false);
    let operator = vaults.start();
    ended("unwatched", &uids[1]);
    until("the one that goes is made again for the new object", || {
        let child = vaults.child(Form::Last, "again-2")?;
        (metadata(&child, "labels") == vaults.uid("again")).then_some(())
    });
    // The kept child has no owner, so the new object does not get it.
    until("the new object says so", || {
        let vault = vaults.get("vault/again")?;
        let message = vault["status"]["message"].as_str()?;
        message.contains("is not a child of this object").then_some(())
    });
    // A user gives it to the new object.
    let uid = vaults.uid("again");
    vaults.patch(
        &format!("{}/again", vaults.plural(Form::Keep)),
        &json!({"metadata": {"labels": {vault::LABEL: uid}}}),
    );
    let again = json!({"metadata": {"annotations": {"last.example.com/requestedAt": "now"}}});
    vaults.patch("vault/again", &again);
    vaults.ready("again");

    // A handler's request that arrives after the end of its object.
    vaults.create("late", &["late"], false);
    vaults.ready("late");
    vaults.patch(
        "vault/late",
        &json!({"metadata": {"annotations": {"stray": "yes"}}}),
    );
    vaults.delete("late", Cascade::Background);
    vaults.gone("late");
    until("the late child was there", || {
        let log = std::fs::read_to_string(vaults.log()).unwrap_or_default();
        log.contains("the late child is applied").then_some(())
    });
    until("and is gone", || {
        vaults.child(Form::Last, "too-late").is_none().then_some(())
    });
    assert!(operator.terminate().success());
}

#[test]
fn a_changed_deletion_reaches_the_children_that_are_there_and_nothing_of_others() {
    let Some(installed) = &installed() else { return };
    let mut vaults = Vaults::new(installed, "changed", 0);
    let operator = vaults.start();
    vaults.create("one", &["one"], false);
    vaults.ready("one");
    operator.kill();
    let uid = vaults.uid("one");
    // The operator must not change these: one has no owner, and the other has another owner.
    vaults.create_foreign(&uid);
    let others = ["of-nobody", "of-others"].map(|name| vaults.any_child(name));
    for rotation in [1, 2, 0, 2] {
        vaults.rotation = rotation;
        // The object is paused, so its handler does not run: only the start of the operator changes the children.
        vaults.patch(
            "vault/one",
            &json!({"metadata": {"annotations": {"last.example.com/paused": "true"}}}),
        );
        let operator = vaults.start();
        until("all children say what the description says", || {
            let says = |form: &Form| {
                let child = vaults.child(*form, "one").expect("nothing takes it");
                let controller = child.pointer("/metadata/ownerReferences/0/uid");
                let labels = metadata(&child, "labels");
                match form {
                    Form::Owner => labels.is_empty() && controller == Some(&json!(uid)),
                    Form::Last | Form::Keep => labels == uid && controller.is_none(),
                }
            };
            FORMS.iter().all(says).then_some(())
        });
        vaults.patch(
            "vault/one",
            &json!({"metadata": {"annotations": {"last.example.com/paused": null}}}),
        );
        vaults.ready("one");
        operator.kill();
    }
    assert_eq!(
        ["of-nobody", "of-others"].map(|name| vaults.any_child(name)),
        others
    );
    let operator = vaults.start();
    vaults.delete("one", Cascade::Foreground);
    vaults.gone("one");
    vaults.is_released(Form::Keep, "one", "one", &uid);
    until("nothing else is left", || {
        let gone = |form| vaults.child(form, "one").is_none();
        (gone(Form::Last) && gone(Form::Owner)).then_some(())
    });
    assert!(operator.terminate().success());
}

#[test]
fn a_kill_around_each_write_loses_no_child_and_leaves_none() {
    let Some(installed) = &installed() else { return };
    let vaults = Vaults::new(installed, "kills", 0);
    let points = installed.cluster.dir().join("outliving.points");
    let faults = json!({"crashes": points, "everyWrite": true}).to_string();
    let start = || vaults.start_with(&[("KRATOR_FAULTS", &faults)]);
    let mut operator = start();
    let mut deaths = 0;
    let mut revive = || {
        if !operator.is_running() {
            deaths += 1;
            operator = start();
        }
    };
    vaults.create("one", &["a", "b"], false);
    until("the vault is ready", || {
        revive();
        vaults.is_ready("one").then_some(())
    });
    let uid = vaults.uid("one");
    vaults.delete("one", Cascade::Foreground);
    until("the vault is gone", || {
        revive();
        vaults.get("vault/one").is_none().then_some(())
    });
    for name in ["a", "b"] {
        until("nothing is left but what is kept", || {
            revive();
            let gone = |form| vaults.child(form, name).is_none();
            (gone(Form::Last) && gone(Form::Owner)).then_some(())
        });
        vaults.is_released(Form::Keep, name, "one", &uid);
    }
    let points = std::fs::read_to_string(points).expect("it has died");
    for write in [
        "before DELETE",
        "after DELETE",
        "before PATCH",
        "after PATCH",
        "[]",
    ] {
        assert!(points.contains(write), "{write}: {points}");
    }
    crate::cluster::say(&format!("{deaths} kills around writes"));
}

/// The value of a text field; empty if there is none.
fn text<'v>(value: &'v Value, path: &str) -> &'v str {
    value.pointer(path).and_then(Value::as_str).unwrap_or_default()
}
