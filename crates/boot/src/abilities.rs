//! What a process can and cannot do on this machine, and what to install: told once, at its start.

use std::path::PathBuf;
use std::sync::Arc;

use interact::{Language, interpreter};
use outage::disk;
use store::Backend;

use crate::config::{AuthMode, Config, LogFormat};

/// Everything but what has to be asked of other programs.
pub(crate) struct Abilities {
    format: LogFormat,
    database: String,
    files: String,
    callers: String,
    operator: &'static str,
    work: &'static str,
    egress: String,
    room: String,
    code: String,
    documents: bool,
    browser: Result<PathBuf, &'static str>,
}

impl Abilities {
    /// By the settings, and by what lies on the disk; nothing is started.
    pub(crate) fn of(config: &Config, backend: Backend, files: String) -> Self {
        let database = match backend {
            Backend::Sqlite => {
                "SQLite, for one server on this machine (store.url names a PostgreSQL database for several)"
            }
            Backend::Postgres => "PostgreSQL",
        };
        let callers = match config.auth.mode {
            AuthMode::Open => "anybody who reaches the port, without a key (auth.mode = keys asks for one)",
            AuthMode::Keys => "with an API key (quarry-server keys create)",
        };
        let operator = match config.admin.token.is_empty() {
            true => "off (admin.token switches it on)",
            false => "on, under /admin",
        };
        let work = match config.worker.embedded {
            true => "done here",
            false => "left to quarry-worker (worker.embedded is off)",
        };
        let proxies = config.fetch.basic_proxies.0.len() + config.fetch.enhanced_proxies.0.len();
        let egress =
            format!("{proxies} proxies, {} admitted addresses beside the public ones", config.egress.allow.len());
        let room = disk::room(&config.data.dir).map_or("unknown".to_owned(), |room| room.to_string());
        let (documents, browser) = (config.documents.enabled, browser(&config.browser));
        let code = code(config.sessions.code_processes);
        let (database, callers) = (database.to_owned(), callers.to_owned());
        let format = config.log.format;
        Self { format, database, files, callers, operator, work, egress, room, code, documents, browser }
    }

    /// Asks the programs what they can do, and writes all of it into the log.
    pub(crate) async fn tell(self, browser: ::browser::Settings, documents: Option<Arc<reader::Pool>>) {
        let chromium = match &self.browser {
            Ok(program) => {
                let version = browser.version().await.unwrap_or_else(|| "it does not say which version".to_owned());
                format!("{version} ({})", program.display())
            }
            Err(why) => (*why).to_owned(),
        };
        let (reader, ocr) = match &documents {
            Some(pool) => {
                pool.look().await;
                ("PDF, office files, books".to_owned(), ocr(pool))
            }
            None if self.documents => {
                ("none: this program cannot be started again as a reader".to_owned(), NO_OCR.to_owned())
            }
            None => ("switched off (documents.enabled)".to_owned(), "switched off with documents".to_owned()),
        };
        let Self { database, files, callers, operator, work, egress, room, code, .. } = &self;
        if self.format == LogFormat::Json {
            tracing::info!(
                version = env!("CARGO_PKG_VERSION"),
                database,
                files,
                room,
                callers,
                operator,
                work,
                egress,
                chromium,
                documents = reader,
                ocr,
                code,
                "abilities"
            );
            return;
        }
        let lines = [
            ("database", database.as_str()),
            ("files", files.as_str()),
            ("disk", room.as_str()),
            ("callers", callers.as_str()),
            ("operator", *operator),
            ("crawls, batches, webhooks", *work),
            ("way out", egress.as_str()),
            ("browser", chromium.as_str()),
            ("documents", reader.as_str()),
            ("text in pictures", ocr.as_str()),
            ("code of callers", code.as_str()),
        ];
        tracing::info!("what this process can do, and what it lacks:");
        for (what, state) in lines {
            tracing::info!("  {what}: {state}");
        }
    }
}

const NO_OCR: &str = "not read: put the program quarry-reader beside quarry-server (or set documents.reader) and install \
    tesseract-ocr-eng";

/// The program, or what to do to have one.
fn browser(settings: &::browser::Settings) -> Result<PathBuf, &'static str> {
    match settings.program() {
        Some(program) => Ok(program),
        None if !settings.enabled => Err("switched off (browser.enabled)"),
        None => {
            Err("none, so no screenshots, actions and pages that need their scripts: install chromium-headless-shell, \
             or set browser.path")
        }
    }
}

fn ocr(pool: &reader::Pool) -> String {
    let languages = pool.languages();
    if !pool.can_ocr() {
        NO_OCR.to_owned()
    } else if languages.is_empty() {
        "not read: quarry-reader knows no language, install tesseract-ocr-eng".to_owned()
    } else {
        format!("read in {} (tesseract-ocr-… adds languages)", languages.join(" "))
    }
}

fn code(in_processes: bool) -> String {
    if !in_processes {
        return "JavaScript alone (sessions.code_processes is off)".to_owned();
    }
    let found = |name: &str, language: Language, package: &str| match interpreter(language) {
        Some(path) => format!("{name} ({})", path.display()),
        None => format!("no {name} (install {package})"),
    };
    let python = found("Python", Language::Python, "python3");
    format!("JavaScript, {python}, {}", found("Bash", Language::Bash, "bash"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn abilities(change: impl FnOnce(&mut Config)) -> Abilities {
        let mut config = Config::default();
        change(&mut config);
        Abilities::of(&config, Backend::Sqlite, "the folder /data/blobs".to_owned())
    }

    #[test]
    fn what_is_missing_names_what_to_install() {
        let found = abilities(|config| config.browser.path = Some("/nowhere/chromium".into()));
        let missing = found.browser.unwrap_err();
        assert!(missing.contains("chromium-headless-shell") && missing.contains("browser.path"), "{missing}");
        let off = abilities(|config| config.browser.enabled = false).browser.unwrap_err();
        assert!(off.contains("browser.enabled"), "{off}");
        let here = abilities(|config| config.browser.path = Some("/bin/sh".into()));
        assert_eq!(here.browser, Ok("/bin/sh".into()));
        assert!(abilities(|config| config.sessions.code_processes = false).code.contains("JavaScript alone"));
        assert!(abilities(|config| config.auth.mode = AuthMode::Keys).callers.contains("API key"));
    }
}
