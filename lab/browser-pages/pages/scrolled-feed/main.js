import InfiniteScroll from "infinite-scroll";
import Masonry from "masonry-layout";

const PAGES = 4;
const feed = document.getElementById("feed");
const answer = await fetch("/api/scrolled-feed/1");
feed.innerHTML = await answer.text();
const masonry = new Masonry(feed, { itemSelector: ".item" });
const scroll = new InfiniteScroll(feed, {
  path() {
    return this.pageIndex < PAGES ? `/api/scrolled-feed/${this.pageIndex + 1}` : undefined;
  },
  append: ".item",
  history: false,
  status: ".status",
});
scroll.on("append", (body, path, items) => masonry.appended(items));
