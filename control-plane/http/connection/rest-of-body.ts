import type { IncomingMessage } from "node:http";
import type { FastifyInstance } from "fastify";

// What a refused request may still send before it is answered and cut off: a body that is too long by a slip, not a flood.
const MOST_BYTES = 16_777_216;
const LONGEST_MS = 10_000;
const LONGEST_SILENCE_MS = 2_000;

/**
 * Answers only once the request's body has arrived, and drops what nobody reads of it. Where a refusal comes earlier and
 * the connection is closed behind it, what the client still sends is answered with a reset, and the reset takes the
 * answer away before it is read (RFC 9112, section 9.6). Past the bounds above the connection is closed all the same.
 */
export function awaitRestOfBody(server: FastifyInstance): void {
  server.addHook("onSend", ({ raw }, reply, _payload, done) => {
    if (isAllHere(raw)) return done();
    dropRest(raw, (isWhole) => {
      if (!isWhole) reply.header("connection", "close");
      done();
    });
  });
}

/** Node calls a request complete only after its first handlers, even one without a body. */
function isAllHere({ complete, destroyed, headers }: IncomingMessage): boolean {
  if (complete || destroyed) return true;
  return headers["transfer-encoding"] === undefined && Number(headers["content-length"] ?? 0) === 0;
}

/** Reads to the end, or to the first bound; says which. */
function dropRest(raw: IncomingMessage, done: (isWhole: boolean) => void): void {
  let bytes = 0;
  const whole = (): void => stop(true);
  const cut = (): void => stop(false);
  const count = (chunk: Buffer): void => {
    bytes += chunk.length;
    silence.refresh();
    if (bytes > MOST_BYTES) stop(false);
  };
  const stop = (isWhole: boolean): void => {
    clearTimeout(silence);
    clearTimeout(total);
    raw.off("data", count).off("end", whole).off("close", cut).off("error", cut);
    done(isWhole);
  };
  const silence = setTimeout(cut, LONGEST_SILENCE_MS);
  const total = setTimeout(cut, LONGEST_MS);
  raw.on("data", count).on("end", whole).on("close", cut).on("error", cut);
  raw.resume();
}
