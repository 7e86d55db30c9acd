//! Settings, from defaults, files and the environment.

use super::*;

fn pairs(environment: &[(&str, &str)]) -> Result<Loaded, ConfigError> {
    load(None, environment.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())))
}

fn check(name: &str, value: &str, expect: &str) {
    let error = pairs(&[(name, value)]).expect_err(name).to_string();
    assert!(error.starts_with(&format!("{name}: ")) && error.contains(expect), "{error}");
}

#[test]
fn the_defaults_are_complete() {
    let config = Config::default();
    assert_eq!(config.server.listen.to_string(), "127.0.0.1:3002");
    assert_eq!(config.server.max_head, 64 * 1024);
    assert_eq!(config.server.max_body, 10 * 1024 * 1024);
    assert_eq!(config.cache.retention, Duration::from_secs(30 * 86_400));
    assert_eq!((config.cache.max_bytes, config.data.min_free), (Some(50 << 30), 512 << 20));
    assert_eq!((config.auth.mode, config.auth.open_to_network), (AuthMode::Open, false));
    assert!(config.server.hosts.is_empty() && config.admin.listen.is_none());
    assert!(config.worker.embedded && config.admin.token.is_empty());
}

/// The defaults of the crates equal those of the manual.
#[test]
fn the_manual_has_the_defaults_of_the_crates() {
    let config = Config::default();
    let defaults = app::Settings::default();
    let upkeep = app::UpkeepSettings::default();
    assert_eq!(config.cache, app::CacheSettings::default());
    assert_eq!(config.files, defaults.files);
    assert_eq!(config.sessions, app::SessionSettings::default());
    assert_eq!(config.browser, ::browser::Settings::default());
    assert_eq!(config.documents, reader::Settings::default());
    assert!(config.llm == llm::Settings::default());
    assert_eq!(config.mail, mail::Settings::default());
    assert_eq!(config.search, search::Settings::default());
    assert_eq!(config.verticals, app::search::Sites::default());
    assert_eq!(config.feedback, app::search::FeedbackSettings::default());
    assert_eq!(config.retention, upkeep.retention);
    assert_eq!(config.auth.mode, defaults.auth);
    assert_eq!(config.limits.team_concurrency, defaults.team_concurrency);
    assert_eq!(config.limits.team_per_minute, defaults.team_rate_per_minute);
    assert_eq!(config.worker.every, upkeep.every);
    let limits = net::Limits::default();
    assert_eq!((config.fetch.max_raw, config.fetch.max_decoded), (limits.body_raw, limits.body_decoded));
    assert_eq!(config.fetch.max_in_flight, limits.in_flight);
}

/// Each section is decoded by one struct, which knows exactly its keys.
#[test]
fn each_key_of_the_manual_is_read() {
    let manual: toml::Table = DEFAULTS.parse().unwrap();
    for (section, keys) in &manual {
        for key in keys.as_table().unwrap().keys() {
            let mut without = manual.clone();
            without[section].as_table_mut().unwrap().remove(key);
            let read = toml::Value::Table(without).try_into::<Config>();
            let crates_own = matches!(
                section.as_str(),
                "browser"
                    | "cache"
                    | "documents"
                    | "files"
                    | "index"
                    | "llm"
                    | "mail"
                    | "queues"
                    | "retention"
                    | "search"
                    | "sessions"
                    | "sites"
            );
            assert_eq!(read.is_ok(), crates_own, "{section}.{key}");
            let mut more = manual.clone();
            more[section].as_table_mut().unwrap().insert(format!("{key}_x"), 1.into());
            let error = toml::Value::Table(more).try_into::<Config>().unwrap_err().to_string();
            assert!(error.contains("unknown field"), "{section}.{key}: {error}");
        }
    }
}

#[test]
fn every_value_of_the_environment_has_the_type_of_its_key() {
    let config = pairs(&[
        ("QUARRY__SERVER__LISTEN", "[::1]:80"),
        ("QUARRY__DATA__DIR", "/tmp/x y"),
        ("QUARRY__STORE__URL", "postgres://u:p@h/d"),
        ("QUARRY__EGRESS__ALLOW", "127.0.0.1:18100, 10.0.0.0/8,"),
        ("QUARRY__EGRESS__DENY", "10.0.0.7,10.9.0.0/16"),
        ("QUARRY__CACHE__MAX_GIB", "0"),
        ("QUARRY__RETENTION__DEAD_JOBS_DAYS", "7"),
        ("QUARRY__EGRESS__RESOLVERS", "127.0.0.1:15353"),
        ("QUARRY__SERVER__HOSTS", "Quarry.LAN., [FD00::1],10.1.2.3"),
        ("QUARRY__ADMIN__LISTEN", "127.0.0.1:9"),
        ("QUARRY__AUTH__MODE", "keys"),
        ("QUARRY__AUTH__KEYLESS", "scrape"),
        ("QUARRY__AUTH__KEYLESS_TEAM", "00000000-0000-7000-8000-000000000000"),
        ("QUARRY__ADMIN__TOKEN", "123456"),
        ("QUARRY__WORKER__EMBEDDED", "false"),
        ("QUARRY__LOG__LEVEL", "trace"),
        ("QUARRY__SERVER__TRUSTED_PROXIES", "10.0.0.1,192.168.0.0/16"),
        ("QUARRY__FETCH__BASIC_PROXIES", "http://u:p@127.0.0.1:8080,https://h#proxy_resolves=true"),
        ("PATH", "/bin"),
        ("QUARRY_OTHER", "not ours"),
    ])
    .unwrap()
    .config;
    assert_eq!(config.server.listen.port(), 80);
    assert_eq!(config.data.dir, Path::new("/tmp/x y"));
    assert_eq!((config.egress.allow.len(), config.egress.deny.len(), config.cache.max_bytes), (2, 2, None));
    assert_eq!(config.egress.resolvers.len(), 1);
    assert_eq!(config.retention.dead_jobs, Duration::from_secs(7 * 86_400));
    assert_eq!(config.auth.mode, AuthMode::Keys);
    assert_eq!((config.auth.keyless.as_slice(), config.auth.keyless_per_minute), (&[Keyless::Scrape][..], 10));
    assert_eq!(config.auth.keyless_team.map(|team| team.to_string()).as_deref(), Some(app::DEFAULT_TEAM));
    assert_eq!(config.server.hosts, ["quarry.lan", "[fd00::1]", "10.1.2.3"]);
    assert_eq!(config.admin.listen.map(|listen| listen.port()), Some(9));
    assert_eq!(config.admin.token.expose(), "123456");
    assert!(!config.worker.embedded);
    assert_eq!(config.server.trusted_proxies[0].to_string(), "10.0.0.1/32");
    let proxies = &config.fetch.basic_proxies.0;
    assert!(proxies[0].url.port() == Some(8080) && !proxies[0].resolves);
    assert!(proxies[1].url.as_str() == "https://h/" && proxies[1].resolves);
}

#[test]
fn bad_values_name_their_key() {
    check("QUARRY__SERVER__LISTEN", "localhost", "expected an address and port such as 127.0.0.1:3002");
    check("QUARRY__SERVER__LISTEN", "http://127.0.0.1:3002", "expected an address and port");
    check("QUARRY__WORKER__LISTEN", ":3003", "expected an address and port");
    check("QUARRY__SERVER__MAX_CONNECTIONS", "many", "expected a whole number");
    check("QUARRY__SERVER__MAX_CONNECTIONS", "0", "at least 1");
    check("QUARRY__SERVER__MAX_CONNECTIONS", "-1", "");
    check("QUARRY__SERVER__MAX_HEAD_KIB", "1", "between 8 and 1024");
    check("QUARRY__SERVER__BODY_TIMEOUT_S", "0", "at least 1");
    check("QUARRY__WORKER__EMBEDDED", "yes", "expected true or false");
    check("QUARRY__AUTH__MODE", "none", "expected `open` or `keys`");
    check("QUARRY__AUTH__KEYLESS", "scrape,research", "no research endpoints yet");
    check("QUARRY__AUTH__KEYLESS", "crawl", "crawl: expected `scrape`");
    check("QUARRY__AUTH__KEYLESS_TEAM", "research", "expected an id");
    check("QUARRY__LOG__LEVEL", "loud", "loud");
    check("QUARRY__RETENTION__SCRAPES_DAYS", "0", "at least 1");
    check("QUARRY__RETENTION__SCRAPE_DAYS", "1", "did you mean QUARRY__RETENTION__SCRAPES_DAYS?");
    check("QUARRY__FILES__PUBLIC_URL", "quarry.example.com", "expected an address such as https://");
    check("QUARRY__FILES__PUBLIC_URL", "localhost:4831", "expected an address such as https://");
    check("QUARRY__SESSIONS__PUBLIC_URL", "localhost:4831", "expected an address such as https://");
    check("QUARRY__STORE__URL", "mysql://u:hush@h/d", "mysql is not supported: the database is SQLite or PostgreSQL");
    check("QUARRY__STORE__URL", "localhost:5432", "must begin with sqlite:// or postgres://; write sqlite:///path");
    check("QUARRY__BLOBS__ENDPOINT", "localhost:9000", "must begin with http:// or https://");
    check("QUARRY__FILES__MAX_MIB", "0", "between 1 and 1024");
    check("QUARRY__BROWSER__LIST_URLS", "https://a.test/a.txt,file:///b.txt", "file:///b.txt: expected an address");
    check("QUARRY__DOCUMENTS__MEMORY_MIB", "8", "at least 64");
    check("QUARRY__DOCUMENTS__OCR_LANGUAGES", "eng,../x", "../x");
    check("QUARRY__EGRESS__ALLOW", "example.com:80", "example.com:80");
    check("QUARRY__EGRESS__RESOLVERS", "127.0.0.1:53,dns", "dns");
    check("QUARRY__SERVER__TRUSTED_PROXIES", "proxy", "proxy");
    for host in ["http://quarry.lan", "quarry.lan:80", "a/b", "u@h", "*", "a b"] {
        check("QUARRY__SERVER__HOSTS", host, "without scheme and port");
    }
    check("QUARRY__ADMIN__LISTEN", "localhost", "address and port");
    check("QUARRY__SERVER__LISTENN", "x", "no such setting, did you mean QUARRY__SERVER__LISTEN?");
    check("QUARRY__SERVER", "x", "no such setting");
    check("QUARRY__NOPE__X", "x", "no such setting");
}

#[test]
fn localhost_is_the_address_of_this_machine() {
    let listens = |name: &str| {
        let config = pairs(&[(name, "localhost:4831")]).unwrap().config;
        [Some(config.server.listen), Some(config.worker.listen), config.admin.listen]
    };
    let here = Some("127.0.0.1:4831".parse().unwrap());
    assert_eq!(listens("QUARRY__SERVER__LISTEN")[0], here);
    assert_eq!(listens("QUARRY__WORKER__LISTEN")[1], here);
    assert_eq!(listens("QUARRY__ADMIN__LISTEN")[2], here);
}

#[test]
fn refused_secrets_are_not_repeated() {
    for text in ["ftp://u:hush@h", "http://u:hush@h#proxy_resolves", "http://u:hush@h#hush=true"] {
        let error = pairs(&[("QUARRY__FETCH__ENHANCED_PROXIES", text)]).unwrap_err().to_string();
        assert!(error.starts_with("QUARRY__FETCH__ENHANCED_PROXIES: ") && !error.contains("hush"), "{error}");
    }
}

#[test]
fn a_file_lies_between_the_defaults_and_the_environment() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("quarry.toml");
    std::fs::write(&file, "[server]\nlisten = \"127.0.0.1:1\"\nmax_body_mib = 2\n").unwrap();
    let variable = ("QUARRY__SERVER__LISTEN".to_owned(), "127.0.0.1:2".to_owned());
    let config = load(Some(&file), [variable]).unwrap().config;
    assert_eq!((config.server.listen.port(), config.server.max_body), (2, 2 << 20));
}

#[test]
fn a_proxy_in_a_file_may_be_a_table() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("quarry.toml");
    let read = |proxies: &str| {
        std::fs::write(&file, format!("[fetch]\nbasic_proxies = {proxies}\n")).unwrap();
        load(Some(&file), [])
    };
    let text = r#"["http://a:1", { url = "http://b:2", proxy_resolves = true }, { url = "http://c:3" }]"#;
    let loaded = read(text).unwrap();
    let resolves: Vec<bool> = loaded.config.fetch.basic_proxies.0.iter().map(|proxy| proxy.resolves).collect();
    assert_eq!(resolves, [false, true, false]);
    assert!(!loaded.effective.contains("http://b"), "{}", loaded.effective);
    for bad in
        [r#"[{ url = "http://u:hush@b", resolves = true }]"#, r#"[{ url = "http://u:hush@b", proxy_resolves = 1 }]"#]
    {
        let error = read(bad).unwrap_err().to_string();
        assert!(error.contains("proxy_resolves") && !error.contains("hush"), "{error}");
    }
}

#[test]
fn every_queue_has_its_line() {
    let config = Config::default();
    let known: Vec<(&str, u32)> = app::QUEUES.iter().map(|queue| (queue.name, queue.slots)).collect();
    let mut set: Vec<(&str, u32)> = config.queues.iter().map(|(name, slots)| (name.as_str(), *slots)).collect();
    set.sort_by_key(|(name, _)| known.iter().position(|(other, _)| other == name));
    assert_eq!(set, known);
    let error = pairs(&[("QUARRY__QUEUES__PAGE", "5")]).unwrap_err();
    assert!(error.to_string().contains("did you mean QUARRY__QUEUES__PAGES?"), "{error}");
    check("QUARRY__QUEUES__MODELS", "5", "no such setting");
    check("QUARRY__QUEUES__HOOKS", "-1", "");
}

#[test]
fn queues_have_older_names() {
    let slots = |text: &str, environment: &[(&str, &str)]| {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("my.toml");
        std::fs::write(&file, text).unwrap();
        let pairs = environment.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        let config = load(Some(&file), pairs).unwrap().config;
        (config.queues["pages"], config.queues["hooks"])
    };
    assert_eq!(slots("[worker]\npages = 3\nwebhooks = 0", &[]), (3, 0));
    assert_eq!(slots("[worker]\npages = 3", &[("QUARRY__WORKER__PAGES", "4")]), (4, 256));
    assert_eq!(slots("[worker]\npages = 3\n[queues]\npages = 5", &[]), (5, 256));
    assert_eq!(slots("[queues]\npages = 5", &[("QUARRY__WORKER__PAGES", "4")]), (5, 256));
    let error = pairs(&[("QUARRY__WORKER__PAGES", "many")]).unwrap_err().to_string();
    assert_eq!(error, "QUARRY__WORKER__PAGES: expected a whole number");
}

#[test]
fn the_public_address_has_an_older_name() {
    const OLDER: &str = "QUARRY__FILES__PUBLIC_URL";
    let url = |pairs: &[(&str, &str)]| self::pairs(pairs).unwrap().config.server.public_url.map(String::from);
    assert_eq!(url(&[]), None);
    assert_eq!(url(&[(OLDER, "https://a.test")]).as_deref(), Some("https://a.test/"));
    let both = [(OLDER, "https://a.test"), ("QUARRY__SERVER__PUBLIC_URL", "https://b.test/q")];
    assert_eq!(url(&both).as_deref(), Some("https://b.test/q"));
    check(OLDER, "ftp://a.test", "expected an address");
}

#[test]
fn a_mail_server_is_secret_and_needs_a_sender() {
    let pairs = [("QUARRY__MAIL__URL", "smtps://user:hush@mail.test")];
    let loaded = self::pairs(&pairs).unwrap();
    assert!(!loaded.effective.contains("hush"), "{}", loaded.effective);
    assert!(!format!("{:?}", loaded.config).contains("hush"));
    let fault = mail::Mailer::new(&loaded.config.mail).unwrap_err();
    assert!(fault.to_string().starts_with("mail.from: expected a sender"), "{fault}");
    check("QUARRY__MAIL__URL", "mail.test:25", "smtps://");
}

#[test]
fn the_product_service_has_a_name_that_other_programs_use() {
    const THEIRS: &str = "PRODUCT_EXTRACTION_SERVICE_URL";
    const OURS: &str = "QUARRY__EXTRACT__PRODUCT_SERVICE_URL";
    let url = |pairs: &[(&str, &str)]| {
        let url = self::pairs(pairs).unwrap().config.extract.product_service_url;
        url.map(String::from).unwrap_or_default()
    };
    assert_eq!(url(&[]), "");
    assert_eq!(url(&[(THEIRS, "http://a.test:81/x")]), "http://a.test:81/x");
    for both in
        [[(THEIRS, "http://a.test"), (OURS, "http://b.test")], [(OURS, "http://b.test"), (THEIRS, "http://a.test")]]
    {
        assert_eq!(url(&both), "http://b.test/");
    }
    assert_eq!(url(&[(OURS, ""), (THEIRS, "http://a.test")]), "", "set to none");
    for name in [THEIRS, OURS] {
        for value in ["a.test", "ftp://a.test", "http://u:p@a.test"] {
            check(name, value, "expected a URL");
        }
    }
    assert!(is_setting(THEIRS) && is_setting(OURS) && !is_setting("PATH"));
}

#[test]
fn a_file_is_checked_like_the_environment() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("my.toml");
    for (text, key, part) in [
        ("[server]\nlisten = 5", "server.listen in my.toml, line 2", "expected a text"),
        ("[server]\nlisen = \"x\"", "server.lisen in my.toml, line 2", "did you mean server.listen?"),
        ("# ü\n\n[servr]\nlisten = \"x\"", "servr in my.toml, line 3", "no such section"),
        ("listen = 1", "listen in my.toml, line 1", "no such section"),
        ("server.listen = \"x\"", "server.listen in my.toml, line 1", "expected an address and port"),
        (
            "[log]\nlevel = \"info\"\n[server]\n# two\nmax_connections = 0\nlisten = \"127.0.0.1:1\"",
            "server.max_connections in my.toml, line 5",
            "at least 1",
        ),
        ("[server", "my.toml, line 1, column 8", "unclosed table"),
        ("[server]\nlisten = \"a\"\nlisten = \"b\"", "my.toml, line 3, column 1", "duplicate key"),
    ] {
        std::fs::write(&file, text).unwrap();
        let error = load(Some(&file), []).unwrap_err();
        assert!(error.key == key && error.message.contains(part), "{error}");
    }
    let missing = load(Some(&folder.path().join("none.toml")), []).unwrap_err();
    assert_eq!(missing.key, "none.toml");
}

#[test]
fn the_effective_settings_hide_secrets() {
    let loaded = pairs(&[
        ("QUARRY__ADMIN__TOKEN", "hush1"),
        ("QUARRY__STORE__URL", "postgres://u:hush2@h/d"),
        ("QUARRY__FETCH__BASIC_PROXIES", "http://u:hush3@h:1"),
        ("QUARRY__BLOBS__SECRET_ACCESS_KEY", "hush4"),
        ("QUARRY__LLM__KEY", "hush5"),
    ])
    .unwrap();
    assert!(!loaded.effective.contains("hush"), "{}", loaded.effective);
    assert!(!format!("{:?}", loaded.config).contains("hush"));
    assert_eq!(loaded.effective.matches("***").count(), 5);
    assert!(loaded.effective.contains("listen = \"127.0.0.1:3002\""));
}

#[test]
fn search_engines_are_one_word_or_a_list() {
    let engines = |text: &str| {
        let config = load(None, [("QUARRY__SEARCH__ENGINES".to_owned(), text.to_owned())]).unwrap().config;
        config.search.engines.iter().map(|engine| engine.as_str()).collect::<Vec<_>>()
    };
    assert_eq!(engines("searxng"), ["searxng"]);
    assert_eq!(engines("index, brave"), ["index", "brave"]);
    check("QUARRY__SEARCH__ENGINES", "bing", "`bing` is no search engine; expected some of index, searxng");
    check("QUARRY__SEARCH__SEARXNG_URL", "searx", "expected an address such as");
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("my.toml");
    std::fs::write(&file, "[search]\nbrave_key = \"hush1\"\n[search.limits]\nbrave = { per_second = 1 }\n").unwrap();
    let Loaded { config, effective } = load(Some(&file), []).unwrap();
    assert_eq!((config.search.limits.brave.per_second, config.search.brave_key.expose()), (1, "hush1"));
    assert!(!effective.contains("hush1"), "{effective}");
}

#[test]
fn a_model_has_settings_of_three_levels() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("my.toml");
    let read = |text: &str| {
        std::fs::write(&file, text).unwrap();
        load(Some(&file), [("QUARRY__LLM__OUTPUT_PRICE".to_owned(), "2".to_owned())])
    };
    let text = "[llm]\nurl = \"http://127.0.0.1:8080/v1?key=hush1\"\ninput_price = 1\n[llm.limits.team_day]\ncost = 2\n\
        [llm.roles.judge]\nmodel = \"large\"\nkey = \"hush2\"\n";
    let Loaded { config, effective } = read(text).unwrap();
    assert_eq!(config.llm.limits.team_day.cost, llm::Micros(2_000_000));
    assert_eq!((config.llm.input_price, config.llm.output_price), (llm::Micros(1_000_000), llm::Micros(2_000_000)));
    assert_eq!(config.llm.roles.judge.model.as_deref(), Some("large"));
    assert!(!effective.contains("hush") && effective.contains("127.0.0.1:8080"), "{effective}");
    for (bad, expect) in [
        ("[llm.limits.day]\ncost = 1", "unknown field `day`"),
        ("[llm.roles.judge]\nmodell = \"x\"", "unknown field `modell`"),
        ("[llm]\ninput_price = \"1\"", "expected a number"),
        ("[llm]\nlimits = 5", "expected a table"),
    ] {
        let error = read(bad).unwrap_err().to_string();
        assert!(error.starts_with("llm.") && error.contains(expect), "{error}");
    }
    check("QUARRY__LLM__URL", "models.example", "expected the base URL of a model");
    check("QUARRY__LLM__ROLES", "x", "expected a table");
}

#[test]
fn a_variable_sets_one_key_of_a_table() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("my.toml");
    std::fs::write(&file, "[llm.limits.team_day]\ntokens = 5\n[llm.roles.judge]\nmodel = \"large\"\n").unwrap();
    let variables = [
        ("QUARRY__LLM__LIMITS__TEAM_DAY__COST", "1.5"),
        ("QUARRY__LLM__LIMITS__CALL__TIME_S", "30"),
        ("QUARRY__LLM__ROLES__JUDGE__URL", "https://models.example/v1"),
        ("QUARRY__LLM__ROLES__JUDGE__KEY", "hush1"),
        ("QUARRY__LLM__ROLES__EXTRACT__CONTEXT_TOKENS", "8192"),
    ];
    let loaded = load(Some(&file), variables.map(|(name, value)| (name.to_owned(), value.to_owned()))).unwrap();
    let llm::Settings { limits, roles, .. } = &loaded.config.llm;
    assert_eq!((limits.team_day.tokens, limits.team_day.cost), (5, llm::Micros(1_500_000)));
    assert_eq!((limits.call.time, limits.request), (Duration::from_secs(30), llm::Limit::default()));
    assert_eq!(roles.judge.model.as_deref(), Some("large"));
    assert!(roles.judge.url.is_some() && roles.judge.key.as_ref().is_some_and(|key| key.expose() == "hush1"));
    assert_eq!((roles.extract.context_tokens, roles.clean.context_tokens), (Some(8192), None));
    assert!(!loaded.effective.contains("hush"), "{}", loaded.effective);
    check("QUARRY__LLM__LIMITS__CALL__TOKENS", "many", "expected a whole number");
    check("QUARRY__LLM__LIMITS__CALL__TOKEN", "1", "did you mean QUARRY__LLM__LIMITS__CALL__TOKENS?");
    check("QUARRY__LLM__LIMITS__WEEK__TOKENS", "1", "no such setting");
    check("QUARRY__LLM__LIMITS__CALL", "1", "a variable for each of its keys");
    check("QUARRY__LLM__ROLES__JUDGE__URL", "models.example", "expected the base URL of a model");
    check("QUARRY__LLM__ROLES__JUDGE__ATTEMPTS", "2", "unknown field `attempts`");
    check("QUARRY__LLM__MODEL__NAME", "x", "no such setting");
}
