//! Quantities of resources, such as `500m` or `1Gi`, after `k8s.io/apimachinery/pkg/api/resource`: how they are read,
//! written in their canonical form, and compared.

use std::cmp::Ordering;
use std::fmt;

const WRONG_FORMAT: &str =
    "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
const WRONG_SUFFIX: &str = "unable to parse quantity's suffix";
const WRONG_NUMBER: &str = "unable to parse numeric part of quantity";

const NANO: i32 = -9;
/// The number of decimal digits that the fast path of the original takes; it decides which texts stay as they were written.
const FAST_DIGITS: i32 = 18;

/// The notation of a quantity.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Format {
    /// `1k`, `500m`
    DecimalSi,
    /// `1Ki`
    BinarySi,
    /// `1e3`
    DecimalExponent,
}

/// An amount of a resource: a number with a scale, and the form in which it is written.
#[derive(Debug, Clone)]
pub struct Quantity {
    /// The amount is `value * 10^scale`.
    value: i128,
    scale: i32,
    format: Format,
    /// The text as it was written, if the original keeps it.
    text: Option<String>,
}

impl Quantity {
    /// Reads a quantity.
    ///
    /// # Errors
    ///
    /// The message of the API server if the text is not a quantity.
    pub fn parse(text: &str) -> Result<Self, &'static str> {
        if text == "0" {
            return Ok(Self::new(0, 0, Format::DecimalSi, Some(text)));
        }
        let parts = Parts::split(text)?;
        let (base, exponent, format) = interpret(parts.suffix).ok_or(WRONG_SUFFIX)?;
        let digits = i32::try_from(parts.whole.len() + parts.fraction.len()).map_err(|_| WRONG_NUMBER)?;
        let precision = match format {
            Format::BinarySi if parts.fraction.is_empty() => {
                15 - i32::try_from(parts.whole.len()).map_err(|_| WRONG_NUMBER)? - exponent * 3 / 10 - 1
            }
            Format::BinarySi => -1,
            _ => FAST_DIGITS - digits,
        };
        let number: i128 = format!("{}{}", parts.whole, parts.fraction)
            .parse()
            .map_err(|_| WRONG_NUMBER)?;
        let multiplied = if base == 2 {
            let shift = u32::try_from(exponent).map_err(|_| WRONG_SUFFIX)?;
            number.checked_mul(1 << shift).ok_or(WRONG_NUMBER)?
        } else {
            number
        };
        let fraction = i32::try_from(parts.fraction.len()).map_err(|_| WRONG_NUMBER)?;
        let scale = if base == 10 { exponent } else { 0 } - fraction;
        let signed = if parts.negative { -multiplied } else { multiplied };
        if precision >= 0 && scale >= NANO && multiplied <= i128::from(i64::MAX) {
            let kept = match format {
                Format::BinarySi => exponent % 10 == 0 && number & 7 != 0,
                _ => {
                    let shifted = format!("{}{}", parts.whole, parts.fraction);
                    scale % 3 == 0 && !shifted.ends_with("000") && !shifted.starts_with('0')
                }
            };
            return Ok(Self::new(signed, scale, format, kept.then_some(text)));
        }
        Ok(Self::capped(signed, scale, format))
    }

    /// The slow path of the original: rounds up to nano, and caps binary quantities.
    fn capped(value: i128, scale: i32, format: Format) -> Self {
        let mut quantity = Self::new(value, scale, format, None).rounded_up(NANO);
        if format == Format::BinarySi {
            let most = i128::from(i64::MAX) * 10_i128.pow(9);
            let nano = quantity.nano();
            if nano.abs() > most {
                quantity = Self::new(i128::from(i64::MAX) * nano.signum(), 0, format, None);
            } else if nano != 0 && nano.abs() < 10_i128.pow(9) {
                quantity.format = Format::DecimalSi;
            }
        }
        quantity
    }

    fn new(value: i128, scale: i32, format: Format, text: Option<&str>) -> Self {
        Self {
            value,
            scale,
            format,
            text: text.map(str::to_owned),
        }
    }

    /// Rounded away from zero to a multiple of `10^scale`. The text as it was written is lost only if it has to be.
    #[must_use]
    pub fn rounded_up(mut self, scale: i32) -> Self {
        if self.scale >= scale {
            return self;
        }
        self.text = None;
        while self.scale < scale {
            let exact = self.value % 10 == 0;
            self.value = self.value / 10 + if exact { 0 } else { self.value.signum() };
            self.scale += 1;
        }
        self
    }

    /// The amount in billionths, for comparisons.
    fn nano(&self) -> i128 {
        match u32::try_from(self.scale - NANO) {
            Ok(exponent) => 10_i128
                .checked_pow(exponent)
                .map_or(i128::MAX * self.value.signum(), |factor| {
                    self.value.saturating_mul(factor)
                }),
            Err(_) => self.clone().rounded_up(NANO).value,
        }
    }

    /// Whether the amount is less than zero.
    pub fn is_negative(&self) -> bool {
        self.value < 0
    }

    /// Whether the amount is zero.
    pub fn is_zero(&self) -> bool {
        self.value == 0
    }

    /// Whether the amount is a whole number.
    pub fn is_whole(&self) -> bool {
        self.nano() % 10_i128.pow(9) == 0
    }

    /// The number and the suffix of the canonical form.
    fn canonical(&self) -> (i128, String) {
        let (value, scale) = without_factors(self.value, self.scale, 10);
        let whole = if scale >= 0 {
            10_i128
                .checked_pow(scale.unsigned_abs())
                .and_then(|f| value.checked_mul(f))
        } else {
            None
        };
        if let (Format::BinarySi, Some(whole)) = (self.format, whole)
            && whole.abs() >= 1024
        {
            let (number, exponent) = without_factors(whole, 0, 1024);
            return (number, suffix(&BINARY, exponent).to_owned());
        }
        let exponent = scale.div_euclid(3) * 3;
        let number = value * 10_i128.pow(scale.rem_euclid(3).unsigned_abs());
        let suffix = match (self.format, exponent) {
            (_, 0) => String::new(),
            (Format::DecimalExponent, exponent) => format!("e{exponent}"),
            (_, exponent) => suffix(&DECIMAL, (exponent - NANO) / 3).to_owned(),
        };
        (number, suffix)
    }
}

/// The text of the quantity as the API server writes it.
impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(text) = &self.text {
            return f.write_str(text);
        }
        if self.value == 0 {
            return f.write_str("0");
        }
        let (number, suffix) = self.canonical();
        write!(f, "{number}{suffix}")
    }
}

impl PartialEq for Quantity {
    fn eq(&self, other: &Self) -> bool {
        self.nano() == other.nano()
    }
}

impl Eq for Quantity {}

impl PartialOrd for Quantity {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Quantity {
    fn cmp(&self, other: &Self) -> Ordering {
        self.nano().cmp(&other.nano())
    }
}

/// Moves factors of the base from the value to the exponent.
fn without_factors(mut value: i128, mut exponent: i32, base: i128) -> (i128, i32) {
    while value.abs() >= base && value % base == 0 {
        value /= base;
        exponent += 1;
    }
    (value, exponent)
}

/// The suffixes of the powers of a thousand, from billionths on.
const DECIMAL: [&str; 10] = ["n", "u", "m", "", "k", "M", "G", "T", "P", "E"];
/// The suffixes of the powers of 1024.
const BINARY: [&str; 7] = ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];

fn suffix(suffixes: &[&'static str], at: i32) -> &'static str {
    let at = usize::try_from(at).ok();
    at.and_then(|at| suffixes.get(at)).copied().unwrap_or_default()
}

/// The base, the exponent and the format that a suffix stands for.
fn interpret(suffix: &str) -> Option<(i32, i32, Format)> {
    let place = |suffixes: &[&str]| {
        let at = suffixes.iter().position(|text| *text == suffix)?;
        i32::try_from(at).ok()
    };
    if let Some(at) = place(&DECIMAL) {
        return Some((10, at * 3 + NANO, Format::DecimalSi));
    }
    if let Some(at) = place(&BINARY) {
        return Some((2, at * 10, Format::BinarySi));
    }
    let exponent = suffix.strip_prefix(['e', 'E'])?;
    Some((10, exponent.parse().ok()?, Format::DecimalExponent))
}

/// The text of a quantity, taken apart.
struct Parts<'a> {
    negative: bool,
    whole: &'a str,
    fraction: &'a str,
    suffix: &'a str,
}

impl<'a> Parts<'a> {
    fn split(text: &'a str) -> Result<Self, &'static str> {
        if text.is_empty() {
            return Err(WRONG_FORMAT);
        }
        let negative = text.starts_with('-');
        let rest = text.strip_prefix(['-', '+']).unwrap_or(text);
        let rest = rest.trim_start_matches('0');
        let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        let (whole, rest) = rest.split_at(end);
        let (fraction, suffix) = match rest.strip_prefix('.') {
            Some(rest) => rest.split_at(rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len())),
            None => ("", rest),
        };
        let exponent = suffix.trim_start_matches(|c| "eEinumkKMGTP".contains(c));
        let exponent = exponent.strip_prefix(['-', '+']).unwrap_or(exponent);
        if !exponent.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(WRONG_FORMAT);
        }
        Ok(Self {
            negative,
            whole: if whole.is_empty() { "0" } else { whole },
            fraction,
            suffix,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_are_written_in_canonical_form() {
        for (text, expected) in [
            ("0", "0"),
            ("0.0", "0"),
            ("00", "0"),
            ("1000m", "1"),
            ("0.5", "500m"),
            ("1.5", "1500m"),
            ("1.500", "1.500"),
            ("100m", "100m"),
            ("1500m", "1500m"),
            ("1024Mi", "1Gi"),
            ("1025Mi", "1025Mi"),
            ("0.5Gi", "512Mi"),
            ("1.5Gi", "1536Mi"),
            ("1Gi", "1Gi"),
            ("1e3", "1e3"),
            ("10e2", "1e3"),
            ("1000", "1k"),
            ("1000k", "1M"),
            ("128974848", "128974848"),
            ("129e6", "129e6"),
            ("129M", "129M"),
            ("0.1n", "1n"),
            ("0.5Ki", "512"),
            ("-5", "-5"),
            ("+5", "+5"),
            ("1E", "1E"),
        ] {
            assert_eq!(
                Quantity::parse(text)
                    .map(|quantity| quantity.to_string())
                    .as_deref(),
                Ok(expected),
                "{text}"
            );
        }
    }

    #[test]
    fn other_texts_are_refused() {
        for (text, message) in [
            ("", WRONG_FORMAT),
            ("abc", WRONG_FORMAT),
            ("1 Gi", WRONG_FORMAT),
            ("1gi", WRONG_FORMAT),
            ("1GI", WRONG_FORMAT),
            ("1Gim", WRONG_SUFFIX),
            ("1mm", WRONG_SUFFIX),
        ] {
            assert_eq!(Quantity::parse(text).err(), Some(message), "{text}");
        }
    }

    #[test]
    fn amounts_compare_whatever_their_form() {
        let parse = |text| Quantity::parse(text).expect("a quantity");
        assert!(parse("1Gi") > parse("1G"));
        assert_eq!(parse("1000m"), parse("1"));
        assert!(parse("-1").is_negative() && !parse("0").is_negative());
        assert!(!parse("100m").is_whole() && parse("1Gi").is_whole());
        assert_eq!(parse("0.0001").rounded_up(-3).to_string(), "1m");
    }
}
