import { MAX_SOURCES, type Policy } from "#probe-agent/analysis/web/csp/parse.ts";
import { isNonceOrHash, meetSources } from "#probe-agent/analysis/web/csp/sources.ts";
import { FALLBACKS } from "#probe-agent/analysis/web/csp/vocabulary.ts";

/** What all enforced policies together allow: lists of allowed sources. [] allows nothing, null allows everything. */
export interface EffectivePolicy {
  readonly script_src: readonly string[] | null;
  readonly script_src_elem: readonly string[] | null;
  readonly script_src_attr: readonly string[] | null;
  readonly style_src: readonly string[] | null;
  readonly img_src: readonly string[] | null;
  readonly media_src: readonly string[] | null;
  readonly font_src: readonly string[] | null;
  readonly connect_src: readonly string[] | null;
  readonly object_src: readonly string[] | null;
  readonly frame_src: readonly string[] | null;
  readonly child_src: readonly string[] | null;
  readonly worker_src: readonly string[] | null;
  readonly manifest_src: readonly string[] | null;
  readonly base_uri: readonly string[] | null;
  readonly form_action: readonly string[] | null;
  readonly frame_ancestors: readonly string[] | null;
  readonly upgrade_insecure_requests: boolean;
  readonly block_all_mixed_content: boolean;
  readonly sandbox: readonly string[] | null;
  readonly require_trusted_types_for: readonly string[];
}

/** Maximum number of pairs compared in an intersection of two lists. Longer lists are compared literally. */
const MAX_PAIRS = 250_000;

/** Returns the directive that applies to `name` in a policy: itself or a fallback; null if there is none. */
export function decidingDirective(policy: Policy, name: string): string | null {
  return [name, ...(FALLBACKS[name] ?? [])].find((candidate) => policy.directives.has(candidate)) ?? null;
}

/**
 * Returns the sources that browsers apply for `name` in one policy; null if it is unrestricted. Browsers ignore 'none'
 * if other sources are listed, and 'unsafe-inline' if a nonce, a hash or 'strict-dynamic' is listed. For scripts,
 * 'strict-dynamic' also disables hosts, schemes and 'self' (CSP3 sections 6.7.3.2 and 8.2).
 */
export function activeSources(policy: Policy, name: string): readonly string[] | null {
  const deciding = decidingDirective(policy, name);
  if (deciding === null) return null;
  const sources = (policy.directives.get(deciding) ?? []).filter((source) => source !== "'none'");
  const inlineVoid = sources.some(isNonceOrHash) || (isScript(name) && sources.includes("'strict-dynamic'"));
  const strictDynamic = isScript(name) && sources.includes("'strict-dynamic'");
  return sources.filter((source) => {
    if (source === "'unsafe-inline'") return !inlineVoid;
    return !strictDynamic || (source.startsWith("'") && source !== "'self'");
  });
}

/** Intersects all policies, because a load must pass each of them (CSP3 section 8.1). */
export function effectivePolicy(policies: readonly Policy[]): EffectivePolicy {
  const sources = (name: string): readonly string[] | null => intersectAll(policies, name);
  const has = (name: string): boolean => policies.some((policy) => policy.directives.has(name));
  const values = (name: string): string[] => policies.flatMap((policy) => [...(policy.directives.get(name) ?? [])]);
  return {
    script_src: sources("script-src"),
    script_src_elem: sources("script-src-elem"),
    script_src_attr: sources("script-src-attr"),
    style_src: sources("style-src"),
    img_src: sources("img-src"),
    media_src: sources("media-src"),
    font_src: sources("font-src"),
    connect_src: sources("connect-src"),
    object_src: sources("object-src"),
    frame_src: sources("frame-src"),
    child_src: sources("child-src"),
    worker_src: sources("worker-src"),
    manifest_src: sources("manifest-src"),
    base_uri: sources("base-uri"),
    form_action: sources("form-action"),
    frame_ancestors: sources("frame-ancestors"),
    upgrade_insecure_requests: has("upgrade-insecure-requests"),
    block_all_mixed_content: has("block-all-mixed-content"),
    sandbox: has("sandbox") ? values("sandbox") : null,
    require_trusted_types_for: [...new Set(values("require-trusted-types-for"))],
  };
}

function intersectAll(policies: readonly Policy[], name: string): readonly string[] | null {
  let result: readonly string[] | null = null;
  for (const policy of policies) {
    const sources = activeSources(policy, name);
    if (sources !== null) result = result === null ? sources : intersect(result, sources);
  }
  return result;
}

function intersect(one: readonly string[], other: readonly string[]): readonly string[] {
  if (one.length * other.length > MAX_PAIRS) {
    const literal = new Set(other);
    return one.filter((source) => literal.has(source));
  }
  const met = new Set<string>();
  for (const left of one) {
    for (const right of other) {
      const both = meetSources(left, right);
      if (both !== null && met.size < MAX_SOURCES) met.add(both);
    }
  }
  return [...met];
}

function isScript(name: string): boolean {
  return name.startsWith("script-src") || name === "worker-src";
}
