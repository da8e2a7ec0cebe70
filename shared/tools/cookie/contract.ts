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
    id: text("Id of the finding that costs the points"),
    points: count("Points subtracted from the cookie's 100"),
  },
  "One step of a cookie's score",
);

const Prefix = record(
  {
    name: word(["__Host-", "__Secure-"], "The prefix"),
    valid: truth("The attributes satisfy the prefix; otherwise browsers drop the cookie"),
  },
  "Prefix of the name",
);

const Cookie = record(
  {
    name: text("Name, possibly truncated. The value is never shown"),
    value_length: count("Length of the value in octets"),
    domain: text("Domain that it is sent to, in lower case; only the host itself if host_only"),
    host_only: truth("Not sent to subdomains"),
    path: text("Path that it is sent to, with everything below"),
    expires: Nullable(text("Expires as sent, ISO 8601 UTC; null if absent or not a date")),
    max_age_s: Nullable(integer("Max-Age as sent, in seconds; takes precedence over expires")),
    session: truth("Neither Max-Age nor Expires is set: the cookie ends when the browser closes"),
    deletes: truth("The line removes the cookie: it expires in the past"),
    secure: truth("Sent over HTTPS only"),
    http_only: truth("Hidden from scripts"),
    same_site: Nullable(
      word(["strict", "lax", "none"], "SameSite; null if absent or unknown: browsers mostly use lax"),
    ),
    partitioned: truth("Stored separately for each embedding site (CHIPS)"),
    priority: Nullable(text("Priority as sent (Chromium only)")),
    prefix: Nullable(Prefix),
    size_bytes: count("Length of name and value in octets"),
    first_party: truth("Its domain has the same registrable domain as the page"),
    purpose: word(
      ["session", "csrf", "analytics", "ads", "lb", "unknown"],
      "Purpose, derived from the name; session includes sign-in, lb keeps a visitor on one server",
    ),
    vendor: Nullable(text("Vendor of the product that uses this name; null if unknown")),
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
        "Why browsers drop it; null if they keep it",
      ),
    ),
    penalties: list(Penalty, "Points that its score loses, by finding"),
  },
  "One Set-Cookie line",
);

const Summary = record(
  {
    total: count("Set-Cookie lines with a cookie, redirects included"),
    graded: count(
      "Cookies in the grade: without repeats, deletions, and cookies dropped for reasons that are not graded",
    ),
    rejected: count("Lines that browsers drop"),
    secure: count("With Secure"),
    http_only: count("With HttpOnly"),
    same_site: count("With a SameSite value that browsers know"),
    third_party: count("Of other sites than the page"),
    trackers: count("For analytics or advertising"),
  },
  "Numbers for all lines, also those that are not listed",
);

const Tracker = record(
  {
    host: text("Host that the page refers to"),
    vendor: text("Operator of the host"),
    category: word(["analytics", "ads", "tag_manager", "session_replay", "testing", "marketing", "social"], "Purpose"),
    found_in: word(["element", "script"], "element: the page loads it; script: an inline script contains its name"),
  },
  "A known tracker of another site",
);

/** Cookies of a page and its redirects, their weaknesses, and the trackers in the page. */
export const cookie = defineTool({
  name: "cookie",
  title: "Cookies",
  summary: "Cookies set by a page and its redirects, with flags, weaknesses and purpose, and the trackers in the HTML",
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
    score: points("60 % for the worst cookie and 40 % for the mean. Each cookie has 100 points minus its penalties"),
    findings: findings("Weaknesses of the cookies, worst first. where: the cookie's name"),
    note: Nullable(text("Why nothing was graded; null if a cookie was graded")),
    summary: Summary,
    cookies: list(Cookie, "In the order they were set"),
    trackers_in_html: Nullable(list(Tracker, "By host, in document order; null if the HTML could not be analysed")),
    ...OBSERVED_FIELDS,
  }),
  across: {
    agreeOn: ({ score, cookies }) => [score, cookies.map(({ name, hop_url }) => [name, hop_url])],
    measure: () => ({}),
  },
});
