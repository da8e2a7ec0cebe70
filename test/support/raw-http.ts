import { request, type IncomingHttpHeaders } from "node:http";
import { connect } from "node:net";
import { buffer } from "node:stream/consumers";

/** An undecoded answer as received. */
export interface WireAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** Requests a URL with only these header fields. `body` makes it a POST. */
export function askWire(
  url: string,
  headers: Readonly<Record<string, string>> = {},
  body?: string,
): Promise<WireAnswer> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { method: body === undefined ? "GET" : "POST", headers, agent: false }, (response) => {
      buffer(response).then(
        (octets) => resolve({ status: response.statusCode ?? 0, headers: response.headers, body: octets }),
        reject,
      );
    });
    sent.on("error", reject).end(body);
  });
}

/** Sends bytes verbatim and reads until the server closes the connection, or for `waitMs` milliseconds. */
export function sendRaw(url: string, bytes: string, waitMs = 60_000): Promise<string> {
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

/** Sends everything before it reads, as many clients do. Rejects if the connection is reset first. */
export function sendAllThenRead(url: string, bytes: string): Promise<string> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    let text = "";
    const socket = connect(Number(port), hostname);
    socket.on("data", (chunk: Buffer) => (text += chunk.toString("latin1"))).pause();
    // Late enough for a reset after the answer to have arrived.
    socket.write(bytes, "latin1", () => setTimeout(() => socket.resume(), 100));
    socket.on("error", reject);
    socket.on("close", () => resolve(text));
  });
}

/** Sends a header and then octets until the server closes. Returns how many octets it accepted. */
export function countTaken(url: string, head: string): Promise<number> {
  const { hostname, port } = new URL(url);
  const chunk = Buffer.alloc(65_536, "x");
  return new Promise((resolve) => {
    const socket = connect(Number(port), hostname, () => socket.write(head, more));
    const more = (): void => void (socket.writable && socket.write(chunk, more));
    socket.on("error", () => {});
    socket.on("close", () => resolve(socket.bytesWritten));
  });
}
