/** Kinds of problems of a Cache-Control field. */
export type CacheProblemId =
  | "cache-directive-unreadable"
  | "cache-directive-repeated"
  | "cache-directive-unknown"
  | "cache-seconds-missing"
  | "cache-private-and-public"
  | "cache-no-store-with-max-age";

/** A part that does not fit the grammar, or a contradiction. The message has no final period. */
interface CacheProblem {
  readonly id: CacheProblemId;
  readonly message: string;
}

/** A parsed Cache-Control field (RFC 9111 section 5.2, RFC 5861 and RFC 8246). */
export interface CacheControl {
  /** Argument by directive name in lower case; null for no argument. The first of repeated directives counts. */
  readonly directives: ReadonlyMap<string, string | null>;
  /** null if the directive is absent or has no usable number; so are the next two. */
  readonly maxAgeSeconds: number | null;
  readonly sharedMaxAgeSeconds: number | null;
  readonly staleWhileRevalidateSeconds: number | null;
  readonly noStore: boolean;
  readonly noCache: boolean;
  readonly private: boolean;
  readonly public: boolean;
  readonly mustRevalidate: boolean;
  readonly immutable: boolean;
  readonly problems: readonly CacheProblem[];
}

const SECONDS = new Set(["max-age", "s-maxage", "stale-while-revalidate", "stale-if-error", "min-fresh", "max-stale"]);
const KNOWN = new Set([
  ...SECONDS,
  "no-store",
  "no-cache",
  "private",
  "public",
  "must-revalidate",
  "proxy-revalidate",
  "must-understand",
  "no-transform",
  "immutable",
  "only-if-cached",
]);
const DIRECTIVE =
  /[ \t]*(?:([!#$%&'*+.^_`|~0-9A-Za-z-]+)(?:=(?:"((?:[^"\\]|\\.)*)"|([!#$%&'*+.^_`|~0-9A-Za-z-]*)))?[ \t]*)?(?:,|$)/y;
const MAX_CHARACTERS = 16_384;
/** Larger delta-seconds are read as this value (RFC 9111 section 1.2.2). */
const MAX_SECONDS = 2_147_483_648;

/** Parses the values of all Cache-Control fields of a response. Returns null if there are none. */
export function parseCacheControl(values: readonly string[]): CacheControl | null {
  if (values.length === 0) return null;
  const text = values.join(",").slice(0, MAX_CHARACTERS);
  const directives = new Map<string, string | null>();
  const problems: CacheProblem[] = [];
  const add = (id: CacheProblemId, message: string): void => void problems.push({ id, message });
  let at = 0;
  while (at < text.length) {
    DIRECTIVE.lastIndex = at;
    const match = DIRECTIVE.exec(text);
    if (match === null) {
      const next = text.indexOf(",", at);
      const part = text.slice(at, next === -1 ? undefined : next).trim();
      add("cache-directive-unreadable", `Cache-Control has a part that is not a directive: ${part.slice(0, 80)}`);
      at = next === -1 ? text.length : next + 1;
      continue;
    }
    at = match[0] === "" ? text.length : DIRECTIVE.lastIndex;
    const name = match[1]?.toLowerCase();
    if (name === undefined) continue;
    if (directives.has(name))
      add("cache-directive-repeated", `Cache-Control has ${name} more than once; caches use the first`);
    else directives.set(name, match[2]?.replaceAll(/\\(.)/g, "$1") ?? match[3] ?? null);
  }
  const seconds = (name: string): number | null => readSeconds(directives.get(name));
  for (const [name, argument] of directives) {
    if (!KNOWN.has(name)) add("cache-directive-unknown", `Cache-Control has ${name}, which is not a known directive`);
    else if (SECONDS.has(name) && name !== "max-stale" && readSeconds(argument) === null) {
      add("cache-seconds-missing", `${name} in Cache-Control has no whole number of seconds, so caches ignore it`);
    }
  }
  if (directives.has("private") && directives.has("public")) {
    add("cache-private-and-public", "Cache-Control has both private and public; caches apply private");
  }
  if (directives.has("no-store") && (seconds("max-age") ?? 0) > 0) {
    add(
      "cache-no-store-with-max-age",
      "Cache-Control has both max-age and no-store; no-store forbids caches to keep a copy",
    );
  }
  return {
    directives,
    maxAgeSeconds: seconds("max-age"),
    sharedMaxAgeSeconds: seconds("s-maxage"),
    staleWhileRevalidateSeconds: seconds("stale-while-revalidate"),
    noStore: directives.has("no-store"),
    noCache: directives.has("no-cache"),
    private: directives.has("private"),
    public: directives.has("public"),
    mustRevalidate: directives.has("must-revalidate"),
    immutable: directives.has("immutable"),
    problems: problems.slice(0, 50),
  };
}

/** Reports whether a field has at least one known directive, with a number if that directive needs one. */
export function isUsable(control: CacheControl): boolean {
  return [...control.directives].some(
    ([name, argument]) => KNOWN.has(name) && (!SECONDS.has(name) || readSeconds(argument) !== null),
  );
}

function readSeconds(argument: string | null | undefined): number | null {
  return typeof argument === "string" && /^\d+$/.test(argument) ? Math.min(MAX_SECONDS, Number(argument)) : null;
}
