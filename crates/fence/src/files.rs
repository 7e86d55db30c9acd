//! Landlock: the files that the program may access, and the processes that it may signal.

use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access as _, AccessFs, AccessNet, CompatLevel, Compatible as _, Ruleset, RulesetAttr as _,
    RulesetCreatedAttr as _, RulesetError, RulesetStatus, Scope, path_beneath_rules,
};

use crate::world::{DEVICES, ZERO};
use crate::{FenceError, HOME};

/// Restricts file access. Returns whether signals are confined to the sandbox too, which takes a kernel of 6.12 or
/// later.
pub(crate) fn wall(reads: &[PathBuf], with_home: bool) -> Result<bool, FenceError> {
    let status = ruleset(reads, with_home).map_err(|error| FenceError::Files(error.to_string()))?;
    match status {
        RulesetStatus::FullyEnforced => Ok(true),
        RulesetStatus::PartiallyEnforced => Ok(false),
        RulesetStatus::NotEnforced => Err(FenceError::Files("the kernel does not enforce Landlock".to_owned())),
    }
}

fn ruleset(reads: &[PathBuf], with_home: bool) -> Result<RulesetStatus, RulesetError> {
    let everything = AccessFs::from_all(ABI::V5);
    let home: &[&str] = if with_home { &[HOME] } else { &[] };
    let bin = Path::new(HOME).join("bin");
    let executed: &[&Path] = if with_home { &[&bin] } else { &[] };
    // Kernels without the first ABI are refused. Newer access rights are used where the kernel knows them.
    let status = Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(AccessFs::from_all(ABI::V1))?
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(everything)?
        .handle_access(AccessNet::from_all(ABI::V4))?
        .scope(Scope::from_all(ABI::V6))?
        .create()?
        .add_rules(path_beneath_rules(reads, AccessFs::from_read(ABI::V5)))?
        .add_rules(path_beneath_rules(home, everything & !AccessFs::Execute))?
        .add_rules(path_beneath_rules(executed, AccessFs::from_read(ABI::V5)))?
        .add_rules(path_beneath_rules(DEVICES, AccessFs::ReadFile | AccessFs::WriteFile))?
        .add_rules(path_beneath_rules([ZERO], AccessFs::ReadFile))?
        .restrict_self()?;
    Ok(status.ruleset)
}
