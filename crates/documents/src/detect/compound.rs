//! Directory of a compound file, the container of Office before 2007 ([MS-CFB] sections 2.2 to 2.6).

use std::collections::HashSet;

use crate::bytes::{u16_at, u32_at};

pub(super) const SIGNATURE: &[u8] = b"\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1";
/// First reserved number; greater ones are marks, not sectors or entries.
const FIRST_MARK: u32 = 0xFFFF_FFFA;
/// Length of a directory entry, and offsets of its references to siblings and child.
const ENTRY: usize = 128;
const LEFT: usize = 68;
const RIGHT: usize = 72;
const CHILD: usize = 76;
/// Maximum number of sectors of a directory, and of steps through the list of tables.
const MAX_SECTORS: usize = 1024;

/// Returns the names in the root folder, in upper case, as the format compares them. All names of the file if its tree
/// is damaged.
pub(super) fn root_names(file: &[u8]) -> Vec<String> {
    let directory = directory(file);
    let (mut names, mut seen) = (Vec::new(), HashSet::new());
    let mut waiting: Vec<usize> = neighbour(&directory, 0, CHILD).into_iter().collect();
    while let Some(index) = waiting.pop() {
        if seen.insert(index) {
            names.extend(name(&directory, index));
            waiting.extend([LEFT, RIGHT].iter().filter_map(|field| neighbour(&directory, index, *field)));
        }
    }
    if names.is_empty() {
        names.extend((1..directory.len() / ENTRY).filter_map(|index| name(&directory, index)));
    }
    names
}

/// Returns the sectors of the directory, concatenated.
fn directory(file: &[u8]) -> Vec<u8> {
    let Some(sectors) = Sectors::of(file) else { return Vec::new() };
    let mut bytes = Vec::new();
    let mut next = u32_at(file, 48);
    // The limit also ends a chain that loops.
    for _ in 0..MAX_SECTORS.min(file.len() / sectors.size) {
        let Some(sector) = next.and_then(|number| sectors.get(number)) else { break };
        bytes.extend_from_slice(sector);
        next = next.and_then(|number| sectors.after(number));
    }
    bytes
}

struct Sectors<'a> {
    file: &'a [u8],
    size: usize,
}

impl<'a> Sectors<'a> {
    fn of(file: &'a [u8]) -> Option<Self> {
        let shift = u16_at(file, 30)?;
        matches!(shift, 9 | 12).then(|| Self { file, size: 1 << shift })
    }

    fn get(&self, number: u32) -> Option<&'a [u8]> {
        let start = (number < FIRST_MARK).then(|| (number as usize + 1).checked_mul(self.size))??;
        let end = (start + self.size).min(self.file.len());
        self.file.get(start..end)
    }

    /// Returns the next sector of a chain from the allocation table.
    fn after(&self, number: u32) -> Option<u32> {
        let in_sector = self.size / 4;
        let table = self.table(number as usize / in_sector)?;
        u32_at(self.get(table)?, number as usize % in_sector * 4)
    }

    /// Returns the sector of a part of the allocation table: the header lists 109 of them, a chain of sectors the
    /// others.
    fn table(&self, part: usize) -> Option<u32> {
        if part < 109 {
            return u32_at(self.file, 76 + part * 4);
        }
        let in_sector = self.size / 4 - 1;
        let (steps, place) = ((part - 109) / in_sector, (part - 109) % in_sector);
        let mut list = u32_at(self.file, 68)?;
        for _ in 0..steps.min(MAX_SECTORS) {
            list = u32_at(self.get(list)?, in_sector * 4)?;
        }
        u32_at(self.get(list)?, place * 4)
    }
}

fn neighbour(directory: &[u8], index: usize, field: usize) -> Option<usize> {
    u32_at(directory, index * ENTRY + field).filter(|number| *number < FIRST_MARK).map(|number| number as usize)
}

fn name(directory: &[u8], index: usize) -> Option<String> {
    let start = index.checked_mul(ENTRY)?;
    let entry = directory.get(start..start + ENTRY)?;
    let length = usize::from(u16_at(entry, 64)?).clamp(2, 64) - 2;
    let (units, _) = entry[..length].as_chunks();
    let units = units.iter().map(|pair| u16::from_le_bytes(*pair));
    let name: String = char::decode_utf16(units).map(|unit| unit.unwrap_or(char::REPLACEMENT_CHARACTER)).collect();
    (!name.is_empty()).then(|| name.to_uppercase())
}
