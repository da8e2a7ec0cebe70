import type { EffectivePolicy } from "#probe-agent/analysis/web/csp/effective.ts";
import type { CspFinding } from "#probe-agent/analysis/web/csp/finding.ts";
import { isNonceOrHash, isSchemeSource, isWildcard } from "#probe-agent/analysis/web/csp/sources.ts";

/** Points added to or subtracted from 100, and the reason. */
export interface CspAdjustment {
  readonly id: string;
  readonly points: number;
  readonly message: string;
}

type Sources = readonly string[] | null;

/** Reports whether only nonces or hashes allow scripts, and event handlers, plugins and base elements are blocked. */
export function isStrict(effective: EffectivePolicy): boolean {
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
export function cspAdjustments(effective: EffectivePolicy, findings: readonly CspFinding[]): CspAdjustment[] {
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
