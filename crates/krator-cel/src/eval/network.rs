//! IP addresses and CIDR ranges, after `library/ip.go` and `library/cidr.go` of the API server.

use std::net::IpAddr;

use super::function::CallResult;
use super::go::quoted;
use super::value::Value;
use super::{Fallible, fail};

/// Parses an address like Go's `net/netip`. IPv4-mapped IPv6 addresses are refused.
fn address(text: &str) -> Fallible<IpAddr> {
    if let Some((_, zone)) = text.split_once('%')
        && !zone.is_empty()
        && text.contains(':')
        && text
            .split('%')
            .next()
            .is_some_and(|text| text.parse::<IpAddr>().is_ok())
    {
        return fail(format!(
            "IP address {} with zone value is not allowed",
            quoted(text)
        ));
    }
    match text.parse() {
        Ok(IpAddr::V6(address)) if address.to_ipv4_mapped().is_some() => fail(format!(
            "IPv4-mapped IPv6 address {} is not allowed",
            quoted(text)
        )),
        Ok(address) => Ok(address),
        Err(_) => fail(format!(
            "IP Address {0} parse error during conversion from string: ParseAddr({0}): unable to parse IP",
            quoted(text)
        )),
    }
}

fn width(address: &IpAddr) -> u8 {
    if address.is_ipv4() { 32 } else { 128 }
}

/// Parses a CIDR range.
fn range(text: &str) -> Fallible<(IpAddr, u8)> {
    let wrong = |why: &str| {
        fail(format!(
            "network address parse error during conversion from string: network address parse error during conversion from \
             string: netip.ParsePrefix({}): {why}",
            quoted(text)
        ))
    };
    let Some((address, bits)) = text.rsplit_once('/') else {
        return wrong("no '/'");
    };
    let Ok(address) = address.parse::<IpAddr>() else {
        return wrong(&format!("ParseAddr({}): unable to parse IP", quoted(address)));
    };
    let is_number = bits.bytes().all(|byte| byte.is_ascii_digit()) && (bits == "0" || !bits.starts_with('0'));
    let bits = match bits.parse::<u8>() {
        Ok(number) if is_number && number <= width(&address) => number,
        Ok(_) if is_number => return wrong("prefix length out of range"),
        _ => return wrong(&format!("bad bits after slash: {}", quoted(bits))),
    };
    if matches!(address, IpAddr::V6(address) if address.to_ipv4_mapped().is_some()) {
        return fail(format!(
            "network address parse error during conversion from string: IPv4-mapped IPv6 address {} is not allowed",
            quoted(text)
        ));
    }
    Ok((address, bits))
}

/// The address with zeros after the first `bits` bits.
fn masked(address: &IpAddr, bits: u8) -> IpAddr {
    let rest = u32::from(width(address) - bits);
    match address {
        IpAddr::V4(address) => {
            let mask = u32::MAX.checked_shl(rest).unwrap_or(0);
            IpAddr::V4((address.to_bits() & mask).into())
        }
        IpAddr::V6(address) => {
            let mask = u128::MAX.checked_shl(rest).unwrap_or(0);
            IpAddr::V6((address.to_bits() & mask).into())
        }
    }
}

fn contains(range: (&IpAddr, u8), other: (&IpAddr, u8)) -> bool {
    let (address, bits) = range;
    width(address) == width(other.0) && bits <= other.1 && masked(address, bits) == masked(other.0, bits)
}

fn is_link_local(address: &IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => address.is_link_local(),
        IpAddr::V6(address) => address.is_unicast_link_local(),
    }
}

fn is_global(address: &IpAddr) -> bool {
    let is_broadcast = matches!(address, IpAddr::V4(address) if address.is_broadcast());
    !is_broadcast
        && !address.is_unspecified()
        && !address.is_loopback()
        && !address.is_multicast()
        && !is_link_local(address)
}

fn is_link_local_multicast(address: &IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => address.octets().starts_with(&[224, 0, 0]),
        IpAddr::V6(address) => matches!(address.octets(), [0xff, second, ..] if second & 0x0f == 2),
    }
}

pub(super) fn call<'a>(function: &str, operands: &[Value<'a>]) -> CallResult<'a> {
    Some(match (function, operands) {
        ("ip", [Value::Text(text)]) => address(text).map(Value::Ip),
        ("isIP", [Value::Text(text)]) => Ok(address(text).is_ok().into()),
        ("ip.isCanonical", [Value::Text(text)]) => {
            address(text).map(|address| (address.to_string() == **text).into())
        }
        ("family", [Value::Ip(address)]) => Ok(Value::Int(if address.is_ipv4() { 4 } else { 6 })),
        ("isUnspecified", [Value::Ip(address)]) => Ok(address.is_unspecified().into()),
        ("isLoopback", [Value::Ip(address)]) => Ok(address.is_loopback().into()),
        ("isLinkLocalMulticast", [Value::Ip(address)]) => Ok(is_link_local_multicast(address).into()),
        ("isLinkLocalUnicast", [Value::Ip(address)]) => Ok(is_link_local(address).into()),
        ("isGlobalUnicast", [Value::Ip(address)]) => Ok(is_global(address).into()),
        ("cidr", [Value::Text(text)]) => range(text).map(|(address, bits)| Value::Cidr(address, bits)),
        ("isCIDR", [Value::Text(text)]) => Ok(range(text).is_ok().into()),
        ("ip", [Value::Cidr(address, _)]) => Ok(Value::Ip(*address)),
        ("prefixLength", [Value::Cidr(_, bits)]) => Ok(Value::Int((*bits).into())),
        ("masked", [Value::Cidr(address, bits)]) => Ok(Value::Cidr(masked(address, *bits), *bits)),
        ("containsIP", [Value::Cidr(own, bits), Value::Ip(other)]) => {
            Ok(contains((own, *bits), (other, width(other))).into())
        }
        ("containsIP", [Value::Cidr(own, bits), Value::Text(text)]) => match address(text) {
            Ok(other) => Ok(contains((own, *bits), (&other, width(&other))).into()),
            // The API server drops the reason.
            Err(_) => fail("no such overload".to_owned()),
        },
        ("containsCIDR", [Value::Cidr(own, bits), Value::Cidr(other, others)]) => {
            Ok(contains((own, *bits), (other, *others)).into())
        }
        ("containsCIDR", [Value::Cidr(own, bits), Value::Text(text)]) => {
            range(text).map(|(other, others)| contains((own, *bits), (&other, others)).into())
        }
        _ => return None,
    })
}
