import { useEffect, useState } from "react";
import { hydrateRoot } from "react-dom/client";
import Page from "./page.jsx";

const state = JSON.parse(document.getElementById("state").textContent);

// The count of the state is newer than the text that the server has written.
function App() {
  const [members, setMembers] = useState(10);
  useEffect(() => {
    const timer = setTimeout(() => setMembers(state.members), 200);
    return () => clearTimeout(timer);
  }, []);
  return <Page members={members} />;
}

hydrateRoot(document.getElementById("root"), <App />);
