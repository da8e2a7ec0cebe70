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
    pass: truth("The result is as expected, or does no harm"),
    result: text("MDN's word for the result, e.g. csp-not-implemented"),
    score_modifier: integer("Points added or taken; additions count from 90 points only"),
    expectation: text("MDN's word for the result to reach"),
    value: Nullable(text("What it was read from, maybe cut; null where nothing was sent")),
    recommendation: Nullable(text("What to do; null where nothing is to be gained")),
    link: text("MDN's guide"),
  },
  "One test of MDN HTTP Observatory",
);

const Header = record(
  { name: text("Name as sent"), value: text("Value, maybe cut; hidden for cookies") },
  "One header",
);

const Hsts = record(
  {
    value: Nullable(
      text("Strict-Transport-Security of the page, the first if several; null where absent or over HTTP"),
    ),
    max_age_s: Nullable(integer("max-age, seconds; null where absent or void")),
    include_subdomains: truth("Holds for subdomains too"),
    preload: truth("Asks for a place in the preload list"),
    preloaded: Nullable(truth("The host is in browsers' preload list; null where this probe has no list")),
    preloaded_include_subdomains: Nullable(truth("That entry holds for subdomains too; null without an entry")),
    preload_domain: Nullable(text("Registrable domain that would have to be submitted; null where there is none")),
    preload_eligible: Nullable(truth("It may be submitted; findings say why not; null where that is not fully known")),
  },
  "HTTP Strict Transport Security",
);

/** The grade MDN HTTP Observatory gives, made from what this probe saw. */
export const security = defineTool({
  name: "security",
  title: "Security headers",
  summary: "The security grade of a site by MDN HTTP Observatory's published method, test by test",
  scope: "check",
  toolset: "web",
  target: { param: "url", kind: "url", connects: true },
  example: { url: "https://example.com" },
  deadlineMs: () => 30_000,
  params: Type.Object({ url: Url({ description: "Page to grade; redirects are followed" }) }),
  result: Type.Object({
    ...PAGE_FIELDS,
    score: Nullable(points("raw_score, 100 at most; null where the status is none that is graded")),
    raw_score: Nullable(count("100 plus the modifiers; null likewise")),
    grade: Nullable(word(GRADES, "MDN's grade of raw_score; null likewise")),
    mdn: Nullable(
      record(
        { raw_score: count("Points"), grade: word(GRADES, "Grade") },
        "The same as MDN publishes it, which takes repeated directives of a policy for an error; null likewise",
      ),
    ),
    algorithm_version: integer("Version of MDN's algorithm"),
    tests: list(Test, "In MDN's order; empty where nothing is graded"),
    duplicate_directives: texts("Directives given more than once in the page's policy: browsers heed the first"),
    headers: record(
      {
        present: list(Header, "Security headers sent, repeats joined"),
        missing: texts("Security headers not sent"),
        raw: list(Header, "All headers of the page in wire order"),
      },
      "Headers of the page",
    ),
    hsts: Hsts,
    findings: findings("One for each failed test, and why the domain may not enter the preload list; worst first"),
    ...OBSERVED_FIELDS,
  }),
  across: { agreeOn: ({ raw_score }) => raw_score, measure: () => ({}) },
});
