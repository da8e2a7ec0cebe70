/**
 * Properties of an address that matter to readers and crawlers. `length` is in characters, `depth` is the number of
 * path segments, `parameters` the number of different query parameters.
 */
interface UrlHygiene {
  readonly length: number;
  readonly depth: number;
  readonly parameters: number;
  readonly https: boolean;
}

/** A weakness of an address, by the id of its finding. */
export type UrlFault =
  | "url-too-long"
  | "url-underscores"
  | "url-capitals"
  | "url-not-ascii"
  | "url-white-space"
  | "url-empty-segment"
  | "url-many-parameters"
  | "url-session"
  | "url-tracking"
  | "url-too-deep";

/** Names of parameters that hold a session ID. */
const SESSION = /^(?:phpsessid|jsessionid|aspsessionid.*|session_?id|sid|zenid|osCsid)$/i;
const TRACKING = /^(?:utm_[a-z]+|gclid|fbclid|msclkid|yclid|mc_[ce]id|igshid)$/i;
/** Maximum number of characters, of different parameters, and of path segments that is no fault. */
export const URL_LIMITS = { length: 115, parameters: 3, depth: 5 } as const;

/** Checks an address against Google's URL structure best practices (hyphens, short, few parameters, no session). */
export function checkUrl(address: string): { readonly hygiene: UrlHygiene; readonly faults: readonly UrlFault[] } {
  const url = new URL(address);
  const path = decode(url.pathname);
  const segments = url.pathname.split("/").filter((segment) => segment !== "");
  const names = [...new Set([...url.searchParams.keys()].slice(0, 1000))];
  const session = names.some((name) => SESSION.test(name)) || /;jsessionid=/i.test(url.pathname);
  const faults: readonly (readonly [boolean, UrlFault])[] = [
    [url.href.length > URL_LIMITS.length, "url-too-long"],
    [path.includes("_"), "url-underscores"],
    [/\p{Lu}/u.test(path), "url-capitals"],
    [/[^\u0020-\u007E]/u.test(path), "url-not-ascii"],
    [/\s/.test(path), "url-white-space"],
    [url.pathname.includes("//"), "url-empty-segment"],
    [names.length > URL_LIMITS.parameters, "url-many-parameters"],
    [session, "url-session"],
    [names.some((name) => TRACKING.test(name)), "url-tracking"],
    [segments.length > URL_LIMITS.depth, "url-too-deep"],
  ];
  return {
    hygiene: {
      length: url.href.length,
      depth: segments.length,
      parameters: names.length,
      https: url.protocol === "https:",
    },
    faults: faults.filter(([applies]) => applies).map(([, id]) => id),
  };
}

function decode(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}
