import type { Socket } from "node:net";
import type { FastifyInstance } from "fastify";
import { Refusal } from "#control-plane/http/errors.ts";

/** Requests of one connection that are worked on at once. */
const MOST_IN_WORK = 8;
/** Requests of one connection without an answer yet, those in work included. Each takes about 5 KB. */
const MOST_UNANSWERED = 32;
/** A client that has sent more than this beyond it is cut off at once. */
const MOST_REFUSED = 32;

/** The unanswered requests of one connection. */
interface Pipeline {
  inWork: number;
  refused: number;
  /** Begin the requests that wait, oldest first. */
  readonly waiting: (() => void)[];
}

declare module "fastify" {
  interface FastifyRequest {
    /** The connection's own, while this request is one of those in work. */
    pipeline: Pipeline | null;
  }
}

/**
 * Bounds what one connection asks for without reading an answer (RFC 9112, section 9.3.2): some requests are worked on
 * at once, more wait for these, and one too many is refused and ends the connection after the answers before it. Node
 * parses all requests of a read, up to 64 KiB of them, before the first is answered. `onConnection` is called with each
 * connection at its first request.
 */
export function boundPipelining(server: FastifyInstance, onConnection: (socket: Socket) => void): void {
  const pipelines = new WeakMap<Socket, Pipeline>();
  server.decorateRequest("pipeline", null);

  server.addHook("onRequest", (request, _reply, done) => {
    const { socket } = request.raw;
    let pipeline = pipelines.get(socket);
    if (pipeline === undefined) {
      pipeline = { inWork: 0, refused: 0, waiting: [] };
      pipelines.set(socket, pipeline);
      onConnection(socket);
    }
    const { inWork, waiting } = pipeline;
    const begin = (): void => {
      request.pipeline = pipeline;
      done();
    };
    if (inWork < MOST_IN_WORK) {
      pipeline.inWork += 1;
      begin();
    } else if (pipeline.refused === 0 && inWork + waiting.length < MOST_UNANSWERED) {
      waiting.push(begin);
    } else {
      pipeline.refused += 1;
      // The answer to the first one refused ends the connection; nobody hears of the rest.
      if (pipeline.refused === 1) done(tooMany());
      else if (pipeline.refused > MOST_REFUSED) socket.destroy();
    }
  });

  server.addHook("onResponse", (request, _reply, done) => {
    const { pipeline } = request;
    if (pipeline !== null) {
      const next = request.raw.socket.destroyed ? undefined : pipeline.waiting.shift();
      if (next === undefined) pipeline.inWork -= 1;
      else next();
    }
    done();
  });
}

function tooMany(): Refusal {
  return new Refusal("rate_limit_exceeded", {
    message:
      `This connection has more than ${MOST_UNANSWERED} unanswered requests, the limit, and is closed. ` +
      "Read responses before you send more requests.",
    reason: "pipelining",
    headers: { connection: "close", "retry-after": "1" },
  });
}
