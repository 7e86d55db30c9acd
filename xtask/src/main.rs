//! Entry point of `cargo xtask`.

fn main() -> anyhow::Result<()> {
    xtask::run()
}
