/** A Cache-Control field by RFC 9111 section 5.2, RFC 5861 and RFC 8246. */
export interface CacheControl {
  /** Name in lower case -> argument, null for those without. Of repeated directives the first counts. */
  readonly directives: ReadonlyMap<string, string | null>;
  /** Seconds; null where absent or unusable. */
  readonly maxAgeSeconds: number | null;
  readonly sharedMaxAgeSeconds: number | null;
  readonly staleWhileRevalidateSeconds: number | null;
  readonly noStore: boolean;
  readonly noCache: boolean;
  readonly private: boolean;
  readonly public: boolean;
  readonly mustRevalidate: boolean;
  readonly immutable: boolean;
  /** What does not fit the grammar or contradicts itself, one sentence each. */
  readonly problems: readonly string[];
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
/** Larger delta-seconds count as this (RFC 9111 section 1.2.2). */
const MAX_SECONDS = 2_147_483_648;

/** Reads the values of all Cache-Control fields of a response; null where there is none. */
export function parseCacheControl(values: readonly string[]): CacheControl | null {
  if (values.length === 0) return null;
  const text = values.join(",").slice(0, MAX_CHARACTERS);
  const directives = new Map<string, string | null>();
  const problems: string[] = [];
  let at = 0;
  while (at < text.length) {
    DIRECTIVE.lastIndex = at;
    const match = DIRECTIVE.exec(text);
    if (match === null) {
      const next = text.indexOf(",", at);
      problems.push(
        `not a directive: ${text
          .slice(at, next === -1 ? undefined : next)
          .trim()
          .slice(0, 80)}`,
      );
      at = next === -1 ? text.length : next + 1;
      continue;
    }
    at = match[0] === "" ? text.length : DIRECTIVE.lastIndex;
    const name = match[1]?.toLowerCase();
    if (name === undefined) continue;
    if (directives.has(name)) problems.push(`${name} is given more than once`);
    else directives.set(name, match[2]?.replaceAll(/\\(.)/g, "$1") ?? match[3] ?? null);
  }
  const seconds = (name: string): number | null => readSeconds(directives.get(name));
  for (const [name, argument] of directives) {
    if (!KNOWN.has(name)) problems.push(`${name} is not a known directive`);
    else if (SECONDS.has(name) && name !== "max-stale" && readSeconds(argument) === null) {
      problems.push(`${name} needs a number of seconds`);
    }
  }
  if (directives.has("private") && directives.has("public")) problems.push("private and public contradict each other");
  if (directives.has("no-store") && (seconds("max-age") ?? 0) > 0) problems.push("no-store makes max-age void");
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

/** Whether anything usable was said: at least one known directive, with its number where it needs one. */
export function isUsable(control: CacheControl): boolean {
  return [...control.directives].some(
    ([name, argument]) => KNOWN.has(name) && (!SECONDS.has(name) || readSeconds(argument) !== null),
  );
}

function readSeconds(argument: string | null | undefined): number | null {
  return typeof argument === "string" && /^\d+$/.test(argument) ? Math.min(MAX_SECONDS, Number(argument)) : null;
}
