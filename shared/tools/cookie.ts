import { Type } from "typebox";
import { defineTool } from "#shared/tools/define.ts";
import { Nullable, Url } from "#shared/tools/fields.ts";
import {
  count,
  findings,
  integer,
  letterGrade,
  list,
  OBSERVED_FIELDS,
  PAGE_FIELDS,
  points,
  record,
  text,
  truth,
  word,
} from "#shared/tools/shapes.ts";

const Penalty = record(
  {
    id: text("Id of the finding that costs them"),
    points: count("Points taken from the cookie's 100"),
  },
  "One step of a cookie's score",
);

const Prefix = record(
  {
    name: word(["__Host-", "__Secure-"], "The prefix"),
    valid: truth("The attributes keep what it promises; else browsers drop the cookie"),
  },
  "What the name's prefix promises",
);

const Cookie = record(
  {
    name: text("Name, maybe cut; its value is never shown"),
    value_length: count("Length of the value, octets"),
    domain: text("Domain it is sent to, lower case; the host alone where host_only"),
    host_only: truth("Not sent to subdomains"),
    path: text("Path it is sent below"),
    expires: Nullable(text("Expires as sent, ISO 8601 UTC; null where absent or unreadable")),
    max_age_s: Nullable(integer("Max-Age as sent, seconds; wins over expires")),
    session: truth("Neither Max-Age nor Expires: gone when the browser closes"),
    deletes: truth("The line removes the cookie: its life ends in the past"),
    secure: truth("Sent over HTTPS only"),
    http_only: truth("Hidden from scripts"),
    same_site: Nullable(word(["strict", "lax", "none"], "SameSite; null where absent or unknown: mostly lax then")),
    partitioned: truth("Kept apart for each site that embeds it (CHIPS)"),
    priority: Nullable(text("Priority as sent (Chromium only)")),
    prefix: Nullable(Prefix),
    size_bytes: count("Name and value, octets"),
    first_party: truth("Of the same registrable domain as the page"),
    purpose: word(
      ["session", "csrf", "analytics", "ads", "lb", "unknown"],
      "By its name; session includes sign-in, lb keeps a visitor at one server",
    ),
    vendor: Nullable(text("Maker of the product that uses this name, where known")),
    hop_url: text("Response that set it: the page or a redirect on the way to it"),
    rejected_reason: Nullable(
      word(
        [
          "control_character",
          "too_large",
          "domain_not_ascii",
          "public_suffix",
          "domain_mismatch",
          "insecure_origin",
          "samesite_none_without_secure",
          "partitioned_without_secure",
          "secure_prefix",
          "host_prefix",
          "nameless_prefix",
        ],
        "Why browsers drop it; null where they keep it",
      ),
    ),
    penalties: list(Penalty, "What its score loses, and by which finding"),
  },
  "One Set-Cookie line",
);

const Summary = record(
  {
    total: count("Set-Cookie lines with a cookie, on redirects too"),
    graded: count("Cookies the grade is made of: repeats, deletions and what never comes into being left out"),
    rejected: count("Lines browsers drop"),
    secure: count("With Secure"),
    http_only: count("With HttpOnly"),
    same_site: count("With a SameSite browsers know"),
    third_party: count("Of other sites than the page's"),
    trackers: count("For analytics or advertising"),
  },
  "Figures over all lines, those beyond the list included",
);

const Tracker = record(
  {
    host: text("Host the page names"),
    vendor: text("Who runs it"),
    category: word(
      ["analytics", "ads", "tag_manager", "session_replay", "testing", "marketing", "social"],
      "What it is for",
    ),
    found_in: word(["element", "script"], "element: the page loads it; script: an inline script names it"),
  },
  "A known tracker of another site",
);

/** The cookies a page and its redirects set, how well they are kept, and the trackers the page names. */
export const cookie = defineTool({
  name: "cookie",
  title: "Cookies",
  summary:
    "Every cookie a page and its redirects set, with flags, weaknesses and purpose, and the trackers in its HTML",
  scope: "check",
  toolset: "web",
  target: { param: "url", kind: "url", connects: true },
  example: { url: "https://example.com" },
  deadlineMs: () => 30_000,
  open: { q: "url" },
  params: Type.Object({ url: Url({ description: "Page to request; redirects are followed" }) }),
  result: Type.Object({
    ...PAGE_FIELDS,
    grade: letterGrade("Grade of the score; A+ without cookies"),
    score: points("60 % the worst cookie, 40 % their mean, each 100 less its penalties"),
    findings: findings("What is weak about the cookies, worst first; where: the cookie's name"),
    note: Nullable(text("Set where there is nothing to grade")),
    summary: Summary,
    cookies: list(Cookie, "In the order they were set"),
    trackers_in_html: Nullable(list(Tracker, "By host, in document order; null where the HTML could not be analysed")),
    ...OBSERVED_FIELDS,
  }),
  across: {
    agreeOn: ({ score, cookies }) => [score, cookies.map(({ name, hop_url }) => [name, hop_url])],
    measure: () => ({}),
  },
});
