import { createRoot } from "react-dom/client";
import { createBrowserRouter, redirect, useLoaderData } from "react-router";
import { RouterProvider } from "react-router/dom";

function Tour() {
  const tour = useLoaderData();
  return <article><h1>Tour {tour.number}: {tour.name}</h1><p>{tour.text}</p></article>;
}

const router = createBrowserRouter(
  [
    { path: "/", loader: () => redirect("/tour/7"), Component: () => <p>Redirecting</p> },
    {
      path: "/tour/:number",
      loader: ({ params }) => fetch(`/api/react-router/tour/${params.number}`).then((answer) => answer.json()),
      Component: Tour,
      HydrateFallback: () => <p>Redirecting</p>,
    },
  ],
  { basename: "/react-router" },
);

createRoot(document.getElementById("root")).render(<RouterProvider router={router} />);
