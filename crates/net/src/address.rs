//! Classification of IP addresses: public or special-purpose.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::host_names::PRIVATE_NAME;

/// Accepts an address only if it is globally routable; the error names its special range.
///
/// Source: the IANA special-purpose address registries (RFC 6890 and its updates). IPv6 forms that embed an IPv4 address
/// (mapped, compatible, NAT64, 6to4, Teredo) are always refused.
///
/// # Errors
/// The name of the range, lower case, fit for an error message.
///
/// ```
/// assert!(net::classify("93.184.216.34".parse().unwrap()).is_ok());
/// assert_eq!(net::classify("10.1.2.3".parse().unwrap()), Err("private network"));
/// ```
pub fn classify(addr: IpAddr) -> Result<(), &'static str> {
    match addr {
        IpAddr::V4(addr) => classify_v4(addr),
        IpAddr::V6(addr) => classify_v6(addr),
    }
}

/// Returns the hint that follows the reason of a refusal, if the operator can allow the address.
///
/// ```
/// assert_eq!(net::advice("loopback"), "; the operator can admit it with egress.allow");
/// assert_eq!(net::advice("own listen address"), "");
/// ```
#[must_use]
pub fn advice(reason: &str) -> &'static str {
    let v4 = REFUSED_V4.iter().map(|(.., name)| *name);
    let mut ranges = v4.chain(REFUSED_V6.iter().map(|(.., name)| *name)).chain([NOT_GLOBAL, NOT_PUBLIC, PRIVATE_NAME]);
    if ranges.any(|name| name == reason) { "; the operator can admit it with egress.allow" } else { "" }
}

fn classify_v4(addr: Ipv4Addr) -> Result<(), &'static str> {
    let bits = addr.to_bits();
    let hit = REFUSED_V4.iter().find(|(net, length, _)| (bits ^ net.to_bits()) >> (32 - length) == 0);
    hit.map_or(Ok(()), |(_, _, reason)| Err(*reason))
}

fn classify_v6(addr: Ipv6Addr) -> Result<(), &'static str> {
    let bits = addr.to_bits();
    if let Some((_, _, reason)) =
        REFUSED_V6.iter().find(|(net, length, _)| (bits ^ net.to_bits()) >> (128 - length) == 0)
    {
        return Err(reason);
    }
    // Only 2000::/3 is allocated for global unicast; everything else is reserved and has no range name.
    if bits >> 125 == 0b001 { Ok(()) } else { Err(NOT_GLOBAL) }
}

/// Reason for a refused site when the specific range is unknown.
pub const NOT_PUBLIC: &str = "an address of it is not public";

/// Reason for an address outside all named ranges.
const NOT_GLOBAL: &str = "not a global unicast address";

const fn v4(a: u8, b: u8, c: u8, d: u8) -> Ipv4Addr {
    Ipv4Addr::new(a, b, c, d)
}

const fn v6(a: u16, b: u16, c: u16) -> Ipv6Addr {
    Ipv6Addr::new(a, b, c, 0, 0, 0, 0, 0)
}

/// Network, prefix length (1 to 32), reason.
const REFUSED_V4: &[(Ipv4Addr, u32, &str)] = &[
    (v4(0, 0, 0, 0), 8, "this network"),
    (v4(10, 0, 0, 0), 8, "private network"),
    (v4(100, 64, 0, 0), 10, "carrier-grade NAT"),
    (v4(127, 0, 0, 0), 8, "loopback"),
    (v4(169, 254, 0, 0), 16, "link-local"),
    (v4(172, 16, 0, 0), 12, "private network"),
    (v4(192, 0, 0, 0), 24, "protocol assignments"),
    (v4(192, 0, 2, 0), 24, "documentation"),
    (v4(192, 88, 99, 0), 24, "6to4 relay"),
    (v4(192, 168, 0, 0), 16, "private network"),
    (v4(198, 18, 0, 0), 15, "benchmarking"),
    (v4(198, 51, 100, 0), 24, "documentation"),
    (v4(203, 0, 113, 0), 24, "documentation"),
    (v4(224, 0, 0, 0), 4, "multicast"),
    (v4(240, 0, 0, 0), 4, "reserved"),
    // Public by the registries, but inside Azure it is the host's metadata and agent endpoint.
    (v4(168, 63, 129, 16), 32, "cloud platform address"),
];

/// Network, prefix length (1 to 128), reason.
const REFUSED_V6: &[(Ipv6Addr, u32, &str)] = &[
    (Ipv6Addr::UNSPECIFIED, 128, "unspecified address"),
    (Ipv6Addr::LOCALHOST, 128, "loopback"),
    (Ipv6Addr::new(0, 0, 0, 0, 0, 0xffff, 0, 0), 96, "IPv4-mapped address"),
    (Ipv6Addr::new(0, 0, 0, 0, 0xffff, 0, 0, 0), 96, "IPv4-translated address"),
    (Ipv6Addr::UNSPECIFIED, 96, "IPv4-compatible address"),
    (v6(0x64, 0xff9b, 0), 96, "NAT64 address"),
    (v6(0x64, 0xff9b, 1), 48, "NAT64 address"),
    (v6(0x100, 0, 0), 64, "discard-only"),
    (v6(0x2001, 0, 0), 32, "Teredo address"),
    (v6(0x2001, 0xdb8, 0), 32, "documentation"),
    (v6(0x2001, 0, 0), 23, "protocol assignments"),
    (v6(0x2002, 0, 0), 16, "6to4 address"),
    (v6(0x3fff, 0, 0), 20, "documentation"),
    (v6(0x5f00, 0, 0), 16, "segment routing"),
    (v6(0xfc00, 0, 0), 7, "unique local address"),
    (v6(0xfe80, 0, 0), 10, "link-local"),
    (v6(0xfec0, 0, 0), 10, "site-local"),
    (v6(0xff00, 0, 0), 8, "multicast"),
];

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check(addr: &str, expect: Result<(), &str>) {
        assert_eq!(classify(addr.parse().unwrap()), expect, "{addr}");
    }

    #[test]
    fn ipv4_ranges_from_first_to_last_address() {
        for (first, last, reason) in [
            ("0.0.0.0", "0.255.255.255", "this network"),
            ("10.0.0.0", "10.255.255.255", "private network"),
            ("100.64.0.0", "100.127.255.255", "carrier-grade NAT"),
            ("127.0.0.0", "127.255.255.255", "loopback"),
            ("169.254.0.0", "169.254.255.255", "link-local"),
            ("172.16.0.0", "172.31.255.255", "private network"),
            ("192.0.0.0", "192.0.0.255", "protocol assignments"),
            ("192.0.2.0", "192.0.2.255", "documentation"),
            ("192.88.99.0", "192.88.99.255", "6to4 relay"),
            ("192.168.0.0", "192.168.255.255", "private network"),
            ("198.18.0.0", "198.19.255.255", "benchmarking"),
            ("198.51.100.0", "198.51.100.255", "documentation"),
            ("203.0.113.0", "203.0.113.255", "documentation"),
            ("224.0.0.0", "239.255.255.255", "multicast"),
            ("240.0.0.0", "255.255.255.255", "reserved"),
            ("168.63.129.16", "168.63.129.16", "cloud platform address"),
        ] {
            check(first, Err(reason));
            check(last, Err(reason));
        }
    }

    #[test]
    fn ipv4_neighbours_of_the_ranges_are_public() {
        for addr in [
            "1.0.0.0",
            "9.255.255.255",
            "11.0.0.0",
            "100.63.255.255",
            "100.128.0.0",
            "126.255.255.255",
            "128.0.0.0",
            "169.253.255.255",
            "169.255.0.0",
            "172.15.255.255",
            "172.32.0.0",
            "192.0.1.0",
            "192.0.3.0",
            "192.88.98.255",
            "192.88.100.0",
            "192.167.255.255",
            "192.169.0.0",
            "198.17.255.255",
            "198.20.0.0",
            "203.0.112.255",
            "203.0.114.0",
            "223.255.255.255",
            "168.63.129.15",
            "168.63.129.17",
        ] {
            check(addr, Ok(()));
        }
    }

    #[test]
    fn ipv6_ranges() {
        for (addr, reason) in [
            ("::", "unspecified address"),
            ("::1", "loopback"),
            ("::7f00:1", "IPv4-compatible address"),
            ("::8.8.8.8", "IPv4-compatible address"),
            ("::ffff:127.0.0.1", "IPv4-mapped address"),
            ("::ffff:8.8.8.8", "IPv4-mapped address"),
            ("::ffff:0:8.8.8.8", "IPv4-translated address"),
            ("64:ff9b::a9fe:a9fe", "NAT64 address"),
            ("64:ff9b:1::1", "NAT64 address"),
            ("64:ff9b:1:ffff:ffff:ffff:ffff:ffff", "NAT64 address"),
            ("100::1", "discard-only"),
            ("2001::1", "Teredo address"),
            ("2001:0:7f00:1::80ff:fffe", "Teredo address"),
            ("2001:1::1", "protocol assignments"),
            ("2001:20::1", "protocol assignments"),
            ("2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff", "protocol assignments"),
            ("2001:db8::1", "documentation"),
            ("2002:7f00:1::", "6to4 address"),
            ("2002:808:808::1", "6to4 address"),
            ("3fff::1", "documentation"),
            ("3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff", "documentation"),
            ("5f00::1", "segment routing"),
            ("fc00::1", "unique local address"),
            ("fd00:ec2::254", "unique local address"),
            ("fe80::1", "link-local"),
            ("febf::1", "link-local"),
            ("fec0::1", "site-local"),
            ("ff02::1", "multicast"),
            ("1::1", "not a global unicast address"),
            ("4000::1", "not a global unicast address"),
            ("64:ff9b:2::1", "not a global unicast address"),
            ("::1:0:0:0", "not a global unicast address"),
        ] {
            check(addr, Err(reason));
        }
        for addr in ["2000::1", "2001:200::1", "2001:4860:4860::8888", "2606:4700::1111", "2003::1", "3fff:1000::1"] {
            check(addr, Ok(()));
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(20_000))]

        #[test]
        fn never_admits_an_address_inside_a_listed_ipv4_range(row in 0..REFUSED_V4.len(), host in any::<u32>()) {
            let (net, length, _) = REFUSED_V4[row];
            let addr = Ipv4Addr::from_bits(net.to_bits() | host.checked_shr(length).unwrap_or(0));
            prop_assert!(classify(addr.into()).is_err(), "{}", addr);
            let mapped = addr.to_ipv6_mapped();
            prop_assert!(classify(mapped.into()).is_err(), "{}", mapped);
        }

        #[test]
        fn never_admits_an_address_inside_a_listed_ipv6_range(row in 0..REFUSED_V6.len(), host in any::<u128>()) {
            let (net, length, _) = REFUSED_V6[row];
            let addr = Ipv6Addr::from_bits(net.to_bits() | host.checked_shr(length).unwrap_or(0));
            prop_assert!(classify(addr.into()).is_err(), "{}", addr);
        }

        #[test]
        fn never_admits_an_ipv6_address_outside_global_unicast(bits in any::<u128>()) {
            let addr = Ipv6Addr::from_bits(bits);
            prop_assert!(bits >> 125 == 1 || classify(addr.into()).is_err(), "{}", addr);
        }

        #[test]
        fn agrees_with_the_standard_library_where_it_has_an_opinion(bits in any::<u32>()) {
            let addr = Ipv4Addr::from_bits(bits);
            let special = addr.is_private() || addr.is_loopback() || addr.is_link_local() || addr.is_multicast()
                || addr.is_broadcast() || addr.is_documentation() || addr.is_unspecified();
            prop_assert!(!special || classify(addr.into()).is_err(), "{}", addr);
        }
    }
}
