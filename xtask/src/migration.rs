//! `cargo xtask migration NAME`: creates an empty migration for each database backend.

use std::fs;

use anyhow::{Result, bail};

use crate::{say, sh};

/// Creates `crates/store/migrations/{sqlite,postgres}/<UTC time>_<name>/{up,down}.sql`.
pub(crate) fn create(name: &str) -> Result<()> {
    if name.is_empty() || !name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_') {
        bail!("the name of a migration may have only lower case letters, digits and _");
    }
    let stamp = sh::output(sh::command("date").args(["-u", "+%Y%m%d%H%M%S"]))?;
    for backend in ["sqlite", "postgres"] {
        let folder = sh::root().join("crates/store/migrations").join(backend).join(format!("{}_{name}", stamp.trim()));
        fs::create_dir_all(&folder)?;
        for file in ["up.sql", "down.sql"] {
            fs::write(folder.join(file), "")?;
        }
        say!("{}", folder.display());
    }
    say!(
        "fill in all four files, add the columns to crates/store/src/schema.rs, then cargo xtask codegen and cargo xtask test"
    );
    Ok(())
}
