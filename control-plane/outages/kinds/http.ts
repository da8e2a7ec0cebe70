import { monitorHttp } from "#shared/monitor-checks/monitor-http.ts";
import { isExactNumber, isRawNumber } from "#shared/json/exact.ts";
import { parseJsonPath } from "#shared/json-path/parse.ts";
import type { FieldProblem } from "#shared/schema/problem.ts";
import type { CommonDraft, CommonSettings } from "#control-plane/outages/kinds/common.ts";
import { certificateOf, registrationOfUrl } from "#control-plane/outages/kinds/expiring.ts";
import { PROBE, PROBED, problem, URL_TARGET, type Kind } from "#control-plane/outages/kinds/kind.ts";

/** The status of a URL. */
export const http = {
  ...PROBED,
  label: "HTTP",
  watches: "status of a URL",
  target: URL_TARGET,
  fields: ["method", "request_headers", "body", "expected_code", "expected_codes", "follow", "json", "watch_domain"],
  findConflict: (draft) => requestConflict(draft) ?? jsonConflict(draft),
  expires: (url, { watch_domain: isWatched }) => [
    ...certificateOf(url, null),
    ...(isWatched ? registrationOfUrl(url) : []),
  ],
  evidence: { ...PROBED.evidence, splitsUrl: true },
  probe: {
    ...PROBE,
    contract: monitorHttp,
    params: httpParams,
    secretParams: ({ request_headers, body }) => ({ headers: Object.entries(request_headers), body }),
  },
} as const satisfies Kind<null>;

function requestConflict({ method, body, keyword, json }: CommonDraft): FieldProblem | null {
  if (body !== null && method !== "POST") return problem("body", "enum", "needs method POST; set it, or remove body");
  if (method === "HEAD" && keyword !== null) {
    return problem("method", "enum", "must be GET or POST for a keyword: a response to HEAD has no body");
  }
  if (method === "HEAD" && json !== null) {
    return problem("method", "enum", "must be GET or POST for a json condition: a response to HEAD has no body");
  }
  return null;
}

/** Maximum length of a number, in characters. */
const LONGEST_NUMBER = 1_000;

function jsonConflict({ json }: CommonDraft): FieldProblem | null {
  if (json === null) return null;
  const path = parseJsonPath(json.path);
  if (!path.ok) return problem("json.path", "type", `must be a JSONPath (RFC 9535): ${path.message}`);
  if (json.op === "exists" && json.value !== null) {
    return problem("json.value", "type", "must be left out if op is exists");
  }
  if ((json.op === "less" || json.op === "greater") && !isExactNumber(json.value)) {
    return problem("json.value", "type", `must be a number if op is ${json.op}`);
  }
  if (isRawNumber(json.value) && json.value.rawJSON.length > LONGEST_NUMBER) {
    return problem("json.value", "range", `must have at most ${LONGEST_NUMBER} characters if it is a number`);
  }
  return null;
}

function httpParams(
  url: string,
  { method, follow, keyword, keyword_mode, json, ...settings }: CommonSettings,
): Readonly<Record<string, unknown>> {
  return {
    url,
    method,
    follow,
    headers: [],
    body: null,
    expected: (settings.expected_codes ?? [settings.expected_code]).map(rangeOf),
    keyword,
    keyword_mode,
    json,
  };
}

/** Converts a code, a range such as "200-299", or a class such as "2xx", to both of its ends. */
function rangeOf(codes: number | string): readonly [number, number] {
  if (typeof codes === "number") return [codes, codes];
  if (codes.endsWith("xx")) return [Number(codes[0]) * 100, Number(codes[0]) * 100 + 99];
  const [from = "", to = from] = codes.split("-");
  return [Number(from), Number(to)];
}
