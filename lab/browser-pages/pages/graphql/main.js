import { GraphQLClient, gql } from "graphql-request";

const client = new GraphQLClient(new URL("/api/graphql/query", location.href).href, { errorPolicy: "all" });
const QUERY = gql`query Author($id: ID!) { author(id: $id) { name } awards { name } }`;

client
  .rawRequest(QUERY, { id: "7" })
  .then(({ data, errors }) => {
    const problems = (errors ?? []).map((error) => `<p>Not shown: ${error.path.join(".")}</p>`);
    document.getElementById("root").innerHTML = `<h1>Author: ${data.author.name}</h1>${problems.join("")}`;
  })
  .catch((error) => (document.getElementById("root").textContent = `Unhandled ${error}`));
