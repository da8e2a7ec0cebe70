import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { Refusal } from "#control-plane/http/errors.ts";

/** Maximum number of requests of one connection in work at the same time. */
const MOST_IN_WORK = 8;
/** Maximum number of unanswered requests of one connection, those in work included. Each takes about 5 KB. */
const MOST_UNANSWERED = 32;
/** A client with more than this number of refused requests is disconnected immediately. */
const MOST_REFUSED = 32;

/** The unanswered requests of one connection. */
interface Pipeline {
  inWork: number;
  refused: number;
  /** Functions that start the waiting requests, oldest first. */
  readonly waiting: (() => void)[];
}

declare module "fastify" {
  interface FastifyRequest {
    /** Pipeline of the connection while this request is in work; else null. */
    pipeline: Pipeline | null;
  }
}

/** A listener of Node's HTTP server. */
type RequestListener = (request: IncomingMessage, response: ServerResponse) => void;

/** The limits of all connections of one server. */
interface PipelineLimits {
  /**
   * Wraps the listener of the HTTP server: what follows the first refused request of a connection is dropped, before
   * it takes the time and memory of a request.
   */
  dropExcess(listener: RequestListener): RequestListener;
  /** Installs the hooks of the limits. Calls `onConnection` with each connection at its first request. */
  install(server: FastifyInstance, onConnection: (socket: Socket) => void): void;
}

/**
 * Limits the unanswered requests of one connection (RFC 9112, section 9.3.2): MOST_IN_WORK run, others wait up to
 * MOST_UNANSWERED, and the next one is refused and ends the connection after the answers before it. Node parses all
 * requests of a read, up to 64 KiB, before the first is answered.
 */
export function createPipelineLimits(): PipelineLimits {
  const pipelines = new WeakMap<Socket, Pipeline>();
  return {
    dropExcess: (listener) => (request, response) => {
      const { socket } = request;
      const pipeline = pipelines.get(socket);
      if (pipeline === undefined || pipeline.refused === 0) return listener(request, response);
      // The answer to the first refused request ends the connection; the others get no answer.
      pipeline.refused += 1;
      if (pipeline.refused <= MOST_REFUSED) return;
      socket.destroy();
      stopParsing(socket);
    },
    install(server, onConnection) {
      server.decorateRequest("pipeline", null);
      server.addHook("onRequest", (request, _reply, done) => {
        const { socket } = request.raw;
        let pipeline = pipelines.get(socket);
        if (pipeline === undefined) {
          pipeline = { inWork: 0, refused: 0, waiting: [] };
          pipelines.set(socket, pipeline);
          onConnection(socket);
        }
        enter(pipeline, request, done);
      });
      server.addHook("onResponse", ({ pipeline, raw }, _reply, done) => {
        if (pipeline !== null) leave(pipeline, raw.socket);
        done();
      });
    },
  };
}

/** Runs a request, lets it wait, or refuses it. */
function enter(pipeline: Pipeline, request: FastifyRequest, done: (error?: Error) => void): void {
  const { inWork, waiting } = pipeline;
  const begin = (): void => {
    request.pipeline = pipeline;
    done();
  };
  if (inWork < MOST_IN_WORK) {
    pipeline.inWork += 1;
    begin();
  } else if (inWork + waiting.length < MOST_UNANSWERED) {
    waiting.push(begin);
  } else {
    pipeline.refused = 1;
    done(tooMany());
  }
}

/** Starts the next waiting request after an answer. */
function leave(pipeline: Pipeline, socket: Socket): void {
  const next = socket.destroyed ? undefined : pipeline.waiting.shift();
  if (next === undefined) pipeline.inWork -= 1;
  else next();
}

/**
 * Ends the parsing of what was already read from a destroyed socket, which can be 2,000 requests: Node parses all of it
 * at once and has no public API for this. It uses the same return value to end parsing at an upgrade
 * (lib/_http_server.js, parserOnIncoming). Without it each of those requests is parsed and dropped.
 */
function stopParsing(socket: Socket): void {
  const { parser } = socket as Socket & { readonly parser?: { onIncoming?: unknown } | null };
  if (typeof parser?.onIncoming === "function") parser.onIncoming = () => UPGRADED;
}

/** Result of the listener of a head after which the octets are not HTTP any more. */
const UPGRADED = 2;

function tooMany(): Refusal {
  return new Refusal("rate_limit_exceeded", {
    message:
      `This connection has more than ${MOST_UNANSWERED} unanswered requests, the limit, and is closed. ` +
      "Read responses before you send more requests.",
    reason: "pipelining",
    headers: { connection: "close", "retry-after": "1" },
  });
}
