import { registeredDomain } from "#shared/internet/registrable-domain.ts";
import type { ScriptTag } from "#probe-agent/analysis/html/page.ts";
import { outcome, type SecurityView, type TestOutcome } from "#probe-agent/analysis/web/security/outcome.ts";
import { joinedHeader, mimeEssence } from "#probe-agent/analysis/http/header-list.ts";

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
export function sriTest({ snapshot, headers, page }: SecurityView): TestOutcome {
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
