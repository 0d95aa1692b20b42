//! The wire format of protobuf: fields as numbers and values, without their meaning. Decoding follows the code that
//! gogo generates, including its error messages.

/// The reason why bytes are not a message.
#[derive(Debug)]
pub(super) struct Malformed(pub String);

impl Malformed {
    pub fn new(why: &str) -> Self {
        Self(why.to_owned())
    }
}

/// The value of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Value<'a> {
    Varint(u64),
    Fixed64(u64),
    Bytes(&'a [u8]),
    Fixed32(u32),
}

impl<'a> Value<'a> {
    pub fn bytes(self) -> Result<&'a [u8], Malformed> {
        match self {
            Self::Bytes(bytes) => Ok(bytes),
            other => Err(other.unexpected()),
        }
    }

    /// A string. Like Go's JSON encoder, invalid UTF-8 becomes replacement characters.
    pub fn text(self) -> Result<String, Malformed> {
        Ok(String::from_utf8_lossy(self.bytes()?).into_owned())
    }

    pub fn number(self) -> Result<u64, Malformed> {
        match self {
            Self::Varint(number) => Ok(number),
            other => Err(other.unexpected()),
        }
    }

    /// A signed number, in two's complement.
    pub fn int64(self) -> Result<i64, Malformed> {
        Ok(self.number()?.cast_signed())
    }

    /// The lower 32 bits of a signed number.
    pub fn int32(self) -> Result<i32, Malformed> {
        let [a, b, c, d, ..] = self.number()?.to_le_bytes();
        Ok(i32::from_le_bytes([a, b, c, d]))
    }

    pub fn double(self) -> Result<f64, Malformed> {
        match self {
            Self::Fixed64(bits) => Ok(f64::from_bits(bits)),
            other => Err(other.unexpected()),
        }
    }

    fn unexpected(self) -> Malformed {
        let wire_type = match self {
            Self::Varint(_) => 0,
            Self::Fixed64(_) => 1,
            Self::Bytes(_) => 2,
            Self::Fixed32(_) => 5,
        };
        Malformed(format!("proto: wrong wireType = {wire_type}"))
    }
}

/// The fields of a message. After an error, the iterator ends.
pub(super) fn fields(bytes: &[u8]) -> Fields<'_> {
    Fields { rest: bytes }
}

pub(super) struct Fields<'a> {
    rest: &'a [u8],
}

impl<'a> Iterator for Fields<'a> {
    type Item = Result<(u64, Value<'a>), Malformed>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return None;
        }
        let field = self.field();
        if field.is_err() {
            self.rest = &[];
        }
        Some(field)
    }
}

impl<'a> Fields<'a> {
    fn field(&mut self) -> Result<(u64, Value<'a>), Malformed> {
        let key = self.varint()?;
        let (number, wire_type) = (key >> 3, key & 7);
        if number == 0 {
            return Err(Malformed(format!(
                "proto: illegal tag {number} (wire type {key})"
            )));
        }
        let value = match wire_type {
            0 => Value::Varint(self.varint()?),
            1 => Value::Fixed64(u64::from_le_bytes(self.array()?)),
            2 => {
                let length = usize::try_from(self.varint()?);
                Value::Bytes(self.take(
                    length.map_err(|_| Malformed::new("proto: negative length found during unmarshaling"))?,
                )?)
            }
            5 => Value::Fixed32(u32::from_le_bytes(self.array()?)),
            // Kubernetes does not use groups (3 and 4).
            other => return Err(Malformed(format!("proto: illegal wireType {other}"))),
        };
        Ok((number, value))
    }

    fn varint(&mut self) -> Result<u64, Malformed> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let [byte] = self.array()?;
            number |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(number);
            }
        }
        Err(Malformed::new("proto: integer overflow"))
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], Malformed> {
        let (array, rest) = self.rest.split_first_chunk().ok_or_else(end)?;
        self.rest = rest;
        Ok(*array)
    }

    fn take(&mut self, length: usize) -> Result<&'a [u8], Malformed> {
        let (taken, rest) = self.rest.split_at_checked(length).ok_or_else(end)?;
        self.rest = rest;
        Ok(taken)
    }
}

fn end() -> Malformed {
    Malformed::new("unexpected EOF")
}
