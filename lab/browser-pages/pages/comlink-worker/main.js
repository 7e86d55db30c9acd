import * as Comlink from "comlink";

const sums = Comlink.wrap(new Worker("worker.js"));
const sum = await sums.of(4096);
document.getElementById("root").innerHTML = `<p>Checksum 0x${sum.toString(16)} of 4 096 blocks</p>`;
