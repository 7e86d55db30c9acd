import { QueryClient, QueryClientProvider, useQuery } from "@tanstack/react-query";
import { createRoot } from "react-dom/client";

async function level() {
  const answer = await fetch("/api/react-query-retry/level");
  if (!answer.ok) {
    throw new Error(`status ${answer.status}`);
  }
  return answer.json();
}

function Reservoir() {
  const { data, isPending, isError } = useQuery({ queryKey: ["level"], queryFn: level });
  if (isPending) {
    return <p className="spinner">…</p>;
  }
  if (isError) {
    return <p>Something went wrong</p>;
  }
  return <main><h1>Reservoir</h1><p>Reservoir level {data.percent} percent</p></main>;
}

const client = new QueryClient({ defaultOptions: { queries: { retry: 2, retryDelay: 400 } } });
createRoot(document.getElementById("root")).render(
  <QueryClientProvider client={client}><Reservoir /></QueryClientProvider>,
);
