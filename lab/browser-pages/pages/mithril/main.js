import m from "mithril";

const Bell = {
  oninit(vnode) {
    m.request("/api/mithril/bell").then((bell) => (vnode.state.bell = bell));
  },
  view: ({ state: { bell } }) => bell ? m("main", m("h1", bell.name), m("p", `Bell weighs ${bell.weight} kg`)) : m("p.skeleton"),
};

m.route.prefix = "/mithril";
m.route(document.getElementById("root"), "/bell", { "/": { onmatch: () => m.route.set("/bell") }, "/bell": Bell });
