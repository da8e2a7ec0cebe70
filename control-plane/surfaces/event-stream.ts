import { PassThrough, type Readable } from "node:stream";
import type { FastifyReply, FastifyRequest } from "fastify";

/** A client whose proxy drops quiet connections hears from us this often. */
const KEEP_ALIVE_MS = 15_000;

/** A server-sent event stream (WHATWG HTML, section 9.2) being written. */
export interface EventStream {
  /** What the response sends. */
  readonly body: Readable;
  /** Aborted when the client went away before `end`. */
  readonly dropped: AbortSignal;
  /** `id`: what a client that comes again sends as Last-Event-ID. */
  send(event: string, data: unknown, id?: number): void;
  /** Resolves when the client has taken what was sent so far, or is gone. */
  drained(): Promise<void>;
  end(): void;
}

/** RFC 9110 section 12.5.1 in so far as it matters here: the client names the type, not a wildcard. */
export function wantsEvents(request: FastifyRequest): boolean {
  return /(^|,)\s*text\/event-stream\s*(;|,|$)/i.test(request.headers.accept ?? "");
}

/**
 * The answer that sends a stream. Its connection ends with it: one that is idle again only after the server has begun to
 * stop would hold that up until it is cut.
 */
export function replyWithStream(reply: FastifyReply, stream: EventStream): FastifyReply {
  return reply
    .type("text/event-stream; charset=utf-8")
    .headers({ "cache-control": "no-store", connection: "close" })
    .send(stream.body);
}

/** An open stream; the first comment goes out at once so that clients see the response begin. */
export function openEventStream(): EventStream {
  const body = new PassThrough();
  const dropped = new AbortController();
  const write = (text: string) => {
    if (!body.destroyed && !body.writableEnded) body.write(text);
  };
  const keepAlive = setInterval(() => write(": keep-alive\n\n"), KEEP_ALIVE_MS);
  body.on("close", () => {
    clearInterval(keepAlive);
    if (!body.writableEnded) dropped.abort();
  });
  body.on("error", () => dropped.abort());
  write(": open\n\n");
  return {
    body,
    dropped: dropped.signal,
    // JSON holds no raw line break, so one data line is enough.
    send: (event, data, id) =>
      write(`${id === undefined ? "" : `id: ${id}\n`}event: ${event}\ndata: ${JSON.stringify(data)}\n\n`),
    drained: () =>
      new Promise((resolve) => {
        if (!body.writableNeedDrain || body.destroyed) return resolve();
        const done = () => {
          body.off("drain", done).off("close", done);
          resolve();
        };
        body.once("drain", done).once("close", done);
      }),
    end: () => {
      clearInterval(keepAlive);
      body.end();
    },
  };
}
