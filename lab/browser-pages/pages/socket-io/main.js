import { io } from "socket.io-client";

const root = document.getElementById("root");
io({ path: "/socket.io" }).on("message", (text) => {
  const line = document.createElement("p");
  line.textContent = text;
  root.append(line);
});
