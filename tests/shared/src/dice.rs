//! Random numbers that are the same in each run, so that a failure can be repeated.

/// SplitMix64.
pub struct Dice(u64);

impl Dice {
    pub fn new(seed: u64) -> Dice {
        Dice(seed)
    }

    fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `bound`.
    pub fn below(&mut self, bound: usize) -> usize {
        (self.roll() % bound.max(1) as u64) as usize
    }

    /// One of several items; `None` without items.
    pub fn pick<'a, T>(&mut self, from: &'a [T]) -> Option<&'a T> {
        let at = self.below(from.len());
        from.get(at)
    }

    /// True once in `count` times on average.
    pub fn one_in(&mut self, count: usize) -> bool {
        self.below(count) == 0
    }

    /// One of several items, which must not be empty.
    pub fn among<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        self.pick(from).expect("there is something to choose from")
    }
}

/// The number in an environment variable: how many cases are tried, or the seed of the first.
pub fn number(variable: &str, otherwise: u64) -> u64 {
    match std::env::var(variable) {
        Ok(text) => text
            .parse()
            .unwrap_or_else(|_| panic!("{variable} is no number: {text}")),
        Err(_) => otherwise,
    }
}
