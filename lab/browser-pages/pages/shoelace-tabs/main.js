import "@shoelace-style/shoelace/dist/components/details/details.js";
import "@shoelace-style/shoelace/dist/components/tab/tab.js";
import "@shoelace-style/shoelace/dist/components/tab-group/tab-group.js";
import "@shoelace-style/shoelace/dist/components/tab-panel/tab-panel.js";

const answer = await fetch("/api/shoelace-tabs/panels");
const panels = await answer.json();
const tabs = panels.map((panel, index) => `<sl-tab slot="nav" panel="p${index}">${panel.name}</sl-tab>`);
const bodies = panels.map(
  (panel, index) => `<sl-tab-panel name="p${index}"><p>${panel.text}</p>
    <sl-details summary="More" open><p>${panel.more}</p></sl-details></sl-tab-panel>`,
);
document.getElementById("harbour").innerHTML = `<sl-tab-group>${tabs.join("")}${bodies.join("")}</sl-tab-group>`;
