//! `cargo xtask setup`: installs missing tools and tells what they are for. Idempotent.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::{db, say, sh};

/// A Debian package, the check whether it is installed, and its purpose.
#[derive(Clone, Copy)]
struct Package {
    name: &'static str,
    present: fn() -> bool,
    why: &'static str,
}

/// A cargo subcommand, built from crates.io.
struct Tool {
    name: &'static str,
    why: &'static str,
}

/// A Debian package of HTML documentation. Its pages are in `pages` of a folder of [`DOCS`] whose name begins with
/// `folder`.
struct Manual {
    package: &'static str,
    folder: &'static str,
    pages: &'static str,
}

/// Data folder of a server that is started in the root of the workspace.
const DATA: &str = "data";

/// Folder of documentation in Debian.
const DOCS: &str = "/usr/share/doc";

const MANUALS: &[Manual] = &[
    Manual { package: "postgresql-doc", folder: "postgresql-doc-", pages: "html" },
    Manual { package: "python3-doc", folder: "python3-doc", pages: "html" },
    Manual { package: "sqlite3-doc", folder: "sqlite3", pages: "" },
    Manual { package: "git-doc", folder: "git-doc", pages: "" },
];

const COMPILER: Package = Package {
    name: "build-essential",
    present: || sh::on_path("cc") && sh::on_path("make"),
    why: "SQLite, the TLS library and the allocator hold C code",
};

const CPP: Package = Package { name: "g++", present: || sh::on_path("c++"), why: "libFuzzer is C++" };

const BROWSER: Package = Package {
    name: "chromium-headless-shell",
    present: || CHROMIUM.iter().any(|path| Path::new(path).is_file()),
    why: "the browser for pages that need scripts",
};

/// Programs that the tests use.
const DRIVEN: &[Package] = &[
    Package {
        name: "postgresql",
        present: || db::binaries().is_some(),
        why: "tests of the store run on a real PostgreSQL",
    },
    BROWSER,
    Package {
        name: "python3",
        present: || ["/usr/bin/python3", "/usr/local/bin/python3"].iter().any(|path| Path::new(path).is_file()),
        why: "runs callers' Python code",
    },
    Package { name: "curl", present: || sh::on_path("curl"), why: "runs the examples in the documents" },
    Package { name: "jq", present: || sh::on_path("jq"), why: "the examples in the documents read answers with it" },
    Package {
        name: "nginx-light",
        present: || sh::on_path("nginx") || Path::new("/usr/sbin/nginx").is_file(),
        why: "tests the sample configuration for nginx",
    },
];

/// Build and runtime dependencies of `quarry-reader`.
const OCR: &[Package] = &[
    Package { name: "pkg-config", present: || sh::on_path("pkg-config"), why: "finds libraries of the system" },
    Package { name: "libtesseract-dev", present: || has_library("tesseract"), why: "OCR of images and scans" },
    Package { name: "libleptonica-dev", present: || has_library("lept"), why: "passes images to tesseract" },
    Package { name: "libclang-dev", present: has_libclang, why: "parses the headers of tesseract" },
    Package { name: "tesseract-ocr-eng", present: has_english, why: "the English language model of tesseract" },
];

const POPPLER: Package = Package {
    name: "poppler-utils",
    present: || sh::on_path("pdftotext"),
    why: "the benchmark of documents compares with pdftotext",
};

/// Paths of the browser executable in distributions, as in the crate `browser`.
const CHROMIUM: &[&str] = &[
    "/usr/lib/chromium/chromium-headless-shell",
    "/usr/lib64/chromium-browser/headless_shell",
    "/usr/lib/chromium/chromium",
    "/usr/lib64/chromium-browser/chromium-browser",
    "/usr/lib/chromium-browser/chromium-browser",
    "/opt/google/chrome/chrome",
];

const PYTHON: Package = Package {
    name: "python3-venv",
    present: || sh::output(sh::command("python3").args(["-c", "import venv, ensurepip"])).is_ok(),
    why: "Python packages (moto, the official client) get a folder of their own by it",
};

const FAKETIME: Package = Package {
    name: "libfaketime",
    present: || faketime().is_some(),
    why: "monitors are played in nights in which clocks change",
};

/// The program that `bench monitors` compares with.
const CHANGE_DETECTION: &str = "changedetection.io==0.60.10";

/// Official clients, in the versions that the examples are tested with.
const PYTHON_CLIENT: &str = "firecrawl-py==4.55.0";
const NODE_CLIENT: &str = "@mendable/firecrawl-js@4.42.0";

const TOOLS: &[Tool] = &[
    Tool { name: "cargo-nextest", why: "runs the tests" },
    Tool { name: "cargo-deny", why: "checks licences and sources of dependencies" },
];

/// Installs everything for building, testing and checking, and the filter lists for a server in this folder.
pub(crate) fn all() -> Result<()> {
    packages(&[&[COMPILER][..], DRIVEN, OCR, &[CPP]].concat())?;
    for tool in TOOLS {
        install(tool)?;
    }
    filter_lists()
}

/// Downloads the filter lists of `blockAds` into the data folder of a server in this folder. Failures are not fatal, since
/// a short list is built in.
fn filter_lists() -> Result<()> {
    let files = fs::read_dir(sh::root().join(DATA).join("lists")).into_iter().flatten().flatten();
    if files.map(|file| file.path()).any(|path| path.extension().is_some_and(|extension| extension == "txt")) {
        return Ok(());
    }
    say!("setup: downloading filter lists into {DATA}/lists for blockAds; this builds the server");
    let server = sh::build("dev", &["--package", "quarry-server"])?;
    if let Err(error) = sh::run(sh::command(server).args(["lists", "update"]).env("QUARRY__DATA__DIR", DATA)) {
        say!("setup: note: not all filter lists could be downloaded ({error}); run `quarry-server lists update` later");
    }
    Ok(())
}

/// Installs documentation for `cargo xtask crawl-docs`.
pub(crate) fn docs() -> Result<()> {
    let missing = MANUALS.iter().filter(|manual| manual.find().is_none());
    let names: Vec<_> = missing.map(|manual| manual.package).collect();
    for name in &names {
        say!("setup: installing {name} (cargo xtask crawl-docs crawls it)");
    }
    apt_install(&names)
}

/// Returns the folders of the installed documentation.
pub fn docs_folders() -> Vec<PathBuf> {
    MANUALS.iter().filter_map(Manual::find).collect()
}

impl Manual {
    fn find(&self) -> Option<PathBuf> {
        let all = fs::read_dir(DOCS).ok()?.flatten();
        let named = all.filter(|entry| entry.file_name().to_string_lossy().starts_with(self.folder));
        let mut folders: Vec<_> = named.map(|entry| entry.path().join(self.pages)).collect();
        folders.retain(|folder| folder.join("index.html").is_file());
        folders.sort();
        // The newest of several versions.
        folders.pop()
    }
}

/// Installs the dependencies of the tests.
pub(crate) fn for_tests() -> Result<()> {
    packages(&[&[COMPILER][..], DRIVEN, OCR].concat())?;
    clients();
    install(&TOOLS[0])
}

/// Installs the official clients, which run the examples in the documents. When their packages cannot be downloaded, only
/// the curl examples run, with a note.
fn clients() {
    let folder = sh::root().join("target/clients");
    for (name, install) in [("Python", python_client as fn(&Path) -> Result<()>), ("Node", node_client)] {
        if let Err(error) = install(&folder) {
            say!("setup: note: could not install the {name} client ({error:#}); its examples are not tested");
        }
    }
}

fn python_client(folder: &Path) -> Result<()> {
    let folder = folder.join("python");
    if folder.join("complete").is_file() {
        return Ok(());
    }
    packages(&[PYTHON])?;
    say!("setup: installing the Python client in {}", folder.display());
    sh::run(sh::command("python3").args(["-m", "venv", "--clear"]).arg(&folder))?;
    sh::run(sh::command(folder.join("bin/pip")).args([
        "install",
        "--quiet",
        "--disable-pip-version-check",
        PYTHON_CLIENT,
    ]))?;
    Ok(fs::write(folder.join("complete"), PYTHON_CLIENT)?)
}

fn node_client(folder: &Path) -> Result<()> {
    let folder = folder.join("node");
    if folder.join("complete").is_file() {
        return Ok(());
    }
    if !sh::on_path("npm") {
        bail!("npm is not on the PATH");
    }
    say!("setup: installing the Node client in {}", folder.display());
    fs::create_dir_all(&folder)?;
    let mut install = sh::command("npm");
    install.args(["install", "--silent", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix"]).arg(&folder);
    sh::run(install.arg(NODE_CLIENT))?;
    Ok(fs::write(folder.join("complete"), NODE_CLIENT)?)
}

/// Installs the dependencies of `cargo xtask check`.
pub(crate) fn for_checks() -> Result<()> {
    packages(&[&[COMPILER][..], OCR].concat())?;
    install(&TOOLS[1])
}

/// Installs the dependencies of `cargo xtask fuzz`.
pub(crate) fn for_fuzzing() -> Result<()> {
    packages(&[COMPILER, CPP])
}

/// Installs moto, an S3-compatible store, in its own virtual environment, and returns the folder.
pub fn for_s3() -> Result<PathBuf> {
    python_program("moto", "moto_server", "moto[server]==5.2.5", "an S3-compatible store")
}

/// Installs aiosmtpd, a mail server, in its own virtual environment, and returns the folder.
pub fn for_smtp() -> Result<PathBuf> {
    python_program("aiosmtpd", "aiosmtpd", "aiosmtpd==1.4.6", "a mail server")
}

/// Installs changedetection.io, which watches pages too, in its own virtual environment, and returns the folder.
pub fn for_change_detection() -> Result<PathBuf> {
    python_program("changedetection", "changedetection.io", CHANGE_DETECTION, "watches pages")
}

/// Installs a Python package with a program in a folder below `target`, and returns the folder.
fn python_program(folder: &str, program: &str, requirement: &str, what: &str) -> Result<PathBuf> {
    let folder = sh::root().join("target").join(folder);
    if !folder.join("bin").join(program).is_file() {
        packages(&[PYTHON])?;
        say!("setup: installing {requirement} in {} ({what})", folder.display());
        sh::run(sh::command("python3").args(["-m", "venv"]).arg(&folder))?;
        let mut install = sh::command(folder.join("bin/pip"));
        sh::run(install.args(["install", "--quiet", "--disable-pip-version-check", requirement]))?;
    }
    Ok(folder)
}

/// Installs libfaketime, which gives a program another time, and returns the library.
pub fn for_other_times() -> Result<PathBuf> {
    packages(&[FAKETIME])?;
    faketime().context("libfaketime is not below /usr/lib")
}

/// Returns the library for programs with threads.
fn faketime() -> Option<PathBuf> {
    let machines = fs::read_dir("/usr/lib").ok()?.flatten();
    machines.map(|machine| machine.path().join("faketime/libfaketimeMT.so.1")).find(|library| library.is_file())
}

/// Installs the build dependencies of the server.
pub(crate) fn for_build() -> Result<()> {
    packages(&[COMPILER])
}

/// Installs Chromium and returns whether it is available: not every system has the package, and everything else works
/// without.
pub(crate) fn for_browser() -> Result<bool> {
    if sh::on_path("apt-get") && packages(&[BROWSER]).is_err() {
        return Ok(false);
    }
    Ok((BROWSER.present)())
}

/// Returns the packages that `cargo xtask up` will install, each with its purpose.
pub(crate) fn missing_for_up(browser: bool, ocr: bool) -> Vec<(&'static str, &'static str)> {
    let chromium: &[Package] = if browser { &[BROWSER] } else { &[] };
    let reader: &[Package] = if ocr { OCR } else { &[] };
    let wanted = [&[COMPILER][..], chromium, reader].concat();
    wanted.iter().filter(|package| !(package.present)()).map(|package| (package.name, package.why)).collect()
}

/// Installs the additional build dependencies of the reader and returns whether they are available: not every system has
/// these packages.
pub(crate) fn for_ocr() -> Result<bool> {
    if sh::on_path("apt-get") {
        packages(OCR)?;
    }
    Ok(OCR.iter().all(|package| (package.present)()))
}

/// Installs the programs for comparison in `cargo xtask bench documents`.
///
/// # Errors
/// When they cannot be installed.
pub fn for_documents() -> Result<()> {
    packages(&[POPPLER])
}

fn has_library(name: &str) -> bool {
    sh::output(sh::command("pkg-config").args(["--exists", name])).is_ok()
}

/// Returns whether libclang is installed in any version.
fn has_libclang() -> bool {
    let versions = fs::read_dir("/usr/lib").into_iter().flatten().flatten();
    let mut versions = versions.filter(|entry| entry.file_name().to_string_lossy().starts_with("llvm-"));
    versions.any(|version| version.path().join("lib/libclang.so").exists())
}

fn has_english() -> bool {
    let mut folders = fs::read_dir("/usr/share/tesseract-ocr").into_iter().flatten().flatten();
    folders.any(|version| version.path().join("tessdata/eng.traineddata").is_file())
}

fn packages(wanted: &[Package]) -> Result<()> {
    let missing: Vec<_> = wanted.iter().filter(|package| !(package.present)()).collect();
    for package in &missing {
        say!("setup: installing {} ({})", package.name, package.why);
    }
    let names: Vec<_> = missing.iter().map(|package| package.name).collect();
    apt_install(&names)
}

fn apt_install(names: &[&str]) -> Result<()> {
    if names.is_empty() {
        return Ok(());
    }
    if !sh::on_path("apt-get") {
        bail!("apt-get is not available; install the equivalent of {} and run this again", names.join(", "));
    }
    sh::run(apt().args(["update", "-qq"]))?;
    let mut install = apt();
    install.args(["install", "-y", "-qq", "--no-install-recommends"]);
    install.args(names);
    sh::run(&mut install)
}

/// Returns the command `apt-get`, with sudo unless the process runs as root.
fn apt() -> Command {
    let mut command = if sh::is_root() { sh::command("apt-get") } else { sh::command("sudo") };
    if !sh::is_root() {
        command.args(["DEBIAN_FRONTEND=noninteractive", "apt-get"]);
    }
    command.env("DEBIAN_FRONTEND", "noninteractive");
    command
}

fn install(tool: &Tool) -> Result<()> {
    if sh::on_path(tool.name) {
        return Ok(());
    }
    say!("setup: building {} ({}); this takes some minutes, once", tool.name, tool.why);
    sh::run(sh::cargo().args(["install", "--locked", tool.name]))
}
