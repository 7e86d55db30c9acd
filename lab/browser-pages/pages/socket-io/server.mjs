// The server of the page: the site hands everything below /socket.io/ on to it. It prints its port, and ends with its
// standard input.
import { createServer } from "node:http";
import { Server } from "socket.io";

const MESSAGES = ["Message 1: fog on the bar", "Message 2: horn sounded", "Message 3: pilot aboard", "Message 4: fog lifted"];

const http = createServer();
const io = new Server(http, { path: "/socket.io", pingInterval: 1000, pingTimeout: 20_000 });
io.on("connection", (socket) => {
  MESSAGES.forEach((text, index) => setTimeout(() => socket.emit("message", text), 175 * (index + 1)));
});
http.listen(0, "127.0.0.1", () => console.log(http.address().port));
process.stdin.on("end", () => process.exit(0)).resume();
