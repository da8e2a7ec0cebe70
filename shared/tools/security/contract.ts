import { Type } from "typebox";
import { defineTool } from "#shared/tools/define.ts";
import { Nullable, Url } from "#shared/tools/fields.ts";
import {
  count,
  findings,
  integer,
  list,
  OBSERVED_FIELDS,
  PAGE_FIELDS,
  points,
  record,
  text,
  texts,
  truth,
  word,
} from "#shared/tools/shapes.ts";

const GRADES = ["A+", "A", "A-", "B+", "B", "B-", "C+", "C", "C-", "D+", "D", "D-", "F"] as const;

const Test = record(
  {
    name: text("MDN's name of the test, e.g. content-security-policy"),
    pass: truth("The result is as expected or harmless"),
    result: text("MDN's name of the result, e.g. csp-not-implemented"),
    score_modifier: integer("Points added or, if negative, subtracted. Additions count only from 90 points"),
    expectation: text("MDN's name of the expected result"),
    value: Nullable(text("Tested value, possibly truncated; null if nothing was sent")),
    recommendation: Nullable(text("Advice; null if there is nothing to improve")),
    link: text("URL of MDN's guide"),
  },
  "One test of MDN HTTP Observatory",
);

const Header = record(
  { name: text("Name as sent"), value: text("Value, possibly truncated; hidden for cookies") },
  "One header",
);

const Hsts = record(
  {
    value: Nullable(
      text("Strict-Transport-Security of the page, the first if there are several; null if absent or over HTTP"),
    ),
    max_age_s: Nullable(integer("max-age in seconds; null if absent or invalid")),
    include_subdomains: truth("The header includes subdomains"),
    preload: truth("The header requests to be in the preload list"),
    preloaded: Nullable(truth("The host is in browsers' preload list; null if this probe has no list")),
    preloaded_include_subdomains: Nullable(truth("The entry in the list includes subdomains; null without an entry")),
    preload_domain: Nullable(text("Registrable domain to submit to the list; null if there is none")),
    preload_eligible: Nullable(truth("The domain can be submitted; findings list the reasons if not; null if unknown")),
  },
  "HTTP Strict Transport Security",
);

/** Security grade by the method of MDN HTTP Observatory, from the observations of this probe. */
export const security = defineTool({
  name: "security",
  title: "Security headers",
  summary: "Security grade of a site by the published method of MDN HTTP Observatory, with each test",
  scope: "check",
  toolset: "web",
  target: { param: "url", kind: "url", connects: true },
  example: { url: "https://example.com" },
  deadlineMs: () => 30_000,
  params: Type.Object({ url: Url({ description: "Page to grade. Redirects are followed" }) }),
  result: Type.Object({
    ...PAGE_FIELDS,
    score: Nullable(points("raw_score, limited to 100; null if nothing was graded")),
    raw_score: Nullable(count("100 plus the modifiers; null if nothing was graded")),
    grade: Nullable(word(GRADES, "MDN's grade of raw_score; null if nothing was graded")),
    mdn: Nullable(
      record(
        { raw_score: count("Points"), grade: word(GRADES, "Grade") },
        "The same as MDN publishes it. MDN treats repeated directives of a policy as an error. Null if nothing was graded",
      ),
    ),
    algorithm_version: integer("Version of MDN's algorithm"),
    tests: list(Test, "In MDN's order; empty if nothing was graded"),
    duplicate_directives: texts("Directives that the page's policy repeats. Browsers use the first"),
    headers: record(
      {
        present: list(Header, "Security headers that the page sends, repeats joined"),
        missing: texts("Security headers that the page does not send"),
        raw: list(Header, "All headers of the page in wire order"),
      },
      "Headers of the page",
    ),
    hsts: Hsts,
    findings: findings("Failed tests, and reasons why the domain cannot enter the preload list; worst first"),
    ...OBSERVED_FIELDS,
  }),
  across: { agreeOn: ({ raw_score }) => raw_score, measure: () => ({}) },
});
