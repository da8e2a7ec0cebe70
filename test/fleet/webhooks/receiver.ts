import { createServer } from "node:https";
import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import type { Arrival } from "#test/fleet/webhooks/records.ts";
import type { Dice } from "#test/fleet/random.ts";
import { createPki } from "#test/servers/pki.ts";
import { identityOf } from "#test/support/http-engine.ts";

/** How a receiver treats a request. */
type Reply =
  | { readonly kind: "answer"; readonly status: number; readonly delayMs?: number; readonly retryAfter?: number }
  | { readonly kind: "hang" | "reset" | "endless" };

/** The receivers of a run, by name, with how each decides. */
export const RECEIVERS: Readonly<Record<string, (dice: Dice) => Reply>> = {
  "sound-1": () => ok(),
  "sound-2": () => ok(),
  "sound-3": () => ok(),
  slow: () => ({ kind: "answer", status: 200, delayMs: 300 }),
  flapping: (dice) => (dice() < 0.5 ? ok() : { kind: "answer", status: 503 }),
  hanging: (dice) => (dice() < 0.6 ? ok() : { kind: "hang" }),
  resetting: (dice) => (dice() < 0.6 ? ok() : { kind: "reset" }),
  endless: (dice) => (dice() < 0.7 ? ok() : { kind: "endless" }),
  moved: () => ({ kind: "answer", status: 301 }),
  limiting: (dice) => (dice() < 0.6 ? ok() : { kind: "answer", status: 429, retryAfter: 2 }),
  gone: (dice) => (dice() < 0.9 ? ok() : { kind: "answer", status: 410 }),
};

function ok(): Reply {
  return { kind: "answer", status: 204 };
}

/** A server with all receivers, each at a path of its name. */
interface Receivers {
  /** Origin without a final slash. */
  readonly url: string;
  /** PEM of the root that issued its certificate. */
  readonly root: string;
  readonly arrivals: readonly Arrival[];
  /** Resolves at the next request, and when the next answer is sent. */
  nextArrival(): Promise<void>;
  nextAnswer(): Promise<void>;
  /** Is called when a receiver answers 410. */
  onGone(callback: (name: string, at: number) => void): void;
  /** From now on every receiver takes everything. */
  calm(): void;
  close(): void;
}

/** Starts the receivers. */
export async function startReceivers(dice: Dice): Promise<Receivers> {
  const pki = await createPki({ name: `Receivers of ${process.pid}` });
  const identity = identityOf(await pki.issue({ ip: ["127.0.0.1"], dns: ["localhost"] }), pki.intermediate);
  const arrivals: Arrival[] = [];
  const sockets = new Set<Socket>();
  const waiting = { arrival: [] as (() => void)[], answer: [] as (() => void)[] };
  let isCalm = false;
  let onGone: (name: string, at: number) => void = () => {};

  const server = createServer(identity, (request, response) => {
    void handle(request, response).catch(() => response.destroy());
  });

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const arrivedAt = Date.now();
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const name = (request.url ?? "").slice(1);
    const decide = RECEIVERS[name] ?? ok;
    const reply = isCalm ? ok() : decide(dice);
    const status = reply.kind === "answer" ? reply.status : null;
    const retryAfter = reply.kind === "answer" ? (reply.retryAfter ?? null) : null;
    const arrival = { ...readArrival(request, Buffer.concat(chunks).toString()), arrivedAt, status, retryAfter };
    const index = arrivals.push({ ...arrival, answeredAt: null }) - 1;
    for (const resolve of waiting.arrival.splice(0)) resolve();
    if (reply.kind !== "answer") return misbehave(reply.kind, response);
    if (reply.delayMs !== undefined) await sleep(reply.delayMs);
    if (reply.status === 410) onGone(name, Date.now());
    response.once("finish", () => {
      arrivals[index] = { ...arrival, answeredAt: Date.now() };
      for (const resolve of waiting.answer.splice(0)) resolve();
    });
    response.writeHead(reply.status, retryAfter === null ? {} : { "retry-after": String(retryAfter) }).end();
  }

  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.on("error", () => socket.destroy());
    socket.on("close", () => sockets.delete(socket));
  });
  server.on("tlsClientError", () => undefined);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
    root: pki.root.pem,
    arrivals,
    nextArrival: () => new Promise((resolve) => void waiting.arrival.push(resolve)),
    nextAnswer: () => new Promise((resolve) => void waiting.answer.push(resolve)),
    onGone: (callback) => void (onGone = callback),
    calm: () => void (isCalm = true),
    close() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

function misbehave(kind: "hang" | "reset" | "endless", response: ServerResponse): void {
  if (kind === "reset") response.socket?.resetAndDestroy();
  if (kind !== "endless") return;
  response.writeHead(500, { "content-type": "text/plain" });
  const timer = setInterval(() => response.write("x".repeat(100)), 50);
  response.once("close", () => clearInterval(timer));
}

function readArrival({ headers }: IncomingMessage, body: string) {
  const read = (name: string): string => String(headers[name] ?? "");
  return {
    deliveryId: Number(read("x-service-delivery")),
    attempt: Number(read("x-service-attempt")),
    eventId: read("webhook-id"),
    type: read("x-service-event"),
    timestamp: Number(read("x-service-timestamp")),
    v2: read("x-service-signature-v2"),
    v2Previous:
      headers["x-service-signature-v2-previous"] === undefined ? null : read("x-service-signature-v2-previous"),
    standard: read("webhook-signature"),
    body,
  };
}
