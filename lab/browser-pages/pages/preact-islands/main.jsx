/** @jsxImportSource preact */
import { render } from "preact";
import { useEffect, useState } from "preact/hooks";

function Island({ name }) {
  const [text, setText] = useState(null);
  useEffect(() => {
    fetch(`/api/preact-islands/${name}`).then((answer) => answer.json()).then((body) => setText(body.text));
  }, []);
  return text === null ? <p class="skeleton" /> : <p>{text}</p>;
}

for (const place of document.querySelectorAll("[data-island]")) {
  render(<Island name={place.dataset.island} />, place);
}
