import { html, render } from "lit";

class SealedLetter extends HTMLElement {
  constructor() {
    super();
    const root = this.attachShadow({ mode: "closed" });
    render(html`<p class="skeleton"></p>`, root);
    fetch("/api/closed-shadow/letter")
      .then((answer) => answer.json())
      .then((letter) => render(html`<h2>Sealed letter no. ${letter.number}</h2><p>${letter.text}</p>`, root));
  }
}

customElements.define("sealed-letter", SealedLetter);
