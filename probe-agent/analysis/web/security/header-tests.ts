import { metaContent } from "#probe-agent/analysis/html/page.ts";
import { outcome, type SecurityView, type TestOutcome } from "#probe-agent/analysis/web/security/outcome.ts";
import { headerValues, joinedHeader } from "#probe-agent/analysis/http/header-list.ts";
import { structuredToken } from "#probe-agent/analysis/web/security/structured-fields.ts";

const PRIVATE = new Set(["no-referrer", "same-origin", "strict-origin", "strict-origin-when-cross-origin"]);
const UNSAFE = new Set(["origin", "origin-when-cross-origin", "unsafe-url", "no-referrer-when-downgrade"]);

/** Returns the last known policy; null if none. A meta element follows the header (W3C Referrer Policy 8.1). */
export function effectiveReferrerPolicy(sent: readonly string[]): string | null {
  const words = sent.join(",").toLowerCase().split(",");
  return words.map((word) => word.trim()).findLast((word) => PRIVATE.has(word) || UNSAFE.has(word)) ?? null;
}

/** Reports whether a policy hides paths from other sites. */
export function isPrivateReferrerPolicy(policy: string): boolean {
  return PRIVATE.has(policy);
}

/** Runs MDN's test referrer-policy. */
export function referrerPolicyTest({ headers, page }: SecurityView): TestOutcome {
  const meta = metaContent(page.facts, "referrer");
  const sent = [...headerValues(headers, "referrer-policy"), ...(meta === null ? [] : [meta])];
  if (sent.length === 0) return outcome("referrer-policy-not-implemented", true, null);
  const policy = effectiveReferrerPolicy(sent);
  const value = sent.join(", ");
  if (policy === null) return outcome("referrer-policy-header-invalid", false, value);
  return isPrivateReferrerPolicy(policy)
    ? outcome("referrer-policy-private", true, value)
    : outcome("referrer-policy-unsafe", false, value);
}

/** Runs MDN's test x-content-type-options. */
export function contentTypeOptionsTest({ headers }: SecurityView): TestOutcome {
  const value = joinedHeader(headers, "x-content-type-options");
  if (value === null || value === "") return outcome("x-content-type-options-not-implemented", false, value);
  return value.trim().toLowerCase() === "nosniff"
    ? outcome("x-content-type-options-nosniff", true, value)
    : outcome("x-content-type-options-header-invalid", false, value);
}

/** Runs MDN's test x-frame-options. frame-ancestors replaces X-Frame-Options, regardless of what it allows. */
export function frameOptionsTest({ headers }: SecurityView, frameAncestors: readonly string[] | null): TestOutcome {
  const value = joinedHeader(headers, "x-frame-options");
  if (frameAncestors !== null) return outcome("x-frame-options-implemented-via-csp", true, frameAncestors.join(" "));
  if (value === null || value === "") return outcome("x-frame-options-not-implemented", false, value);
  const word = value.trim().toLowerCase();
  if (word === "deny" || word === "sameorigin") return outcome("x-frame-options-sameorigin-or-deny", true, value);
  return word.startsWith("allow-from")
    ? outcome("x-frame-options-allow-from-origin", true, value)
    : outcome("x-frame-options-header-invalid", false, value);
}

/** Runs MDN's test cross-origin-resource-policy. */
export function resourcePolicyTest({ headers }: SecurityView): TestOutcome {
  const value = joinedHeader(headers, "cross-origin-resource-policy");
  if (value === null || value === "") return outcome("corp-not-implemented", true, value);
  const word = value.trim().toLowerCase();
  const known = word === "same-site" || word === "same-origin" || word === "cross-origin";
  return known ? outcome(`corp-implemented-with-${word}`, true, value) : outcome("corp-header-invalid", false, value);
}

const EMBEDDER = new Set(["require-corp", "credentialless", "unsafe-none"]);
const OPENER = new Set(["same-origin", "same-origin-allow-popups", "noopener-allow-popups", "unsafe-none"]);

/** Runs MDN's test cross-origin-embedder-policy. */
export function embedderPolicyTest({ headers }: SecurityView): TestOutcome {
  return tokenTest(headerValues(headers, "cross-origin-embedder-policy"), "coep", EMBEDDER);
}

/** Runs MDN's test cross-origin-opener-policy. */
export function openerPolicyTest({ headers }: SecurityView): TestOutcome {
  return tokenTest(headerValues(headers, "cross-origin-opener-policy"), "coop", OPENER);
}

function tokenTest(values: readonly string[], prefix: "coep" | "coop", known: ReadonlySet<string>): TestOutcome {
  const [value] = values;
  if (value === undefined || (values.length === 1 && value === "")) {
    return outcome(`${prefix}-not-implemented`, true, value ?? null);
  }
  const token = values.length === 1 ? structuredToken(value.trim()) : null;
  return token !== null && known.has(token)
    ? outcome(`${prefix}-implemented-with-${token}`, true, value)
    : outcome(`${prefix}-header-invalid`, false, values.join(", "));
}

/** Runs MDN's test cross-origin-resource-sharing. It fails only if the Origin is echoed together with credentials. */
export function corsTest({ snapshot }: SecurityView): TestOutcome {
  const { cors } = snapshot;
  const allowed = cors === null ? undefined : headerValues(cors.headers, "access-control-allow-origin")[0];
  const result = "cross-origin-resource-sharing";
  if (cors === null || allowed === undefined || allowed === "") return outcome(`${result}-not-implemented`, true, null);
  const credentials = headerValues(cors.headers, "access-control-allow-credentials")[0]?.trim().toLowerCase();
  if (allowed.trim() === "*") return outcome(`${result}-implemented-with-public-access`, true, allowed);
  return allowed === cors.origin && credentials === "true"
    ? outcome(`${result}-implemented-with-universal-access`, false, allowed)
    : outcome(`${result}-implemented-with-restricted-access`, true, allowed);
}
