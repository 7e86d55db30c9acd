-- A database of the version before runs: a crawl, two batches, deliveries and a dead job, half done when the process that
-- worked on them was killed. Its pages come from three public addresses through a proxy, its receiver is on port 39117.
-- Killed at 2026-11-22 22:02:56.
CREATE TABLE public.__diesel_schema_migrations (
    version character varying(50) NOT NULL,
    run_on timestamp without time zone DEFAULT CURRENT_TIMESTAMP NOT NULL
);
CREATE TABLE public.account (
    team_id text NOT NULL COLLATE pg_catalog."C",
    available bigint NOT NULL,
    reserved bigint NOT NULL,
    spent bigint NOT NULL,
    granted bigint NOT NULL,
    CONSTRAINT account_available_check CHECK ((available >= 0)),
    CONSTRAINT account_check CHECK ((((available + reserved) + spent) = granted)),
    CONSTRAINT account_reserved_check CHECK ((reserved >= 0)),
    CONSTRAINT account_spent_check CHECK ((spent >= 0))
);
CREATE TABLE public.api_key (
    id text NOT NULL COLLATE pg_catalog."C",
    team_id text NOT NULL COLLATE pg_catalog."C",
    name text NOT NULL,
    hash text NOT NULL,
    hint text NOT NULL,
    created_at timestamp without time zone NOT NULL,
    revoked_at timestamp without time zone,
    last_used_at timestamp without time zone
);
CREATE TABLE public.cache_entry (
    id text NOT NULL COLLATE pg_catalog."C",
    scope text NOT NULL,
    key text NOT NULL,
    variant text NOT NULL,
    final_url text NOT NULL,
    status_code integer NOT NULL,
    content_type text,
    charset text,
    body_digest text NOT NULL,
    body_bytes bigint NOT NULL,
    proxy text NOT NULL,
    fetched_at timestamp without time zone NOT NULL,
    expires_at timestamp without time zone NOT NULL
);
CREATE TABLE public.crawl (
    id text NOT NULL COLLATE pg_catalog."C",
    team_id text NOT NULL COLLATE pg_catalog."C",
    api_key_id text COLLATE pg_catalog."C",
    kind text NOT NULL,
    url text,
    request text NOT NULL,
    status text NOT NULL,
    page_limit bigint NOT NULL,
    pending bigint NOT NULL,
    completed bigint NOT NULL,
    failed bigint NOT NULL,
    spare bigint NOT NULL,
    credits bigint NOT NULL,
    reservation text COLLATE pg_catalog."C",
    preparing boolean NOT NULL,
    landed_url text,
    warning text,
    error text,
    idempotency_key text,
    fingerprint text NOT NULL,
    created_at timestamp without time zone NOT NULL,
    finished_at timestamp without time zone,
    expires_at timestamp without time zone NOT NULL,
    CONSTRAINT crawl_check CHECK (((pending + completed) <= page_limit)),
    CONSTRAINT crawl_completed_check CHECK ((completed >= 0)),
    CONSTRAINT crawl_failed_check CHECK ((failed >= 0)),
    CONSTRAINT crawl_page_limit_check CHECK ((page_limit >= 0)),
    CONSTRAINT crawl_pending_check CHECK ((pending >= 0)),
    CONSTRAINT crawl_spare_check CHECK ((spare >= 0))
);
CREATE TABLE public.crawl_document (
    crawl_id text NOT NULL COLLATE pg_catalog."C",
    seq bigint NOT NULL,
    page_id text NOT NULL COLLATE pg_catalog."C",
    team_id text NOT NULL COLLATE pg_catalog."C",
    site text COLLATE pg_catalog."C",
    url text NOT NULL,
    title text,
    description text,
    bytes bigint NOT NULL,
    body bytea,
    blob text
);
CREATE TABLE public.crawl_family (
    crawl_id text NOT NULL COLLATE pg_catalog."C",
    hash bigint NOT NULL,
    known bigint NOT NULL
);
CREATE TABLE public.crawl_page (
    id text NOT NULL COLLATE pg_catalog."C",
    crawl_id text NOT NULL COLLATE pg_catalog."C",
    key bytea NOT NULL,
    url text NOT NULL,
    depth integer NOT NULL,
    state text NOT NULL,
    code text,
    error text,
    finished_at timestamp without time zone
);
CREATE TABLE public.crawl_run (
    crawl_id text NOT NULL COLLATE pg_catalog."C",
    template bigint NOT NULL,
    hash bigint NOT NULL,
    length bigint NOT NULL
);
CREATE TABLE public.dead_job (
    id text NOT NULL COLLATE pg_catalog."C",
    queue text NOT NULL COLLATE pg_catalog."C",
    kind text NOT NULL,
    team_id text NOT NULL COLLATE pg_catalog."C",
    lane text NOT NULL COLLATE pg_catalog."C",
    cap integer NOT NULL,
    delay_ms bigint NOT NULL,
    phase integer NOT NULL,
    priority integer NOT NULL,
    attempt integer NOT NULL,
    max_attempts integer NOT NULL,
    host text COLLATE pg_catalog."C",
    payload text NOT NULL,
    unique_key text COLLATE pg_catalog."C",
    created_at timestamp without time zone NOT NULL,
    error text NOT NULL,
    died_at timestamp without time zone NOT NULL
);
CREATE TABLE public.host (
    name text NOT NULL COLLATE pg_catalog."C",
    state text NOT NULL,
    crawl_delay_ms bigint,
    most integer NOT NULL,
    queued_until timestamp without time zone,
    updated_at timestamp without time zone NOT NULL
)
WITH (fillfactor='50');
CREATE TABLE public.job (
    id text NOT NULL COLLATE pg_catalog."C",
    lane bigint NOT NULL,
    phase integer NOT NULL,
    priority integer NOT NULL,
    run_at timestamp without time zone NOT NULL,
    attempt integer NOT NULL,
    max_attempts integer NOT NULL,
    lease_until timestamp without time zone,
    created_at timestamp without time zone NOT NULL,
    kind text NOT NULL,
    token text,
    host text COLLATE pg_catalog."C",
    payload text NOT NULL,
    unique_key text COLLATE pg_catalog."C",
    last_error text,
    CONSTRAINT job_check1 CHECK (((token IS NULL) = (lease_until IS NULL)))
)
WITH (autovacuum_vacuum_scale_factor='0.02', autovacuum_vacuum_threshold='5000', autovacuum_analyze_scale_factor='0.05', autovacuum_analyze_threshold='5000');
CREATE TABLE public.job_lane (
    queue text NOT NULL COLLATE pg_catalog."C",
    lane text NOT NULL COLLATE pg_catalog."C",
    team_id text NOT NULL COLLATE pg_catalog."C",
    cap integer NOT NULL,
    delay_ms bigint NOT NULL,
    running integer NOT NULL,
    due_at timestamp without time zone,
    served bigint NOT NULL,
    host text,
    run_phase integer NOT NULL,
    head_phase integer,
    head_priority integer,
    head_run_at timestamp without time zone,
    number bigint NOT NULL,
    waits boolean NOT NULL,
    CONSTRAINT job_lane_cap_check CHECK ((cap >= 0)),
    CONSTRAINT job_lane_running_check CHECK ((running >= 0))
)
WITH (fillfactor='50');
ALTER TABLE public.job_lane ALTER COLUMN number ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.job_lane_number_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.job_team (
    queue text NOT NULL COLLATE pg_catalog."C",
    team_id text NOT NULL COLLATE pg_catalog."C",
    cap integer NOT NULL,
    running integer NOT NULL,
    due_at timestamp without time zone,
    served bigint NOT NULL,
    was_idle boolean NOT NULL,
    CONSTRAINT job_team_cap_check CHECK ((cap >= 0)),
    CONSTRAINT job_team_running_check CHECK ((running >= 0))
)
WITH (fillfactor='50');
CREATE TABLE public.lease (
    name text NOT NULL COLLATE pg_catalog."C",
    holder text NOT NULL,
    expires_at timestamp without time zone NOT NULL
);
CREATE TABLE public.ledger_entry (
    transfer_key text NOT NULL COLLATE pg_catalog."C",
    account text NOT NULL,
    amount bigint NOT NULL
);
CREATE TABLE public.ledger_transfer (
    key text NOT NULL COLLATE pg_catalog."C",
    team_id text NOT NULL COLLATE pg_catalog."C",
    api_key_id text COLLATE pg_catalog."C",
    kind text NOT NULL,
    amount bigint NOT NULL,
    reservation text COLLATE pg_catalog."C",
    created_at timestamp without time zone NOT NULL,
    CONSTRAINT ledger_transfer_amount_check CHECK ((amount > 0))
);
CREATE TABLE public.reservation (
    key text NOT NULL COLLATE pg_catalog."C",
    team_id text NOT NULL COLLATE pg_catalog."C",
    api_key_id text COLLATE pg_catalog."C",
    amount bigint NOT NULL,
    posted bigint NOT NULL,
    voided bigint NOT NULL,
    is_open boolean NOT NULL,
    expires_at timestamp without time zone NOT NULL,
    created_at timestamp without time zone NOT NULL,
    CONSTRAINT reservation_check CHECK (((posted + voided) <= amount)),
    CONSTRAINT reservation_posted_check CHECK ((posted >= 0)),
    CONSTRAINT reservation_voided_check CHECK ((voided >= 0))
);
CREATE TABLE public.robots (
    origin text NOT NULL COLLATE pg_catalog."C",
    verified boolean NOT NULL,
    status integer,
    error text,
    body bytea,
    fetched_at timestamp without time zone NOT NULL,
    expires_at timestamp without time zone NOT NULL
);
CREATE TABLE public.scrape (
    id text NOT NULL COLLATE pg_catalog."C",
    team_id text NOT NULL COLLATE pg_catalog."C",
    api_key_id text COLLATE pg_catalog."C",
    url text,
    status_code integer,
    error_code text,
    cache_state text,
    credits bigint NOT NULL,
    duration_ms bigint NOT NULL,
    created_at timestamp without time zone NOT NULL
);
CREATE TABLE public.team (
    id text NOT NULL COLLATE pg_catalog."C",
    name text NOT NULL,
    unlimited boolean NOT NULL,
    concurrency integer NOT NULL,
    rate_per_minute integer NOT NULL,
    zero_data_retention boolean NOT NULL,
    enterprise boolean NOT NULL,
    catalog boolean NOT NULL,
    created_at timestamp without time zone NOT NULL,
    CONSTRAINT team_concurrency_check CHECK ((concurrency > 0)),
    CONSTRAINT team_rate_per_minute_check CHECK ((rate_per_minute >= 0))
);
CREATE TABLE public.usage_day (
    team_id text NOT NULL COLLATE pg_catalog."C",
    day text NOT NULL,
    api_key_id text NOT NULL COLLATE pg_catalog."C",
    credits bigint NOT NULL
);
CREATE TABLE public.webhook_delivery (
    id text NOT NULL COLLATE pg_catalog."C",
    team_id text NOT NULL COLLATE pg_catalog."C",
    job_id text NOT NULL COLLATE pg_catalog."C",
    event text NOT NULL,
    url text NOT NULL,
    headers text NOT NULL,
    body bytea NOT NULL,
    keep boolean NOT NULL,
    state text NOT NULL,
    attempts integer NOT NULL,
    status integer,
    error text,
    duration_ms bigint,
    created_at timestamp without time zone NOT NULL,
    delivered_at timestamp without time zone,
    next_at timestamp without time zone,
    CONSTRAINT webhook_delivery_attempts_check CHECK ((attempts >= 0)),
    CONSTRAINT webhook_delivery_state_check CHECK ((state = ANY (ARRAY['pending'::text, 'delivered'::text, 'failed'::text])))
);
CREATE TABLE public.webhook_secret (
    team_id text NOT NULL COLLATE pg_catalog."C",
    secret text NOT NULL,
    previous text,
    previous_until timestamp without time zone,
    created_at timestamp without time zone NOT NULL,
    CONSTRAINT webhook_secret_check CHECK (((previous IS NULL) = (previous_until IS NULL)))
);
INSERT INTO public.__diesel_schema_migrations VALUES ('20261121000000', '2026-11-22 22:02:50.613632');
INSERT INTO public.__diesel_schema_migrations VALUES ('20261121100000', '2026-11-22 22:02:50.673516');
INSERT INTO public.__diesel_schema_migrations VALUES ('20261121110000', '2026-11-22 22:02:50.691679');
INSERT INTO public.__diesel_schema_migrations VALUES ('20261121120000', '2026-11-22 22:02:50.721969');
INSERT INTO public.__diesel_schema_migrations VALUES ('20261121130000', '2026-11-22 22:02:50.732968');
INSERT INTO public.__diesel_schema_migrations VALUES ('20261122000000', '2026-11-22 22:02:50.735945');
INSERT INTO public.account VALUES ('00000000-0000-7000-8000-000000000000', 0, 0, 0, 0);
INSERT INTO public.account VALUES ('01a20548-8e23-7023-81cd-d4eead5efee7', 984, 11, 5, 1000);
INSERT INTO public.api_key VALUES ('01a20548-8e23-7023-81cd-d4ef35825970', '01a20548-8e23-7023-81cd-d4eead5efee7', 'default', '0fcc52fda52be45abcef54567b87a8b4ab0a5bde0996b617d2d4fd45503d6202', '6097', '2026-11-22 22:02:50.787392', NULL, '2026-11-22 22:02:51.08711');
INSERT INTO public.crawl VALUES ('01a20548-8f4f-70e5-adeb-7222230676fe', '01a20548-8e23-7023-81cd-d4eead5efee7', '01a20548-8e23-7023-81cd-d4ef35825970', 'batch', NULL, '{"urls":["http://93.184.216.36/lost"],"formats":[{"type":"markdown"}],"onlyMainContent":true,"onlyCleanContent":false,"includeTags":[],"excludeTags":[],"headers":{},"waitFor":0,"timeout":60000,"mobile":false,"blockAds":true,"removeBase64Images":true,"skipTlsVerification":true,"proxy":"auto","storeInCache":true,"lockdown":false,"actions":[],"checkPromptInjection":false,"fastMode":false,"ignoreInvalidURLs":true,"zeroDataRetention":false}', 'scraping', 1, 1, 0, 0, 0, 0, 'batch:01a20548-8f4f-70e5-adeb-7222230676fe', false, NULL, NULL, NULL, NULL, '9d65cffaf6f5d7cff3fc1c03ba646c2b145ab15b9768b2ae5d3bc2a6f46e645b', '2026-11-22 22:02:51.087367', NULL, '2026-11-23 22:02:51.087367');
INSERT INTO public.crawl VALUES ('01a20548-9bdf-74f9-9a17-bea1e89f9849', '01a20548-8e23-7023-81cd-d4eead5efee7', '01a20548-8e23-7023-81cd-d4ef35825970', 'crawl', 'http://93.184.216.34/', '{"url":"http://93.184.216.34/","includePaths":[],"excludePaths":[],"limit":7,"sitemap":"include","ignoreQueryParameters":false,"deduplicateSimilarURLs":true,"crawlEntireDomain":false,"allowExternalLinks":false,"allowSubdomains":false,"regexOnFullURL":false,"ignoreRobotsTxt":false,"scrapeOptions":{"formats":[{"type":"markdown"}],"onlyMainContent":true,"onlyCleanContent":false,"includeTags":[],"excludeTags":[],"headers":{},"waitFor":0,"timeout":60000,"mobile":false,"blockAds":true,"removeBase64Images":true,"skipTlsVerification":true,"proxy":"auto","storeInCache":true,"lockdown":false,"actions":[],"checkPromptInjection":false,"fastMode":false},"webhook":{"url":"http://127.0.0.1:39117/hook","headers":{},"metadata":{"m":"old"},"events":["started","page","completed","failed"]},"zeroDataRetention":false}', 'scraping', 7, 4, 3, 0, 2, 3, 'crawl:01a20548-9bdf-74f9-9a17-bea1e89f9849', true, NULL, NULL, NULL, NULL, '7fefdb5726794e959e86f0bd2147071d72ed25792605624039c20c1197d9605e', '2026-11-22 22:02:54.303599', NULL, '2026-11-23 22:02:54.303599');
INSERT INTO public.crawl VALUES ('01a20548-9c36-7029-90b3-f96699433002', '01a20548-8e23-7023-81cd-d4eead5efee7', '01a20548-8e23-7023-81cd-d4ef35825970', 'batch', NULL, '{"urls":["http://93.184.216.35/b1"],"formats":[{"type":"markdown"}],"onlyMainContent":true,"onlyCleanContent":false,"includeTags":[],"excludeTags":[],"headers":{},"waitFor":0,"timeout":60000,"mobile":false,"blockAds":true,"removeBase64Images":true,"skipTlsVerification":true,"proxy":"auto","storeInCache":true,"lockdown":false,"actions":[],"checkPromptInjection":false,"fastMode":false,"ignoreInvalidURLs":true,"zeroDataRetention":false}', 'scraping', 8, 5, 2, 1, 0, 2, 'batch:01a20548-9c36-7029-90b3-f96699433002', false, NULL, NULL, NULL, NULL, '33d7821e4568d31d98f6d60a658c9c1aa8a59d7ccd97a83f4b05140c8c42fb7a', '2026-11-22 22:02:54.390897', NULL, '2026-11-23 22:02:54.390897');
INSERT INTO public.crawl_document VALUES ('01a20548-9bdf-74f9-9a17-bea1e89f9849', 1, '01a20548-9bdf-74f9-9a17-bea2375ad2fe', '01a20548-8e23-7023-81cd-d4eead5efee7', '93.184.216.34', 'http://93.184.216.34/', 'Start', NULL, 625, '\x28b52ffd6071016d0900c6133f2420896c0e634eeb8815b75cfc84eceeec63dc85c1302387d2c730161c732c6eb0002100bb3a003100330018e53645a250d4341d0e92144510f43c8902bb268298037c9888820c54354decbaaf800498b0c2768a6db12d9a6e231280c76f0e6e2ed0d51e09b5d1db06070996b4c1d5bf3f3ea38dbf3f9eb3c6fa91f8ed9ddbacfd5d69ba72334cf97270cd98f2d59c22511e0df732048de04baefcbbc4ea321e3fb926200f8e767fa716ab1b03cd95ee2513814cebabe907f7e3b98320f4c6bd71f2cf719e789e1c410d0d307e724dd4c62653f977b69eb9d2043dcb8c65825b2d95154d8b3519d5424592f32c741e3f0bb85b2aebdf6bc5b4c7736f140047999c5b127c75e7774b3c4b152b28b00038f0320004bc070003af0070e0650008780f00065e01e06ac11414', NULL);
INSERT INTO public.crawl_document VALUES ('01a20548-9c36-7029-90b3-f96699433002', 1, '01a20548-9c36-7029-90b3-f96aae3ca6ab', '01a20548-8e23-7023-81cd-d4eead5efee7', '93.184.216.35', 'http://93.184.216.35/b2', '/b2', NULL, 310, '\x28b52ffd6036004507002651372330893a07c35847627b3edc7f47b8c9235a5de2ede30bc8c66d0396c5089424181818802d002e002b00efdbe8a91f79d7d6a8bdd4db158e533ad84e49b1a564a25a548b265a1843328e53263080bf570e1915a6528f046b4110badaae247c73ae79df2809f86a6d8303c5c279493e38cac3348a01c1280eb42ccfea96fede98d7db9b6879edcc13f5f76dedc44a50e1dbe1c41afd3d2e2b200f39adb72312465f03bd3c55824ca041b5b4f463fbef010b0bcc7b5c56704f71277c7ba48f4267551f889138918312a87101c9e3402841180eae51c6fd3d16aca513f203020049893307a6cc', NULL);
INSERT INTO public.crawl_document VALUES ('01a20548-9bdf-74f9-9a17-bea1e89f9849', 2, '01a20548-9c35-73f3-a1e0-60bbbd6fc3f5', '01a20548-8e23-7023-81cd-d4eead5efee7', '93.184.216.34', 'http://93.184.216.34/p2', '/p2', NULL, 310, '\x28b52ffd6036004507002651372330893a07c35847627b3edcbf2fdbfd62564be2ede30b480d4e789fc756d4a43030b0802d002e002a00efdbe8a91f79d7d6a8bdd4db158e533ad84e49b1a5a4a262548cc65a582419c7291318c0df2b878c0a53a947026b4110badaae247c73ae79df2809f86a6d8383c5c279497e1ce5c034ca83601427b12ccfea96fede98d7db1b6b79edcc13f5f76d6dc54a50e1dbe1c40afd3d2e2f200f39adb72392a8af815e9e2a4126d0a05a5afab1fdf70b0bcc7b5c5e704f71277cbb21726074881004b943e296d1c4899c80c4e0c04482780cae51c6fd3d16aca513f203020049893307a6cc', NULL);
INSERT INTO public.crawl_document VALUES ('01a20548-9bdf-74f9-9a17-bea1e89f9849', 3, '01a20548-9c35-73f3-a1e0-60ba5f09c612', '01a20548-8e23-7023-81cd-d4eead5efee7', '93.184.216.34', 'http://93.184.216.34/p1', '/p1', NULL, 310, '\x28b52ffd6036004d07002691372430a93807c36c5ab15bde70f6be6cf34224908efbedbc48ccd3b571ad23509260606000022d002e002b00effbe8a83f79d7d6a8bdd2d9178e5342d64e29ad95e4626a4c0d4731eb918be394090be0ef13444685a9d227014b49107ada9e243c6bad79df2809b86a6d8303c6c2594936380bc2358b21e11647c1308fea86fefe98d5d91dc53ceccc91f4f76dedc54250e1d961c4eaf87b5c6648227252674f284f5703bd3c15824be02135c47464fbef010b0bee3d2e33b8a3b8139ebd7108a868cf411d0da1b475aa388f13a01c1ca8501286436bd4b5bfc782a574427e020049893307a6cc', NULL);
INSERT INTO public.crawl_document VALUES ('01a20548-9c36-7029-90b3-f96699433002', 2, '01a20548-9c36-7029-90b3-f968a9fcd526', '01a20548-8e23-7023-81cd-d4eead5efee7', '93.184.216.35', 'http://93.184.216.35/b1', '/b1', NULL, 310, '\x28b52ffd6036004507002651372320896c0e631688621ffafe661476d3a4701706c38c1c4aeff1760be4904e041800582b2d002e002a00efbbe8aaff78d7d6a8bdd6dd138e5332da4e69b5b524e2525c0a4652da241bc729131ac0df2f868c0a53ad3f028b3910fadabe24bc5b96e67da324e0acb50d0e120b6726f9e0240fd3240688499c48511ed64dfd7d31b3bb3392f2eecc95f5f76d6dc45250e1dd61c52afd3d2e271c0d39b1bb43c8d4d9402f4fa5601358584d29ddd8fe7b0b0bcc7b5c4e70577127bcfbd31c229c22859e68421c698990a8590290c7811102190e4ba3ccf2f758b0984ec80f020049893307a6cc', NULL);
INSERT INTO public.crawl_page VALUES ('01a20548-8f4f-70e5-adeb-722488b3b278', '01a20548-8f4f-70e5-adeb-7222230676fe', '\x17b489140522d1393b71422b5a52d45f', 'http://93.184.216.36/lost', 0, 'queued', NULL, NULL, NULL);
INSERT INTO public.crawl_page VALUES ('01a20548-9c36-7029-90b3-f96e06008acf', '01a20548-9c36-7029-90b3-f96699433002', '\x55175b422b2ebbaef9a689645eaab28f', 'http://93.184.216.35/b4', 0, 'queued', NULL, NULL, NULL);
INSERT INTO public.crawl_page VALUES ('01a20548-9c36-7029-90b3-f970fe8f19ef', '01a20548-9c36-7029-90b3-f96699433002', '\xfd37bec86c9eaa1c8cd4bc0c026b9e1e', 'http://93.184.216.35/b5', 0, 'queued', NULL, NULL, NULL);
INSERT INTO public.crawl_page VALUES ('01a20548-9c36-7029-90b3-f97219413c98', '01a20548-9c36-7029-90b3-f96699433002', '\xe038ba4cd3651575da42d44a85881fb3', 'http://93.184.216.35/b6', 0, 'queued', NULL, NULL, NULL);
INSERT INTO public.crawl_page VALUES ('01a20548-9c36-7029-90b3-f97497624d54', '01a20548-9c36-7029-90b3-f96699433002', '\x75294a050c2f69b6a3cf1df4f017e925', 'http://93.184.216.35/b7', 0, 'queued', NULL, NULL, NULL);
INSERT INTO public.crawl_page VALUES ('01a20548-9c36-7029-90b3-f9763247bfe2', '01a20548-9c36-7029-90b3-f96699433002', '\x98db5e67444e9fc441e0e58db16fa7bb', 'http://93.184.216.35/b8', 0, 'queued', NULL, NULL, NULL);
INSERT INTO public.crawl_page VALUES ('01a20548-9bdf-74f9-9a17-bea2375ad2fe', '01a20548-9bdf-74f9-9a17-bea1e89f9849', '\x04be3d5bb4a96fee84c10ce8a38532c1', 'http://93.184.216.34/', 0, 'done', NULL, NULL, '2026-11-22 22:02:54.398618');
INSERT INTO public.crawl_page VALUES ('01a20548-9c35-73f3-a1e0-60bc70334295', '01a20548-9bdf-74f9-9a17-bea1e89f9849', '\x28b01e5fff780a989efe3a156d281cea', 'http://93.184.216.34/p3', 1, 'queued', NULL, NULL, NULL);
INSERT INTO public.crawl_page VALUES ('01a20548-9c35-73f3-a1e0-60bdfb2bb3a3', '01a20548-9bdf-74f9-9a17-bea1e89f9849', '\x0e83d78b10d551572082f11f2214c8ff', 'http://93.184.216.34/p4', 1, 'queued', NULL, NULL, NULL);
INSERT INTO public.crawl_page VALUES ('01a20548-9c35-73f3-a1e0-60be6d12db9c', '01a20548-9bdf-74f9-9a17-bea1e89f9849', '\x4245a1928d8c4a92f671266deb0b5491', 'http://93.184.216.34/p5', 1, 'queued', NULL, NULL, NULL);
INSERT INTO public.crawl_page VALUES ('01a20548-9c35-73f3-a1e0-60bfdf56c961', '01a20548-9bdf-74f9-9a17-bea1e89f9849', '\x7276951ab261a3c476d97cd8e214901d', 'http://93.184.216.34/p6', 1, 'queued', NULL, NULL, NULL);
INSERT INTO public.crawl_page VALUES ('01a20548-9c35-73f3-a1e0-60c0b6d5f357', '01a20548-9bdf-74f9-9a17-bea1e89f9849', '\xfd5f473b3955878485180d8b6762c654', 'http://93.184.216.34/p7', 1, 'spare', NULL, NULL, NULL);
INSERT INTO public.crawl_page VALUES ('01a20548-9c35-73f3-a1e0-60c1ae13f659', '01a20548-9bdf-74f9-9a17-bea1e89f9849', '\x85d41a47fdf8821fcf5b0e2d0771b62d', 'http://93.184.216.34/p8', 1, 'spare', NULL, NULL, NULL);
INSERT INTO public.crawl_page VALUES ('01a20548-9c35-73f3-a1e0-60c25efc2f8d', '01a20548-9bdf-74f9-9a17-bea1e89f9849', '\xd1960fac709a5ba3dcb345295c45ed4d', 'http://93.184.216.34/private/x', 1, 'blocked', 'ROBOTS_BLOCKED', 'robots.txt forbids the page', '2026-11-22 22:02:54.398618');
INSERT INTO public.crawl_page VALUES ('01a20548-9c36-7029-90b3-f96aae3ca6ab', '01a20548-9c36-7029-90b3-f96699433002', '\x878a9bfad84c2c4e29b59d5b56503094', 'http://93.184.216.35/b2', 0, 'done', NULL, NULL, '2026-11-22 22:02:54.544527');
INSERT INTO public.crawl_page VALUES ('01a20548-9c35-73f3-a1e0-60ba5f09c612', '01a20548-9bdf-74f9-9a17-bea1e89f9849', '\x2190911ba23c2ee54a06f417186d1aa7', 'http://93.184.216.34/p1', 1, 'done', NULL, NULL, '2026-11-22 22:02:54.593573');
INSERT INTO public.crawl_page VALUES ('01a20548-9c35-73f3-a1e0-60bbbd6fc3f5', '01a20548-9bdf-74f9-9a17-bea1e89f9849', '\xe1cb6eaa1d19da2b3822f97655210339', 'http://93.184.216.34/p2', 1, 'done', NULL, NULL, '2026-11-22 22:02:54.593573');
INSERT INTO public.crawl_page VALUES ('01a20548-9c36-7029-90b3-f968a9fcd526', '01a20548-9c36-7029-90b3-f96699433002', '\x788cc9cff53b2acf8ccb3a81d0e91343', 'http://93.184.216.35/b1', 0, 'done', NULL, NULL, '2026-11-22 22:02:54.621448');
INSERT INTO public.crawl_page VALUES ('01a20548-9c36-7029-90b3-f96c097391b4', '01a20548-9c36-7029-90b3-f96699433002', '\xb422aba67789fc7391409c76b131b9f7', 'http://93.184.216.35/broken', 0, 'failed', 'SCRAPE_SITE_ERROR', 'the site could not be reached or did not answer properly: connection closed before message completed', '2026-11-22 22:02:55.504354');
INSERT INTO public.crawl_run VALUES ('01a20548-9bdf-74f9-9a17-bea1e89f9849', -3750763034362895579, -9213271043945551589, 1);
INSERT INTO public.crawl_run VALUES ('01a20548-9bdf-74f9-9a17-bea1e89f9849', -1301373063894129045, -7883507441531584390, 1);
INSERT INTO public.dead_job VALUES ('01a20548-8f4f-70e5-adeb-722488b3b278', 'pages', 'crawl.page', '01a20548-8e23-7023-81cd-d4eead5efee7', '01a20548-8f4f-70e5-adeb-7222230676fe', 100, 0, 0, 0, 1, 5, '93.184.216.36', '{"crawl":"01a20548-8f4f-70e5-adeb-7222230676fe","depth":0,"url":"http://93.184.216.36/lost"}', NULL, '2026-11-22 22:02:51.087406', 'payload not understood: invalid length 0, expected struct Payload with 3 elements at line 1 column 2', '2026-11-22 22:02:51.299776');
INSERT INTO public.host VALUES ('93.184.216.36', '{"inFlight":0,"lastStart":"2026-11-22T22:02:51.270084275Z","lastEnd":"2026-11-22T22:02:51.299776171Z","pausedUntil":null,"latency":0,"lostSlots":0,"gap":0,"refusals":0,"good":0}', NULL, 4, NULL, '2026-11-22 22:02:51.299776');
INSERT INTO public.host VALUES ('93.184.216.34', '{"inFlight":4,"lastStart":"2026-11-22T22:02:54.583367777Z","lastEnd":"2026-11-22T22:02:54.558093118Z","pausedUntil":null,"latency":30143,"lostSlots":0,"gap":0,"refusals":0,"good":3}', NULL, 4, '2026-11-22 22:02:54.555702', '2026-11-22 22:02:54.5796');
INSERT INTO public.host VALUES ('93.184.216.35', '{"inFlight":4,"lastStart":"2026-11-22T22:02:55.505212059Z","lastEnd":"2026-11-22T22:02:55.499677925Z","pausedUntil":null,"latency":153259,"lostSlots":0,"gap":0,"refusals":0,"good":2}', NULL, 4, '2026-11-22 22:02:57.92186', '2026-11-22 22:02:57.883546');
INSERT INTO public.job VALUES ('01a20548-9caf-7344-9ef1-d4816fda0581', 5, 0, 0, '2026-11-22 22:03:54.497204', 0, 5, NULL, '2026-11-22 22:02:54.511395', 'webhook', NULL, NULL, '{"delivery":"01a20548-9c62-7246-9c32-44edd2c04a1d"}', 'webhook:01a20548-9c62-7246-9c32-44edd2c04a1d', NULL);
INSERT INTO public.job VALUES ('01a20548-9be7-7282-ad3a-747eaaff8e27', 3, 0, 0, '2026-11-22 22:02:54.303689', 1, 5, '2026-11-22 22:03:54.328941', '2026-11-22 22:02:54.303689', 'crawl.start', '01a20548-9bf8-753c-a36d-2e46b913f8dd', NULL, '{"crawl":"01a20548-9bdf-74f9-9a17-bea1e89f9849"}', NULL, NULL);
INSERT INTO public.job VALUES ('01a20548-9c3e-72d2-934c-84b577345a87', 5, 0, 0, '2026-11-22 22:03:54.386744', 0, 5, NULL, '2026-11-22 22:02:54.398176', 'webhook', NULL, NULL, '{"delivery":"01a20548-9bf4-7284-852c-94f3c6cac9ac"}', 'webhook:01a20548-9bf4-7284-852c-94f3c6cac9ac', NULL);
INSERT INTO public.job VALUES ('01a20548-9c36-7029-90b3-f9763247bfe2', 8, 0, 0, '2026-11-22 22:02:54.390942', 0, 5, NULL, '2026-11-22 22:02:54.390942', 'crawl.page', NULL, '93.184.216.35', '{"crawl":"01a20548-9c36-7029-90b3-f96699433002","depth":0,"url":"http://93.184.216.35/b8"}', NULL, NULL);
INSERT INTO public.job VALUES ('01a20548-9c35-73f3-a1e0-60bc70334295', 2, 0, 0, '2026-11-22 22:02:54.398618', 1, 5, '2026-11-22 22:03:54.45042', '2026-11-22 22:02:54.398618', 'crawl.page', '01a20548-9c72-770d-813f-38cbae006006', '93.184.216.34', '{"crawl":"01a20548-9bdf-74f9-9a17-bea1e89f9849","depth":1,"url":"http://93.184.216.34/p3"}', NULL, NULL);
INSERT INTO public.job VALUES ('01a20548-9c35-73f3-a1e0-60bdfb2bb3a3', 2, 0, 0, '2026-11-22 22:02:54.398618', 1, 5, '2026-11-22 22:03:54.45042', '2026-11-22 22:02:54.398618', 'crawl.page', '01a20548-9c72-770d-813f-38cbae006006', '93.184.216.34', '{"crawl":"01a20548-9bdf-74f9-9a17-bea1e89f9849","depth":1,"url":"http://93.184.216.34/p4"}', NULL, NULL);
INSERT INTO public.job VALUES ('01a20548-9c36-7029-90b3-f970fe8f19ef', 8, 0, 0, '2026-11-22 22:02:54.390942', 1, 5, '2026-11-22 22:03:54.545703', '2026-11-22 22:02:54.390942', 'crawl.page', '01a20548-9cd1-7596-b3c7-e08b41a24cfa', '93.184.216.35', '{"crawl":"01a20548-9c36-7029-90b3-f96699433002","depth":0,"url":"http://93.184.216.35/b5"}', NULL, NULL);
INSERT INTO public.job VALUES ('01a20548-9c35-73f3-a1e0-60be6d12db9c', 2, 0, 0, '2026-11-22 22:02:54.398618', 1, 5, '2026-11-22 22:03:54.579601', '2026-11-22 22:02:54.398618', 'crawl.page', '01a20548-9cf3-7005-9dbe-7057403cfe3e', '93.184.216.34', '{"crawl":"01a20548-9bdf-74f9-9a17-bea1e89f9849","depth":1,"url":"http://93.184.216.34/p5"}', NULL, NULL);
INSERT INTO public.job VALUES ('01a20548-9c35-73f3-a1e0-60bfdf56c961', 2, 0, 0, '2026-11-22 22:02:54.398618', 1, 5, '2026-11-22 22:03:54.579601', '2026-11-22 22:02:54.398618', 'crawl.page', '01a20548-9cf3-7005-9dbe-7057403cfe3e', '93.184.216.34', '{"crawl":"01a20548-9bdf-74f9-9a17-bea1e89f9849","depth":1,"url":"http://93.184.216.34/p6"}', NULL, NULL);
INSERT INTO public.job VALUES ('01a20548-9c36-7029-90b3-f97219413c98', 8, 0, 0, '2026-11-22 22:02:54.390942', 1, 5, '2026-11-22 22:03:54.579601', '2026-11-22 22:02:54.390942', 'crawl.page', '01a20548-9cf3-7005-9dbe-7057403cfe3e', '93.184.216.35', '{"crawl":"01a20548-9c36-7029-90b3-f96699433002","depth":0,"url":"http://93.184.216.35/b6"}', NULL, NULL);
INSERT INTO public.job VALUES ('01a20548-9c36-7029-90b3-f97497624d54', 8, 0, 0, '2026-11-22 22:02:54.390942', 1, 5, '2026-11-22 22:03:55.505212', '2026-11-22 22:02:54.390942', 'crawl.page', '01a20548-a091-776f-9e4c-ff6880741615', '93.184.216.35', '{"crawl":"01a20548-9c36-7029-90b3-f96699433002","depth":0,"url":"http://93.184.216.35/b7"}', NULL, NULL);
INSERT INTO public.job VALUES ('01a20548-9c36-7029-90b3-f96e06008acf', 8, 0, 0, '2026-11-22 22:02:54.390942', 1, 5, '2026-11-22 22:03:54.45042', '2026-11-22 22:02:54.390942', 'crawl.page', '01a20548-9c72-770d-813f-38cbae006006', '93.184.216.35', '{"crawl":"01a20548-9c36-7029-90b3-f96699433002","depth":0,"url":"http://93.184.216.35/b4"}', NULL, NULL);
INSERT INTO public.job VALUES ('01a20548-9d31-727f-ae6a-8bb392f9c387', 5, 0, 0, '2026-11-22 22:03:54.636983', 0, 5, NULL, '2026-11-22 22:02:54.641754', 'webhook', NULL, NULL, '{"delivery":"01a20548-9d11-75ff-ab9a-1c45c0fa3e10"}', 'webhook:01a20548-9d11-75ff-ab9a-1c45c0fa3e10', NULL);
INSERT INTO public.job VALUES ('01a20548-9d3b-774a-a70c-da3babde6ced', 5, 0, 0, '2026-11-22 22:03:54.637873', 0, 5, NULL, '2026-11-22 22:02:54.651706', 'webhook', NULL, NULL, '{"delivery":"01a20548-9d11-75ff-ab9a-1c435ca433da"}', 'webhook:01a20548-9d11-75ff-ab9a-1c435ca433da', NULL);
INSERT INTO public.job_lane OVERRIDING SYSTEM VALUE VALUES ('hooks', '01a20548-9bdf-74f9-9a17-bea1e89f9849', '01a20548-8e23-7023-81cd-d4eead5efee7', 4, 0, 0, NULL, 1795384974626684, NULL, 1, 1, 0, '2026-11-22 22:02:54.593573', 4, false);
INSERT INTO public.job_lane OVERRIDING SYSTEM VALUE VALUES ('pages', '01a20548-9bdf-74f9-9a17-bea1e89f9849:start', '01a20548-8e23-7023-81cd-d4eead5efee7', 1, 0, 1, '2026-11-22 22:02:54.303689', 1795384974328940, NULL, 0, 0, 0, '2026-11-22 22:02:54.303689', 3, false);
INSERT INTO public.job_lane OVERRIDING SYSTEM VALUE VALUES ('hooks', '01a20548-9bdf-74f9-9a17-bea1e89f9849:retry', '01a20548-8e23-7023-81cd-d4eead5efee7', 4, 0, 0, '2026-11-22 22:03:54.386744', 0, NULL, 0, 0, 0, '2026-11-22 22:03:54.386744', 5, false);
INSERT INTO public.job_lane OVERRIDING SYSTEM VALUE VALUES ('pages', '01a20548-9bdf-74f9-9a17-bea1e89f9849', '01a20548-8e23-7023-81cd-d4eead5efee7', 100, 0, 4, NULL, 1795384974579600, '93.184.216.34', 0, 0, 0, '2026-11-22 22:02:54.398618', 2, false);
INSERT INTO public.job_lane OVERRIDING SYSTEM VALUE VALUES ('pages', '01a20548-9c36-7029-90b3-f96699433002', '01a20548-8e23-7023-81cd-d4eead5efee7', 100, 0, 4, '2026-11-22 22:02:57.92186', 1795384977883546, '93.184.216.35', 0, 0, 0, '2026-11-22 22:02:54.390942', 8, false);
INSERT INTO public.job_team VALUES ('hooks', '01a20548-8e23-7023-81cd-d4eead5efee7', 16, 0, '2026-11-22 22:03:54.386744', 1795384974626684, false);
INSERT INTO public.job_team VALUES ('pages', '01a20548-8e23-7023-81cd-d4eead5efee7', 100, 9, '2026-11-22 22:02:57.92186', 1795384975506853, true);
INSERT INTO public.lease VALUES ('maintenance', '01a20548-9008-7776-973d-d90405616ddc', '2026-11-22 22:05:51.27476');
INSERT INTO public.ledger_entry VALUES ('grant:01a20548-8e25-70d3-86e7-1051124c01ce', 'granted', -1000);
INSERT INTO public.ledger_entry VALUES ('grant:01a20548-8e25-70d3-86e7-1051124c01ce', 'available', 1000);
INSERT INTO public.ledger_entry VALUES ('batch:01a20548-8f4f-70e5-adeb-7222230676fe', 'available', -1);
INSERT INTO public.ledger_entry VALUES ('batch:01a20548-8f4f-70e5-adeb-7222230676fe', 'reserved', 1);
INSERT INTO public.ledger_entry VALUES ('crawl:01a20548-9bdf-74f9-9a17-bea1e89f9849', 'available', -7);
INSERT INTO public.ledger_entry VALUES ('crawl:01a20548-9bdf-74f9-9a17-bea1e89f9849', 'reserved', 7);
INSERT INTO public.ledger_entry VALUES ('pages:01a20548-9bdf-74f9-9a17-bea2375ad2fe', 'reserved', -1);
INSERT INTO public.ledger_entry VALUES ('pages:01a20548-9bdf-74f9-9a17-bea2375ad2fe', 'spent', 1);
INSERT INTO public.ledger_entry VALUES ('batch:01a20548-9c36-7029-90b3-f96699433002', 'available', -8);
INSERT INTO public.ledger_entry VALUES ('batch:01a20548-9c36-7029-90b3-f96699433002', 'reserved', 8);
INSERT INTO public.ledger_entry VALUES ('pages:01a20548-9c36-7029-90b3-f96aae3ca6ab', 'reserved', -1);
INSERT INTO public.ledger_entry VALUES ('pages:01a20548-9c36-7029-90b3-f96aae3ca6ab', 'spent', 1);
INSERT INTO public.ledger_entry VALUES ('pages:01a20548-9c35-73f3-a1e0-60bbbd6fc3f5', 'reserved', -2);
INSERT INTO public.ledger_entry VALUES ('pages:01a20548-9c35-73f3-a1e0-60bbbd6fc3f5', 'spent', 2);
INSERT INTO public.ledger_entry VALUES ('pages:01a20548-9c36-7029-90b3-f968a9fcd526', 'reserved', -1);
INSERT INTO public.ledger_entry VALUES ('pages:01a20548-9c36-7029-90b3-f968a9fcd526', 'spent', 1);
INSERT INTO public.ledger_transfer VALUES ('grant:01a20548-8e25-70d3-86e7-1051124c01ce', '01a20548-8e23-7023-81cd-d4eead5efee7', NULL, 'grant', 1000, NULL, '2026-11-22 22:02:50.787336');
INSERT INTO public.ledger_transfer VALUES ('batch:01a20548-8f4f-70e5-adeb-7222230676fe', '01a20548-8e23-7023-81cd-d4eead5efee7', '01a20548-8e23-7023-81cd-d4ef35825970', 'reserve', 1, NULL, '2026-11-22 22:02:51.087406');
INSERT INTO public.ledger_transfer VALUES ('crawl:01a20548-9bdf-74f9-9a17-bea1e89f9849', '01a20548-8e23-7023-81cd-d4eead5efee7', '01a20548-8e23-7023-81cd-d4ef35825970', 'reserve', 7, NULL, '2026-11-22 22:02:54.303689');
INSERT INTO public.ledger_transfer VALUES ('pages:01a20548-9bdf-74f9-9a17-bea2375ad2fe', '01a20548-8e23-7023-81cd-d4eead5efee7', '01a20548-8e23-7023-81cd-d4ef35825970', 'post', 1, 'crawl:01a20548-9bdf-74f9-9a17-bea1e89f9849', '2026-11-22 22:02:54.398618');
INSERT INTO public.ledger_transfer VALUES ('batch:01a20548-9c36-7029-90b3-f96699433002', '01a20548-8e23-7023-81cd-d4eead5efee7', '01a20548-8e23-7023-81cd-d4ef35825970', 'reserve', 8, NULL, '2026-11-22 22:02:54.390942');
INSERT INTO public.ledger_transfer VALUES ('pages:01a20548-9c36-7029-90b3-f96aae3ca6ab', '01a20548-8e23-7023-81cd-d4eead5efee7', '01a20548-8e23-7023-81cd-d4ef35825970', 'post', 1, 'batch:01a20548-9c36-7029-90b3-f96699433002', '2026-11-22 22:02:54.544527');
INSERT INTO public.ledger_transfer VALUES ('pages:01a20548-9c35-73f3-a1e0-60bbbd6fc3f5', '01a20548-8e23-7023-81cd-d4eead5efee7', '01a20548-8e23-7023-81cd-d4ef35825970', 'post', 2, 'crawl:01a20548-9bdf-74f9-9a17-bea1e89f9849', '2026-11-22 22:02:54.593573');
INSERT INTO public.ledger_transfer VALUES ('pages:01a20548-9c36-7029-90b3-f968a9fcd526', '01a20548-8e23-7023-81cd-d4eead5efee7', '01a20548-8e23-7023-81cd-d4ef35825970', 'post', 1, 'batch:01a20548-9c36-7029-90b3-f96699433002', '2026-11-22 22:02:54.621448');
INSERT INTO public.reservation VALUES ('batch:01a20548-8f4f-70e5-adeb-7222230676fe', '01a20548-8e23-7023-81cd-d4eead5efee7', '01a20548-8e23-7023-81cd-d4ef35825970', 1, 0, 0, true, '2026-12-22 22:02:51.087406', '2026-11-22 22:02:51.087406');
INSERT INTO public.reservation VALUES ('crawl:01a20548-9bdf-74f9-9a17-bea1e89f9849', '01a20548-8e23-7023-81cd-d4eead5efee7', '01a20548-8e23-7023-81cd-d4ef35825970', 7, 3, 0, true, '2026-12-22 22:02:54.303689', '2026-11-22 22:02:54.303689');
INSERT INTO public.reservation VALUES ('batch:01a20548-9c36-7029-90b3-f96699433002', '01a20548-8e23-7023-81cd-d4eead5efee7', '01a20548-8e23-7023-81cd-d4ef35825970', 8, 2, 0, true, '2026-12-22 22:02:54.390942', '2026-11-22 22:02:54.390942');
INSERT INTO public.team VALUES ('00000000-0000-7000-8000-000000000000', 'default', true, 100, 0, true, true, false, '2026-11-22 22:02:50.751845');
INSERT INTO public.team VALUES ('01a20548-8e23-7023-81cd-d4eead5efee7', 'old', false, 100, 0, false, false, false, '2026-11-22 22:02:50.787336');
INSERT INTO public.usage_day VALUES ('01a20548-8e23-7023-81cd-d4eead5efee7', '2026-11-22', '01a20548-8e23-7023-81cd-d4ef35825970', 5);
INSERT INTO public.webhook_delivery VALUES ('01a20548-9bf4-7284-852c-94f3c6cac9ac', '01a20548-8e23-7023-81cd-d4eead5efee7', '01a20548-9bdf-74f9-9a17-bea1e89f9849', 'crawl.started', 'http://127.0.0.1:39117/hook', '{}', '\x7b2273756363657373223a747275652c2274797065223a22637261776c2e73746172746564222c226964223a2230316132303534382d396264662d373466392d396131372d626561316538396639383439222c22776562686f6f6b4964223a2230316132303534382d396266342d373238342d383532632d393466336336636163396163222c2264617461223a5b5d2c226d65746164617461223a7b226d223a226f6c64227d7d', true, 'pending', 1, 500, 'status 500', 10, '2026-11-22 22:02:54.303689', NULL, '2026-11-22 22:03:54.386744');
INSERT INTO public.webhook_delivery VALUES ('01a20548-9c62-7246-9c32-44edd2c04a1d', '01a20548-8e23-7023-81cd-d4eead5efee7', '01a20548-9bdf-74f9-9a17-bea1e89f9849', 'crawl.page', 'http://127.0.0.1:39117/hook', '{}', '\x7b2273756363657373223a747275652c2274797065223a22637261776c2e70616765222c226964223a2230316132303534382d396264662d373466392d396131372d626561316538396639383439222c22776562686f6f6b4964223a2230316132303534382d396336322d373234362d396333322d343465646432633034613164222c2264617461223a5b7b226d61726b646f776e223a22232053746172745c6e5c6e5b7061676520315d28687474703a2f2f39332e3138342e3231362e33342f703129205b7061676520325d28687474703a2f2f39332e3138342e3231362e33342f703229205b7061676520335d28687474703a2f2f39332e3138342e3231362e33342f703329205b7061676520345d28687474703a2f2f39332e3138342e3231362e33342f703429205b7061676520355d28687474703a2f2f39332e3138342e3231362e33342f703529205b7061676520365d28687474703a2f2f39332e3138342e3231362e33342f703629205b7061676520375d28687474703a2f2f39332e3138342e3231362e33342f703729205b7061676520385d28687474703a2f2f39332e3138342e3231362e33342f703829205b6e6f5d28687474703a2f2f39332e3138342e3231362e33342f707269766174652f7829205b6f746865725d28687474703a2f2f656c736577686572652e746573742f29222c226d65746164617461223a7b227469746c65223a225374617274222c2275726c223a22687474703a2f2f39332e3138342e3231362e33342f222c22736f7572636555524c223a22687474703a2f2f39332e3138342e3231362e33342f222c22737461747573436f6465223a3230302c22636f6e74656e7454797065223a22746578742f68746d6c3b20636861727365743d7574662d38222c2270726f787955736564223a226261736963222c2263616368655374617465223a226d697373222c227363726170654964223a2230316132303534382d396264662d373466392d396131372d626561323337356164326665222c226372656469747355736564223a317d7d5d2c226d65746164617461223a7b226d223a226f6c64227d7d', true, 'pending', 1, 500, 'status 500', 17, '2026-11-22 22:02:54.398618', NULL, '2026-11-22 22:03:54.497204');
INSERT INTO public.webhook_delivery VALUES ('01a20548-9d11-75ff-ab9a-1c45c0fa3e10', '01a20548-8e23-7023-81cd-d4eead5efee7', '01a20548-9bdf-74f9-9a17-bea1e89f9849', 'crawl.page', 'http://127.0.0.1:39117/hook', '{}', '\x7b2273756363657373223a747275652c2274797065223a22637261776c2e70616765222c226964223a2230316132303534382d396264662d373466392d396131372d626561316538396639383439222c22776562686f6f6b4964223a2230316132303534382d396431312d373566662d616239612d316334356330666133653130222c2264617461223a5b7b226d61726b646f776e223a222320576f726473206f66202f70315c6e5c6e536f6d65206d6f726520776f7264732e222c226d65746164617461223a7b227469746c65223a222f7031222c2275726c223a22687474703a2f2f39332e3138342e3231362e33342f7031222c22736f7572636555524c223a22687474703a2f2f39332e3138342e3231362e33342f7031222c22737461747573436f6465223a3230302c22636f6e74656e7454797065223a22746578742f68746d6c3b20636861727365743d7574662d38222c2270726f787955736564223a226261736963222c2263616368655374617465223a226d697373222c227363726170654964223a2230316132303534382d396333352d373366332d613165302d363062613566303963363132222c226372656469747355736564223a317d7d5d2c226d65746164617461223a7b226d223a226f6c64227d7d', true, 'pending', 1, 500, 'status 500', 5, '2026-11-22 22:02:54.593573', NULL, '2026-11-22 22:03:54.636983');
INSERT INTO public.webhook_delivery VALUES ('01a20548-9d11-75ff-ab9a-1c435ca433da', '01a20548-8e23-7023-81cd-d4eead5efee7', '01a20548-9bdf-74f9-9a17-bea1e89f9849', 'crawl.page', 'http://127.0.0.1:39117/hook', '{}', '\x7b2273756363657373223a747275652c2274797065223a22637261776c2e70616765222c226964223a2230316132303534382d396264662d373466392d396131372d626561316538396639383439222c22776562686f6f6b4964223a2230316132303534382d396431312d373566662d616239612d316334333563613433336461222c2264617461223a5b7b226d61726b646f776e223a222320576f726473206f66202f70325c6e5c6e536f6d65206d6f726520776f7264732e222c226d65746164617461223a7b227469746c65223a222f7032222c2275726c223a22687474703a2f2f39332e3138342e3231362e33342f7032222c22736f7572636555524c223a22687474703a2f2f39332e3138342e3231362e33342f7032222c22737461747573436f6465223a3230302c22636f6e74656e7454797065223a22746578742f68746d6c3b20636861727365743d7574662d38222c2270726f787955736564223a226261736963222c2263616368655374617465223a226d697373222c227363726170654964223a2230316132303534382d396333352d373366332d613165302d363062626264366663336635222c226372656469747355736564223a317d7d5d2c226d65746164617461223a7b226d223a226f6c64227d7d', true, 'pending', 1, 500, 'status 500', 2, '2026-11-22 22:02:54.593573', NULL, '2026-11-22 22:03:54.637873');
INSERT INTO public.webhook_secret VALUES ('01a20548-8e23-7023-81cd-d4eead5efee7', 'whsec_WjJTJo6UA9tdOwUO33O5tSJeQSZXZlAlVwKz6aC7HXE=', NULL, NULL, '2026-11-22 22:02:54.363373');
SELECT pg_catalog.setval('public.job_lane_number_seq', 12, true);
ALTER TABLE ONLY public.__diesel_schema_migrations
    ADD CONSTRAINT __diesel_schema_migrations_pkey PRIMARY KEY (version);
ALTER TABLE ONLY public.account
    ADD CONSTRAINT account_pkey PRIMARY KEY (team_id);
ALTER TABLE ONLY public.api_key
    ADD CONSTRAINT api_key_hash_key UNIQUE (hash);
ALTER TABLE ONLY public.api_key
    ADD CONSTRAINT api_key_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.cache_entry
    ADD CONSTRAINT cache_entry_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.crawl_document
    ADD CONSTRAINT crawl_document_pkey PRIMARY KEY (crawl_id, seq);
ALTER TABLE ONLY public.crawl_family
    ADD CONSTRAINT crawl_family_pkey PRIMARY KEY (crawl_id, hash);
ALTER TABLE ONLY public.crawl_page
    ADD CONSTRAINT crawl_page_crawl_id_key_key UNIQUE (crawl_id, key);
ALTER TABLE ONLY public.crawl_page
    ADD CONSTRAINT crawl_page_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.crawl
    ADD CONSTRAINT crawl_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.crawl_run
    ADD CONSTRAINT crawl_run_pkey PRIMARY KEY (crawl_id, template);
ALTER TABLE ONLY public.dead_job
    ADD CONSTRAINT dead_job_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.host
    ADD CONSTRAINT host_pkey PRIMARY KEY (name);
ALTER TABLE ONLY public.job_lane
    ADD CONSTRAINT job_lane_pkey PRIMARY KEY (queue, lane);
ALTER TABLE ONLY public.job
    ADD CONSTRAINT job_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.job_team
    ADD CONSTRAINT job_team_pkey PRIMARY KEY (queue, team_id);
ALTER TABLE ONLY public.lease
    ADD CONSTRAINT lease_pkey PRIMARY KEY (name);
ALTER TABLE ONLY public.ledger_entry
    ADD CONSTRAINT ledger_entry_pkey PRIMARY KEY (transfer_key, account);
ALTER TABLE ONLY public.ledger_transfer
    ADD CONSTRAINT ledger_transfer_pkey PRIMARY KEY (key);
ALTER TABLE ONLY public.reservation
    ADD CONSTRAINT reservation_pkey PRIMARY KEY (key);
ALTER TABLE ONLY public.robots
    ADD CONSTRAINT robots_pkey PRIMARY KEY (origin, verified);
ALTER TABLE ONLY public.scrape
    ADD CONSTRAINT scrape_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.team
    ADD CONSTRAINT team_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.usage_day
    ADD CONSTRAINT usage_day_pkey PRIMARY KEY (team_id, day, api_key_id);
ALTER TABLE ONLY public.webhook_delivery
    ADD CONSTRAINT webhook_delivery_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.webhook_secret
    ADD CONSTRAINT webhook_secret_pkey PRIMARY KEY (team_id);
CREATE INDEX api_key_team ON public.api_key USING btree (team_id, id);
CREATE INDEX cache_entry_body ON public.cache_entry USING btree (body_digest);
CREATE INDEX cache_entry_expiry ON public.cache_entry USING btree (expires_at);
CREATE INDEX cache_entry_find ON public.cache_entry USING btree (scope, key, variant, fetched_at);
CREATE INDEX crawl_active ON public.crawl USING btree (team_id, id) WHERE (status = 'scraping'::text);
CREATE INDEX crawl_document_site ON public.crawl_document USING btree (team_id, site);
CREATE INDEX crawl_expiry ON public.crawl USING btree (expires_at);
CREATE UNIQUE INDEX crawl_idempotency ON public.crawl USING btree (team_id, kind, idempotency_key);
CREATE INDEX crawl_page_listed ON public.crawl_page USING btree (crawl_id, state, id) WHERE (state = ANY (ARRAY['spare'::text, 'failed'::text, 'external'::text, 'blocked'::text]));
CREATE INDEX dead_job_age ON public.dead_job USING btree (died_at);
CREATE INDEX host_age ON public.host USING btree (updated_at);
CREATE INDEX job_lane_due ON public.job_lane USING btree (queue, team_id) WHERE (due_at IS NOT NULL);
CREATE UNIQUE INDEX job_lane_number ON public.job_lane USING btree (number);
CREATE INDEX job_ready ON public.job USING btree (lane, phase, priority, run_at) WITH (deduplicate_items=off) WHERE (token IS NULL);
CREATE INDEX job_running ON public.job USING btree (lane) WHERE (token IS NOT NULL);
CREATE INDEX job_team_due ON public.job_team USING btree (queue) WHERE (due_at IS NOT NULL);
CREATE UNIQUE INDEX job_unique ON public.job USING btree (unique_key) WHERE (unique_key IS NOT NULL);
CREATE INDEX ledger_transfer_team ON public.ledger_transfer USING btree (team_id, key);
CREATE INDEX reservation_open ON public.reservation USING btree (expires_at) WHERE is_open;
CREATE INDEX robots_expiry ON public.robots USING btree (expires_at);
CREATE INDEX scrape_age ON public.scrape USING btree (created_at);
CREATE INDEX scrape_success ON public.scrape USING btree (team_id, created_at) WHERE (error_code IS NULL);
CREATE INDEX webhook_delivery_age ON public.webhook_delivery USING btree (created_at);
CREATE INDEX webhook_delivery_state ON public.webhook_delivery USING btree (team_id, state, id);
CREATE INDEX webhook_delivery_team ON public.webhook_delivery USING btree (team_id, id);
ALTER TABLE ONLY public.account
    ADD CONSTRAINT account_team_id_fkey FOREIGN KEY (team_id) REFERENCES public.team(id);
ALTER TABLE ONLY public.api_key
    ADD CONSTRAINT api_key_team_id_fkey FOREIGN KEY (team_id) REFERENCES public.team(id);
ALTER TABLE ONLY public.crawl_document
    ADD CONSTRAINT crawl_document_crawl_id_fkey FOREIGN KEY (crawl_id) REFERENCES public.crawl(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.crawl_family
    ADD CONSTRAINT crawl_family_crawl_id_fkey FOREIGN KEY (crawl_id) REFERENCES public.crawl(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.crawl_page
    ADD CONSTRAINT crawl_page_crawl_id_fkey FOREIGN KEY (crawl_id) REFERENCES public.crawl(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.crawl_run
    ADD CONSTRAINT crawl_run_crawl_id_fkey FOREIGN KEY (crawl_id) REFERENCES public.crawl(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.crawl
    ADD CONSTRAINT crawl_team_id_fkey FOREIGN KEY (team_id) REFERENCES public.team(id);
ALTER TABLE ONLY public.job_team
    ADD CONSTRAINT job_team_team_id_fkey FOREIGN KEY (team_id) REFERENCES public.team(id);
ALTER TABLE ONLY public.ledger_entry
    ADD CONSTRAINT ledger_entry_transfer_key_fkey FOREIGN KEY (transfer_key) REFERENCES public.ledger_transfer(key);
ALTER TABLE ONLY public.ledger_transfer
    ADD CONSTRAINT ledger_transfer_team_id_fkey FOREIGN KEY (team_id) REFERENCES public.team(id);
ALTER TABLE ONLY public.reservation
    ADD CONSTRAINT reservation_key_fkey FOREIGN KEY (key) REFERENCES public.ledger_transfer(key);
ALTER TABLE ONLY public.reservation
    ADD CONSTRAINT reservation_team_id_fkey FOREIGN KEY (team_id) REFERENCES public.team(id);
ALTER TABLE ONLY public.scrape
    ADD CONSTRAINT scrape_team_id_fkey FOREIGN KEY (team_id) REFERENCES public.team(id);
ALTER TABLE ONLY public.usage_day
    ADD CONSTRAINT usage_day_team_id_fkey FOREIGN KEY (team_id) REFERENCES public.team(id);
ALTER TABLE ONLY public.webhook_delivery
    ADD CONSTRAINT webhook_delivery_team_id_fkey FOREIGN KEY (team_id) REFERENCES public.team(id);
ALTER TABLE ONLY public.webhook_secret
    ADD CONSTRAINT webhook_secret_team_id_fkey FOREIGN KEY (team_id) REFERENCES public.team(id);
