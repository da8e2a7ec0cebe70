import { connect } from "node:net";

/** Sends bytes to a server as they are and reads until it closes the connection, or for so many milliseconds. */
export function sendRaw(url: string, bytes: string, waitMs = 5_000): Promise<string> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    let text = "";
    const socket = connect(Number(port), hostname, () => socket.write(bytes, "latin1"));
    const timer = setTimeout(() => socket.destroy(), waitMs);
    socket.on("data", (chunk: Buffer) => {
      text += chunk.toString("latin1");
    });
    socket.on("error", reject);
    socket.on("close", () => {
      clearTimeout(timer);
      resolve(text);
    });
  });
}
