//! Ranges of sizes and costs, whose operations saturate.

/// A range of sizes or costs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Range {
    pub(super) min: u64,
    pub(super) max: u64,
}

impl Range {
    pub(super) const UNKNOWN: Range = Range {
        min: 0,
        max: u64::MAX,
    };

    pub(super) const fn new(min: u64, max: u64) -> Range {
        Range { min, max }
    }

    pub(super) const fn fixed(size: u64) -> Range {
        Range { min: size, max: size }
    }

    #[must_use]
    pub(super) fn plus(self, other: Range) -> Range {
        Range::new(
            self.min.saturating_add(other.min),
            self.max.saturating_add(other.max),
        )
    }

    #[must_use]
    pub(super) fn times(self, other: Range) -> Range {
        Range::new(
            self.min.saturating_mul(other.min),
            self.max.saturating_mul(other.max),
        )
    }

    /// The product with a factor, rounded up.
    #[must_use]
    pub(super) fn scaled(self, factor: f64) -> Range {
        // A conversion from `f64` saturates, as in cel-go.
        let scaled = |size: u64| (size as f64 * factor).ceil() as u64;
        Range::new(scaled(self.min), scaled(self.max))
    }

    #[must_use]
    pub(super) fn union(self, other: Range) -> Range {
        Range::new(self.min.min(other.min), self.max.max(other.max))
    }
}
