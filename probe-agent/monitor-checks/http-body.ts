import { failed, ok, type Failed, type Outcome } from "#shared/contracts/outcome.ts";
import type { Redact } from "#shared/text/redact.ts";
import type { MonitorFault } from "#shared/monitor-checks/define.ts";
import { BODY_BREAKS, bodyBreakOf } from "#shared/tools/http-body.ts";
import { declaredCharset } from "#probe-agent/analysis/html/charset.ts";
import { containsTextAnalysis, containsUtf8 } from "#probe-agent/analysis/html/contains-text.ts";
import { headerElements, headerValues } from "#probe-agent/analysis/http/header-list.ts";
import {
  jsonConditionAnalysis,
  describeVerdict,
  type JsonCondition,
} from "#probe-agent/analysis/text/json-condition.ts";
import { printable } from "#probe-agent/analysis/text/printable.ts";
import type { Hop, PageSnapshot } from "#probe-agent/port/http.ts";
import { overloadedBy } from "#probe-agent/sources/run-analysis.ts";
import type { AnalysisFailure } from "#probe-agent/toolkit/analyses.ts";
import type { Net } from "#probe-agent/toolkit/net.ts";

/** Conditions on a body. */
interface BodyConditions {
  readonly keyword: string | null;
  readonly keyword_mode: "present" | "absent";
  readonly json: JsonCondition | null;
}

/**
 * Returns the first condition that a body does not meet; null if it is complete and meets all. A keyword that must be in
 * the body is found also in a part of it. Fails if the rest did not arrive in time, or if it cannot be examined.
 */
export async function examineBody(
  net: Net,
  page: PageSnapshot,
  { keyword, keyword_mode: mode, json }: BodyConditions,
  redact: Redact,
): Promise<Outcome<MonitorFault | null>> {
  if (keyword !== null) {
    const found = await findText(net, page, keyword);
    if (found.status !== "ok") return found;
    if (found.data && mode === "absent") return ok(keywordPresent(keyword));
    if (!found.data) {
      // What is missing may be in the part that did not arrive.
      const unread = examineEnd(page, redact) ?? undecoded(page);
      if (unread !== null) return unread;
      if (mode === "present") return ok(keywordMissing(page, keyword));
    }
  }
  if (json !== null) return examineEnd(page, redact) ?? undecoded(page) ?? (await examineJson(net, page, json, redact));
  return (keyword === null ? examineEnd(page, redact) : null) ?? ok(null);
}

/** Searches a text in the body, decoded by the charset of the page. */
async function findText(net: Net, { final, body }: PageSnapshot, text: string): Promise<Outcome<boolean>> {
  const contentType = headerValues(final.headers, "content-type")[0] ?? null;
  // Nearly all pages are UTF-8 and say so: octets are compared, without decoding.
  if (declaredCharset(body.bytes, contentType)?.encoding === "utf-8") return ok(containsUtf8(body.bytes, text));
  const search = await net.analyses.run(containsTextAnalysis, { octets: body.bytes, contentType, text });
  return search.ok ? ok(search.report) : unexamined(search);
}

const MAX_KEYWORD_SHOWN = 100;

function keywordPresent(keyword: string): MonitorFault {
  return { stage: "response", reason: "keyword_present", message: `the page contains ${shownKeyword(keyword)}` };
}

function keywordMissing({ body }: PageSnapshot, keyword: string): MonitorFault {
  const part = body.truncated ? "the first 1 MB of the page" : "the page";
  const message = `${part} does not contain ${shownKeyword(keyword)}`;
  return { stage: "response", reason: "keyword_missing", message };
}

function shownKeyword(keyword: string): string {
  return JSON.stringify(printable(keyword, MAX_KEYWORD_SHOWN));
}

async function examineJson(
  net: Net,
  { body }: PageSnapshot,
  condition: JsonCondition,
  redact: Redact,
): Promise<Outcome<MonitorFault | null>> {
  if (body.truncated) {
    const message = "the body is larger than 1 MB, so its JSON was not examined";
    return ok({ stage: "response", reason: "body_too_large", message });
  }
  const written = { ...condition, value: JSON.stringify(condition.value) };
  const check = await net.analyses.run(jsonConditionAnalysis, { octets: body.bytes, condition: written });
  if (!check.ok) return unexamined(check);
  if (check.report === null) return ok(null);
  return ok({ stage: "response", ...describeVerdict(check.report, condition, redact) });
}

/** Errors of bodies that were nevertheless read to their end. */
const HARMLESS = new Set([
  "bad_content_length",
  "unsupported_transfer_coding",
  "unknown_encoding",
  "too_many_encodings",
]);

/** Returns the fault of a body that cannot be decoded; null if it can be examined. */
function undecoded({ body: { error } }: PageSnapshot): Outcome<MonitorFault> | null {
  if (error === null || HARMLESS.has(error)) return null;
  return ok({ stage: "response", reason: error, message: `the body cannot be decoded: ${error}` });
}

/** Returns the fault of a body that ended early, or the failure of one that did not end in time; null for others. */
function examineEnd(
  { finalUrl, final, hops, body: { error, transferredBytes } }: PageSnapshot,
  redact: Redact,
): Outcome<MonitorFault> | null {
  const broken = bodyBreakOf(error);
  if (broken === null) return null;
  if (broken === "timeout") {
    const { host } = new URL(finalUrl);
    const message = `${hops.length > 1 ? redact(host) : host}: the response did not complete in time`;
    return failed("response", "target", "timeout", message);
  }
  const length = announcedLength(final);
  const of = length === null ? "" : ` of ${inDigits(length)}`;
  const isChunked = headerElements(final.headers, "transfer-encoding").includes("chunked");
  const early = isChunked ? ", before its last chunk" : "";
  const isExplained = broken === "incomplete" && (length !== null || isChunked);
  const why = isExplained ? "" : `: ${BODY_BREAKS[broken]}`;
  const message = `the response ended after ${inDigits(transferredBytes)}${of} bytes${early}${why}`;
  // A reset before the answer has this reason too, and words that are not true here.
  return ok({ stage: "response", reason: broken === "reset" ? "incomplete" : broken, message });
}

/** Returns the length that a header announces for the body on the wire; null if there is none, or no valid one. */
function announcedLength({ headers }: Hop): number | null {
  if (headerValues(headers, "transfer-encoding").length > 0) return null;
  const [length = "", ...others] = new Set(headerElements(headers, "content-length"));
  return others.length === 0 && /^\d{1,15}$/.test(length) ? Number(length) : null;
}

/** Formats a count with commas between its thousands: 10,000. */
function inDigits(count: number): string {
  return count.toLocaleString("en-US");
}

function unexamined(failure: AnalysisFailure): Failed {
  if (failure.reason === "overloaded") return overloadedBy(failure);
  const { reason } = failure;
  const message = `the probe could not examine the body (${reason})`;
  return failed("response", "probe", reason, message);
}
