//! Tables as the queries see them, kept in step with `migrations/` by hand.

use diesel::{allow_tables_to_appear_in_same_query, joinable, table};

table! {
    team (id) {
        id -> Text,
        name -> Text,
        unlimited -> Bool,
        concurrency -> Integer,
        rate_per_minute -> Integer,
        zero_data_retention -> Bool,
        enterprise -> Bool,
        catalog -> Bool,
        created_at -> Timestamp,
        addresses -> Nullable<Text>,
        model_tokens_per_day -> Nullable<BigInt>,
        model_cost_per_day -> Nullable<BigInt>,
        max_monitors -> Nullable<Integer>,
        partner_grant -> Nullable<Text>,
        alert_emails -> Nullable<Text>,
    }
}

table! {
    api_key (id) {
        id -> Text,
        team_id -> Text,
        name -> Text,
        hash -> Text,
        hint -> Text,
        created_at -> Timestamp,
        revoked_at -> Nullable<Timestamp>,
        last_used_at -> Nullable<Timestamp>,
        endpoints -> Nullable<Text>,
        formats -> Nullable<Text>,
    }
}

table! {
    account (team_id) {
        team_id -> Text,
        available -> BigInt,
        reserved -> BigInt,
        spent -> BigInt,
        granted -> BigInt,
    }
}

table! {
    ledger_transfer (key) {
        key -> Text,
        team_id -> Text,
        api_key_id -> Nullable<Text>,
        kind -> Text,
        amount -> BigInt,
        reservation -> Nullable<Text>,
        created_at -> Timestamp,
    }
}

table! {
    ledger_entry (transfer_key, account) {
        transfer_key -> Text,
        account -> Text,
        amount -> BigInt,
    }
}

table! {
    reservation (key) {
        key -> Text,
        team_id -> Text,
        api_key_id -> Nullable<Text>,
        amount -> BigInt,
        posted -> BigInt,
        voided -> BigInt,
        is_open -> Bool,
        expires_at -> Timestamp,
        created_at -> Timestamp,
    }
}

table! {
    usage_day (team_id, day, api_key_id) {
        team_id -> Text,
        day -> Text,
        api_key_id -> Text,
        credits -> BigInt,
    }
}

table! {
    cache_body (digest) {
        digest -> Text,
        packed -> Binary,
    }
}

table! {
    cache_entry (id) {
        id -> Text,
        scope -> Text,
        key -> Text,
        variant -> Text,
        final_url -> Text,
        status_code -> Integer,
        content_type -> Nullable<Text>,
        charset -> Nullable<Text>,
        body_digest -> Text,
        body_bytes -> BigInt,
        proxy -> Text,
        fetched_at -> Timestamp,
        expires_at -> Timestamp,
        in_row -> Bool,
        rendered -> Bool,
        etag -> Nullable<Text>,
        last_modified -> Nullable<Text>,
    }
}

table! {
    scrape (id) {
        id -> Text,
        team_id -> Text,
        api_key_id -> Nullable<Text>,
        url -> Nullable<Text>,
        status_code -> Nullable<Integer>,
        error_code -> Nullable<Text>,
        cache_state -> Nullable<Text>,
        credits -> BigInt,
        duration_ms -> BigInt,
        created_at -> Timestamp,
        kept -> Nullable<Text>,
    }
}

table! {
    lease (name) {
        name -> Text,
        holder -> Text,
        expires_at -> Timestamp,
    }
}

table! {
    job (id) {
        id -> Text,
        lane -> BigInt,
        phase -> Integer,
        priority -> Integer,
        run_at -> Timestamp,
        attempt -> Integer,
        max_attempts -> Integer,
        lease_until -> Nullable<Timestamp>,
        created_at -> Timestamp,
        kind -> Text,
        token -> Nullable<Text>,
        host -> Nullable<Text>,
        payload -> Text,
        unique_key -> Nullable<Text>,
        last_error -> Nullable<Text>,
    }
}

table! {
    job_lane (queue, lane) {
        queue -> Text,
        lane -> Text,
        team_id -> Text,
        cap -> Integer,
        delay_ms -> BigInt,
        running -> Integer,
        due_at -> Nullable<Timestamp>,
        served -> BigInt,
        host -> Nullable<Text>,
        run_phase -> Integer,
        number -> BigInt,
        waits -> Bool,
        head_phase -> Nullable<Integer>,
        head_priority -> Nullable<Integer>,
        head_run_at -> Nullable<Timestamp>,
    }
}

table! {
    job_team (queue, team_id) {
        queue -> Text,
        team_id -> Text,
        cap -> Integer,
        running -> Integer,
        due_at -> Nullable<Timestamp>,
        served -> BigInt,
        was_idle -> Bool,
    }
}

table! {
    dead_job (id) {
        id -> Text,
        queue -> Text,
        kind -> Text,
        team_id -> Text,
        lane -> Text,
        cap -> Integer,
        delay_ms -> BigInt,
        phase -> Integer,
        priority -> Integer,
        attempt -> Integer,
        max_attempts -> Integer,
        host -> Nullable<Text>,
        payload -> Text,
        unique_key -> Nullable<Text>,
        created_at -> Timestamp,
        error -> Text,
        died_at -> Timestamp,
    }
}

table! {
    host (name) {
        name -> Text,
        state -> Text,
        crawl_delay_ms -> Nullable<BigInt>,
        most -> Integer,
        queued_until -> Nullable<Timestamp>,
        updated_at -> Timestamp,
    }
}

table! {
    run (id) {
        id -> Text,
        team_id -> Text,
        api_key_id -> Nullable<Text>,
        kind -> Text,
        subject -> Nullable<Text>,
        spec -> Text,
        private -> Bool,
        status -> Text,
        warning -> Nullable<Text>,
        error -> Nullable<Text>,
        idempotency_key -> Nullable<Text>,
        fingerprint -> Text,
        created_at -> Timestamp,
        finished_at -> Nullable<Timestamp>,
        expires_at -> Timestamp,
        address -> Nullable<Text>,
    }
}

table! {
    run_progress (run_id) {
        run_id -> Text,
        is_open -> Bool,
        preparing -> Bool,
        max_items -> BigInt,
        pending -> BigInt,
        done -> BigInt,
        failed -> BigInt,
        spare -> BigInt,
        credits -> BigInt,
        reservation -> Nullable<Text>,
    }
}

table! {
    run_page (id) {
        id -> Text,
        run_id -> Text,
        key -> Binary,
        url -> Text,
        depth -> Integer,
        state -> Text,
        code -> Nullable<Text>,
        error -> Nullable<Text>,
        finished_at -> Nullable<Timestamp>,
        content -> Nullable<BigInt>,
        parent -> Nullable<Text>,
        other -> Nullable<Text>,
    }
}

table! {
    run_document (run_id, seq) {
        run_id -> Text,
        seq -> BigInt,
        page_id -> Text,
        team_id -> Text,
        site -> Nullable<Text>,
        url -> Text,
        title -> Nullable<Text>,
        description -> Nullable<Text>,
        bytes -> BigInt,
        body -> Nullable<Binary>,
        blob -> Nullable<Text>,
    }
}

table! {
    run_secret (run_id, page_id) {
        run_id -> Text,
        page_id -> Text,
        body -> Text,
    }
}

table! {
    crawl (run_id) {
        run_id -> Text,
        landed_url -> Text,
    }
}

table! {
    crawl_family (run_id, hash) {
        run_id -> Text,
        hash -> BigInt,
        known -> BigInt,
    }
}

table! {
    crawl_link (run_id, page_id) {
        run_id -> Text,
        page_id -> Text,
        links -> Binary,
    }
}

table! {
    crawl_template (run_id, template) {
        run_id -> Text,
        template -> BigInt,
        hash -> BigInt,
        length -> BigInt,
    }
}

table! {
    batch_piece (run_id, seq) {
        run_id -> Text,
        seq -> BigInt,
        urls -> Binary,
    }
}

table! {
    batch_append (run_id, idempotency_key) {
        run_id -> Text,
        idempotency_key -> Text,
        fingerprint -> Text,
    }
}

table! {
    robots (origin, verified) {
        origin -> Text,
        verified -> Bool,
        status -> Nullable<Integer>,
        error -> Nullable<Text>,
        body -> Nullable<Binary>,
        fetched_at -> Timestamp,
        expires_at -> Timestamp,
    }
}

table! {
    periodic_task (name) {
        name -> Text,
        started_at -> Timestamp,
        duration_ms -> BigInt,
        status -> Text,
        details -> Text,
        error -> Nullable<Text>,
        next_at -> Timestamp,
    }
}

table! {
    webhook_secret (team_id) {
        team_id -> Text,
        secret -> Text,
        previous -> Nullable<Text>,
        previous_until -> Nullable<Timestamp>,
        created_at -> Timestamp,
    }
}

table! {
    webhook_delivery (id) {
        id -> Text,
        team_id -> Text,
        job_id -> Text,
        event -> Text,
        url -> Text,
        headers -> Text,
        body -> Binary,
        keep -> Bool,
        state -> Text,
        attempts -> Integer,
        status -> Nullable<Integer>,
        error -> Nullable<Text>,
        duration_ms -> Nullable<BigInt>,
        created_at -> Timestamp,
        delivered_at -> Nullable<Timestamp>,
        next_at -> Nullable<Timestamp>,
        has_body -> Bool,
        body_bytes -> BigInt,
        body_digest -> Text,
    }
}

table! {
    unused_body (digest) {
        digest -> Text,
        deleting -> Bool,
    }
}

table! {
    file (id) {
        id -> Text,
        team_id -> Text,
        owner -> Text,
        kind -> Text,
        blob -> Text,
        content_type -> Text,
        name -> Text,
        bytes -> BigInt,
        created_at -> Timestamp,
        expires_at -> Timestamp,
    }
}

table! {
    file_key (id) {
        id -> Integer,
        secret -> Text,
        created_at -> Timestamp,
    }
}

table! {
    browser_session (id) {
        id -> Text,
        team_id -> Text,
        scrape_id -> Nullable<Text>,
        owner -> Text,
        cdp_token -> Text,
        view_token -> Text,
        hand_token -> Text,
        is_watchable -> Bool,
        created_at -> Timestamp,
        last_used_at -> Timestamp,
        expires_at -> Timestamp,
        alive_until -> Timestamp,
        ended_at -> Nullable<Timestamp>,
        credits -> BigInt,
        idempotency_key -> Nullable<Text>,
        fingerprint -> Nullable<Text>,
    }
}

table! {
    profile (team_id, name) {
        team_id -> Text,
        name -> Text,
        state -> Binary,
        saved_at -> Timestamp,
        used_at -> Timestamp,
    }
}

table! {
    page_version (id) {
        id -> Text,
        team_id -> Text,
        key -> Text,
        tag -> Text,
        url -> Text,
        holder -> Nullable<Text>,
        held_until -> Nullable<Timestamp>,
        used_at -> Timestamp,
        scraped_at -> Nullable<Timestamp>,
        status_code -> Integer,
        final_url -> Text,
        content_type -> Nullable<Text>,
        charset -> Nullable<Text>,
        rendered -> Bool,
        body_digest -> Nullable<Text>,
        body_bytes -> BigInt,
        body_in_row -> Bool,
        text_digest -> Nullable<Text>,
        text_bytes -> BigInt,
        text_in_row -> Bool,
        extraction -> Nullable<Text>,
        extraction_key -> Nullable<Text>,
        start -> Nullable<Text>,
        run_id -> Nullable<Text>,
    }
}

table! {
    version_body (version_id, digest, in_row) {
        version_id -> Text,
        digest -> Text,
        in_row -> Bool,
        coming -> Bool,
    }
}

table! {
    search (id) {
        id -> Text,
        team_id -> Text,
        api_key_id -> Nullable<Text>,
        query -> Text,
        sources -> Text,
        engines -> Text,
        results -> BigInt,
        credits -> BigInt,
        duration_ms -> BigInt,
        created_at -> Timestamp,
    }
}

table! {
    feedback (id) {
        id -> Text,
        team_id -> Text,
        job_id -> Nullable<Text>,
        endpoint -> Text,
        rating -> Text,
        content -> Text,
        credits -> BigInt,
        created_at -> Timestamp,
    }
}

table! {
    search_month (engine, month) {
        engine -> Text,
        month -> Text,
        requests -> BigInt,
    }
}

table! {
    monitor (id) {
        id -> Text,
        team_id -> Text,
        api_key_id -> Nullable<Text>,
        name -> Text,
        status -> Text,
        cron -> Text,
        timezone -> Text,
        next_run_at -> Nullable<Timestamp>,
        last_run_at -> Nullable<Timestamp>,
        current_check_id -> Nullable<Text>,
        goal -> Nullable<Text>,
        judge_enabled -> Nullable<Bool>,
        webhook -> Nullable<Text>,
        notification -> Nullable<Text>,
        retention_days -> Integer,
        fires_per_month -> BigInt,
        fires_counted_at -> Timestamp,
        last_summary -> Nullable<Text>,
        withdrawals -> Integer,
        address -> Nullable<Text>,
        created_at -> Timestamp,
        updated_at -> Timestamp,
        swept_at -> Timestamp,
        revision -> BigInt,
    }
}

table! {
    monitor_target (id) {
        id -> Text,
        monitor_id -> Text,
        position -> Integer,
        kind -> Text,
        spec -> Text,
        removed -> Bool,
    }
}

table! {
    monitor_secret (monitor_id, part) {
        monitor_id -> Text,
        part -> Text,
        body -> Text,
    }
}

table! {
    monitor_check (id) {
        id -> Text,
        monitor_id -> Text,
        team_id -> Text,
        api_key_id -> Nullable<Text>,
        status -> Text,
        cause -> Text,
        scheduled_for -> Nullable<Timestamp>,
        started_at -> Nullable<Timestamp>,
        finished_at -> Nullable<Timestamp>,
        progress_at -> Nullable<Timestamp>,
        estimated_credits -> Nullable<BigInt>,
        reserved_credits -> Nullable<BigInt>,
        actual_credits -> Nullable<BigInt>,
        billing_status -> Text,
        reservation -> Nullable<Text>,
        same_pages -> BigInt,
        changed_pages -> BigInt,
        new_pages -> BigInt,
        removed_pages -> BigInt,
        error_pages -> BigInt,
        open_judgments -> BigInt,
        notification -> Nullable<Text>,
        warning -> Nullable<Text>,
        error -> Nullable<Text>,
        created_at -> Timestamp,
        updated_at -> Timestamp,
    }
}

table! {
    monitor_check_target (check_id, position) {
        check_id -> Text,
        position -> Integer,
        target_id -> Text,
        kind -> Text,
        run_id -> Nullable<Text>,
        is_open -> Bool,
        result -> Nullable<Text>,
    }
}

table! {
    monitor_page (id) {
        id -> Text,
        check_id -> Text,
        target_id -> Text,
        key -> Text,
        seq -> BigInt,
        url -> Text,
        status -> Text,
        previous_scrape_id -> Nullable<Text>,
        current_scrape_id -> Nullable<Text>,
        status_code -> Nullable<Integer>,
        error -> Nullable<Text>,
        metadata -> Nullable<Text>,
        judgment -> Nullable<Text>,
        bytes -> BigInt,
        content -> Nullable<Binary>,
        created_at -> Timestamp,
    }
}

table! {
    monitor_series (target_id, key) {
        target_id -> Text,
        key -> Text,
        monitor_id -> Text,
        url -> Text,
        state -> Text,
        scrape_id -> Nullable<Text>,
        check_id -> Text,
        seen_at -> Timestamp,
        memory -> Nullable<Binary>,
    }
}

table! {
    mail_subscription (team_id, address) {
        team_id -> Text,
        address -> Text,
        status -> Text,
        asked_at -> Nullable<Timestamp>,
        updated_at -> Timestamp,
    }
}

table! {
    monitor_mail (check_id, address) {
        check_id -> Text,
        address -> Text,
        status -> Text,
        error -> Nullable<Text>,
        updated_at -> Timestamp,
    }
}

table! {
    chat_channel (id) {
        id -> Text,
        team_id -> Text,
        position -> Integer,
        kind -> Text,
        url -> Text,
    }
}

joinable!(api_key -> team (team_id));
allow_tables_to_appear_in_same_query!(api_key, team);
allow_tables_to_appear_in_same_query!(page_version, version_body);
allow_tables_to_appear_in_same_query!(job, job_lane);
allow_tables_to_appear_in_same_query!(webhook_delivery, webhook_secret);
joinable!(run_progress -> run (run_id));
allow_tables_to_appear_in_same_query!(run, run_progress);
allow_tables_to_appear_in_same_query!(run, webhook_delivery);
allow_tables_to_appear_in_same_query!(monitor_check, webhook_delivery);
allow_tables_to_appear_in_same_query!(monitor_target, monitor);
allow_tables_to_appear_in_same_query!(monitor_target, page_version);
