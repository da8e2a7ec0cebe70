import { request } from "node:http";

/** A ping to send. */
interface SentPing {
  readonly method?: string;
  readonly body?: string;
  /** Number of the client address in 127/8; each may send 30 a minute. */
  readonly from?: number;
}

/** Status and body of the answer; status 0: the connection broke. */
interface PingAnswer {
  readonly status: number;
  readonly text: string;
}

/** Returns an address of 127/8. */
export function loopbackAddress(number: number): string {
  return `127.${1 + Math.floor(number / 62_500)}.${1 + (Math.floor(number / 250) % 250)}.${1 + (number % 250)}`;
}

/** Sends one ping over a connection of its own. */
export function sendPing(base: string, path: string, { method, body, from = 0 }: SentPing = {}): Promise<PingAnswer> {
  return new Promise((resolve) => {
    const options = {
      method: method ?? (body === undefined ? "GET" : "POST"),
      localAddress: loopbackAddress(from),
      agent: false,
    };
    const sent = request(`${base}${path}`, options, (response) => {
      let text = "";
      response.on("data", (chunk: Buffer) => (text += chunk.toString("utf8")));
      response.on("end", () => resolve({ status: response.statusCode ?? 0, text }));
      response.on("error", () => resolve({ status: 0, text }));
    });
    sent.on("error", () => resolve({ status: 0, text: "" }));
    sent.end(body);
  });
}
