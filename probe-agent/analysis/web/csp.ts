import { effectivePolicy, type EffectivePolicy } from "#probe-agent/analysis/web/csp/effective.ts";
import type { CspFinding } from "#probe-agent/analysis/web/csp/finding.ts";
import { cspFindings } from "#probe-agent/analysis/web/csp/findings.ts";
import { parsePolicies, type Policy, type PolicyText } from "#probe-agent/analysis/web/csp/parse.ts";
import { letterGrade, type LetterGrade } from "#probe-agent/analysis/text/letter-grade.ts";
import { isNonceOrHash, isSchemeSource, isWildcard } from "#probe-agent/analysis/web/csp/sources.ts";

/** A policy as plain data. */
export interface CspPolicyReport {
  readonly source: "header" | "meta" | "report-only";
  readonly raw: string;
  readonly directives: Readonly<Record<string, readonly string[]>>;
}

/** Analysis of a page's policies. All values are plain data that JSON preserves. */
export interface CspAnalysis {
  readonly grade: LetterGrade;
  /** 0 to 100; at most 30 if all policies are report-only. */
  readonly score: number;
  readonly findings: readonly CspFinding[];
  /** What all enforced policies together allow; if none is enforced, what the report-only policies allow. */
  readonly effective: EffectivePolicy;
  /** Changes of the score from 100. */
  readonly adjustments: readonly CspAdjustment[];
  readonly policies: readonly CspPolicyReport[];
  /** Whether at least one policy is enforced. */
  readonly enforced: boolean;
  readonly strict_csp: boolean;
  readonly trusted_types: boolean;
  readonly reporting: { readonly report_uri: readonly string[]; readonly report_to: readonly string[] };
  /** Allowed script sources that are known to serve content which bypasses the policy. */
  readonly bypass_hosts: readonly string[];
}

/** Maximum score if no policy is enforced. */
const REPORT_ONLY_MAXIMUM = 30;

/** Points added to or subtracted from 100, and the reason. */
interface CspAdjustment {
  readonly id: string;
  readonly points: number;
  readonly message: string;
}

type Sources = readonly string[] | null;

/**
 * Grades the Content-Security-Policy of a page from its header values and meta contents, unchanged; [] if there are
 * none. Several policies are combined, as in browsers.
 */
export function analyseCsp(texts: readonly PolicyText[]): CspAnalysis {
  const { policies, truncated } = parsePolicies(texts);
  const enforcedPolicies = policies.filter((policy) => policy.source !== "report-only");
  const enforced = enforcedPolicies.length > 0;
  const graded = enforced ? enforcedPolicies : policies;
  const findings = cspFindings(graded, truncated);
  const effective = effectivePolicy(graded);
  const adjustments = graded.length === 0 ? [] : cspAdjustments(effective, findings);
  const score = graded.length === 0 ? 0 : clamp(adjustments, enforced ? 100 : REPORT_ONLY_MAXIMUM);
  const values = (name: string): string[] => [
    ...new Set(policies.flatMap((one) => [...(one.directives.get(name) ?? [])])),
  ];
  return {
    grade: letterGrade(score),
    score,
    findings,
    effective,
    adjustments,
    policies: policies.map(toPlainPolicy),
    enforced,
    strict_csp: graded.length > 0 && isStrict(effective),
    trusted_types: effective.require_trusted_types_for.includes("'script'"),
    reporting: { report_uri: values("report-uri"), report_to: values("report-to") },
    bypass_hosts: bypassHosts(findings),
  };
}

function clamp(adjustments: readonly CspAdjustment[], maximum: number): number {
  return Math.max(
    0,
    Math.min(
      maximum,
      adjustments.reduce((sum, one) => sum + one.points, 100),
    ),
  );
}

function bypassHosts(findings: readonly CspFinding[]): string[] {
  const bypasses = findings.filter((one) => one.type === "script_allowlist_bypass" && one.severity === "high");
  return [...new Set(bypasses.map((one) => one.value ?? ""))];
}

function toPlainPolicy(policy: Policy): CspPolicyReport {
  return { source: policy.source, raw: policy.raw, directives: Object.fromEntries(policy.directives) };
}

/** Reports whether only nonces or hashes allow scripts, and event handlers, plugins and base elements are blocked. */
function isStrict(effective: EffectivePolicy): boolean {
  const script = effective.script_src_elem;
  if (script === null || !script.some(isNonceOrHash) || allows(effective.script_src_attr, "'unsafe-inline'"))
    return false;
  if (script.some((source) => !source.startsWith("'") || source === "'unsafe-inline'" || source === "'self'"))
    return false;
  const locked = (list: Sources, allowed: readonly string[]): boolean =>
    list !== null && list.every((source) => allowed.includes(source));
  return locked(effective.object_src, []) && locked(effective.base_uri, ["'self'"]);
}

/**
 * Returns the changes of the score for what all policies together allow. Script elements and event handlers have their
 * own directives, which replace script-src (CSP3 section 6.7.4); script-src then decides only about eval().
 */
function cspAdjustments(effective: EffectivePolicy, findings: readonly CspFinding[]): CspAdjustment[] {
  const adjustments: CspAdjustment[] = [];
  const add = (when: boolean, id: string, points: number, message: string): void => {
    if (when) adjustments.push({ id, points, message });
  };
  const { script_src: script, script_src_elem: elements, script_src_attr: handlers } = effective;
  const usesNonces = [...(script ?? []), ...(elements ?? [])].some(
    (source) => isNonceOrHash(source) || source === "'strict-dynamic'",
  );
  const found = (type: CspFinding["type"]): boolean => findings.some((finding) => finding.type === type);
  const inline = [elements, handlers].some((sources) => allows(sources, "'unsafe-inline'"));
  add(inline, "script_unsafe_inline", -40, "Inline scripts or event handlers run");
  add(isBroad(elements), "script_broad", -30, "Scripts load from any host");
  add(allows(script, "'unsafe-eval'"), "script_unsafe_eval", -15, "eval() is allowed");
  add(isBroad(effective.object_src), "object_unrestricted", -20, "Plugins and embeds load from any host");
  add(effective.base_uri === null, "base_uri_missing", usesNonces ? -15 : -5, "base-uri is not restricted");
  add(found("script_allowlist_bypass") && hasBypass(findings), "script_bypass", -10, "An allowed host serves a bypass");
  add(activeHttp(effective), "active_http", -10, "Scripts, styles or frames can load over HTTP");
  add(
    [effective.img_src, effective.media_src].some(listsHttp),
    "passive_http",
    -5,
    "Images or media can load over HTTP",
  );
  add(allows(effective.style_src, "'unsafe-inline'"), "style_unsafe_inline", -5, "Inline styles are allowed");
  add(effective.form_action === null, "form_action_missing", -5, "Forms can be sent to any host");
  add(effective.frame_ancestors === null, "frame_ancestors_missing", -5, "Any site can frame the page");
  add(found("nonce_length") || found("nonce_charset"), "nonce_weak", -5, "A nonce is too short or not base64");
  add(
    findings.some((one) => one.severity === "syntax"),
    "syntax",
    -5,
    "The policy contains a syntax error",
  );
  add(effective.require_trusted_types_for.includes("'script'"), "trusted_types", 5, "Trusted Types are required");
  add(isStrict(effective), "strict", 5, "The policy is strict");
  return adjustments;
}

/** Reports whether a list contains a keyword. An unrestricted list (null) allows everything. */
function allows(sources: Sources, keyword: string): boolean {
  return sources === null || sources.includes(keyword);
}

function isBroad(sources: Sources): boolean {
  return sources === null || sources.some((source) => isWildcard(source) || isSchemeSource(source));
}

/** Reports whether a list contains unencrypted sources. An unrestricted list already costs points elsewhere. */
function listsHttp(sources: Sources): boolean {
  return sources?.some((source) => /^(?:http|ftp):/.test(source)) ?? false;
}

function activeHttp(effective: EffectivePolicy): boolean {
  const { script_src_elem, style_src, object_src, frame_src, connect_src, font_src, worker_src } = effective;
  return [script_src_elem, style_src, object_src, frame_src, connect_src, font_src, worker_src].some(listsHttp);
}

function hasBypass(findings: readonly CspFinding[]): boolean {
  return findings.some((finding) => finding.type === "script_allowlist_bypass" && finding.severity === "high");
}
