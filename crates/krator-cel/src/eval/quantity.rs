//! Quantities, after `library/quantity.go` of the API server. `krator-machine` parses their texts, but sums need more
//! digits than an [`Amount`] can have.

use std::cmp::Ordering;

use krator_machine::Amount;
use num_bigint::{BigInt, Sign};
use num_traits::{ToPrimitive as _, Zero as _};

use super::{Failure, Fallible};

/// The exponent of the finest scale.
const NANO: i64 = -9;
/// The limit of exponents, above which numbers would have too many digits.
const LARGEST_EXPONENT: i64 = 20_000;

/// A quantity. The API server has two internal forms, whose results differ in some functions.
#[derive(Debug, Clone)]
pub(crate) struct Quantity {
    pub(super) number: BigInt,
    /// The power of ten by which the number is multiplied, as an exponent.
    exponent: i64,
    /// Whether the quantity is in the fast form, in which the number is a 64-bit integer.
    is_fast: bool,
}

fn power_of_ten(exponent: i64) -> Fallible<BigInt> {
    match u32::try_from(exponent) {
        Ok(exponent) if i64::from(exponent) <= LARGEST_EXPONENT => Ok(BigInt::from(10).pow(exponent)),
        _ => Err(Failure::Unknown(Amount::TOO_MANY_DIGITS.to_owned())),
    }
}

/// A power of ten, as computed by Go's `math.Pow10`.
fn approximate_power_of_ten(exponent: i64) -> f64 {
    format!("1e{exponent}").parse().unwrap_or(f64::INFINITY)
}

impl Quantity {
    /// Parses a quantity.
    pub(super) fn parse(text: &str) -> Fallible<Self> {
        let amount = Amount::parse(text).map_err(|why| match why {
            Amount::TOO_MANY_DIGITS => Failure::Unknown(why.to_owned()),
            why => Failure::Error(why.to_owned()),
        })?;
        let (number, exponent, is_fast) = amount.as_read();
        let read = Self {
            number: number.into(),
            exponent,
            is_fast,
        };
        // The slow form is in billionths, except for binary quantities that were capped at the largest 64-bit integer.
        let is_capped = exponent == 0 && text.ends_with('i') && number.abs() == i64::MAX.into();
        if is_fast || is_capped || number == 0 {
            return Ok(read);
        }
        Ok(Self {
            number: read.scaled(NANO)?,
            exponent: NANO,
            is_fast,
        })
    }

    pub(super) fn of(number: i64) -> Self {
        Self {
            number: number.into(),
            exponent: 0,
            is_fast: true,
        }
    }

    /// The number of a quantity at a finer scale.
    fn scaled(&self, exponent: i64) -> Fallible<BigInt> {
        Ok(&self.number * power_of_ten(self.exponent - exponent)?)
    }

    pub(super) fn compare(&self, other: &Self) -> Fallible<Ordering> {
        let sign = |number: &BigInt| match number.sign() {
            Sign::Minus => -1,
            Sign::NoSign => 0,
            Sign::Plus => 1,
        };
        let (own, others) = (sign(&self.number), sign(&other.number));
        if own != others || own == 0 {
            return Ok(own.cmp(&others));
        }
        let exponent = self.exponent.min(other.exponent);
        Ok(self.scaled(exponent)?.cmp(&other.scaled(exponent)?))
    }

    pub(super) fn plus(&self, other: &Self) -> Fallible<Self> {
        let both_fast = self.is_fast && other.is_fast;
        if both_fast && other.number.is_zero() {
            return Ok(self.clone());
        }
        if both_fast && self.number.is_zero() {
            return Ok(other.clone());
        }
        let exponent = self.exponent.min(other.exponent);
        let (own, others) = (self.scaled(exponent)?, other.scaled(exponent)?);
        let fits = own.to_i64().is_some() && others.to_i64().is_some();
        let number = own + others;
        Ok(Self {
            is_fast: both_fast && fits && number.to_i64().is_some(),
            number,
            exponent,
        })
    }

    pub(super) fn minus(&self, other: &Self) -> Fallible<Self> {
        let negated = |number: BigInt| Self {
            number,
            ..other.clone()
        };
        // In the fast form, the smallest integer is its own negative.
        if self.is_fast && other.is_fast && other.number == i64::MIN.into() {
            let difference = self.plus(&negated(i64::MIN.into()))?;
            if difference.is_fast {
                return Ok(difference);
            }
        }
        self.plus(&negated(-&other.number))
    }

    /// The value as an integer, if it is one and in the fast form.
    pub(super) fn integer(&self) -> Option<i64> {
        let number = self.number.to_i64().filter(|_| self.is_fast)?;
        match u32::try_from(self.exponent) {
            Ok(exponent) => number.checked_mul(10_i64.checked_pow(exponent)?),
            Err(_) => None,
        }
    }

    pub(super) fn approximate(&self) -> f64 {
        let number = self.number.to_f64().unwrap_or(f64::INFINITY);
        match self.exponent {
            0 => number,
            exponent => number * approximate_power_of_ten(exponent),
        }
    }
}
