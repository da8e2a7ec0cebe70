import { Readable } from "node:stream";
import type { FastifyReply, FastifyRequest } from "fastify";
import { MOST_PROGRESS } from "#shared/protocol/wire.ts";

/** Interval in milliseconds of keep-alive comments, for proxies that close idle connections. */
const KEEP_ALIVE_MS = 15_000;
/** Maximum number of octets that the response buffers ahead of the client. */
const AHEAD_BYTES = 16_384;

/** A server-sent event stream (WHATWG HTML, section 9.2) being written. */
export interface EventStream {
  /** Body of the response. */
  readonly body: Readable;
  /** Aborted when the client disconnects before `end` or leaves too much unread. */
  readonly dropped: AbortSignal;
  /**
   * Sends an event. `id`: value of Last-Event-ID when the client reconnects. Does nothing after the end of the stream.
   */
  send(event: string, data: unknown, id?: number): void;
  /** Resolves when the client has received everything sent so far, or has disconnected. */
  drained(): Promise<void>;
  end(): void;
}

/** Reports whether Accept names text/event-stream itself, not by a wildcard (RFC 9110, section 12.5.1, in part). */
export function wantsEvents(request: FastifyRequest): boolean {
  return /(^|,)\s*text\/event-stream\s*(;|,|$)/i.test(request.headers.accept ?? "");
}

/**
 * Sends a stream as the answer. The connection closes with it: a connection that becomes idle after the server has
 * begun to stop would delay the stop. nginx buffers no answer that says so itself (ngx_http_proxy_module, proxy_buffering).
 */
export function replyWithStream(reply: FastifyReply, stream: EventStream): FastifyReply {
  return reply
    .type("text/event-stream; charset=utf-8")
    .headers({ "cache-control": "no-store", connection: "close", "x-accel-buffering": "no" })
    .send(stream.body);
}

/** An event that the client has not read yet. */
interface WaitingEvent {
  readonly text: string;
  readonly isProgress: boolean;
}

/**
 * Opens a stream. A first comment is sent immediately, so that clients see the start of the response. Unread `progress`
 * events are limited to MOST_PROGRESS. Beyond it the stream ends: unread events are dropped, and the last event is
 * `done` with the data of `describeOverflow`. Other events need no limit: there are few for each location.
 */
export function openEventStream(describeOverflow: () => unknown): EventStream {
  const dropped = new AbortController();
  const waiting: WaitingEvent[] = [];
  const unread = { events: 0, characters: 0 };
  let isWanted = false;
  let isEnded = false;
  let takers: (() => void)[] = [];

  const count = ({ text, isProgress }: WaitingEvent, sign: 1 | -1): void => {
    if (!isProgress) return;
    unread.events += sign;
    unread.characters += sign * text.length;
  };
  const body = new Readable({
    highWaterMark: AHEAD_BYTES,
    read() {
      isWanted = true;
      pass();
    },
  });
  const keepAlive = setInterval(() => {
    // Unread events keep the connection active as well.
    if (waiting.length === 0) add({ text: ": keep-alive\n\n", isProgress: false });
  }, KEEP_ALIVE_MS);
  body.on("close", () => {
    if (!isEnded) dropped.abort();
    stop();
    settle();
  });

  /** Moves waiting events to the response while it accepts more. */
  function pass(): void {
    while (isWanted) {
      const next = waiting.shift();
      if (next === undefined) break;
      count(next, -1);
      isWanted = body.push(next.text);
    }
    if (waiting.length > 0) return;
    if (isEnded && !body.destroyed) body.push(null);
    settle();
  }

  function settle(): void {
    const resolved = takers;
    takers = [];
    for (const resolve of resolved) resolve();
  }

  function add(event: WaitingEvent): void {
    waiting.push(event);
    count(event, 1);
    pass();
  }

  function stop(): void {
    isEnded = true;
    clearInterval(keepAlive);
  }

  function overflow(): void {
    stop();
    waiting.length = 0;
    add({ text: textOf("done", describeOverflow()), isProgress: false });
    dropped.abort();
  }

  add({ text: ": open\n\n", isProgress: false });
  return {
    body,
    dropped: dropped.signal,
    send(event, data, id) {
      if (isEnded) return;
      add({ text: textOf(event, data, id), isProgress: event === "progress" });
      if (unread.events > MOST_PROGRESS.events || unread.characters > MOST_PROGRESS.characters) overflow();
    },
    drained: () =>
      new Promise((resolve) => {
        if (waiting.length === 0 || body.destroyed) resolve();
        else takers.push(resolve);
      }),
    end() {
      if (isEnded) return;
      stop();
      pass();
    },
  };
}

/** Formats an event. JSON has no raw line breaks, so one data line is enough. */
function textOf(event: string, data: unknown, id?: number): string {
  return `${id === undefined ? "" : `id: ${id}\n`}event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
}
