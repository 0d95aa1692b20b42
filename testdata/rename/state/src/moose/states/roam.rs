//! Roam: what a moose does most of the time.
use super::{Eat, Roam};
use crate::moose::prelude::*;

// Roam leads to Eat.
impl State for Roam {
    async fn next(self, cx: &mut Context<'_>) -> Result<Transition<Self>> {
        if cx.first_run() {
            cx.event("Roam", "Roaming about"); // Roam, not Roaming
            return   Ok( Transition :: stay() ) ;
        }
        let pasture = Pasture::Roam;
        match pasture {
            Pasture::Roam => Ok(Transition::to(Eat)),
            Pasture::Fenced => Ok(Transition::stay()),
        }
    }
}

/// Not the state [`Roam`].
enum Pasture {
    Roam,
    #[allow(dead_code)]
    Fenced,
}

pub const DISTANCE: u32 = 7;

impl Roam {
    pub fn far(self) -> u32 {
        7
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::moose::MooseMachine;

    #[test]
    fn is_itself() {
        assert_eq!(MooseMachine::Roam, MooseMachine::Roam, "Roam");
        assert!(matches!(MooseMachine::Eat, MooseMachine::Roam | MooseMachine::Eat if Roam.far() == 7));
        let all = vec![Roam, Roam];
        assert_eq!(all.len(), [Roam; 2].len());
    }

    #[test]
    fn imports_stay_sorted() {
        use crate::moose::states::{Roam, Sleep};
        use crate::moose::MooseMachine::Eat;
        use crate::moose::MooseMachine::Roam as Unmoved;
        let _ = (Roam, Sleep, Eat, Unmoved);
    }

    #[test]
    fn has_namesakes() {
        struct Roam(u32);
        let roam = Roam(2);
        assert_eq!(Roam(2).0, roam.0);
        let other: super::Roam = super::Roam;
        assert_eq!(other.far(), 7);
    }
}
