import { PassThrough, type Readable } from "node:stream";

/** A client whose proxy drops quiet connections hears from us this often. */
const KEEP_ALIVE_MS = 15_000;

/** A server-sent event stream (WHATWG HTML, section 9.2) being written. */
export interface EventStream {
  /** What the response sends. */
  readonly body: Readable;
  /** Aborted when the client went away before `end`. */
  readonly dropped: AbortSignal;
  send(event: string, data: unknown): void;
  end(): void;
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
    send: (event, data) => write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`),
    end: () => {
      clearInterval(keepAlive);
      body.end();
    },
  };
}
