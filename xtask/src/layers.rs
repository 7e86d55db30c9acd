//! `cargo xtask layers`: checks the direction of dependencies by the tables in the root Cargo.toml.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context, Result, bail};
use cargo_metadata::{DependencyKind, Metadata, MetadataCommand};
use serde::Deserialize;

use crate::sh;

/// The tables in `[workspace.metadata]`.
#[derive(Deserialize)]
struct Tables {
    layers: Layers,
    gates: BTreeMap<String, Vec<String>>,
}

#[derive(Deserialize)]
struct Layers {
    /// Layers from lowest to highest.
    order: Vec<String>,
    /// Layers whose members may depend on each other.
    siblings: Vec<String>,
    #[serde(flatten)]
    members: BTreeMap<String, Vec<String>>,
}

/// Checks this workspace.
pub(crate) fn check_workspace() -> Result<()> {
    let violations = check(&sh::root())?;
    if violations.is_empty() {
        return Ok(());
    }
    bail!("{}", violations.join("\n"));
}

/// Returns a message for every dependency in the workspace `root` that points upwards or bypasses a gate.
fn check(root: &Path) -> Result<Vec<String>> {
    let metadata = MetadataCommand::new().current_dir(root).no_deps().other_options(vec!["--offline".into()]).exec()?;
    let tables: Tables =
        serde_json::from_value(metadata.workspace_metadata.clone()).context("[workspace.metadata] of Cargo.toml")?;
    Ok(violations(&metadata, &tables))
}

fn violations(metadata: &Metadata, tables: &Tables) -> Vec<String> {
    let mut found = Vec::new();
    for package in metadata.workspace_packages() {
        let Some(from) = tables.layers.rank(&package.name) else {
            found.push(format!("{} is in no layer of [workspace.metadata.layers]", package.name));
            continue;
        };
        // Tests may use the fakes of the tool layer, so development dependencies are not checked.
        for dependency in package.dependencies.iter().filter(|d| d.kind != DependencyKind::Development) {
            if let Some(to) = tables.layers.rank(&dependency.name)
                && (to > from || (to == from && !tables.layers.siblings.contains(&tables.layers.order[to])))
            {
                let (from, to) = (&tables.layers.order[from], &tables.layers.order[to]);
                found.push(format!("{} ({from}) may not depend on {} ({to})", package.name, dependency.name));
            }
            if let Some(open) = tables.gates.get(&dependency.name)
                && !open.iter().any(|name| **name == *package.name)
            {
                found.push(format!(
                    "{} may not depend on {}; only {} may",
                    package.name,
                    dependency.name,
                    open.join(", ")
                ));
            }
        }
    }
    found
}

impl Layers {
    fn rank(&self, package: &str) -> Option<usize> {
        self.order
            .iter()
            .position(|layer| self.members.get(layer).is_some_and(|names| names.iter().any(|n| n == package)))
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// Checks a temporary workspace of two crates in which `low` has the given dependencies.
    fn planted(low_depends_on: &str) -> Vec<String> {
        let root = tempfile::tempdir().unwrap();
        let tables = "[workspace]\nresolver = \"3\"\nmembers = [\"low\", \"high\"]\n\
            [workspace.metadata.layers]\norder = [\"domain\", \"app\"]\nsiblings = []\ndomain = [\"low\"]\napp = [\"high\"]\n\
            [workspace.metadata.gates]\nhigh = []\nserde = [\"high\"]\n";
        fs::write(root.path().join("Cargo.toml"), tables).unwrap();
        for (name, dependencies) in [("low", low_depends_on), ("high", "")] {
            let folder = root.path().join(name);
            fs::create_dir_all(folder.join("src")).unwrap();
            fs::write(folder.join("src/lib.rs"), "").unwrap();
            let manifest = format!(
                "[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n[dependencies]\n{dependencies}\n"
            );
            fs::write(folder.join("Cargo.toml"), manifest).unwrap();
        }
        check(root.path()).unwrap()
    }

    #[test]
    fn an_edge_that_goes_up_is_named() {
        let found = planted("high = { path = \"../high\" }");
        assert!(found.contains(&"low (domain) may not depend on high (app)".to_owned()), "{found:?}");
    }

    #[test]
    fn a_closed_gate_is_named() {
        let found = planted("serde = \"1\"");
        assert_eq!(found, ["low may not depend on serde; only high may"]);
    }

    #[test]
    fn a_workspace_in_order_passes() {
        assert_eq!(planted(""), Vec::<String>::new());
    }

    #[test]
    fn this_workspace_is_in_order() {
        check_workspace().unwrap();
    }
}
