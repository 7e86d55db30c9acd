import { Suspense, use } from "react";

function Part({ promise }) {
  return <p>{use(promise)}</p>;
}

export default function Page({ first, second }) {
  return (
    <html lang="en">
      <head><meta charSet="utf-8" /><title>Streamed</title></head>
      <body>
        <main>
          <Suspense fallback={<p>Streaming fallback</p>}><Part promise={first} /></Suspense>
          <Suspense fallback={<p>Streaming fallback</p>}><Part promise={second} /></Suspense>
        </main>
      </body>
    </html>
  );
}
