import { useEffect, useState } from "react";
import { createRoot } from "react-dom/client";
import { Virtuoso } from "react-virtuoso";

const ROWS = 2000;
const LAST = 60;

function Stock() {
  const [names, setNames] = useState(null);
  const [count, setCount] = useState(ROWS);
  useEffect(() => {
    fetch("/api/react-virtuoso/names").then((answer) => answer.json()).then(setNames);
  }, []);
  if (!names) {
    return <div className="skeleton" />;
  }
  return (
    <Virtuoso
      useWindowScroll
      totalCount={count}
      increaseViewportBy={200}
      rangeChanged={({ endIndex }) => endIndex >= LAST - 1 && setCount(LAST)}
      itemContent={(index) => (
        <div style={{ height: 30, borderBottom: "1px solid #ccc" }}>Row {index}: {names[index % names.length]}</div>
      )}
    />
  );
}

createRoot(document.getElementById("root")).render(<Stock />);
