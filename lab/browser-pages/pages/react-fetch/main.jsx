import { useEffect, useState } from "react";
import { createRoot } from "react-dom/client";

function Orchard() {
  const [rows, setRows] = useState(null);
  useEffect(() => {
    fetch("/api/react-fetch/inventory").then((answer) => answer.json()).then(setRows);
  }, []);
  if (!rows) {
    return <div className="skeleton" aria-busy="true">Loading orchard</div>;
  }
  return (
    <main>
      <h1>Orchard inventory</h1>
      <ul>{rows.map((row) => <li key={row.kind}>{row.kind} {row.crates} crates</li>)}</ul>
    </main>
  );
}

createRoot(document.getElementById("root")).render(<Orchard />);
