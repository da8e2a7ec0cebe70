import type { IncomingMessage, ServerResponse } from "node:http";
import { describeDelivery, problemOf } from "#shared/client/listen/describe-delivery.ts";
import { readBody } from "#shared/client/listen/read-body.ts";
import { rememberIds } from "#shared/client/listen/recent-ids.ts";
import { verifyDelivery } from "#shared/webhooks/verify.ts";

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

/** Creates the listener of a server that verifies, prints and answers deliveries. */
export function answerDeliveries(
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
