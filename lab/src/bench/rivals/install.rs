//! Installation of the other programs, by name and version, from the registry as published.

use std::path::{Path, PathBuf};

use anyhow::{Result, ensure};
use xtask::sh;

/// A program of the comparison that is not Quarry.
pub(super) struct Rival {
    /// Package name, which is also the name of its program.
    name: &'static str,
    version: &'static str,
}

pub(super) const PAGESIFT: Rival = Rival { name: "pagesift", version: "0.81.5" };
pub(super) const CRW_SERVER: Rival = Rival { name: "crw-server", version: "0.39.1" };

impl Rival {
    /// Returns name and version, for a table.
    pub(super) fn title(&self) -> String {
        format!("{} {}", self.name, self.version)
    }

    /// Returns the path of its program below `folder`; builds it if missing.
    pub(super) fn program(&self, folder: &Path) -> Result<PathBuf> {
        let root = folder.join(format!("{}-{}", self.name, self.version));
        let program = root.join("bin").join(self.name);
        if program.is_file() {
            return Ok(program);
        }
        sh::step(&format!("build {}", self.title()), || {
            let mut cargo = sh::cargo();
            cargo.args(["install", "--locked", "--root"]).arg(&root);
            sh::run(cargo.args([self.name, "--version", self.version]))
        })?;
        ensure!(program.is_file(), "{} was not built", program.display());
        Ok(program)
    }
}
