import type { LogLines } from "#shared/protocol/probe.ts";
import { LOG_LIMITS } from "#shared/protocol/wire.ts";
import { showHidden } from "#shared/text/hidden-characters.ts";
import { cutLine } from "#shared/text/plain-line.ts";
import type { LogAnswer, LogRequest, Session } from "#control-plane/checks/dispatch/session.ts";

/** Time for the whole answer, in milliseconds. */
const ANSWER_MS = 5_000;

/** Asks an agent for its log. Calls at the same time share one request, so that an agent answers one at a time. */
export async function requestLog(session: Session | undefined): Promise<LogAnswer> {
  if (session === undefined) return { ok: false, reason: "absent" };
  if (!session.agent.sendsLog) return { ok: false, reason: "unsupported" };
  return (session.log.open ?? openRequest(session)).answer;
}

function openRequest({ log, link }: Session): LogRequest {
  const { promise, resolve } = Promise.withResolvers<LogAnswer>();
  const timer = setTimeout(() => request.settle({ ok: false, reason: "silent" }), ANSWER_MS);
  const request: LogRequest = {
    id: (log.requests += 1),
    answer: promise,
    settle(answer) {
      clearTimeout(timer);
      log.open = null;
      resolve(answer);
    },
    lines: [],
    characters: 0,
  };
  log.open = request;
  link.send({ body: { $case: "logRequest", value: { requestId: request.id } } });
  return request;
}

/** Adds a part of the answer as untrusted data. Returns false if it was not asked for, or is more than it may be. */
export function receiveLogLines({ log: { open } }: Session, { requestId, lines, last }: LogLines): boolean {
  if (open?.id !== requestId) return false;
  open.characters += lines.reduce((sum, { length }) => sum + length, 0);
  const isTooMuch = open.lines.length + lines.length > LOG_LIMITS.lines || open.characters > LOG_LIMITS.characters;
  // Empty parts would never reach a limit.
  if (isTooMuch || (lines.length === 0 && !last)) {
    open.settle({ ok: false, reason: "invalid" });
    return false;
  }
  open.lines.push(...lines);
  if (last) open.settle({ ok: true, lines: open.lines.map(showLine) });
  return true;
}

/** Makes a line harmless for a terminal. A longer one is cut before, because each hidden character becomes several. */
function showLine(line: string): string {
  return cutLine(showHidden(line.slice(0, LOG_LIMITS.lineCharacters)), LOG_LIMITS.lineCharacters);
}
