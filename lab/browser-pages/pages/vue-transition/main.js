import { createApp, ref } from "vue";

createApp({
  template: `
    <Transition name="fade">
      <p v-if="autumn" key="autumn">{{ autumn }}</p>
      <p v-else key="summer">Summer programme</p>
    </Transition>`,
  setup() {
    const autumn = ref(null);
    fetch("/api/vue-transition/programme").then((answer) => answer.json()).then((body) => (autumn.value = body.text));
    return { autumn };
  },
}).mount("#app");
