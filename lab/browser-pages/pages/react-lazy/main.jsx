import { lazy, Suspense } from "react";
import { createRoot } from "react-dom/client";

const Chapter = lazy(() => import("./chapter.jsx"));

createRoot(document.getElementById("root")).render(
  <Suspense fallback={<p>One moment please</p>}><Chapter /></Suspense>,
);
