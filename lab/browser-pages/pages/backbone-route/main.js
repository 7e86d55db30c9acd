import $ from "jquery";
import Backbone from "backbone";

Backbone.$ = $;

const Etchings = Backbone.Collection.extend({ url: "/api/backbone-route/etchings" });
const List = Backbone.View.extend({
  el: "#app",
  render() {
    const names = this.collection.map((etching) => `<li>${etching.get("name")}</li>`);
    this.$el.html(`<h1>Collection of ${this.collection.length} etchings</h1><ul>${names.join("")}</ul>`);
    return this;
  },
});
const Router = Backbone.Router.extend({
  routes: { "": "home", etchings: "etchings" },
  home() {
    this.navigate("etchings", { trigger: true });
  },
  etchings() {
    const collection = new Etchings();
    const list = new List({ collection });
    collection.fetch().then(() => list.render());
  },
});

new Router();
Backbone.history.start({ pushState: true, root: "/backbone-route/" });
