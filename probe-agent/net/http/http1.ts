import type { Socket } from "node:net";
import { failed, type Failed } from "#shared/contracts/outcome.ts";
import type { Redact } from "#shared/text/redact.ts";
import { headerElements } from "#probe-agent/analysis/http/header-list.ts";
import { createArrivals, type Arrivals } from "#probe-agent/net/http/arrivals.ts";
import { createBodyCollector, type BodyCollector } from "#probe-agent/net/http/body.ts";
import {
  MAX_INFORMATIONAL,
  startPatience,
  type BodyRead,
  type Exchange,
  type ExchangeContext,
} from "#probe-agent/net/http/exchange.ts";
import { bodyBreak, DeadlineError, exchangeFailure } from "#probe-agent/net/http/failure.ts";
import { bodyFraming, createChunkedDecoder, type DeclaredFraming } from "#probe-agent/net/http/framing.ts";
import { protocolOf, quotedStart } from "#probe-agent/net/http/other-protocol.ts";
import { http1Request, type WireRequest } from "#probe-agent/net/http/request.ts";
import {
  createHeadReader,
  HEAD_TOO_LARGE,
  type HeadProgress,
  type ResponseHead,
} from "#probe-agent/net/http/response-head.ts";
import { spokenVersion, statusLineFault } from "#probe-agent/net/http/status-line.ts";

/**
 * Sends one request on a connected socket and reads the response. The agent has its own HTTP/1 client, because results
 * show the version, the reason phrase, the case of names, 1xx responses and faults of a head, which client libraries
 * hide or reject. Destroying the socket with an error (as the deadline does) ends every wait.
 */
export async function exchangeHttp1(
  socket: Socket,
  request: WireRequest,
  context: ExchangeContext,
): Promise<Exchange | Failed> {
  const source = createArrivals(socket);
  let sent = false;
  socket.write(http1Request(request), (error) => {
    sent = error === undefined || error === null;
  });
  const read = createHeadReader();
  const informational: number[] = [];
  try {
    let firstByteAt: number | null = null;
    let chunk = await source.next();
    while (chunk !== null) {
      if (chunk.length > 0) firstByteAt ??= context.clock.monotonic();
      const progress = read(chunk);
      if (progress.state === "broken") return giveUp(socket, brokenHead(progress, context.where, context.redact));
      if (progress.state === "more") chunk = await source.next();
      else if (progress.head.code >= 200 || progress.head.code === 101) {
        const at = { firstByteAt: firstByteAt ?? context.clock.monotonic(), informational };
        return opened(socket, source, request, context, progress, at);
      } else {
        informational.push(progress.head.code);
        if (informational.length > MAX_INFORMATIONAL) return giveUp(socket, tooManyInformational(context.where));
        firstByteAt = null;
        chunk = progress.rest;
      }
    }
    const words =
      firstByteAt === null
        ? "the server closed the connection without a response"
        : "the server closed the connection within the response header";
    return giveUp(socket, failed("response", "target", "closed", `${context.where}: ${words}`));
  } catch (error) {
    return giveUp(socket, exchangeFailure(error, sent ? "response" : "request", context.where));
  }
}

/** Returns the failure of a server that sends no final response. */
export function tooManyInformational(where: string): Failed {
  const words = `more than ${MAX_INFORMATIONAL} informational responses and no final one`;
  return failed("response", "target", "informational_flood", `${where}: ${words}`);
}

function opened(
  socket: Socket,
  source: Arrivals,
  request: WireRequest,
  context: ExchangeContext,
  { head, rest }: Extract<HeadProgress, { state: "head" }>,
  at: Pick<Exchange, "firstByteAt" | "informational">,
): Exchange {
  return {
    status: "ok",
    head: { ...head, version: spokenVersion(head.version) },
    ...at,
    close: () => socket.destroy(),
    async readBody(maxBytes, patienceMs) {
      const collector =
        context.collect?.() ?? createBodyCollector(headerElements(head.headers, "content-encoding"), maxBytes);
      const patience = startPatience(patienceMs, () => socket.destroy(new DeadlineError()));
      try {
        const error = await readFramed(source, request, head, rest, collector);
        return await finished(collector, error);
      } catch (error) {
        if (patience.isOver()) return await finished(collector, "timeout");
        const fault = bodyBreak(error);
        return fault === "timeout"
          ? exchangeFailure(error, "response", context.where)
          : await finished(collector, fault);
      } finally {
        patience.end();
        socket.destroy();
      }
    },
  };
}

/** Framing after an upgrade: all octets belong to the new protocol. */
const UNTIL_CLOSE: DeclaredFraming = { framing: { kind: "close" }, fault: null };

async function finished(collector: BodyCollector, error: string | null): Promise<BodyRead> {
  return { status: "ok", body: await collector.finish(error) };
}

/** Feeds the body to the collector and returns the faults of its framing. Throws the socket's error. */
async function readFramed(
  source: Arrivals,
  { method, h2c }: WireRequest,
  head: ResponseHead,
  rest: Buffer,
  collector: BodyCollector,
): Promise<string | null> {
  const upgraded = h2c === "upgrade" && head.code === 101;
  const { framing, fault } = upgraded ? UNTIL_CLOSE : bodyFraming(method, head);
  if (framing.kind === "none") return null;
  let left = framing.kind === "length" ? framing.bytes : Number.POSITIVE_INFINITY;
  const unchunk = framing.kind === "chunked" ? createChunkedDecoder() : null;
  let chunk: Buffer | null = rest;
  while (left > 0 && !collector.full()) {
    if (chunk === null) return framing.kind === "close" ? fault : "incomplete";
    if (unchunk === null) {
      await collector.write(chunk.length > left ? chunk.subarray(0, left) : chunk);
      left -= chunk.length;
    } else {
      const piece = unchunk(chunk);
      await collector.write(piece.data.length === 1 && piece.data[0] ? piece.data[0] : Buffer.concat(piece.data));
      if (piece.error !== null || piece.done) return piece.error ?? fault;
    }
    if (left > 0 && !collector.full()) chunk = await source.next();
  }
  return fault;
}

function giveUp(socket: Socket, failure: Failed): Failed {
  socket.destroy();
  return failure;
}

/** Returns the failure of an answer that is not a head of HTTP/1. */
export function brokenHead(
  progress: Extract<HeadProgress, { state: "broken" }>,
  where: string,
  redact: Redact,
): Failed {
  const { reason, seen } = progress;
  const [line = ""] = seen.split(/\r?\n/, 1);
  const words = {
    not_http: `the answer is not HTTP/1 but ${protocolOf(seen) ?? "another protocol"}; it starts with ${quotedStart(seen, redact)}`,
    protocol_error: statusLineFault(line, redact),
    headers_overflow: HEAD_TOO_LARGE,
  }[reason];
  return failed("response", "target", reason, `${where}: ${words}`);
}
