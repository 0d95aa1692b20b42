//! Quantities, after `pkg/api/resource` of `k8s.io/apimachinery` and `library/quantity.go` of the API server.

use std::cmp::Ordering;

use num_bigint::{BigInt, Sign};
use num_traits::{ToPrimitive as _, Zero as _};

use super::{Failure, Fallible, fail};

/// The most digits that the fast form of a quantity has.
const FAST_DIGITS: i64 = 18;
/// The finest scale.
const NANO: i64 = -9;
/// Exponents beyond these would make numbers of more digits than it is worth to know.
const LARGEST_EXPONENT: i64 = 20_000;

/// A quantity. The API server has two forms of them, and some functions tell those apart.
#[derive(Debug, Clone)]
pub(crate) struct Quantity {
    pub(super) number: BigInt,
    /// The exponent of ten that the number is multiplied with.
    exponent: i64,
    /// Whether the number is in the fast form, a 64-bit integer.
    is_fast: bool,
}

const WRONG_FORMAT: &str =
    "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
const WRONG_SUFFIX: &str = "unable to parse quantity's suffix";

/// The base and the exponent of a suffix.
fn suffix(text: &str) -> Option<(u32, i64)> {
    Some(match text {
        "" => (10, 0),
        "n" => (10, -9),
        "u" => (10, -6),
        "m" => (10, -3),
        "k" => (10, 3),
        "M" => (10, 6),
        "G" => (10, 9),
        "T" => (10, 12),
        "P" => (10, 15),
        "E" => (10, 18),
        "Ki" => (2, 10),
        "Mi" => (2, 20),
        "Gi" => (2, 30),
        "Ti" => (2, 40),
        "Pi" => (2, 50),
        "Ei" => (2, 60),
        _ => {
            let exponent = text.strip_prefix(['e', 'E'])?;
            // Go keeps the lowest 32 bits.
            (10, i64::from(exponent.parse::<i64>().ok()? as i32))
        }
    })
}

fn power_of_ten(exponent: i64) -> Fallible<BigInt> {
    match u32::try_from(exponent) {
        Ok(exponent) if i64::from(exponent) <= LARGEST_EXPONENT => Ok(BigInt::from(10).pow(exponent)),
        _ => Err(Failure::Unknown("the quantity has too many digits".to_owned())),
    }
}

/// Ten to the power of an exponent, as Go's `math.Pow10` has it.
fn approximate_power_of_ten(exponent: i64) -> f64 {
    format!("1e{exponent}").parse().unwrap_or(f64::INFINITY)
}

impl Quantity {
    /// Reads a quantity.
    pub(super) fn parse(text: &str) -> Fallible<Self> {
        let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
        let is_negative = text.starts_with('-');
        if text.is_empty() {
            return fail(WRONG_FORMAT.to_owned());
        }
        let digits = |text: &str| text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let significant = unsigned.trim_start_matches('0');
        if significant.is_empty() {
            return Ok(Self::of(0));
        }
        let (whole, rest) = significant.split_at(digits(significant));
        let whole = if whole.is_empty() { "0" } else { whole };
        let (fraction, rest) = match rest.strip_prefix('.') {
            Some(rest) => rest.split_at(digits(rest)),
            None => ("", rest),
        };
        let after = rest.trim_start_matches(|c: char| "eEinumkKMGTP".contains(c));
        let after = after.strip_prefix(['+', '-']).unwrap_or(after);
        if digits(after) < after.len() {
            return fail(WRONG_FORMAT.to_owned());
        }
        let Some((base, exponent)) = suffix(rest) else {
            return fail(WRONG_SUFFIX.to_owned());
        };
        let length = (whole.len() + fraction.len()) as i64;
        let sign = |number: BigInt| if is_negative { -number } else { number };
        let Ok(number) = format!("{whole}{fraction}").parse::<BigInt>() else {
            return fail(WRONG_FORMAT.to_owned());
        };
        let (precision, scale, factor) = match base {
            10 => (FAST_DIGITS - length, exponent - fraction.len() as i64, 1),
            // A mebibyte has some six digits of precision.
            _ if fraction.is_empty() => (
                15 - whole.len() as i64 - exponent * 3 / 10 - 1,
                0,
                1_i64 << exponent,
            ),
            _ => (-1, 0, 1),
        };
        let fast = &number * factor;
        if precision >= 0 && scale >= NANO && fast.to_i64().is_some() {
            return Ok(Self {
                number: sign(fast),
                exponent: scale,
                is_fast: true,
            });
        }
        let (number, scale) = match base {
            10 => (number, exponent - fraction.len() as i64),
            _ => (number << exponent, -(fraction.len() as i64)),
        };
        let mut exact = Self {
            number,
            exponent: scale,
            is_fast: false,
        };
        if !exact.number.is_zero() {
            exact = exact.rounded_up()?;
        }
        if base == 2 && exact.compare(&Self::of(i64::MAX))? == Ordering::Greater {
            exact = Self {
                is_fast: false,
                ..Self::of(i64::MAX)
            };
        }
        exact.number = sign(exact.number);
        Ok(exact)
    }

    pub(super) fn of(number: i64) -> Self {
        Self {
            number: number.into(),
            exponent: 0,
            is_fast: true,
        }
    }

    /// A positive quantity in the finest scale, rounded up: whoever asks for something gets something.
    fn rounded_up(&self) -> Fallible<Self> {
        let number = if self.exponent >= NANO {
            &self.number * power_of_ten(self.exponent - NANO)?
        } else {
            let divisor = power_of_ten(NANO - self.exponent)?;
            (&self.number + &divisor - 1) / divisor
        };
        Ok(Self {
            number,
            exponent: NANO,
            is_fast: false,
        })
    }

    /// The number of a quantity in a finer scale.
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

    /// The integer that it is, if it is in the fast form and one.
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
