import { failed, ok, type Failed, type Outcome } from "#shared/outcome.ts";
import type { MonitorFault } from "#shared/monitor-checks/define.ts";
import { BODY_BREAKS, bodyBreakOf } from "#shared/tools/http/body.ts";
import { declaredCharset } from "#probe-agent/analysis/html/charset.ts";
import { containsUtf8 } from "#probe-agent/analysis/html/contains-text.ts";
import { headerValues } from "#probe-agent/analysis/http/header-list.ts";
import type { JsonCondition } from "#probe-agent/analysis/text/json-condition.ts";
import { printable } from "#probe-agent/analysis/text/printable.ts";
import type { PageSnapshot } from "#probe-agent/port/http.ts";
import { overloadedBy } from "#probe-agent/sources/run-analysis.ts";
import type { AnalysisFailure } from "#probe-agent/toolkit/analyses.ts";
import type { Net } from "#probe-agent/toolkit/net.ts";

/** Conditions on a body. */
interface BodyConditions {
  readonly keyword: string | null;
  readonly keyword_mode: "present" | "absent";
  readonly json: JsonCondition | null;
}

/** Returns the first condition that a body does not meet; null if it meets all. Fails if it cannot be examined. */
export async function examineBody(
  net: Net,
  page: PageSnapshot,
  { keyword, keyword_mode: mode, json }: BodyConditions,
): Promise<Outcome<MonitorFault | null>> {
  if (keyword !== null) {
    const found = await findText(net, page, keyword);
    if (found.status !== "ok") return found;
    const fault = keywordFault(page, { keyword, mode, isFound: found.data });
    if (fault !== null) return ok(fault);
  }
  return json === null ? ok(null) : await examineJson(net, page, json);
}

/** Searches a text in the body, decoded by the charset of the page. */
async function findText(net: Net, { final, body }: PageSnapshot, text: string): Promise<Outcome<boolean>> {
  const contentType = headerValues(final.headers, "content-type")[0] ?? null;
  // Nearly all pages are UTF-8 and say so: octets are compared, without decoding.
  if (declaredCharset(body.bytes, contentType)?.encoding === "utf-8") return ok(containsUtf8(body.bytes, text));
  const search = await net.analyses.run("contains-text", { octets: body.bytes, contentType, text });
  return search.ok ? ok(search.report) : unexamined(search);
}

const MAX_KEYWORD_SHOWN = 100;

function keywordFault(
  { body }: PageSnapshot,
  {
    keyword,
    mode,
    isFound,
  }: { readonly keyword: string; readonly mode: "present" | "absent"; readonly isFound: boolean },
): MonitorFault | null {
  const shown = JSON.stringify(printable(keyword, MAX_KEYWORD_SHOWN));
  if (isFound) {
    return mode === "present"
      ? null
      : { stage: "response", reason: "keyword_present", message: `the page contains ${shown}` };
  }
  // What is missing may be in the part that did not arrive.
  const unread = bodyFault(body);
  if (unread !== null || mode === "absent") return unread;
  const part = body.truncated ? "the first 1 MB of the page" : "the page";
  return { stage: "response", reason: "keyword_missing", message: `${part} does not contain ${shown}` };
}

async function examineJson(
  net: Net,
  { body }: PageSnapshot,
  condition: JsonCondition,
): Promise<Outcome<MonitorFault | null>> {
  const unread = bodyFault(body);
  if (unread !== null) return ok(unread);
  if (body.truncated) {
    const message = "the body is larger than 1 MB, so its JSON was not examined";
    return ok({ stage: "response", reason: "body_too_large", message });
  }
  const check = await net.analyses.run("json-condition", { octets: body.bytes, condition });
  if (!check.ok) return unexamined(check);
  return ok(check.report === null ? null : { stage: "response", ...check.report });
}

/** Errors of bodies that were nevertheless read to their end. */
const HARMLESS = new Set([
  "bad_content_length",
  "unsupported_transfer_coding",
  "unknown_encoding",
  "too_many_encodings",
]);

/** Returns the fault of a body that is not complete or cannot be decoded; null if it can be examined. */
function bodyFault({ error, transferredBytes }: PageSnapshot["body"]): MonitorFault | null {
  if (error === null || HARMLESS.has(error)) return null;
  const broken = bodyBreakOf(error);
  const message =
    broken === null
      ? `the body cannot be decoded: ${error}`
      : `the body was cut short after ${transferredBytes} bytes: ${BODY_BREAKS[broken]}`;
  return { stage: "response", reason: error, message };
}

function unexamined(failure: AnalysisFailure): Failed {
  if (failure.reason === "overloaded") return overloadedBy(failure);
  const { reason } = failure;
  const message = `the probe could not examine the body (${reason})`;
  return failed("response", "probe", reason, message);
}
