import Chart from "chart.js/auto";

const answer = await fetch("/api/chart-canvas/catch");
const months = await answer.json();
const rows = months.map(({ month, tons }) => `<tr><td>${month} ${tons} t</td></tr>`);
document.getElementById("root").innerHTML = `<h1>Catch by month</h1>
  <canvas width="600" height="300"><table>${rows.join("")}</table></canvas>`;
new Chart(document.querySelector("canvas"), {
  type: "bar",
  data: { labels: months.map(({ month }) => month), datasets: [{ label: "Landed", data: months.map(({ tons }) => tons) }] },
  options: { responsive: false },
});
