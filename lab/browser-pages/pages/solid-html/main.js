import { createResource, Match, Switch } from "solid-js";
import html from "solid-js/html";
import { render } from "solid-js/web";

const load = () => fetch("/api/solid-html/kiln").then((answer) => answer.json());

function Kiln() {
  const [kiln] = createResource(load);
  return html`
    <main>
      <${Switch} fallback=${() => html`<p>Kiln state unknown</p>`}>
        <${Match} when=${() => kiln()}>
          ${() => html`<h1>Kiln ${() => kiln()?.number} at ${() => kiln()?.degrees} degrees</h1>`}
        <//>
      <//>
    </main>`;
}

render(Kiln, document.getElementById("app"));
