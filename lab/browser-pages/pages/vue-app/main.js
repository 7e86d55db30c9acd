import { createApp } from "vue";

fetch("/api/vue-app/box")
  .then((answer) => answer.json())
  .then((box) => createApp({ data: () => box }).mount("#app"));
