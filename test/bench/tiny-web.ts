import { spawn } from "node:child_process";
import { once } from "node:events";

/** Answers every request with a small page and closes the connection. */
const PROGRAM = `
  const page = "<!doctype html><title>Bench</title><p>Welcome</p>";
  const answer = Buffer.from("HTTP/1.1 200 OK\\r\\nContent-Type: text/html; charset=utf-8\\r\\nServer: bench\\r\\n" +
    "Cache-Control: no-cache\\r\\nConnection: close\\r\\nContent-Length: " + page.length + "\\r\\n\\r\\n" + page);
  const server = require("node:net").createServer((socket) => {
    socket.on("error", () => {});
    socket.once("data", () => socket.end(answer));
  });
  server.listen({ port: 0, host: "127.0.0.1", backlog: 4096 }, () => console.log(server.address().port));
`;

/** A web server with one small page. It is a separate process, so that its CPU time is not that of the product. */
export interface TinyWeb {
  readonly port: number;
  stop(): void;
}

/** Starts the server on 127.0.0.1. */
export async function startTinyWeb(): Promise<TinyWeb> {
  const child = spawn(process.execPath, ["-e", PROGRAM], { stdio: ["ignore", "pipe", "inherit"] });
  const [line] = (await once(child.stdout, "data")) as [Buffer];
  return { port: Number(line.toString()), stop: () => void child.kill() };
}
