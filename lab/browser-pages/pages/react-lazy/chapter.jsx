import { lazy, Suspense } from "react";

const Recipe = lazy(() => import("./recipe.jsx"));

export default function Chapter() {
  return (
    <article>
      <h1>Chapter two: glazing</h1>
      <p>A glaze is a skin of glass that the fire ties to the pot.</p>
      <Suspense fallback={<p>One moment please</p>}><Recipe /></Suspense>
    </article>
  );
}
