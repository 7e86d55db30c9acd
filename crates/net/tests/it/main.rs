//! The client against real sockets on loopback: a scripted origin, a DNS server, a canary, a proxy.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up has to fail")]

mod dns;
mod download;
mod egress;
mod egress_proxy;
mod limits;
mod pool;
mod post;
mod proxies;
mod redirects;
mod tls;
mod world;
