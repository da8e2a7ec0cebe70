import type { IncomingMessage } from "node:http";
import type { FastifyInstance } from "fastify";

// Limits for the rest of a refused request's body: enough for a body that is too long by mistake, not for a flood.
const MOST_BYTES = 16_777_216;
const LONGEST_MS = 10_000;
const LONGEST_SILENCE_MS = 2_000;

/**
 * Delays each answer until the request's body has arrived, and discards the unread rest of it. If the connection is
 * closed earlier, the kernel answers further data with a reset, and the client loses the answer before it reads it (RFC
 * 9112, section 9.6). Beyond the limits above the connection is closed anyway.
 */
export function awaitRestOfBody(server: FastifyInstance): void {
  server.addHook("onSend", ({ raw }, reply, _payload, done) => {
    if (isBodyComplete(raw)) return done();
    discardBody(raw, (isWhole) => {
      if (!isWhole) reply.header("connection", "close");
      done();
    });
  });
}

/** Reports whether the body has arrived. Node marks even an empty body complete only after the first handlers. */
function isBodyComplete({ complete, destroyed, headers }: IncomingMessage): boolean {
  if (complete || destroyed) return true;
  return headers["transfer-encoding"] === undefined && Number(headers["content-length"] ?? 0) === 0;
}

/** Reads the body to its end (`done(true)`) or to the first limit (`done(false)`). */
function discardBody(raw: IncomingMessage, done: (isWhole: boolean) => void): void {
  let bytes = 0;
  let isStopped = false;
  const whole = (): void => stop(true);
  const cut = (): void => stop(false);
  const count = (chunk: Buffer): void => {
    bytes += chunk.length;
    silence.refresh();
    if (bytes > MOST_BYTES) stop(false);
  };
  const stop = (isWhole: boolean): void => {
    if (isStopped) return;
    isStopped = true;
    clearTimeout(silence);
    clearTimeout(total);
    raw.off("data", count).off("end", whole).off("close", cut).off("error", cut);
    done(isWhole);
  };
  // After a delay of the event loop, timers run before the sockets are read: data that waits there is read first.
  const silence = setTimeout(() => {
    const before = bytes;
    setImmediate(() => bytes === before && cut());
  }, LONGEST_SILENCE_MS);
  const total = setTimeout(cut, LONGEST_MS);
  raw.on("data", count).on("end", whole).on("close", cut).on("error", cut);
  raw.resume();
}
