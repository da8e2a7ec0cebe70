import { decidingDirective } from "#probe-agent/analysis/web/csp/effective.ts";
import { parsePolicies, type Policy } from "#probe-agent/analysis/web/csp/parse.ts";
import { isNonceOrHash } from "#probe-agent/analysis/web/csp/sources.ts";

/** Classes of MDN HTTP Observatory for a page's policy. */
export type CspResult =
  | "csp-implemented-with-no-unsafe-default-src-none"
  | "csp-implemented-with-no-unsafe"
  | "csp-implemented-with-unsafe-inline-in-style-src-only"
  | "csp-implemented-with-insecure-scheme-in-passive-content-only"
  | "csp-implemented-with-unsafe-eval"
  | "csp-implemented-with-unsafe-inline"
  | "csp-implemented-with-insecure-scheme"
  | "csp-implemented-but-duplicate-directives"
  | "csp-header-invalid"
  | "csp-not-implemented"
  | "csp-not-implemented-but-reporting-enabled";

/** Policies that a page sent. */
export interface CspDelivery {
  readonly headers: readonly string[];
  readonly reportOnlyHeaders: readonly string[];
  readonly meta: readonly string[];
  /** Whether the page itself was loaded over https. */
  readonly https: boolean;
  /** "mdn": repeated directives make a policy invalid, as in MDN's grades. Else the first counts, as in browsers. */
  readonly compat?: "mdn";
}

/** Properties of the policies that decide the result. Several can be true. */
interface CspTraits {
  readonly antiClickjacking: boolean;
  readonly defaultNone: boolean;
  readonly insecureBaseUri: boolean;
  readonly insecureFormAction: boolean;
  readonly insecureSchemeActive: boolean;
  readonly insecureSchemePassive: boolean;
  readonly strictDynamic: boolean;
  readonly unsafeEval: boolean;
  readonly unsafeInline: boolean;
  readonly unsafeInlineStyle: boolean;
  readonly unsafeObjects: boolean;
}

/** Classification of a page's policies by MDN's rules. */
export interface CspClassification {
  readonly result: CspResult;
  /** null if there is no valid policy. */
  readonly traits: CspTraits | null;
  /** Directives of the policies, merged to the sources that all policies list. */
  readonly directives: Readonly<Record<string, readonly string[]>>;
  /** frame-ancestors of header policies; null if none has it. */
  readonly frameAncestors: readonly string[] | null;
  readonly duplicates: readonly string[];
}

/** Sources that allow every host, by MDN's list. */
const BROAD = new Set(["ftp:", "http:", "https:", "*", "http://*", "http://*.*", "https://*", "https://*.*"]);
const REPORTING = new Set(["report-uri", "report-to"]);
const PASSIVE = ["img-src", "media-src"];
/** Minimum length of a policy in characters. Shorter texts cannot contain a directive. */
const SHORTEST_POLICY = 6;

/** Classifies a page's policies by MDN's rules. The tests are in MDN's order; the first that applies is the result. */
export function classifyCsp(delivery: CspDelivery): CspClassification {
  const texts = [
    ...delivery.headers.map((header) => ({ header })),
    ...delivery.meta.map((header) => ({ header, meta: true })),
  ];
  const { policies } = parsePolicies(texts);
  const duplicates = [...new Set(policies.flatMap((policy) => [...policy.duplicates]))];
  const none = { traits: null, directives: {}, frameAncestors: null, duplicates };
  const usable = policies.filter((policy) => policy.directives.size > 0 && policy.raw.length >= SHORTEST_POLICY);
  if (usable.length === 0) {
    // A meta policy that contains only directives ignored in meta elements is absent, not invalid.
    const broken = texts.length > 0 && policies.every((policy) => policy.ignored.length === 0);
    if (broken) return { ...none, result: "csp-header-invalid" };
    const reporting = delivery.reportOnlyHeaders.some((header) => header.trim() !== "");
    return { ...none, result: reporting ? "csp-not-implemented-but-reporting-enabled" : "csp-not-implemented" };
  }
  if (delivery.compat === "mdn" && duplicates.some((name) => !REPORTING.has(name))) {
    return { ...none, result: "csp-header-invalid" };
  }
  const directives = mergePolicies(usable);
  const frameAncestors =
    mergePolicies(usable.filter((policy) => policy.source === "header"))["frame-ancestors"] ?? null;
  const traits = readTraits(directives, frameAncestors, delivery.https);
  const result = resultOf(traits, directives);
  const passes = PASSING.has(result) && duplicates.some((name) => REPORTING.has(name));
  const reported = passes ? "csp-implemented-but-duplicate-directives" : result;
  return { result: reported, traits, directives, frameAncestors, duplicates };
}

const PASSING: ReadonlySet<CspResult> = new Set([
  "csp-implemented-with-no-unsafe-default-src-none",
  "csp-implemented-with-no-unsafe",
  "csp-implemented-with-unsafe-inline-in-style-src-only",
  "csp-implemented-with-insecure-scheme-in-passive-content-only",
  "csp-implemented-but-duplicate-directives",
]);

/** Reports whether MDN counts a result as passed. */
export function cspPasses(result: CspResult): boolean {
  return PASSING.has(result);
}

/** Returns, for each directive of any policy, the sources that all policies restricting it list; 'none' if none. */
function mergePolicies(policies: readonly Policy[]): Record<string, readonly string[]> {
  const merged: Record<string, readonly string[]> = {};
  for (const name of new Set(policies.flatMap((policy) => [...policy.directives.keys()]))) {
    let left: readonly string[] | null = null;
    for (const policy of policies) {
      const deciding = decidingDirective(policy, name);
      if (deciding === null) continue;
      const values = policy.directives.get(deciding) ?? [];
      left = left === null ? values : commonSources(left, values);
    }
    const isSourceList = name.endsWith("-src");
    merged[name] = left !== null && (left.length > 0 || !isSourceList) ? left : ["'none'"];
  }
  return merged;
}

/** Returns the sources in both lists, and those of one list that are below a source of the other ending in "/". */
function commonSources(one: readonly string[], other: readonly string[]): readonly string[] {
  const common = (from: readonly string[], within: readonly string[]): string[] => {
    const literal = new Set(within);
    const folders = within.filter((source) => source.endsWith("/")).slice(0, 100);
    return from.filter((source) => literal.has(source) || folders.some((folder) => source.startsWith(folder)));
  };
  return [...new Set([...common(one, other), ...common(other, one)])];
}

function readTraits(
  directives: Readonly<Record<string, readonly string[]>>,
  frameAncestors: readonly string[] | null,
  https: boolean,
): CspTraits {
  const list = (name: string, fallback?: string): readonly string[] =>
    directives[name] ?? directives[fallback ?? ""] ?? ["*"];
  const written = list("script-src", "default-src");
  const strictDynamic = written.includes("'strict-dynamic'") && written.some(isNonceOrHash);
  const script = effectiveSources(written, strictDynamic);
  const style = effectiveSources(list("style-src", "default-src"), false);
  const object = list("object-src", "default-src");
  const others = Object.entries(directives).filter(([name]) => name !== "script-src" && !PASSIVE.includes(name));
  const active = [...others.flatMap(([, sources]) => [...sources]), ...script];
  const passive = PASSIVE.flatMap((name) => [...(directives[name] ?? directives["default-src"] ?? [])]);
  const broad = (sources: readonly string[]): boolean => sources.some((source) => BROAD.has(source));
  const inline = (sources: readonly string[]): boolean =>
    sources.some((source) => BROAD.has(source) || source === "'unsafe-inline'" || source === "data:");
  const insecure = (source: string): boolean => source.startsWith("http:") || source.startsWith("ftp:");
  const defaults = directives["default-src"];
  return {
    antiClickjacking: !broad(frameAncestors ?? ["*"]),
    defaultNone: defaults?.length === 1 && defaults[0] === "'none'",
    insecureBaseUri: inline(list("base-uri")),
    insecureFormAction: broad(list("form-action")),
    insecureSchemeActive: https && active.some(insecure),
    insecureSchemePassive: https && passive.some(insecure),
    strictDynamic,
    unsafeEval: [...script, ...style].includes("'unsafe-eval'"),
    unsafeInline: inline(script) || broad(object),
    unsafeInlineStyle: inline(style),
    unsafeObjects: broad(object),
  };
}

/** Removes the sources that a nonce, a hash or 'strict-dynamic' makes ineffective. */
function effectiveSources(sources: readonly string[], strictDynamic: boolean): readonly string[] {
  const trusting = sources.some(isNonceOrHash);
  return sources.filter((source) => {
    if (source === "'unsafe-inline'") return !trusting;
    return !strictDynamic || (source !== "'self'" && ![...BROAD].some((broad) => source.startsWith(broad)));
  });
}

function resultOf(traits: CspTraits, directives: Readonly<Record<string, readonly string[]>>): CspResult {
  const script = directives["script-src"] ?? directives["default-src"] ?? [];
  if (script.includes("'strict-dynamic'") && !traits.strictDynamic) return "csp-header-invalid";
  if (traits.unsafeInline) return "csp-implemented-with-unsafe-inline";
  if (traits.insecureSchemeActive) return "csp-implemented-with-insecure-scheme";
  if (traits.unsafeEval) return "csp-implemented-with-unsafe-eval";
  if (traits.insecureSchemePassive) return "csp-implemented-with-insecure-scheme-in-passive-content-only";
  if (traits.unsafeInlineStyle) return "csp-implemented-with-unsafe-inline-in-style-src-only";
  return traits.defaultNone ? "csp-implemented-with-no-unsafe-default-src-none" : "csp-implemented-with-no-unsafe";
}
