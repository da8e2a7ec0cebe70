import { isRecord } from "#shared/is-record.ts";
import { failed, SOURCES, type Outcome } from "#shared/outcome.ts";
import { MAX_RESULT_BYTES } from "#shared/wire.ts";
import { parseShallowJson } from "#control-plane/dispatch/shallow-json.ts";

const STAGES = new Set(["dns", "connect", "tls", "request", "response"]);
const SOURCE_WORDS: ReadonlySet<string> = new Set(SOURCES);
const WORD = /^[a-z0-9_]{1,64}$/;

/** Parses an agent's outcome as untrusted data; one that is too large or invalid is a failure of the probe. */
export function readOutcome(text: string): Outcome<unknown> {
  if (text.length > MAX_RESULT_BYTES)
    return broken("result_too_large", "the result of the probe is larger than 256 KB");
  const value = parseShallowJson(text);
  if (value === undefined) return broken("invalid_result", "the result of the probe is not JSON, or nested too deeply");
  return isOutcome(value) ? value : broken("invalid_result", "the result of the probe is not a valid outcome");
}

function broken(reason: string, message: string): Outcome<unknown> {
  return failed("response", "probe", reason, message);
}

function isOutcome(value: unknown): value is Outcome<unknown> {
  if (!isRecord(value)) return false;
  switch (value["status"]) {
    case "ok":
      return typeof value["data"] === "object" && value["data"] !== null;
    case "failed":
      return (
        STAGES.has(String(value["stage"])) &&
        SOURCE_WORDS.has(String(value["source"])) &&
        WORD.test(String(value["reason"])) &&
        isText(value["message"])
      );
    case "refused":
      return true;
    case "invalid":
      return WORD.test(String(value["field"])) && isText(value["message"]);
    default:
      return false;
  }
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value.length <= 1_000;
}
