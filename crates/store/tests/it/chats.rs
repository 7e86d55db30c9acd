//! Chat channels of teams: their order, their owner, and their end.

use base::Secret;
use store::chats::{self, ChatChannel};
use store::teams::{self, Team};
use store::{Conn, Store};

use crate::{at, suite};

suite!(channels_are_replaced_in_their_order, one_change_after_the_other);

fn channel(id: &str, kind: &str) -> ChatChannel {
    ChatChannel { id: id.to_owned(), kind: kind.to_owned(), url: Secret::new(format!("https://chat.test/{id}")) }
}

async fn replace(conn: &mut Conn, team: &str, channels: &[ChatChannel]) -> store::Result<()> {
    conn.tx(async |conn: &mut Conn| chats::replace(conn, team, channels).await).await
}

async fn channels_are_replaced_in_their_order(store: Store) {
    let mut conn = store.conn().await.unwrap();
    for id in ["red", "blue"] {
        teams::create(&mut conn, &Team::new(id, id, at(0))).await.unwrap();
    }
    let [b, a, c] = [channel("b", "slack"), channel("a", "json"), channel("c", "slack")];
    replace(&mut conn, "red", &[b.clone(), a.clone()]).await.unwrap();
    replace(&mut conn, "blue", std::slice::from_ref(&c)).await.unwrap();
    assert_eq!(chats::of_team(&mut conn, "red").await.unwrap(), [b.clone(), a.clone()]);
    replace(&mut conn, "red", &[a.clone(), b.clone()]).await.unwrap();
    assert_eq!(chats::of_team(&mut conn, "red").await.unwrap(), [a.clone(), b]);
    assert_eq!(chats::find(&mut conn, "red", "a").await.unwrap(), Some(a.clone()));
    assert_eq!(chats::find(&mut conn, "blue", "a").await.unwrap(), None, "teams are apart");
    assert!(!format!("{a:?}").contains("https"), "a URL is never printed");

    assert!(replace(&mut conn, "red", &[channel("d", "irc")]).await.is_err(), "no such kind");
    assert!(replace(&mut conn, "green", &[channel("d", "json")]).await.is_err(), "no such team");
    assert_eq!(chats::of_team(&mut conn, "red").await.unwrap().len(), 2, "what fails changes nothing");
    replace(&mut conn, "red", &[]).await.unwrap();
    assert_eq!(chats::of_team(&mut conn, "red").await.unwrap(), []);
    assert_eq!(chats::of_team(&mut conn, "blue").await.unwrap(), [c]);
}

async fn one_change_after_the_other(store: Store) {
    let mut conn = store.conn().await.unwrap();
    teams::create(&mut conn, &Team::new("red", "red", at(0))).await.unwrap();
    let add = |number: usize| {
        let store = store.clone();
        async move {
            let mut conn = store.conn().await.unwrap();
            conn.tx(async |conn: &mut Conn| -> store::Result<()> {
                let mut all = chats::lock(conn, "red").await?;
                all.push(channel(&number.to_string(), "json"));
                chats::replace(conn, "red", &all).await
            })
            .await
            .unwrap();
        }
    };
    futures_util::future::join_all((0..8).map(add)).await;
    assert_eq!(chats::of_team(&mut conn, "red").await.unwrap().len(), 8);
}
