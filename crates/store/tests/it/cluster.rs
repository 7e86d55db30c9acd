//! PostgreSQL server of a single test, with changeable TLS settings, and a CA.

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::Command;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair, date_time_ymd};
use tempfile::TempDir;

use crate::backend::admin_url;

/// Number of attempts to start on a free port, if another program takes it.
const TRIES: usize = 3;

/// Running server on 127.0.0.1; stops when dropped.
pub(crate) struct Cluster {
    folder: TempDir,
    bin: PathBuf,
    port: u16,
}

/// CA with its certificate in a file.
pub(crate) struct Authority {
    issuer: CertifiedIssuer<'static, KeyPair>,
    pub(crate) file: PathBuf,
}

/// Files with a certificate and its key.
pub(crate) struct Identity {
    pub(crate) cert: PathBuf,
    pub(crate) key: PathBuf,
}

impl Cluster {
    /// Starts a server without TLS that admits the users in `rules` (a `pg_hba.conf`); `None` if tests have no
    /// PostgreSQL.
    pub(crate) fn start(rules: &str) -> Option<Cluster> {
        admin_url()?;
        let Some(bin) = binaries() else {
            println!("skipped: PostgreSQL's programs are not installed on this machine");
            return None;
        };
        let folder = TempDir::new().unwrap();
        let mut cluster = Cluster { folder, bin, port: 0 };
        cluster.give_away();
        cluster.run("initdb", &["-A", "trust", "-U", "postgres", "-E", "UTF8", "-N", "-D", &cluster.data()]);
        std::fs::write(cluster.path("data/pg_hba.conf"), rules).unwrap();
        cluster.begin();
        Some(cluster)
    }

    /// Starts the server for the first time, on a free port; on another one if a program has taken it meanwhile.
    fn begin(&mut self) {
        for _ in 0..TRIES {
            self.port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
            if self.starting().output().unwrap().status.success() {
                return;
            }
        }
        panic!("PostgreSQL has ended {TRIES} times: {}", std::fs::read_to_string(self.log()).unwrap_or_default());
    }

    /// Starts the server again after [`Cluster::stop`].
    pub(crate) fn go_on(&self) {
        done(&mut self.starting());
    }

    fn starting(&self) -> Command {
        let options = format!("-p {} -c listen_addresses=127.0.0.1 -c fsync=off -k ''", self.port);
        self.command("pg_ctl", &["-s", "-w", "-o", &options, "-D", &self.data(), "-l", &self.log(), "start"])
    }

    /// Stops the server as a crash would.
    pub(crate) fn stop(&self) {
        self.run("pg_ctl", &["-s", "-w", "-m", "immediate", "-D", &self.data(), "stop"]);
    }

    /// Suspends or resumes all processes of the server.
    pub(crate) fn freeze(&self, is_frozen: bool) {
        let pid = std::fs::read_to_string(self.path("data/postmaster.pid")).unwrap();
        let pid = pid.lines().next().unwrap().to_owned();
        let children = std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap();
        let signal = if is_frozen { "-STOP" } else { "-CONT" };
        for pid in children.split_whitespace().chain([pid.as_str()]) {
            // A process may end meanwhile.
            let _ = Command::new("kill").args([signal, pid]).output();
        }
    }

    /// Returns `postgres://user@host:port/postgres?query`.
    pub(crate) fn url(&self, user: &str, host: &str, query: &str) -> String {
        format!("postgres://{user}@{host}:{}/postgres?{query}", self.port)
    }

    /// Returns the path of a file of the test.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Uses this certificate for new connections, and this CA for client certificates.
    pub(crate) fn show(&self, identity: &Identity, clients: &Authority) {
        let (cert, key, ca) = (identity.cert.display(), identity.key.display(), clients.file.display());
        self.configure(&format!("ssl = on\nssl_cert_file = '{cert}'\nssl_key_file = '{key}'\nssl_ca_file = '{ca}'\n"));
    }

    /// Turns TLS off.
    pub(crate) fn show_nothing(&self) {
        self.configure("ssl = off\n");
    }

    /// Applies these settings in place of those of an earlier call.
    pub(crate) fn configure(&self, settings: &str) {
        std::fs::write(self.path("data/postgresql.auto.conf"), settings).unwrap();
        self.give_away();
        self.run("pg_ctl", &["-s", "-D", &self.data(), "reload"]);
    }

    fn data(&self) -> String {
        self.path("data").display().to_string()
    }

    fn log(&self) -> String {
        self.path("data/server.log").display().to_string()
    }

    /// Gives the files to user `postgres` of Debian's package, as PostgreSQL refuses to run as root.
    fn give_away(&self) {
        if is_root() {
            done(Command::new("chown").args(["-R", "postgres"]).arg(self.folder.path()));
        }
    }

    fn run(&self, program: &str, arguments: &[&str]) {
        done(&mut self.command(program, arguments));
    }

    fn command(&self, program: &str, arguments: &[&str]) -> Command {
        let program = self.bin.join(program);
        let mut command = if is_root() {
            let mut command = Command::new("runuser");
            command.args(["-u", "postgres", "--"]).arg(program);
            command
        } else {
            Command::new(program)
        };
        command.args(arguments).current_dir("/");
        command
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        if self.path("data/postmaster.pid").exists() {
            self.freeze(false);
            self.stop();
        }
    }
}

impl Authority {
    pub(crate) fn new(cluster: &Cluster, name: &str) -> Self {
        let mut params = CertificateParams::new(vec![]).unwrap();
        params.distinguished_name.push(DnType::CommonName, name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let issuer = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
        let file = cluster.path(&format!("{name}.pem"));
        write(&file, "CERTIFICATE", issuer.der());
        Self { issuer, file }
    }

    /// Signs a certificate for `name`, as host and as user, that expires at the end of the year.
    pub(crate) fn sign(&self, cluster: &Cluster, name: &str, year: i32) -> Identity {
        let mut params = CertificateParams::new(vec![name.to_owned()]).unwrap();
        params.distinguished_name.push(DnType::CommonName, name);
        params.not_after = date_time_ymd(year, 12, 31);
        let pair = KeyPair::generate().unwrap();
        let signed = params.signed_by(&pair, &self.issuer).unwrap();
        let stem = format!("{name}-{}-{year}", base::new_id().simple());
        let (cert, key) = (cluster.path(&format!("{stem}.pem")), cluster.path(&format!("{stem}.key")));
        write(&cert, "CERTIFICATE", signed.der());
        write(&key, "PRIVATE KEY", &pair.serialize_der());
        Identity { cert, key }
    }
}

/// Writes PEM (RFC 7468), readable for the owner only, as PostgreSQL requires for keys.
fn write(file: &Path, label: &str, der: &[u8]) {
    use std::os::unix::fs::PermissionsExt as _;
    let text = STANDARD.encode(der);
    let lines: Vec<_> = text.as_bytes().chunks(64).map(|line| std::str::from_utf8(line).unwrap()).collect();
    std::fs::write(file, format!("-----BEGIN {label}-----\n{}\n-----END {label}-----\n", lines.join("\n"))).unwrap();
    std::fs::set_permissions(file, std::fs::Permissions::from_mode(0o600)).unwrap();
}

fn binaries() -> Option<PathBuf> {
    let folders = std::fs::read_dir("/usr/lib/postgresql").ok()?;
    let bins = folders.filter_map(|entry| Some(entry.ok()?.path().join("bin")));
    bins.filter(|bin| bin.join("initdb").is_file()).max()
}

fn is_root() -> bool {
    use std::os::unix::fs::MetadataExt as _;
    std::fs::metadata("/proc/self").is_ok_and(|me| me.uid() == 0)
}

fn done(command: &mut Command) {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
}
