import katex from "katex";

const answer = await fetch("/api/katex-mermaid/figure");
const { caption, diagram, formula } = await answer.json();
const root = document.getElementById("root");
root.innerHTML = `<h1>The sluice</h1><p id="formula"></p><figure><pre class="mermaid"></pre><figcaption>${caption}</figcaption></figure>`;
katex.render(formula, document.getElementById("formula"));
document.querySelector(".mermaid").textContent = diagram;
mermaid.initialize({ startOnLoad: false });
await mermaid.run();
