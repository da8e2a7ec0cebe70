import { Readable } from "node:stream";
import type { FastifyReply, FastifyRequest } from "fastify";
import { MOST_PROGRESS } from "#shared/wire.ts";

/** A client whose proxy drops quiet connections hears from us this often. */
const KEEP_ALIVE_MS = 15_000;
/** Octets handed to the response ahead of what the client takes. */
const AHEAD_BYTES = 16_384;

/** A server-sent event stream (WHATWG HTML, section 9.2) being written. */
export interface EventStream {
  /** What the response sends. */
  readonly body: Readable;
  /** Aborted when the client went away before `end`, or left too much unread. */
  readonly dropped: AbortSignal;
  /** `id`: what a client that comes again sends as Last-Event-ID. Does nothing once the stream has ended. */
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

/** An event that waits for the client to read. */
interface WaitingEvent {
  readonly text: string;
  readonly isProgress: boolean;
}

/**
 * An open stream; the first comment goes out at once so that clients see the response begin. As much `progress` waits for
 * a slow client as counts of one job. With more the stream ends: what waits is dropped, and the last event is `done` with
 * the data of `describeOverflow`. Other events are as few as the locations of a call.
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
    // Where something waits the client hears from us as soon as it reads.
    if (waiting.length === 0) add({ text: ": keep-alive\n\n", isProgress: false });
  }, KEEP_ALIVE_MS);
  body.on("close", () => {
    if (!isEnded) dropped.abort();
    stop();
    settle();
  });

  /** Hands on what waits, as far as the response takes it. */
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

/** JSON holds no raw line break, so one data line is enough. */
function textOf(event: string, data: unknown, id?: number): string {
  return `${id === undefined ? "" : `id: ${id}\n`}event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
}
