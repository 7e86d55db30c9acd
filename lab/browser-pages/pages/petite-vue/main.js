PetiteVue.createApp({
  text: "",
  async load() {
    const answer = await fetch("/api/petite-vue/gate");
    this.text = (await answer.json()).text;
  },
}).mount();
