//! Tests of visits with a real Chromium to scripted sites on loopback.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up has to fail")]

mod ads;
mod calm;
mod death;
mod egress;
mod faults;
mod given;
mod guise;
mod heavy;
mod hold;
mod hostile;
mod invisible;
mod page_act;
mod page_dom;
mod page_hurry;
mod page_picture;
mod page_polls;
mod page_wait;
mod page_world;
mod pages;
mod pool;
mod results;
mod styles;
mod world;
