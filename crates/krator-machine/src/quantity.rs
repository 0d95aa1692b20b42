//! Quantities of resources, such as `500m` or `1Gi`, after `k8s.io/apimachinery/pkg/api/resource`: parsing,
//! canonical form, comparison and arithmetic. The in-memory API server and CEL expressions use them, too.

use std::cmp::Ordering;
use std::fmt;

const WRONG_FORMAT: &str =
    "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
const WRONG_SUFFIX: &str = "unable to parse quantity's suffix";
const WRONG_NUMBER: &str = "unable to parse numeric part of quantity";

const NANO: i64 = -9;
/// Amounts are below this, so that the digits added by the canonical form fit. Kubernetes has no such limit.
const LIMIT: u128 = 10_u128.pow(36);
/// The number of decimal digits of apimachinery's fast path, which decides whether a text is kept as written.
const FAST_DIGITS: i64 = 18;

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

/// The exact number that a quantity of Kubernetes such as `500m`, `1.5` or `2Gi` stands for.
///
/// Fields of the type `quantity` are a `Quantity` of `k8s-openapi` in Rust, which is the text as written.
/// `Amount::parse(&quantity.0)` reads it as the API server does, and `Quantity(amount.to_string())` converts it back.
///
/// ```
/// use krator_machine::Amount;
///
/// let memory = Amount::parse("1.5Gi")?;
/// assert_eq!(memory.whole(), Some(1_610_612_736)); // bytes
/// assert_eq!(memory.to_string(), "1536Mi");
///
/// let half = Amount::parse("0.5")?;
/// assert_eq!((half.whole(), half.millis()), (None, Some(500)));
/// assert!(half < Amount::parse("1200m")?);
///
/// // Three replicas, and something to spare, in the notation of the first.
/// let three = memory.checked_mul(3).and_then(|all| all.checked_add(&Amount::bytes(1 << 20)));
/// assert_eq!(three.map(|all| all.to_string()).as_deref(), Some("4609Mi"));
/// # Ok::<(), &str>(())
/// ```
///
/// As in the API server, amounts are multiples of a billionth: smaller fractions are rounded away from zero.
/// Amounts of more than 36 digits are refused.
#[derive(Debug, Clone)]
pub struct Amount {
    /// The amount is `value * 10^scale`.
    value: i128,
    scale: i64,
    format: Format,
    /// Whether apimachinery stores the amount in 64 bits.
    is_small: bool,
    /// The text as written, if apimachinery keeps it.
    text: Option<String>,
}

impl Amount {
    /// The error about a quantity that Kubernetes accepts, but that has more than 36 digits.
    pub const TOO_MANY_DIGITS: &'static str = "the quantity has too many digits";

    /// Reads a quantity.
    ///
    /// # Errors
    ///
    /// The message of the API server if the text is not a quantity, or [`TOO_MANY_DIGITS`](Self::TOO_MANY_DIGITS).
    pub fn parse(text: &str) -> Result<Self, &'static str> {
        if text == "0" {
            return Ok(Self::new(0, 0, Format::DecimalSi, Some(text)).in_64_bits());
        }
        let parts = Parts::split(text)?;
        let (base, exponent, format) = interpret(parts.suffix).ok_or(WRONG_SUFFIX)?;
        let (whole, fraction) = (parts.whole.len() as i64, parts.fraction.len() as i64);
        let precision = match format {
            Format::BinarySi if fraction == 0 => 15 - whole - exponent * 3 / 10 - 1,
            Format::BinarySi => -1,
            _ => FAST_DIGITS - whole - fraction,
        };
        let digits = format!("{}{}", parts.whole, parts.fraction);
        let number: i128 = digits.parse().map_err(|_| Self::TOO_MANY_DIGITS)?;
        let factor = if base == 2 { 1 << exponent } else { 1 };
        let mut multiplied = number.checked_mul(factor).ok_or(Self::TOO_MANY_DIGITS)?;
        let mut scale = if base == 10 { exponent } else { 0 } - fraction;
        if multiplied.unsigned_abs() >= LIMIT {
            // Trailing zeros are part of the text, but not of the value.
            (multiplied, scale) = without_factors(multiplied, scale, 10, i64::MAX);
        }
        if multiplied.unsigned_abs() >= LIMIT {
            return Err(Self::TOO_MANY_DIGITS);
        }
        let signed = if parts.negative { -multiplied } else { multiplied };
        if precision >= 0 && scale >= NANO && multiplied <= i128::from(i64::MAX) {
            let kept = match format {
                Format::BinarySi => exponent % 10 == 0 && number & 7 != 0,
                _ => scale % 3 == 0 && !digits.ends_with("000") && !digits.starts_with('0'),
            };
            return Ok(Self::new(signed, scale, format, kept.then_some(text)).in_64_bits());
        }
        // A text without digits is a zero on apimachinery's fast path only.
        let written = &text[..text.len() - parts.suffix.len()];
        if !written.contains(|c: char| c.is_ascii_digit()) {
            return Err(WRONG_NUMBER);
        }
        Ok(Self::capped(signed, scale, format))
    }

    /// A number of bytes or other units, written with binary suffixes: `Mi`, `Gi`.
    pub fn bytes(number: i64) -> Self {
        Self::new(number.into(), 0, Format::BinarySi, None)
    }

    /// A number of units, written with decimal suffixes: `k`, `M`.
    pub fn units(number: i64) -> Self {
        Self::new(number.into(), 0, Format::DecimalSi, None)
    }

    /// A number of thousandths of a unit, such as millicores: `500m`.
    pub fn thousandths(number: i64) -> Self {
        Self::new(number.into(), -3, Format::DecimalSi, None)
    }

    /// The slow path of apimachinery: rounds up to nano, and caps binary quantities.
    fn capped(value: i128, scale: i64, format: Format) -> Self {
        let mut amount = Self::new(value, scale, format, None).rounded_up(NANO);
        if format == Format::BinarySi {
            let size = Self::new(amount.value.abs(), amount.scale, format, None);
            if size > Self::bytes(i64::MAX) {
                amount = Self::bytes(i64::MAX);
                amount.value *= value.signum();
            } else if !amount.is_zero() && size < Self::bytes(1) {
                amount.format = Format::DecimalSi;
            }
        }
        amount
    }

    fn new(value: i128, scale: i64, format: Format, text: Option<&str>) -> Self {
        Self {
            value,
            scale,
            format,
            is_small: false,
            text: text.map(str::to_owned),
        }
    }

    fn in_64_bits(self) -> Self {
        Self {
            is_small: true,
            ..self
        }
    }

    /// Rounds away from zero to a multiple of `10^scale`. The text as written is dropped only if the value changes.
    #[must_use]
    pub fn rounded_up(mut self, scale: i64) -> Self {
        if self.scale >= scale {
            return self;
        }
        self.text = None;
        let factor = u32::try_from(scale - self.scale)
            .ok()
            .and_then(|exponent| 10_i128.checked_pow(exponent));
        self.value = match factor {
            Some(factor) if self.value % factor == 0 => self.value / factor,
            Some(factor) => self.value / factor + self.value.signum(),
            None => self.value.signum(),
        };
        self.scale = scale;
        self
    }

    /// The value, its decimal exponent, and whether apimachinery has read it into 64 bits, which it does with
    /// `1` as `(1, 0)` and with `1000m` as `(1000, -3)`, but not with `1.5Gi` or with many digits. CEL
    /// expressions can observe the difference.
    pub fn as_read(&self) -> (i128, i64, bool) {
        (self.value, self.scale, self.is_small)
    }

    /// The amount divided by `10^scale`; `None` if that is not a whole number, or too large.
    fn times(&self, scale: i64) -> Option<i128> {
        if self.value == 0 {
            return Some(0);
        }
        let exponent = u32::try_from(self.scale.abs_diff(scale)).ok()?;
        let factor = 10_i128.checked_pow(exponent)?;
        if self.scale >= scale {
            return self.value.checked_mul(factor);
        }
        (self.value % factor == 0).then_some(self.value / factor)
    }

    /// The amount as a whole number of units, such as bytes; `None` for a fraction, which
    /// [`rounded_up`](Self::rounded_up)`(0)` makes whole.
    pub fn whole(&self) -> Option<i128> {
        self.times(0)
    }

    /// The amount as a whole number of thousandths, such as millicores; `None` for a smaller fraction.
    pub fn millis(&self) -> Option<i128> {
        self.times(-3)
    }

    /// The nearest floating-point number.
    pub fn to_f64(&self) -> f64 {
        // Rust parses a decimal text to the nearest number.
        format!("{}e{}", self.value, self.scale)
            .parse()
            .unwrap_or(f64::NAN)
    }

    /// The sum, in the notation of this amount, or of the other if this is zero; `None` if it has more than 36 digits.
    pub fn checked_add(&self, other: &Self) -> Option<Self> {
        // The scale of a zero is ignored, because the other amount may not be a multiple of it.
        let scale = match (self.is_zero(), other.is_zero()) {
            (true, _) => other.scale,
            (_, true) => self.scale,
            _ => self.scale.min(other.scale),
        };
        let value = self.times(scale)?.checked_add(other.times(scale)?)?;
        let notation = if self.is_zero() { other } else { self };
        notation.with(value, scale)
    }

    /// The difference, in the notation of the sum; `None` if it has more than 36 digits.
    pub fn checked_sub(&self, other: &Self) -> Option<Self> {
        self.checked_add(&other.checked_mul(-1)?)
    }

    /// The product; `None` if it has more than 36 digits.
    pub fn checked_mul(&self, factor: i64) -> Option<Self> {
        self.with(self.value.checked_mul(factor.into())?, self.scale)
    }

    fn with(&self, value: i128, scale: i64) -> Option<Self> {
        (value.unsigned_abs() < LIMIT).then(|| Self::new(value, scale, self.format, None))
    }

    /// Whether the amount is less than zero.
    pub fn is_negative(&self) -> bool {
        self.value < 0
    }

    /// Whether the amount is zero.
    pub fn is_zero(&self) -> bool {
        self.value == 0
    }

    /// Whether the amount is a whole number of units.
    pub fn is_whole(&self) -> bool {
        self.scale >= 0 || self.whole().is_some()
    }

    /// The number and the suffix of the canonical form.
    fn canonical(&self) -> (i128, String) {
        if let (Format::BinarySi, Some(whole)) = (self.format, self.whole())
            && whole.abs() >= 1024
        {
            let (number, exponent) = without_factors(whole, 0, 1024, BINARY.len() as i64 - 1);
            return (number, suffix(&BINARY, exponent).to_owned());
        }
        let (value, scale) = without_factors(self.value, self.scale, 10, i64::MAX);
        let exponent = scale.div_euclid(3) * 3;
        // Two zeros can be added, because the value has fewer than 37 digits.
        let number = value * 10_i128.pow(scale.rem_euclid(3).unsigned_abs() as u32);
        if self.format != Format::DecimalExponent {
            // `E` is the largest suffix: a thousand `E` are written as `1000E`.
            let shown = exponent.min(LARGEST);
            let zeros = u32::try_from(exponent - shown).ok();
            let number = zeros.and_then(|zeros| number.checked_mul(10_i128.checked_pow(zeros)?));
            if let Some(number) = number {
                return (number, suffix(&DECIMAL, (shown - NANO) / 3).to_owned());
            }
        }
        let suffix = match exponent {
            0 => String::new(),
            exponent => format!("e{exponent}"),
        };
        (number, suffix)
    }
}

/// Writes the quantity as the API server does.
impl fmt::Display for Amount {
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

/// Compares the numbers, not the notations.
impl PartialEq for Amount {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Amount {}

impl PartialOrd for Amount {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Amount {
    fn cmp(&self, other: &Self) -> Ordering {
        let signs = self.value.signum().cmp(&other.value.signum());
        if signs != Ordering::Equal || self.value == 0 {
            return signs;
        }
        if self.scale < other.scale {
            return other.cmp(self).reverse();
        }
        match self.times(other.scale) {
            Some(value) => value.cmp(&other.value),
            // The rescaled value overflows, so it is larger than any of the other's scale.
            None => self.value.signum().cmp(&0),
        }
    }
}

/// Moves factors of the base from the value to the exponent, until that is `most`.
fn without_factors(mut value: i128, mut exponent: i64, base: i128, most: i64) -> (i128, i64) {
    while exponent < most && value.abs() >= base && value % base == 0 {
        value /= base;
        exponent += 1;
    }
    (value, exponent)
}

/// The suffixes of powers of a thousand, from billionths on.
const DECIMAL: [&str; 10] = ["n", "u", "m", "", "k", "M", "G", "T", "P", "E"];
/// The exponent of the last suffix.
const LARGEST: i64 = 18;
/// The suffixes of powers of 1024.
const BINARY: [&str; 7] = ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];

fn suffix(suffixes: &[&'static str], at: i64) -> &'static str {
    let at = usize::try_from(at).ok();
    at.and_then(|at| suffixes.get(at)).copied().unwrap_or_default()
}

/// The base, the exponent and the format that a suffix stands for.
fn interpret(suffix: &str) -> Option<(i32, i64, Format)> {
    let place = |suffixes: &[&str]| {
        let at = suffixes.iter().position(|text| *text == suffix)?;
        i64::try_from(at).ok()
    };
    if let Some(at) = place(&DECIMAL) {
        return Some((10, at * 3 + NANO, Format::DecimalSi));
    }
    if let Some(at) = place(&BINARY) {
        return Some((2, at * 10, Format::BinarySi));
    }
    let exponent: i64 = suffix.strip_prefix(['e', 'E'])?.parse().ok()?;
    // apimachinery keeps the lowest 32 bits.
    Some((10, i64::from(exponent as i32), Format::DecimalExponent))
}

/// The parts of a quantity's text.
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
mod tests;
