import { classifyCsp, cspPasses } from "#probe-agent/analysis/web/csp/observatory.ts";
import { readHtml, type Page } from "#probe-agent/analysis/html/read-page.ts";
import { metaPragmas, type ScriptTag } from "#probe-agent/analysis/html/page.ts";
import { cookiesTest } from "#probe-agent/analysis/web/security/cookies-test.ts";
import {
  contentTypeOptionsTest,
  corsTest,
  embedderPolicyTest,
  frameOptionsTest,
  openerPolicyTest,
  referrerPolicyTest,
  resourcePolicyTest,
} from "#probe-agent/analysis/web/security/header-tests.ts";
import { outcome, type SecurityView, type TestOutcome } from "#probe-agent/analysis/web/security/outcome.ts";
import { BONUS_FROM, SCORES, securityGrade, type SecurityLetter } from "#probe-agent/analysis/web/security/scores.ts";
import type { SecuritySnapshot } from "#probe-agent/analysis/web/security/snapshot.ts";
import { headerValues, joinedHeader, mimeEssence } from "#probe-agent/analysis/http/header-list.ts";
import { HSTS_SIX_MONTHS, parseHsts } from "#probe-agent/analysis/web/security/hsts.ts";
import { registeredDomain } from "#shared/internet/registrable-domain.ts";

/** One test of the grade, with MDN's names. */
export interface SecurityTest {
  readonly name: string;
  readonly result: string;
  readonly pass: boolean;
  readonly score_modifier: number;
  /** The tested value; null if nothing was sent. */
  readonly value: string | null;
  /** Advice; null if there is nothing to improve. */
  readonly recommendation: string | null;
}

/** A site's security grade by the method of MDN HTTP Observatory. */
interface SecurityGrade {
  /** 0 to 100. */
  readonly score: number;
  /** MDN's score, which can exceed 100 with bonus points. */
  readonly raw_score: number;
  readonly grade: SecurityLetter;
  readonly algorithm_version: number;
  readonly tests: readonly SecurityTest[];
  /** Directives that the policy repeats. MDN calls such a policy invalid; browsers use the first. */
  readonly duplicate_directives: readonly string[];
}

/** Version of MDN's algorithm for these results and points. */
export const ALGORITHM_VERSION = 6;

/**
 * Grades a snapshot. `compat: "mdn"` reproduces MDN's published grade even if MDN's parser reads policies differently
 * from browsers. `now` affects only cookie dates, which the grade does not use. `page` is the snapshot's HTML if it is
 * already parsed.
 */
export function gradeSecurity(
  snapshot: SecuritySnapshot,
  options: { readonly compat?: "mdn"; readonly now?: Date; readonly page?: Page } = {},
): SecurityGrade {
  const { headers } = snapshot;
  const page = options.page ?? readHtml(snapshot.html);
  const view: SecurityView = { snapshot, headers, page, now: options.now ?? new Date(0) };
  const csp = classifyCsp({
    headers: headerValues(headers, "content-security-policy"),
    reportOnlyHeaders: headerValues(headers, "content-security-policy-report-only"),
    meta: metaPragmas(view.page.facts, "content-security-policy"),
    https: snapshot.url.startsWith("https:"),
    ...(options.compat === undefined ? {} : { compat: options.compat }),
  });
  const policy = headerValues(headers, "content-security-policy").join(", ") || null;
  const hsts = hstsTest(view);
  const outcomes: readonly (readonly [string, TestOutcome])[] = [
    ["content-security-policy", outcome(csp.result, cspPasses(csp.result), policy)],
    ["cookies", cookiesTest(headerValues(headers, "set-cookie"), snapshot.url, hsts.pass, view.now)],
    ["cross-origin-resource-sharing", corsTest(view)],
    ["redirection", redirectionTest(view)],
    ["referrer-policy", referrerPolicyTest(view)],
    ["strict-transport-security", hsts],
    ["subresource-integrity", sriTest(view)],
    ["x-content-type-options", contentTypeOptionsTest(view)],
    ["x-frame-options", frameOptionsTest(view, csp.frameAncestors)],
    ["cross-origin-resource-policy", resourcePolicyTest(view)],
    ["cross-origin-embedder-policy", embedderPolicyTest(view)],
    ["cross-origin-opener-policy", openerPolicyTest(view)],
  ];
  const tests = outcomes.map(([name, found]) => scoreTest(name, found));
  const rawScore = totalOf(tests.map((test) => test.score_modifier));
  return {
    score: Math.min(100, rawScore),
    raw_score: rawScore,
    grade: securityGrade(rawScore),
    algorithm_version: ALGORITHM_VERSION,
    tests,
    duplicate_directives: csp.duplicates,
  };
}

/** Reports whether MDN grades a response with this status: a page or a request to sign in. */
export function isGradable(status: number): boolean {
  return (status >= 200 && status < 400) || status === 401 || status === 403;
}

function scoreTest(name: string, found: TestOutcome): SecurityTest {
  const { modifier, advice } = SCORES[found.result] ?? { modifier: 0, advice: null };
  return { name, ...found, score_modifier: modifier, recommendation: advice };
}

/** Computes the total score. Penalties always count; bonuses count only if the score without them is an A. */
function totalOf(modifiers: readonly number[]): number {
  const withoutBonus = modifiers.reduce((sum, one) => sum + Math.min(0, one), 100);
  const bonus = modifiers.reduce((sum, one) => sum + Math.max(0, one), 0);
  return Math.max(0, withoutBonus >= BONUS_FROM ? withoutBonus + bonus : withoutBonus);
}

/** Runs MDN's test strict-transport-security. The preload list overrides the header, but not a lack of HTTPS. */
function hstsTest({ snapshot, headers }: SecurityView): TestOutcome {
  const value = joinedHeader(headers, "strict-transport-security");
  if (!snapshot.https) return outcome("hsts-not-implemented-no-https", false, value);
  if (snapshot.hsts_preloaded !== null) return outcome("hsts-preloaded", true, value);
  if (!snapshot.verified) return outcome("hsts-invalid-cert", false, value);
  if (value === null) return outcome("hsts-not-implemented", false, null);
  const { maxAge } = parseHsts(value);
  if (maxAge === null) return outcome("hsts-header-invalid", false, value);
  return maxAge >= HSTS_SIX_MONTHS
    ? outcome("hsts-implemented-max-age-at-least-six-months", true, value)
    : outcome("hsts-implemented-max-age-less-than-six-months", false, value);
}

/** Runs MDN's test redirection. */
function redirectionTest({ snapshot }: SecurityView): TestOutcome {
  const route = snapshot.redirects.flatMap(({ url }) => (URL.canParse(url) ? [new URL(url)] : []));
  const [first, second] = route;
  const last = route.at(-1);
  const value = route.map((url) => url.href).join(" -> ");
  if (first === undefined || last === undefined) return outcome("redirection-not-needed-no-http", true, null);
  if (!snapshot.verified) return outcome("redirection-invalid-cert", false, value);
  if (route.every((url) => isPreloaded(snapshot, url.hostname))) {
    return outcome("redirection-all-redirects-preloaded", true, value);
  }
  if (second === undefined) return outcome("redirection-missing", false, value);
  if (last.protocol !== "https:") return outcome("redirection-not-to-https", false, value);
  if (second.protocol === "http:") return outcome("redirection-not-to-https-on-initial-redirection", false, value);
  return first.protocol === "http:" && first.hostname !== second.hostname
    ? outcome("redirection-off-host-from-http", false, value)
    : outcome("redirection-to-https", true, value);
}

/** Reports whether a host is preloaded. Only the entry of the page's host is known; it may include subdomains. */
function isPreloaded(snapshot: SecuritySnapshot, host: string): boolean {
  if (snapshot.hsts_preloaded === null) return false;
  const own = new URL(snapshot.url).hostname;
  return host === own || (snapshot.hsts_preloaded.include_subdomains && host.endsWith(`.${own}`));
}

const HTML_TYPES = new Set(["text/html", "application/xhtml+xml"]);
/** Results of single scripts, worst last. The worst one of all scripts is the result. */
const WORSENING = [
  "sri-implemented-and-all-scripts-loaded-securely",
  "sri-implemented-but-external-scripts-not-loaded-securely",
  "sri-not-implemented-but-external-scripts-loaded-securely",
  "sri-not-implemented-and-external-scripts-not-loaded-securely",
];
const PASSING = new Set([
  "sri-implemented-and-all-scripts-loaded-securely",
  "sri-implemented-and-external-scripts-loaded-securely",
]);

/**
 * Runs MDN's test subresource-integrity. Scripts of other sites need https and integrity. Scripts of the same
 * registrable domain get a bonus for integrity.
 */
function sriTest({ snapshot, headers, page }: SecurityView): TestOutcome {
  const type = mimeEssence(joinedHeader(headers, "content-type"));
  if (type !== "" && !HTML_TYPES.has(type)) return outcome("sri-not-implemented-response-not-html", true, type);
  const { scripts } = page.facts;
  if (scripts.length === 0) return outcome("sri-not-implemented-but-no-scripts-loaded", true, null);
  const url = new URL(snapshot.url);
  const tested = scripts.flatMap((script) => testScript(script, url));
  const found = new Set(tested.map((one) => one.result));
  const foreign = tested.filter((one) => one.foreign).map((one) => one.src);
  const value = foreign.length === 0 ? null : foreign.join(" ");
  const worst = WORSENING.findLast((result) => found.has(result));
  if (worst !== undefined) return outcome(worst, PASSING.has(worst), value);
  return foreign.length > 0
    ? outcome("sri-implemented-and-external-scripts-loaded-securely", true, value)
    : outcome("sri-not-implemented-but-all-scripts-loaded-from-secure-origin", true, null);
}

interface TestedScript {
  readonly src: string;
  readonly foreign: boolean;
  /** One of WORSENING; null if the script has no effect on the result. */
  readonly result: string | null;
}

function testScript(script: ScriptTag, page: URL): TestedScript[] {
  const src = script.src ?? "";
  if (src === "") return [];
  const integrity = script.integrity !== null && script.integrity !== "";
  const absolute = /^https?:\/\//i.test(src);
  // A URL without scheme uses the page's scheme, which can be http. It counts as not secure and not the site's own.
  const protocolRelative = /^\/\/[^/]/.test(src);
  const own = !protocolRelative && (!absolute || sameSite(src, page));
  const secure = absolute ? /^https:/i.test(src) : !protocolRelative && page.protocol === "https:";
  if (own) {
    const bonus = integrity && secure ? "sri-implemented-and-all-scripts-loaded-securely" : null;
    return [{ src, foreign: false, result: bonus }];
  }
  if (integrity && secure) return [{ src, foreign: true, result: null }];
  if (integrity) return [{ src, foreign: true, result: "sri-implemented-but-external-scripts-not-loaded-securely" }];
  const how = secure ? "but-external-scripts-loaded-securely" : "and-external-scripts-not-loaded-securely";
  return [{ src, foreign: true, result: `sri-not-implemented-${how}` }];
}

function sameSite(src: string, page: URL): boolean {
  if (!URL.canParse(src)) return false;
  const host = new URL(src).hostname;
  return (
    host === page.hostname ||
    (registeredDomain(host) !== null && registeredDomain(host) === registeredDomain(page.hostname))
  );
}
