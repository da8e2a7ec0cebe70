import { isRecord } from "#shared/text/is-record.ts";
import { failed, ok, refused, SOURCES, type Outcome, type Source, type Stage } from "#shared/contracts/outcome.ts";
import { MAX_RESULT_BYTES } from "#shared/protocol/wire.ts";
import { parseShallowJson } from "#control-plane/checks/dispatch/shallow-json.ts";
import { toPlainLine } from "#shared/text/plain-line.ts";

const STAGES: ReadonlySet<string> = new Set<Stage>(["dns", "connect", "tls", "request", "response"]);
const SOURCE_WORDS: ReadonlySet<string> = new Set(SOURCES);
const WORD = /^[a-z0-9_]{1,64}$/;
/** Maximum length of a message, in characters. */
const MOST_MESSAGE = 1_000;

/** Parses an agent's outcome as untrusted data; one that is too large or invalid is a failure of the probe. */
export function readOutcome(text: string): Outcome<unknown> {
  if (text.length > MAX_RESULT_BYTES)
    return broken("result_too_large", "the result of the probe is larger than 256 KB");
  const value = parseShallowJson(text);
  if (value === undefined) return broken("invalid_result", "the result of the probe is not JSON, or nested too deeply");
  return copyOutcome(value) ?? broken("invalid_result", "the result of the probe is not a valid outcome");
}

function broken(reason: string, message: string): Outcome<unknown> {
  return failed("response", "probe", reason, message);
}

/** Returns a copy with clean texts of a valid outcome, without other fields; null if it is not valid. */
function copyOutcome(value: unknown): Outcome<unknown> | null {
  if (!isRecord(value)) return null;
  const { status, data, stage, source, reason, field, repeatable } = value;
  switch (status) {
    case "ok":
      return typeof data === "object" && data !== null ? ok(data) : null;
    case "failed": {
      const message = readMessage(value);
      if (!isStage(stage) || !isSource(source) || !isWord(reason) || message === null) return null;
      const failure = failed(stage, source, reason, message);
      return source === "probe" && repeatable === true ? { ...failure, repeatable } : failure;
    }
    case "refused":
      return refused;
    case "invalid": {
      const message = readMessage(value);
      return isWord(field) && message !== null ? { status, field, message } : null;
    }
    default:
      return null;
  }
}

function isStage(value: unknown): value is Stage {
  return typeof value === "string" && STAGES.has(value);
}

function isSource(value: unknown): value is Source {
  return typeof value === "string" && SOURCE_WORDS.has(value);
}

function isWord(value: unknown): value is string {
  return typeof value === "string" && WORD.test(value);
}

/**
 * Reads the text for people. It is stored, logged and mailed, and not every place accepts every character: PostgreSQL
 * refuses JSON with NUL or half a surrogate pair, and one such row fails the statement that reads it with others.
 */
function readMessage({ message }: Readonly<Record<string, unknown>>): string | null {
  return typeof message === "string" && message.length <= MOST_MESSAGE ? toPlainLine(message, MOST_MESSAGE) : null;
}
