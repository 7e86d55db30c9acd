import { useEffect, useState } from "react";
import { createRoot } from "react-dom/client";
import { createPortal } from "react-dom";

function Notice({ text }) {
  return createPortal(<aside role="status"><p>Notice: {text}</p></aside>, document.body);
}

function Modal({ open }) {
  return createPortal(
    <div role="dialog" style={{ display: open ? "block" : "none" }}><p>Are you sure you want to leave</p></div>,
    document.body,
  );
}

function App() {
  const [notice, setNotice] = useState(null);
  useEffect(() => {
    fetch("/api/react-portal/notice").then((answer) => answer.json()).then((body) => setNotice(body.text));
  }, []);
  return <>{notice && <Notice text={notice} />}<Modal open={false} /></>;
}

createRoot(document.getElementById("root")).render(<App />);
