//! A fake DNS server that answers from a table, over UDP and TCP (RFC 1035). It uses no library, because it must be able to
//! hang and to answer the same query differently each time.

mod message;

use std::collections::HashMap;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream, UdpSocket};
use tokio::task::AbortHandle;

use message::{Question, Record};

const A: u16 = 1;
const AAAA: u16 = 28;
/// Maximum length of a chain of aliases.
const MAX_ALIASES: usize = 8;

/// Answer for a name. The default is an existing name without addresses.
#[derive(Debug, Clone, Default)]
pub struct Answer {
    /// A records.
    pub a: Vec<Ipv4Addr>,
    /// AAAA records.
    pub aaaa: Vec<Ipv6Addr>,
    /// Answers of the first, second, … query of each type, instead of `a` and `aaaa`; the last one is repeated.
    pub sequence: Vec<Vec<IpAddr>>,
    /// Time to live in seconds.
    pub ttl: u32,
    /// Whether queries are never answered.
    pub hang: bool,
    /// Number of additional A records, all different and in 127.1.0.0/16.
    pub count: u16,
    /// Number of CNAME records before the addresses.
    pub cname_chain: u16,
    /// Target of a CNAME record, followed by the addresses that the table has for it. `localhost` is 127.0.0.1 and ::1
    /// unless it is in the table.
    pub cname: Option<String>,
}

impl From<IpAddr> for Answer {
    fn from(ip: IpAddr) -> Self {
        [ip].into_iter().collect()
    }
}

impl FromIterator<IpAddr> for Answer {
    fn from_iter<T: IntoIterator<Item = IpAddr>>(addresses: T) -> Self {
        let mut answer = Self::default();
        for ip in addresses {
            match ip {
                IpAddr::V4(ip) => answer.a.push(ip),
                IpAddr::V6(ip) => answer.aaaa.push(ip),
            }
        }
        answer
    }
}

/// A received query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Query {
    /// Name in lower case, without the trailing dot.
    pub name: String,
    /// Record type: 1 is A, 28 is AAAA.
    pub kind: u16,
    /// Whether the query came over TCP.
    pub tcp: bool,
}

/// The fake server. Names that are not in the table do not exist (NXDOMAIN), unless the table contains `*`.
#[derive(Debug)]
pub struct Dns {
    addr: SocketAddr,
    state: Arc<Mutex<State>>,
    tasks: [AbortHandle; 2],
}

#[derive(Debug, Default)]
struct State {
    names: HashMap<String, Answer>,
    asked: HashMap<(String, u16), usize>,
    queries: Vec<Query>,
}

impl Dns {
    /// Listens on one free port of 127.0.0.1, UDP and TCP.
    ///
    /// # Panics
    /// When loopback has no free port.
    pub async fn start() -> Self {
        // The port assigned for UDP may be in use for TCP: then try another one.
        for _ in 0..20 {
            if let Ok(dns) = Self::bind(SocketAddr::from(([127, 0, 0, 1], 0))).await {
                return dns;
            }
        }
        panic!("no port is free for both UDP and TCP");
    }

    /// Listens on the given address, UDP and TCP.
    ///
    /// # Errors
    /// When it is in use.
    pub async fn bind(addr: SocketAddr) -> io::Result<Self> {
        let socket = UdpSocket::bind(addr).await?;
        let addr = socket.local_addr()?;
        let listener = TcpListener::bind(addr).await?;
        let state = Arc::new(Mutex::new(State::default()));
        let tasks = [
            tokio::spawn(serve_udp(socket, Arc::clone(&state))).abort_handle(),
            tokio::spawn(serve_tcp(listener, Arc::clone(&state))).abort_handle(),
        ];
        Ok(Self { addr, state, tasks })
    }

    /// Returns the address, for UDP and TCP.
    #[must_use]
    pub fn addr(&self) -> SocketAddr {
        self.addr
    }

    /// Sets the answer for a name; `*` applies to all other names.
    pub fn set(&self, name: &str, answer: Answer) {
        let name = normal(name);
        let mut state = self.state.lock();
        state.asked.retain(|(asked, _), _| *asked != name);
        state.names.insert(name, answer);
    }

    /// Removes a name from the table.
    pub fn remove(&self, name: &str) {
        self.state.lock().names.remove(&normal(name));
    }

    /// Removes all names and recorded queries.
    pub fn reset(&self) {
        *self.state.lock() = State::default();
    }

    /// Returns all queries so far.
    #[must_use]
    pub fn queries(&self) -> Vec<Query> {
        self.state.lock().queries.clone()
    }
}

impl Drop for Dns {
    fn drop(&mut self) {
        self.tasks.iter().for_each(AbortHandle::abort);
    }
}

fn normal(name: &str) -> String {
    name.trim_end_matches('.').to_ascii_lowercase()
}

async fn serve_udp(socket: UdpSocket, state: Arc<Mutex<State>>) {
    let mut packet = vec![0; 4096];
    while let Ok((length, peer)) = socket.recv_from(&mut packet).await {
        if let Some(reply) = answer(&packet[..length], &state, false) {
            let _ = socket.send_to(&reply, peer).await;
        }
    }
}

async fn serve_tcp(listener: TcpListener, state: Arc<Mutex<State>>) {
    while let Ok((stream, _)) = listener.accept().await {
        tokio::spawn(serve_stream(stream, Arc::clone(&state)));
    }
}

/// Serves a TCP connection, where messages have a length of two bytes (RFC 1035 section 4.2.2).
async fn serve_stream(mut stream: TcpStream, state: Arc<Mutex<State>>) -> io::Result<()> {
    loop {
        let mut packet = vec![0; usize::from(stream.read_u16().await?)];
        stream.read_exact(&mut packet).await?;
        let Some(reply) = answer(&packet, &state, true) else {
            continue;
        };
        stream.write_u16(u16::try_from(reply.len()).unwrap_or(u16::MAX)).await?;
        stream.write_all(&reply).await?;
    }
}

/// Returns the reply to one message; `None` when the name hangs or the message is not a query.
fn answer(packet: &[u8], state: &Mutex<State>, tcp: bool) -> Option<Vec<u8>> {
    let question = Question::read(packet)?;
    let mut state = state.lock();
    state.queries.push(Query { name: question.name.clone(), kind: question.kind, tcp });
    let asked = state.asked.entry((question.name.clone(), question.kind)).or_insert(0);
    let turn = *asked;
    *asked += 1;
    let Some(answer) = state.names.get(&question.name).or_else(|| state.names.get("*")) else {
        return Some(question.reply(message::NXDOMAIN, &[], tcp));
    };
    if answer.hang {
        return None;
    }
    let (owner, mut found, target) = follow(&question.name, answer, &state.names);
    found.extend(records(&question, owner, &target, turn));
    Some(question.reply(message::NOERROR, &found, tcp))
}

/// Follows aliases; returns their records, the final name and its answer. An alias of an unknown name has only its own
/// addresses.
fn follow(name: &str, answer: &Answer, names: &HashMap<String, Answer>) -> (String, Vec<Record>, Answer) {
    let (mut owner, mut answer, mut found) = (name.to_owned(), answer.clone(), Vec::new());
    while let Some(target) = answer.cname.take().filter(|_| found.len() < MAX_ALIASES) {
        let target = normal(&target);
        let data = message::Data::Cname(target.clone());
        found.push(Record { owner: std::mem::replace(&mut owner, target.clone()), ttl: answer.ttl, data });
        answer = match names.get(&target) {
            Some(known) => known.clone(),
            None if target == "localhost" => {
                [IpAddr::V4(Ipv4Addr::LOCALHOST), IpAddr::V6(Ipv6Addr::LOCALHOST)].into_iter().collect()
            }
            None => answer,
        };
    }
    (owner, found, answer)
}

fn records(question: &Question, mut owner: String, answer: &Answer, turn: usize) -> Vec<Record> {
    let ttl = answer.ttl;
    let mut records = Vec::new();
    for step in 1..=answer.cname_chain {
        let next = format!("c{step}.{}", question.name);
        records.push(Record {
            owner: std::mem::replace(&mut owner, next.clone()),
            ttl,
            data: message::Data::Cname(next),
        });
    }
    let addresses: Vec<IpAddr> = match answer.sequence.get(turn).or(answer.sequence.last()) {
        Some(addresses) => addresses.clone(),
        None => {
            let more = (0..answer.count).map(|n| Ipv4Addr::from(0x7f01_0000 + u32::from(n) + 1));
            let v4 = answer.a.iter().copied().chain(more).map(IpAddr::V4);
            v4.chain(answer.aaaa.iter().copied().map(IpAddr::V6)).collect()
        }
    };
    let wanted = addresses.into_iter().filter(|ip| match question.kind {
        A => ip.is_ipv4(),
        AAAA => ip.is_ipv6(),
        _ => false,
    });
    records.extend(wanted.map(|ip| Record { owner: owner.clone(), ttl, data: message::Data::Address(ip) }));
    records
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn ask(dns: &Dns, name: &str, kind: u16) -> Vec<u8> {
        let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
        socket.send_to(&message::query(name, kind), dns.addr()).await.unwrap();
        let mut packet = vec![0; 4096];
        let length = socket.recv(&mut packet).await.unwrap();
        packet.truncate(length);
        packet
    }

    #[tokio::test]
    async fn answers_from_the_table() {
        let dns = Dns::start().await;
        dns.set("a.test", Answer { a: vec![Ipv4Addr::LOCALHOST], ttl: 7, ..Answer::default() });
        let reply = ask(&dns, "A.test", A).await;
        assert_eq!((reply[3] & 15, reply[7]), (0, 1));
        assert!(reply.ends_with(&[0, 0, 0, 7, 0, 4, 127, 0, 0, 1]));
        let reply = ask(&dns, "a.test", AAAA).await;
        assert_eq!((reply[3] & 15, reply[7]), (0, 0));
        assert_eq!(ask(&dns, "b.test", A).await[3] & 15, 3);
        assert_eq!(dns.queries()[0], Query { name: "a.test".into(), kind: A, tcp: false });
    }

    #[tokio::test]
    async fn a_sequence_moves_on_and_stays_at_its_end() {
        let dns = Dns::start().await;
        let sequence = [[10, 0, 0, 1], [10, 0, 0, 2]].map(|ip| vec![IpAddr::from(ip)]).to_vec();
        dns.set("s.test", Answer { sequence, ..Answer::default() });
        for last in [1, 2, 2] {
            assert_eq!(ask(&dns, "s.test", A).await.last(), Some(&last));
        }
    }

    #[tokio::test]
    async fn a_long_answer_is_truncated_over_udp_and_whole_over_tcp() {
        let dns = Dns::start().await;
        dns.set("many.test", Answer { count: 2000, ..Answer::default() });
        let reply = ask(&dns, "many.test", A).await;
        assert_eq!(reply[2] & 2, 2, "TC bit");
        let mut stream = TcpStream::connect(dns.addr()).await.unwrap();
        let query = message::query("many.test", A);
        stream.write_u16(u16::try_from(query.len()).unwrap()).await.unwrap();
        stream.write_all(&query).await.unwrap();
        let mut reply = vec![0; usize::from(stream.read_u16().await.unwrap())];
        stream.read_exact(&mut reply).await.unwrap();
        assert_eq!((reply[2] & 2, u16::from_be_bytes([reply[6], reply[7]])), (0, 2000));
    }

    #[tokio::test]
    async fn a_chain_of_names_ends_in_the_address() {
        let dns = Dns::start().await;
        dns.set("cn.test", Answer { cname_chain: 3, a: vec![Ipv4Addr::new(10, 1, 2, 3)], ..Answer::default() });
        let reply = ask(&dns, "cn.test", A).await;
        assert_eq!(reply[7], 4);
        assert!(reply.ends_with(&[10, 1, 2, 3]));
    }

    #[tokio::test]
    async fn an_alias_leads_to_the_addresses_of_the_other_name() {
        let dns = Dns::start().await;
        let alias = |name: &str| Answer { cname: Some(name.to_owned()), ..Answer::default() };
        dns.set("target.test", Answer::from(IpAddr::from([10, 1, 2, 3])));
        dns.set("alias.test", alias("target.test"));
        dns.set("loop.test", alias("loop.test"));
        dns.set("local.test", alias("localhost"));
        let reply = ask(&dns, "alias.test", A).await;
        assert_eq!(reply[7], 2);
        assert!(reply.ends_with(&[10, 1, 2, 3]));
        assert!(ask(&dns, "local.test", A).await.ends_with(&[127, 0, 0, 1]));
        assert_eq!(usize::from(ask(&dns, "loop.test", A).await[7]), MAX_ALIASES);
    }
}
