import { whenAborted } from "#shared/client/up/aborted.ts";
import { explainListenError } from "#shared/client/up/ports.ts";
import { openReceiver, type TlsIdentity } from "#shared/client/listen-server.ts";
import { formatAddress, listenerUrl } from "#shared/settings/address.ts";
import type { IncomingMessage, ServerResponse } from "node:http";
import { verifyDelivery, TOLERANCE_SECONDS, type DeliveryVerdict } from "#shared/webhooks/verify.ts";
import { showHidden } from "#shared/text/hidden-characters.ts";
import { isExactNumber } from "#shared/audit/exact-number.ts";
import { findJsonFault } from "#shared/json/faults.ts";

/** Options of a run. */
interface RunOptions {
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  readonly tls: TlsIdentity | null;
  readonly secret: string;
  /** Status of the answer to a verified delivery. */
  readonly status: number;
  /** The run ends after this many requests with POST. */
  readonly count: number;
  readonly now: () => Date;
  readonly say: (text: string) => void;
  readonly stop: AbortSignal;
}

/** Result of a run: it has ended, or the sentence that says why it could not start. */
type Ran = { readonly ok: true } | { readonly ok: false; readonly message: string };

/** What a receiver needs to answer deliveries. */
interface ReceiverOptions {
  readonly secret: string;
  /** Status of the answer to a verified delivery. */
  readonly status: number;
  readonly now: () => Date;
  readonly say: (text: string) => void;
  /** Called after the answer to each POST. */
  readonly onAnswered: () => void;
}

const MOST_BYTES = 1_048_576;
const MOST_IDS = 10_000;

/** Remembers the ids of events. */
interface RecentIds {
  /** Remembers an id; returns true if it was remembered already. */
  add(id: string): boolean;
}

/** Receives, prints and answers deliveries until `stop` or until `count` of them are answered. */
export async function runListen(options: RunOptions): Promise<Ran> {
  const { host, port, tls, secret, status, count, now, say, stop } = options;
  const done = new AbortController();
  let answered = 0;
  const onAnswered = () => {
    answered += 1;
    if (answered >= count) done.abort();
  };
  const listener = answerDeliveries({ secret, status, now, say, onAnswered });
  const opening = openReceiver({ host, port, tls }, (request, response) => void listener(request, response));
  const opened = await opening.then(
    (receiver) => ({ receiver }),
    (error: unknown) => ({ error }),
  );
  if ("error" in opened) {
    return { ok: false, message: `${formatAddress({ host, port })} ${explainListenError(opened.error)}` };
  }
  const { receiver } = opened;
  say(`Listening on ${listenerUrl({ host, port: receiver.port }, tls !== null)} for deliveries. Ctrl-C stops it.`);
  say(
    tls === null
      ? "Webhooks need HTTPS: put a tunnel with HTTPS in front, or give --tls-cert and --tls-key."
      : "Webhooks need HTTPS with a certificate that the control plane trusts.",
  );
  await whenAborted(AbortSignal.any([stop, done.signal]));
  await receiver.close();
  return { ok: true };
}

/** Creates the listener of a server that verifies, prints and answers deliveries. */
function answerDeliveries(
  options: ReceiverOptions,
): (request: IncomingMessage, response: ServerResponse) => Promise<void> {
  const { secret, status, now, say, onAnswered } = options;
  const seen = rememberIds(MOST_IDS);
  return async (request, response) => {
    const body = await readBody(request, MOST_BYTES).catch(() => undefined);
    // The sender has disconnected, or its time is over, which the server answers.
    if (body === undefined) return;
    if (request.method !== "POST") return refuse(response, 405, "only POST is answered", { allow: "POST" });
    response.once("close", onAnswered);
    const headers = Object.fromEntries(
      Object.entries(request.headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(", ") : value]),
    );
    const at = now();
    const problem =
      body === null
        ? `its body is longer than ${MOST_BYTES} bytes`
        : problemOf(verifyDelivery({ headers, body, secret, now: at }));
    // Only what was verified is remembered: others must not be able to mark an event as seen.
    const isRepeated = problem === null && seen.add(headers["webhook-id"] ?? "");
    say(describeDelivery({ at, problem, headers, body: body ?? Buffer.alloc(0), isRepeated }));
    if (problem === null) response.writeHead(status, { connection: "close" }).end();
    else refuse(response, body === null ? 413 : 401, problem);
  };
}

/** Answers with an error. Every answer ends its connection, so that nothing is left to wait for at the end. */
function refuse(
  response: ServerResponse,
  status: number,
  error: string,
  headers: Readonly<Record<string, string>> = {},
): void {
  const body = JSON.stringify({ error });
  response.writeHead(status, { ...headers, connection: "close", "content-type": "application/json" }).end(body);
}

/**
 * Reads the body of a request; null if it is longer than `most` bytes. The rest of a long body is read and dropped,
 * because the sender can lose an answer that arrives while it still sends (RFC 9112, section 9.6); the server's time
 * limit ends a request that does not end. Rejects if the sender disconnects first.
 */
async function readBody(request: IncomingMessage, most: number): Promise<Buffer | null> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > most) chunks.length = 0;
    else chunks.push(chunk);
  }
  return length > most ? null : Buffer.concat(chunks);
}

/** Remembers the last `most` different ids. */
export function rememberIds(most: number): RecentIds {
  // A Set lists its members in the order in which they were added.
  const ids = new Set<string>();
  return {
    add(id) {
      const isKnown = ids.delete(id);
      ids.add(id);
      if (ids.size > most) for (const oldest of ids.values().take(1)) ids.delete(oldest);
      return isKnown;
    },
  };
}

/** A request that is printed. */
interface ShownDelivery {
  readonly at: Date;
  /** What is wrong with it, as the end of a sentence; null: verified. */
  readonly problem: string | null;
  /** Values by lower-case name. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: Uint8Array;
  /** true: a verified delivery had the same webhook-id. */
  readonly isRepeated: boolean;
}

const LONGEST_VALUE = 100;

/** Bodies up to this length are indented; an event has a few thousand bytes. */
const LONGEST_INDENTED = 65_536;
/** Maximum nesting of what is indented: the indentation of deep JSON is many times its length. */
const DEEPEST = 32;
const LONGEST_LINE = 2_000;

/** Returns what is wrong with a delivery, as the end of a sentence; null if it is valid. */
function problemOf(verdict: DeliveryVerdict): string | null {
  switch (verdict.status) {
    case "valid":
      return null;
    case "missing_header":
      return `the header ${verdict.header} is missing`;
    case "malformed_header":
      return `the header ${verdict.header} has a value that no delivery has`;
    case "different_times":
      return "x-service-timestamp and webhook-timestamp are different";
    case "too_old":
      return `its timestamp is ${verdict.seconds} s old, and ${TOLERANCE_SECONDS} s are allowed`;
    case "too_new":
      return `its timestamp is ${verdict.seconds} s in the future, and ${TOLERANCE_SECONDS} s are allowed`;
    default: {
      const header = verdict.scheme === "v2" ? "x-service-signature-v2" : "webhook-signature";
      return `${header} does not match this body and the secret`;
    }
  }
}

/**
 * Formats a delivery: a line about it, then its body. Everything in it is another party's text, so the body is indented:
 * no line of it looks like a line about a delivery. The signatures cover the id of the event and the body alone.
 */
function describeDelivery({ at, problem, headers, body, isRepeated }: ShownDelivery): string {
  const value = (name: string): string => safeLine(headers[name] ?? "-", LONGEST_VALUE);
  const verdict = problem === null ? "verified" : `NOT verified: ${problem};`;
  const fields = [
    value("x-service-event"),
    `delivery ${value("x-service-delivery")}`,
    `attempt ${value("x-service-attempt")}`,
    `event ${value("webhook-id")}`,
  ].join(", ");
  const line = `${at.toISOString()} ${verdict} ${fields}${isRepeated ? " (repeated)" : ""}`;
  return [line, ...safeBody(body).map((each) => `  ${each}`)].join("\n");
}

/** Returns a text of another party as one line of limited length that cannot control a terminal. */
function safeLine(text: string, longest = LONGEST_LINE): string {
  const shown = showHidden(text.slice(0, longest));
  return text.length > longest ? `${shown} ... (${text.length} characters)` : shown;
}

/**
 * Returns a body as lines that cannot control a terminal: JSON indented, everything else in one line. JSON that is deep,
 * has a key twice or a number that no double holds is not indented, because the printed form would differ from it.
 */
function safeBody(body: Uint8Array): readonly string[] {
  const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(body);
  if (text === "") return [];
  const value = body.length > LONGEST_INDENTED ? null : readJson(text);
  if (value === null) return [safeLine(text)];
  return JSON.stringify(value.json, null, 2)
    .split("\n")
    .map((line) => showHidden(line));
}

function readJson(text: string): { readonly json: unknown } | null {
  try {
    if (findJsonFault(text, { deepest: DEEPEST, acceptsNumber: isExactNumber }) !== null) return null;
    return { json: JSON.parse(text) };
  } catch {
    return null;
  }
}
