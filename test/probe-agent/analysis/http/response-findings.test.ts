import { expect, it } from "vitest";
import { sortFindings } from "#shared/contracts/findings.ts";
import { responseFindings, SYNTAX_FAULTS, type ResponseFacts } from "#probe-agent/analysis/http/response-findings.ts";
import { expectWellFormed, kinds } from "#test/support/findings.ts";

const GOOD: ResponseFacts = { code: 200, location: null, faults: [], tls: null };

it.each<[change: Partial<ResponseFacts>, kinds: readonly string[]]>([
  [{}, []],
  [{ code: 301, location: "https://example.com/" }, []],
  [{ code: 301 }, ["critical bad-location"]],
  [{ code: 404 }, ["critical client-error"]],
  [{ code: 401 }, ["warning client-error"]],
  [{ code: 429 }, ["warning client-error"]],
  [{ code: 503 }, ["critical server-error"]],
  [{ tls: { authorized: true, error: null } }, []],
  [{ tls: { authorized: false, error: "expired" } }, ["critical bad-certificate"]],
  [{ faults: ["bare_line_feed", "never_seen"] }, ["warning bare-line-feed", "warning never-seen"]],
])("a response %j shows %j", (change, expected) => {
  const findings = sortFindings(responseFindings({ ...GOOD, ...change }));
  expectWellFormed(findings);
  expect(kinds(findings)).toEqual(expected);
});

it("describes every syntax error that the client tolerates", () => {
  const findings = responseFindings({ ...GOOD, faults: Object.keys(SYNTAX_FAULTS) });
  expectWellFormed(findings);
  expect(findings.map(({ reference }) => reference).filter((one) => one === null)).toEqual([]);
  expect(findings).toHaveLength(6);
});
