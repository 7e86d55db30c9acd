import { createApp, defineAsyncComponent, h, Suspense } from "vue";
import { createRouter, createWebHashHistory, RouterView, useRoute } from "vue-router";

const Station = {
  async setup() {
    const number = useRoute().params.number;
    const station = await fetch(`/api/vue-router-hash/stations/${number}`).then((answer) => answer.json());
    return () => h("article", [h("h1", `Station ${number}: ${station.name}`), h("p", station.text)]);
  },
};

const router = createRouter({
  history: createWebHashHistory("/vue-router-hash/"),
  routes: [
    { path: "/", component: { template: "<p>Pick a station</p>" } },
    { path: "/stations/:number", component: defineAsyncComponent(async () => Station) },
  ],
});

const Root = {
  render: () => h(RouterView, null, {
    default: ({ Component }) => h(Suspense, null, { default: () => Component && h(Component), fallback: () => h("p", "…") }),
  }),
};

createApp(Root).use(router).mount("#app");
router.isReady().then(() => router.push("/stations/3"));
