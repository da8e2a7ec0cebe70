import { headerValues } from "#probe-agent/analysis/http/header-list.ts";
import type { HeaderMatch, HttpOptions } from "#shared/blackbox/module.ts";
import type { ProbeLog } from "#probe-agent/exporter/probe.ts";
import type { ResponseHead } from "#probe-agent/net/http/response-head.ts";

/** Reports whether the status of an answer is one of those that are valid: 2xx where none are named. */
export function isValidStatus(code: number, { valid_status_codes: valid }: HttpOptions, log: ProbeLog): boolean {
  if (valid.length > 0) {
    const isListed = valid.includes(code);
    if (!isListed) {
      log("info", "Invalid HTTP response status code", { status_code: code, valid_status_codes: valid.join(" ") });
    }
    return isListed;
  }
  const isSuccess = code >= 200 && code < 300;
  if (!isSuccess) log("info", "Invalid HTTP response status code, wanted 2xx", { status_code: code });
  return isSuccess;
}

/** Returns the name of a version as the exporter has it: HTTP/1.1, HTTP/2.0. */
export function protocolOf({ version }: ResponseHead): string {
  return `HTTP/${version.includes(".") ? version : `${version}.0`}`;
}

/** Reports whether the header fields of an answer satisfy all conditions. */
export function checkHeaders(head: ResponseHead, options: HttpOptions, log: ProbeLog): boolean {
  const { fail_if_header_matches: forbidden, fail_if_header_not_matches: wanted } = options;
  return (
    forbidden.every((rule) => checkHeader(head, rule, false, log)) &&
    wanted.every((rule) => checkHeader(head, rule, true, log))
  );
}

/** A forbidden expression may match no value of a field, a wanted one has to match one. */
function checkHeader(head: ResponseHead, rule: HeaderMatch, isWanted: boolean, log: ProbeLog): boolean {
  const { header, regexp, allow_missing: mayMiss } = rule;
  const values = headerValues(head.headers, header.toLowerCase());
  if (values.length === 0) {
    if (!mayMiss) log("error", "Missing required header", { header });
    return mayMiss;
  }
  const isMatch = values.some((value) => regexp.matches(Buffer.from(value, "latin1").toString("utf8")));
  if (isMatch === isWanted) return true;
  const message = isWanted ? "Header did not match regular expression" : "Header matched regular expression";
  log("error", message, { header, regexp: regexp.source, value_count: values.length });
  return false;
}

/** Reports whether a body has to be matched against expressions. */
export function hasBodyRules(options: HttpOptions): boolean {
  return options.fail_if_body_matches_regexp.length > 0 || options.fail_if_body_not_matches_regexp.length > 0;
}

/** Months of HTTP dates. */
const DATE =
  /^(?:[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT|[A-Z][a-z]{5,8}, \d{2}-[A-Z][a-z]{2}-\d{2} \d{2}:\d{2}:\d{2} GMT|[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d{2}:\d{2}:\d{2} \d{4})$/;

/** Parses Last-Modified in the three forms of RFC 9110 section 5.6.7, in seconds since 1970; null if it is none. */
export function lastModified(head: ResponseHead): number | null {
  const [value = ""] = headerValues(head.headers, "last-modified");
  if (!DATE.test(value)) return null;
  const ms = Date.parse(value.endsWith("GMT") ? value : `${value} GMT`);
  return Number.isNaN(ms) ? null : Math.floor(ms / 1000);
}
