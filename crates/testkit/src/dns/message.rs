//! DNS messages: queries of a resolver and their replies (RFC 1035 section 4).

use std::net::IpAddr;

pub(super) const NOERROR: u8 = 0;
pub(super) const NXDOMAIN: u8 = 3;
const OPT: u16 = 41;
const HEADER: usize = 12;
/// Maximum size of a UDP reply without EDNS (RFC 1035 section 2.3.4).
const PLAIN_UDP: usize = 512;

/// The single question of a query.
#[derive(Debug)]
pub(super) struct Question {
    /// Name in lower case, without the trailing dot.
    pub(super) name: String,
    /// Record type.
    pub(super) kind: u16,
    id: [u8; 2],
    /// The question as received, which is repeated in the reply with its letter case.
    wire: Vec<u8>,
    udp_limit: usize,
}

/// An answer record of class IN.
#[derive(Debug)]
pub(super) struct Record {
    pub(super) owner: String,
    pub(super) ttl: u32,
    pub(super) data: Data,
}

#[derive(Debug)]
pub(super) enum Data {
    Address(IpAddr),
    Cname(String),
}

impl Question {
    /// Parses a query; `None` for anything else.
    pub(super) fn read(packet: &[u8]) -> Option<Self> {
        let is_reply = packet.get(2)? & 0x80 != 0;
        if is_reply || packet.get(4..6)? != [0, 1] {
            return None;
        }
        let (mut name, mut at) = (String::new(), HEADER);
        loop {
            let length = usize::from(*packet.get(at)?);
            at += 1;
            if length == 0 {
                break;
            }
            let label = packet.get(at..at + length)?;
            if !name.is_empty() {
                name.push('.');
            }
            name.extend(label.iter().map(|byte| char::from(byte.to_ascii_lowercase())));
            at += length;
        }
        let kind = u16::from_be_bytes([*packet.get(at)?, *packet.get(at + 1)?]);
        let end = at + 4;
        let wire = packet.get(HEADER..end)?.to_vec();
        Some(Self { name, kind, id: [packet[0], packet[1]], wire, udp_limit: udp_limit(packet.get(end..)?) })
    }

    /// Encodes the reply. Over UDP a reply that does not fit is empty with the TC bit, so the resolver retries over TCP.
    pub(super) fn reply(&self, code: u8, records: &[Record], tcp: bool) -> Vec<u8> {
        let whole = self.encode(code, records, false);
        let limit = if tcp { usize::from(u16::MAX) } else { self.udp_limit };
        if whole.len() <= limit { whole } else { self.encode(code, &[], true) }
    }

    fn encode(&self, code: u8, records: &[Record], truncated: bool) -> Vec<u8> {
        let count = u16::try_from(records.len()).unwrap_or(u16::MAX).to_be_bytes();
        // QR, AA, RD; RA and the response code.
        let flags = [0x85 | u8::from(truncated) << 1, 0x80 | code];
        let mut out = [self.id, flags, [0, 1], count, [0, 0], [0, 0]].concat();
        out.extend_from_slice(&self.wire);
        for record in records {
            write_record(&mut out, record, &self.name);
        }
        out
    }
}

/// Returns the maximum UDP size that the client announces in an OPT record (RFC 6891 section 6.1.2).
fn udp_limit(additional: &[u8]) -> usize {
    match additional {
        [0, kind_high, kind_low, size_high, size_low, ..] if u16::from_be_bytes([*kind_high, *kind_low]) == OPT => {
            usize::from(u16::from_be_bytes([*size_high, *size_low])).max(PLAIN_UDP)
        }
        _ => PLAIN_UDP,
    }
}

fn write_record(out: &mut Vec<u8>, record: &Record, asked: &str) {
    write_name(out, &record.owner, asked);
    let (kind, data) = match &record.data {
        Data::Address(IpAddr::V4(ip)) => (1_u16, ip.octets().to_vec()),
        Data::Address(IpAddr::V6(ip)) => (28, ip.octets().to_vec()),
        Data::Cname(name) => {
            let mut data = Vec::new();
            write_name(&mut data, name, asked);
            (5, data)
        }
    };
    out.extend_from_slice(&kind.to_be_bytes());
    out.extend_from_slice(&[0, 1]);
    out.extend_from_slice(&record.ttl.to_be_bytes());
    out.extend_from_slice(&u16::try_from(data.len()).unwrap_or(0).to_be_bytes());
    out.extend_from_slice(&data);
}

/// Writes a name; the part that equals the queried name becomes a pointer to it (RFC 1035 section 4.1.4).
fn write_name(out: &mut Vec<u8>, name: &str, asked: &str) {
    let own = name.strip_suffix(asked).unwrap_or(name);
    for label in own.split('.').filter(|label| !label.is_empty()) {
        out.push(u8::try_from(label.len()).unwrap_or(0));
        out.extend_from_slice(label.as_bytes());
    }
    if own.len() < name.len() { out.extend_from_slice(&[0xC0, 12]) } else { out.push(0) }
}

/// Returns a query for one name, as sent by a resolver without EDNS.
#[cfg(test)]
pub(super) fn query(name: &str, kind: u16) -> Vec<u8> {
    let mut out = vec![0, 7, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0];
    write_name(&mut out, name, "?");
    out.extend_from_slice(&kind.to_be_bytes());
    out.extend_from_slice(&[0, 1]);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_a_question_and_its_edns_size() {
        let mut packet = query("Www.Example.test", 28);
        let question = Question::read(&packet).unwrap();
        assert_eq!((question.name.as_str(), question.kind, question.udp_limit), ("www.example.test", 28, 512));
        packet.extend_from_slice(&[0, 0, 41, 0x10, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(Question::read(&packet).unwrap().udp_limit, 4096);
    }

    #[test]
    fn refuses_what_is_not_a_query() {
        for packet in
            [&[][..], &[0; 12], &[0, 7, 0x81, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0], &[0, 7, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 9]]
        {
            assert!(Question::read(packet).is_none(), "{packet:?}");
        }
    }
}
