import { css, html, LitElement } from "lit";

class FerryCard extends LitElement {
  static properties = { name: {}, cars: { type: Number } };
  static styles = css`:host { display: block; border: 1px solid; } h2 { margin: 0; }`;

  render() {
    return html`<h2>Ferry ${this.name}</h2><p>Capacity ${this.cars} cars</p><slot></slot>`;
  }
}

class FerryList extends LitElement {
  static properties = { ferries: { state: true } };
  static styles = css`:host { display: block; }`;

  connectedCallback() {
    super.connectedCallback();
    fetch("/api/lit-elements/ferries").then((answer) => answer.json()).then((ferries) => (this.ferries = ferries));
  }

  render() {
    return html`${(this.ferries ?? []).map(
      (ferry) => html`<ferry-card .name=${ferry.name} .cars=${ferry.cars}><em>${ferry.note}</em></ferry-card>`,
    )}`;
  }
}

customElements.define("ferry-card", FerryCard);
customElements.define("ferry-list", FerryList);
