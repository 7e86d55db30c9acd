import * as Comlink from "comlink";

const SEED = 22330;
const TIME = 700;

// The same sum again and again, until the time is over.
function of(blocks) {
  const end = performance.now() + TIME;
  let sum = 0;
  while (performance.now() < end) {
    sum = SEED;
    for (let block = 0; block < blocks; block++) {
      sum = (sum * 31 + block) % 65536;
    }
  }
  return sum;
}

Comlink.expose({ of });
