//! Migrations are embedded at compile time, which cargo cannot see by itself.

fn main() {
    println!("cargo:rerun-if-changed=migrations");
}
