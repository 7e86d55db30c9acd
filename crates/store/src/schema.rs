//! The tables as the queries see them, kept by hand next to `migrations/`.

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
    }
}

table! {
    lease (name) {
        name -> Text,
        holder -> Text,
        expires_at -> Timestamp,
    }
}

joinable!(api_key -> team (team_id));
allow_tables_to_appear_in_same_query!(api_key, team);
