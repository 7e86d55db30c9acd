//! Assembly of the service from the settings: database, blob store, HTTP client, browser and document readers.

use std::fs::Permissions;
use std::net::SocketAddr;
use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use ::browser::Browser;
use app::{AppError, CoreParts, MailParts, Operations, Parts, UpkeepSettings, WorkerSettings};
use base::{Clock, Secret};
use blobs::{Blobs, S3};
use fetch::{BrowserEngine, Engine, HttpEngine};
use mail::{Mailer, SettingsError};
use outage::disk;
use store::{Store, StoreError};
use tokio::net::TcpListener;
use url::Url;

use crate::StartError;
use crate::abilities::Abilities;
use crate::config::{Config, ConfigError};
use crate::own::own;

/// Folder of the filter lists in the data folder.
const LISTS: &str = "lists";
/// Folder of the index in the data folder.
const INDEX: &str = "index";

/// Opens the database, the blob store and the HTTP client, and migrates the database. `listen` is the address of this
/// process, which pages are never fetched from; `None` for commands, which check and log less.
///
/// # Errors
/// [`StartError`], with the name of the setting at fault.
pub async fn open(
    config: &Config,
    clock: Arc<dyn Clock>,
    listen: Option<SocketAddr>,
) -> Result<Operations, StartError> {
    open_parts(config, clock, listen).await.map_err(|error| in_one_sentence(error, config))
}

/// Replaces nested errors of an outage at startup by one sentence with the setting.
fn in_one_sentence(error: StartError, config: &Config) -> StartError {
    if is_about_data(&error)
        && let Some(full) = full_disk(config)
    {
        return full.into();
    }
    match error {
        StartError::App(AppError::DatabaseUnavailable(cause)) => ConfigError::new("STORE__URL", cause).into(),
        StartError::App(AppError::StorageFull) => {
            ConfigError::new("STORE__URL", "the disk of the database is full; free some space").into()
        }
        other => other,
    }
}

async fn open_parts(
    config: &Config,
    clock: Arc<dyn Clock>,
    listen: Option<SocketAddr>,
) -> Result<Operations, StartError> {
    let (client, store) = tokio::try_join!(client(config, listen), open_store(config))?;
    let folder = data_folder(config)?;
    let blobs = open_blobs(config, &folder)?;
    if listen.is_some() {
        let why = |error| ConfigError::new("BLOBS__URL", format!("{error}; see blobs.url and the settings below it"));
        blobs.look().await.map_err(why)?;
    }
    let abilities = Abilities::of(config, store.backend(), blobs.place());
    let cpu = cpu::Cpu::new(parses(config));
    let basic = config.fetch.basic_proxies.0.clone();
    let site = site::Site::new(client.clone(), basic, store.clone(), clock.clone(), cpu.clone());
    let browser = browser(config, &client, &cpu, &folder)?;
    let mut engines: Vec<Arc<dyn Engine>> = vec![Arc::new(HttpEngine::new(client.clone()))];
    if let Some(browser) = browser.clone() {
        engines.push(Arc::new(BrowserEngine::new(browser)));
    }
    let documents = documents(config)?;
    if listen.is_some() {
        tokio::spawn(abilities.tell(config.browser.clone(), documents.clone()));
    }
    let proxies = Arc::new(proxies(config));
    let diff_object = config.compat.diff_object;
    let answers = answers(config, Arc::clone(&clock)).await?;
    let extract = answers.has_model(false).then(|| Arc::clone(&answers) as Arc<dyn scrape::Extract>);
    let products = products(config)?;
    let searches = searches(config, search_parts(&client, &clock, &store)).await?;
    let answers = Some(answers);
    let tools = scrape::Tools { engines, proxies, products, cpu, documents, answers, extract, diff_object };
    let sessions = app::SessionParts {
        browser,
        interact: Arc::new(interact::Interact::new(code(config))),
        settings: config.sessions.clone(),
    };
    let core = CoreParts {
        store,
        blobs,
        clock,
        settings: settings(config),
        active: app::Active::default(),
        waker: app::Waker::default(),
        site,
        client,
        tracker: tokio_util::task::TaskTracker::new(),
    };
    let scraping = app::ScrapingParts {
        capabilities: tools.capabilities(),
        tools,
        cache: config.cache,
        profile_key: profile_key(config, &folder)?,
        remembers: sessions.browser.is_some(),
    };
    let index = app::IndexParts {
        documents: spare_documents(config)?,
        folder: config.index.path.clone().unwrap_or_else(|| folder.join(INDEX)),
        settings: config.index.clone(),
    };
    let mail = mail(config, listen)?;
    let upkeep = UpkeepSettings { retention: config.retention, every: config.worker.every };
    let operations =
        Operations::new(Parts { core, scraping, index, searches, monitors: config.monitors, mail, sessions, upkeep });
    operations.app.bootstrap().await?;
    Ok(operations)
}

/// Binds `address` of the setting `key`. Returns the listener and its actual address, since port 0 picks a free port.
///
/// # Errors
/// [`ConfigError`] when the system refuses it.
pub async fn bind(key: &str, address: SocketAddr) -> Result<(TcpListener, SocketAddr), ConfigError> {
    let why = |error| ConfigError::new(key, format!("cannot listen on {address}: {error}"));
    let listener = TcpListener::bind(address).await.map_err(why)?;
    let address = listener.local_addr().map_err(why)?;
    Ok((listener, address))
}

/// Creates the data folder, accessible only to the user of the service, since it contains pages and the ledger. An existing
/// folder keeps its mode, because it may contain other files; the folder of page bodies in it is made private.
fn data_folder(config: &Config) -> Result<PathBuf, ConfigError> {
    let folder = &config.data.dir;
    let why =
        |error: std::io::Error| ConfigError::new("DATA__DIR", format!("cannot use {}: {error}", folder.display()));
    let folder = std::path::absolute(folder).map_err(why)?;
    let make = |folder: &Path| std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(why);
    make(&folder)?;
    if config.blobs.url.is_empty() {
        let bodies = folder.join("blobs");
        make(&bodies)?;
        close(&bodies);
    }
    Ok(folder)
}

/// Makes a folder accessible only to its owner.
fn close(folder: &Path) {
    let is_open = std::fs::metadata(folder).is_ok_and(|known| known.permissions().mode() & 0o077 != 0);
    if is_open && let Err(error) = std::fs::set_permissions(folder, Permissions::from_mode(0o700)) {
        let folder = folder.display();
        tracing::warn!(%folder, %error, "could not make the folder private; other users of this machine can read stored pages");
    }
}

/// Returns the folder of filter lists: `browser.lists`, otherwise `lists` in the data folder, which is created.
///
/// # Errors
/// [`ConfigError`] when the data folder cannot be created.
pub fn lists_folder(config: &Config) -> Result<PathBuf, ConfigError> {
    match &config.browser.lists {
        Some(lists) => Ok(lists.clone()),
        None => data_folder(config).map(|folder| folder.join(LISTS)),
    }
}

/// Opens the database without migrating it.
///
/// # Errors
/// [`ConfigError`], with the name of the setting at fault; also for an outdated schema when `store.migrate` is false.
pub async fn open_store(config: &Config) -> Result<Store, ConfigError> {
    let folder = data_folder(config)?;
    let url = match config.store.url.is_empty() {
        false => config.store.url.clone(),
        true => Secret::new(format!("sqlite://{}", folder.join("quarry.db").display())),
    };
    let connections = Some(config.store.max_connections).filter(|number| *number > 0);
    let options = store::Options { connections, ..store::Options::default() };
    let why = |error: StoreError| ConfigError::new("STORE__URL", error);
    let store = Store::open(url.expose(), options).await.map_err(why)?;
    if !config.store.migrate && !store.pending().await.map_err(why)?.is_empty() {
        return Err(ConfigError::new(
            "STORE__MIGRATE",
            "the database schema is outdated and store.migrate is false; run `quarry-server migrate`",
        ));
    }
    Ok(store)
}

fn open_blobs(config: &Config, folder: &Path) -> Result<Blobs, ConfigError> {
    let why = |error: String| ConfigError::new("BLOBS__URL", error);
    let settings = &config.blobs;
    let url = match settings.url.as_str() {
        "" => Url::from_directory_path(folder.join("blobs")).map_err(|()| why("not a folder".to_owned()))?.to_string(),
        url => url.to_owned(),
    };
    let some = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
    let some_secret = |secret: &Secret| Some(secret.clone()).filter(|secret| !secret.is_empty());
    let s3 = S3 {
        endpoint: some(&settings.endpoint),
        region: some(&settings.region),
        access_key_id: some(&settings.access_key_id),
        secret_access_key: some_secret(&settings.secret_access_key),
        session_token: some_secret(&settings.session_token),
        virtual_hosted: settings.virtual_hosted,
    };
    Blobs::open_with(&url, &s3).map_err(|error| why(error.to_string()))
}

/// Returns the settings of the job worker.
#[must_use]
pub fn worker_settings(config: &Config) -> WorkerSettings {
    let settings = &config.worker;
    // Jobs must stop before the drain time ends: releasing leases and writing results takes time after that.
    let drain = config.server.drain.saturating_sub(Duration::from_secs(5)).max(config.server.drain / 2);
    let (per_host, lease) = (settings.per_host, settings.lease);
    WorkerSettings { slots: config.queues.clone(), per_host, lease, drain }
}

/// Creates the HTTP client of the settings. `listen` is the address of this process, which pages are never fetched from.
/// Created on a blocking thread, because it reads all certificates of the system.
///
/// # Errors
/// [`ConfigError`], with the name of the setting at fault.
pub async fn client(config: &Config, listen: Option<SocketAddr>) -> Result<net::Client, ConfigError> {
    let own = own(config, listen)?;
    let egress = net::Egress {
        allow: config.egress.allow.clone(),
        resolvers: config.egress.resolvers.clone(),
        refuse: own.listen,
        refuse_hosts: own.hosts,
        deny: config.egress.deny.clone(),
        only: None,
    };
    let limits = net::Limits {
        body_raw: config.fetch.max_raw,
        body_decoded: config.fetch.max_decoded,
        in_flight: config.fetch.max_in_flight,
        ..net::Limits::default()
    };
    let made = tokio::task::spawn_blocking(move || net::Client::new(net::Config { egress, limits }));
    let why = |error: String| ConfigError::new("EGRESS__RESOLVERS", error);
    made.await.map_err(|error| why(error.to_string()))?.map_err(|error| why(error.to_string()))
}

/// Returns what answers questions about pages. Created on a blocking thread, because it reads all certificates of the
/// system where there is a model.
///
/// # Errors
/// [`ConfigError`] for settings that cannot work.
async fn answers(config: &Config, clock: Arc<dyn Clock>) -> Result<Arc<answers::Answers>, ConfigError> {
    let settings = config.llm.clone();
    let made = tokio::task::spawn_blocking(move || answers::Answers::new(&settings, clock));
    let why = |error: String| ConfigError::new("LLM__URL", error);
    made.await.map_err(|error| why(error.to_string()))?.map(Arc::new).map_err(|error| why(error.to_string()))
}

/// Returns the parts of searches. Engines are created on a blocking thread, because that reads all certificates of the
/// system where one of the web is listed.
///
/// # Errors
/// [`ConfigError`] for an engine without its key or URL.
async fn searches(config: &Config, parts: search::Parts) -> Result<app::SearchParts, ConfigError> {
    let settings = config.search.clone();
    let has_index = settings.lists(search::EngineName::Index);
    let made = tokio::task::spawn_blocking(move || search::Engines::new(&settings, parts));
    let made = made.await.map_err(|error| ConfigError::new("SEARCH__ENGINES", error))?;
    let why = |error: search::SettingsError| ConfigError::new(&format!("SEARCH__{}", error.key.to_uppercase()), error);
    let (sites, feedback) = (config.verticals.clone(), config.feedback);
    Ok(app::SearchParts { engines: made.map_err(why)?, has_index, sites, feedback })
}

fn search_parts(pages: &net::Client, clock: &Arc<dyn Clock>, store: &Store) -> search::Parts {
    let months = Arc::new(app::search::StoredMonths::new(store.clone()));
    search::Parts { clock: Arc::clone(clock), pages: pages.clone(), months }
}

/// Returns the settings for running callers' code: child processes of this same program.
fn code(config: &Config) -> interact::Settings {
    let user = config.browser.user_of_programs();
    let places = usize::try_from(config.sessions.max).unwrap_or(usize::MAX);
    // Unlike the path of the file, this stays valid when an update replaces the program.
    let program = config.sessions.code_processes.then(|| "/proc/self/exe".into());
    interact::Settings { program, user, places }
}

/// Returns the encryption key of profiles, from the settings or the data folder.
fn profile_key(config: &Config, folder: &Path) -> Result<Secret, ConfigError> {
    let mut key = config.sessions.profile_key.clone();
    if key.is_empty() {
        let file = folder.join("profile.key");
        let why =
            |error: std::io::Error| ConfigError::new("SESSIONS__PROFILE_KEY", format!("{}: {error}", file.display()));
        key = key_in(&file).map_err(why)?;
    }
    let mut digits = [0; 32];
    hex::decode_to_slice(key.expose(), &mut digits)
        .map_err(|_| ConfigError::new("SESSIONS__PROFILE_KEY", "must be 64 hexadecimal digits"))?;
    Ok(key)
}

/// Reads the key from a private file, which is created when missing. Of several processes that start together, one creates
/// it and the others read it.
fn key_in(file: &Path) -> std::io::Result<Secret> {
    use std::io::Write as _;
    use std::os::unix::fs::OpenOptionsExt as _;
    match std::fs::read_to_string(file) {
        Ok(text) => return Ok(Secret::new(text.trim())),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
        Err(error) => return Err(error),
    }
    // Written under another name and hard-linked: `hard_link` is atomic and fails if the file exists, so another process
    // never reads a partial key or loses the one it has read.
    let name = format!(".profile.key.{}", std::process::id());
    let new = file.with_file_name(name);
    let mut open = std::fs::OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&new)?;
    writeln!(open, "{}", hex::encode(rand::random::<[u8; 32]>()))?;
    open.sync_all()?;
    let made = std::fs::hard_link(&new, file);
    std::fs::remove_file(&new)?;
    match made {
        Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => Err(error),
        _ => Ok(Secret::new(std::fs::read_to_string(file)?.trim())),
    }
}

/// Returns the browser if it is installed, with the filter lists of the data folder unless the settings name others. The
/// executable is located but not started.
fn browser(
    config: &Config,
    client: &net::Client,
    cpu: &cpu::Cpu,
    folder: &Path,
) -> Result<Option<Arc<Browser>>, ConfigError> {
    let kept = || Some(folder.join(LISTS)).filter(|lists| lists.is_dir());
    let lists = config.browser.lists.clone().or_else(kept);
    let settings = ::browser::Settings { lists, ..config.browser.clone() };
    match (settings.program(), &settings.path) {
        (Some(program), _) => {
            tracing::debug!(program = %program.display(), "browser is available");
            Ok(Some(Arc::new(Browser::new(settings.clone(), client.clone(), cpu.clone()))))
        }
        (None, Some(path)) if settings.enabled => {
            Err(ConfigError::new("BROWSER__PATH", format!("the executable {} does not exist", path.display())))
        }
        (None, _) => Ok(None),
    }
}

/// Returns the pool of document readers, if there is a program for it. [`Abilities::tell`] queries its capabilities later.
fn documents(config: &Config) -> Result<Option<Arc<reader::Pool>>, ConfigError> {
    let pool =
        reader::Pool::new(config.documents.clone()).map_err(|error| ConfigError::new("DOCUMENTS__READER", error))?;
    if !pool.can_read() {
        return Ok(None);
    }
    Ok(Some(Arc::new(pool)))
}

/// Returns the readers for the index, which take what the processor has left.
fn spare_documents(config: &Config) -> Result<Option<Arc<reader::Pool>>, ConfigError> {
    let pool = reader::Pool::spare(&config.documents).map_err(|error| ConfigError::new("DOCUMENTS__READER", error))?;
    Ok(pool.can_read().then(|| Arc::new(pool)))
}

/// Returns the product service, if one is set.
fn products(config: &Config) -> Result<Option<Arc<scrape::ProductService>>, ConfigError> {
    let why = |error| ConfigError::new("EXTRACT__PRODUCT_SERVICE_URL", error);
    let url = config.extract.product_service_url.as_ref();
    url.map(|url| scrape::ProductService::new(url).map(Arc::new).map_err(why)).transpose()
}

/// Returns the mail server, if one is set. `listen` is the address of this process.
fn mail(config: &Config, listen: Option<SocketAddr>) -> Result<Option<MailParts>, ConfigError> {
    let why = |error: SettingsError| ConfigError::new(&format!("MAIL__{}", error.key.to_uppercase()), error.reason);
    let Some(mailer) = Mailer::new(&config.mail).map_err(why)? else { return Ok(None) };
    let base = match &config.server.public_url {
        Some(base) => base.clone(),
        // Never the address that a caller has used: it could lead the recipients of a mail elsewhere.
        None => {
            let own = Some(config.server.listen).filter(|address| address.port() != 0).or(listen);
            let own = format!("http://{}", own.unwrap_or(config.server.listen));
            if listen.is_some() {
                tracing::warn!("server.public_url is empty: the links in mails begin with {own}");
            }
            Url::parse(&own).map_err(|error| ConfigError::new("SERVER__PUBLIC_URL", error))?
        }
    };
    Ok(Some(MailParts { mailer, base }))
}

fn proxies(config: &Config) -> fetch::Proxies {
    fetch::Proxies::new(config.fetch.basic_proxies.0.clone(), config.fetch.enhanced_proxies.0.clone())
}

fn parses(config: &Config) -> usize {
    match config.fetch.parallel_parses {
        0 => std::thread::available_parallelism().map_or(2, usize::from),
        number => number,
    }
}

/// Returns the local folders of pages and the database, each with the key of its setting.
fn folders(config: &Config) -> Vec<(&'static str, PathBuf)> {
    let database = config.store.url.expose();
    let bodies = Url::parse(&config.blobs.url).ok().filter(|url| url.scheme() == "file");
    let mut folders = Vec::new();
    if database.is_empty() || config.blobs.url.is_empty() {
        folders.push(("DATA__DIR", config.data.dir.clone()));
    }
    folders.extend(bodies.and_then(|url| url.to_file_path().ok()).map(|folder| ("BLOBS__URL", folder)));
    let file = database.strip_prefix("sqlite://").and_then(|path| Path::new(path).parent());
    folders.extend(file.map(|folder| ("STORE__URL", folder.to_owned())));
    folders
}

/// Returns whether a full disk may be the cause of a start error.
fn is_about_data(error: &StartError) -> bool {
    match error {
        StartError::Config(ConfigError { key, .. }) => {
            ["DATA__DIR", "STORE__URL", "BLOBS__URL", "PROFILE_KEY"].iter().any(|part| key.ends_with(part))
        }
        StartError::App(_) => true,
    }
}

/// Returns an error for the first folder on a full disk.
pub(crate) fn full_disk(config: &Config) -> Option<ConfigError> {
    let rooms = folders(config).into_iter().filter_map(|(key, folder)| Some((key, disk::room(&folder)?)));
    let (key, room) = rooms.into_iter().find(|(_, room)| room.is_full())?;
    Some(ConfigError::new(key, format!("the disk is full ({room}); free some space, or set a folder on another disk")))
}

fn settings(config: &Config) -> app::Settings {
    app::Settings {
        auth: config.auth.mode,
        keyless_team: config.auth.keyless_team,
        team_concurrency: config.limits.team_concurrency,
        team_rate_per_minute: config.limits.team_per_minute,
        sites: config.sites,
        files: files::Settings { public_url: config.server.public_url.clone(), ..config.files.clone() },
        folders: folders(config).into_iter().map(|(_, folder)| folder).collect(),
        min_free: config.data.min_free,
        ..app::Settings::default()
    }
}
