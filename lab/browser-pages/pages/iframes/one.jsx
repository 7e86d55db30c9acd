import { createRoot } from "react-dom/client";

// The second origin: the same host, the next port.
const second = new URL("/iframes/two.html", location.href);
second.port = String(Number(location.port) + 1);

function One() {
  return (
    <>
      <p>Frame one: ledger</p>
      <iframe src={second.href} width="400" height="200" />
    </>
  );
}

createRoot(document.getElementById("root")).render(<One />);
