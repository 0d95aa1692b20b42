//! The decisions of a simulation: they are drawn from a seed, and as many as possible are removed when it fails.

use super::network::Faults;
use crate::dice::Dice;
use std::fmt;
use std::time::Duration;

/// The deployment of an operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deployment {
    /// One replica, which acts at once.
    Alone,
    /// This number of replicas, of which the holder of a Lease acts.
    Elected(usize),
    /// This number of replicas that all act, by mistake.
    Rivals(usize),
}

impl Deployment {
    /// The number of replicas.
    pub fn replicas(self) -> usize {
        match self {
            Deployment::Alone => 1,
            Deployment::Elected(replicas) | Deployment::Rivals(replicas) => replicas,
        }
    }

    /// The number of replicas that act at once.
    pub fn acting(self) -> usize {
        match self {
            Deployment::Alone | Deployment::Elected(_) => 1,
            Deployment::Rivals(replicas) => replicas,
        }
    }
}

/// The operations of users on the objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum People {
    /// They create, change and delete objects of all kinds, whose handlers choose states at random.
    CreateAndDelete,
    /// They edit the fields of objects that are otherwise at rest.
    Edit,
    /// They create, change and delete objects whose handlers change the state at once, most of them in a loop.
    Spin,
}

/// The scenario of a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scenario {
    /// One replica, whose objects users create, change and delete.
    Alone,
    /// Two or three replicas, of which one acts.
    Elected,
    /// Two replicas that both act.
    Rivals,
    /// Objects that are at rest until their spec is edited.
    Edited,
    /// Objects that never rest, because their handlers do not stay.
    Spinning,
}

/// A complete run. The same run has the same requests.
#[derive(Clone, Debug)]
pub struct Run {
    pub seed: u64,
    pub deployment: Deployment,
    pub people: People,
    /// The clock error of each replica, in seconds.
    pub clocks: Vec<i64>,
    pub faults: Faults,
    /// Sorted by time.
    pub steps: Vec<Step>,
}

/// An event at a time after the beginning.
#[derive(Clone, Debug)]
pub struct Step {
    pub at: Duration,
    pub act: Act,
}

/// The events. A `length` is a duration. Objects are given by the number of their kind and their own number.
#[derive(Clone, Debug)]
pub enum Act {
    Kill {
        replica: usize,
        length: Duration,
    },
    Stop {
        replica: usize,
        length: Duration,
    },
    Freeze {
        replica: usize,
        length: Duration,
    },
    CutOff {
        replica: usize,
        length: Duration,
    },
    RestartServer {
        length: Duration,
    },
    Create {
        kind: usize,
        object: usize,
    },
    Delete {
        kind: usize,
        object: usize,
    },
    Change {
        kind: usize,
        object: usize,
        number: usize,
    },
}

/// The number of objects of each kind.
pub const OBJECTS: usize = 3;

impl Run {
    /// The run of a scenario and a seed, with objects of this number of kinds.
    pub fn of(scenario: Scenario, seed: u64, kinds: usize) -> Run {
        let mut dice = Dice::new(seed);
        let elected = Deployment::Elected(2 + dice.below(2));
        let (deployment, people) = match scenario {
            Scenario::Alone => (Deployment::Alone, People::CreateAndDelete),
            Scenario::Elected => (elected, People::CreateAndDelete),
            Scenario::Rivals => (Deployment::Rivals(2), People::CreateAndDelete),
            Scenario::Edited if dice.one_in(2) => (Deployment::Alone, People::Edit),
            Scenario::Edited => (elected, People::Edit),
            Scenario::Spinning => (Deployment::Alone, People::Spin),
        };
        let replicas = deployment.replicas();
        let off = [0, 0, 3600, -3600, 90, -90, 86_400];
        let clocks = (0..replicas).map(|_| *dice.among(&off)).collect();
        let length = match deployment {
            Deployment::Elected(_) => Duration::from_secs(150),
            Deployment::Alone | Deployment::Rivals(_) => Duration::from_secs(90),
        };
        let mut steps = Vec::new();
        let mut at = Duration::ZERO;
        while at < length {
            at += millis(&mut dice, 2000);
            let (kind, object) = (dice.below(kinds), dice.below(OBJECTS));
            let number = dice.below(1000);
            let act = match (people, dice.below(17)) {
                (People::Edit, _) | (_, 8..) => Act::Change { kind, object, number },
                (People::CreateAndDelete | People::Spin, ..=3) => Act::Delete { kind, object },
                (People::CreateAndDelete | People::Spin, _) => Act::Create { kind, object },
            };
            // Deleted objects are often created again with the same name, while requests about the former object are in
            // flight.
            if let Act::Delete { kind, object } = act
                && dice.one_in(2)
            {
                let at = at + millis(&mut dice, 15_000);
                steps.push(Step {
                    at,
                    act: Act::Create { kind, object },
                });
            }
            steps.push(Step { at, act });
        }
        let mut at = Duration::ZERO;
        loop {
            at += Duration::from_secs(1) + millis(&mut dice, 20_000);
            if at > length {
                break;
            }
            let replica = dice.below(replicas);
            let act = match dice.below(11) {
                ..=3 => Act::Kill {
                    replica,
                    length: millis(&mut dice, 5000),
                },
                4 => Act::Stop {
                    replica,
                    length: millis(&mut dice, 5000),
                },
                5..=7 => Act::Freeze {
                    replica,
                    length: millis(&mut dice, 25_000),
                },
                8 | 9 => Act::CutOff {
                    replica,
                    length: millis(&mut dice, 25_000),
                },
                _ => Act::RestartServer {
                    length: millis(&mut dice, 4000),
                },
            };
            steps.push(Step { at, act });
        }
        // Changes follow a restart of the server at the end of the run, because no later event would reveal that an
        // operator missed one.
        let down = Duration::from_secs(4);
        steps.push(Step {
            at: length,
            act: Act::RestartServer { length: down },
        });
        for object in 0..OBJECTS {
            let at = length + millis(&mut dice, 4000);
            let (kind, number) = (dice.below(kinds), dice.below(1000));
            let act = match people {
                People::CreateAndDelete if dice.one_in(2) => Act::Delete { kind, object },
                _ => Act::Change { kind, object, number },
            };
            steps.push(Step { at, act });
        }
        steps.sort_by_key(|step| step.at);
        Run {
            seed,
            deployment,
            people,
            clocks,
            faults: Faults {
                slow: 50,
                lost: 10,
                unanswered: 10,
                refused: 20,
                failed: 10,
                late: 20,
                cut: 300,
                gone: 50,
            },
            steps,
        }
    }

    /// A run that still `fails`, with fewer steps and faults, after this number of tries: the simple half of Zeller's
    /// delta debugging.
    pub fn shrunk(mut self, fails: impl Fn(&Run) -> bool, mut tries: usize) -> Run {
        let mut size = self.steps.len().div_ceil(2);
        while size > 0 {
            let mut at = 0;
            while at < self.steps.len() && tries > 0 {
                tries -= 1;
                let mut fewer = self.clone();
                fewer.steps.drain(at..(at + size).min(self.steps.len()));
                if fails(&fewer) {
                    self = fewer;
                } else {
                    at += size;
                }
            }
            size /= 2;
        }
        let none: [fn(&mut Run); 9] = [
            |run| run.faults.slow = 0,
            |run| run.faults.lost = 0,
            |run| run.faults.unanswered = 0,
            |run| run.faults.refused = 0,
            |run| run.faults.failed = 0,
            |run| run.faults.late = 0,
            |run| run.faults.cut = 0,
            |run| run.faults.gone = 0,
            |run| run.clocks.fill(0),
        ];
        for none in none {
            let mut fewer = self.clone();
            none(&mut fewer);
            if fails(&fewer) {
                self = fewer;
            }
        }
        self
    }
}

impl fmt::Display for Run {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let Run {
            deployment,
            people,
            clocks,
            faults,
            steps,
            ..
        } = self;
        writeln!(
            f,
            "{deployment:?}, {people:?}, clocks off by {clocks:?} s, {faults:?}"
        )?;
        for Step { at, act } in steps {
            writeln!(f, "{:>7.3} s: {act:?}", at.as_secs_f64())?;
        }
        Ok(())
    }
}

fn millis(dice: &mut Dice, most: usize) -> Duration {
    Duration::from_millis(dice.below(most) as u64)
}
