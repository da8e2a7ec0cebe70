import { storable } from "#probe-agent/analysis/page/structured/excerpt.ts";

/** How fit a page's address is for being read, shared and crawled. */
export interface UrlHygiene {
  readonly length: number;
  readonly depth: number;
  readonly parameters: number;
  readonly https: boolean;
  readonly issues: string[];
}

/** Names of parameters that carry a session. */
const SESSION = /^(?:phpsessid|jsessionid|aspsessionid.*|session_?id|sid|zenid|osCsid)$/i;
const TRACKING = /^(?:utm_[a-z]+|gclid|fbclid|msclkid|yclid|mc_[ce]id|igshid)$/i;
const LONG = 115;

/** Judges an address by Google's URL structure best practices (hyphens, short, few parameters, no session). */
export function judgeUrl(address: string): UrlHygiene {
  const url = new URL(address);
  const path = decode(url.pathname);
  const segments = url.pathname.split("/").filter((segment) => segment !== "");
  const names = [...new Set([...url.searchParams.keys()].slice(0, 1000))];
  const session = names.some((name) => SESSION.test(name)) || /;jsessionid=/i.test(url.pathname);
  const issues: readonly (readonly [boolean, string])[] = [
    [url.protocol !== "https:", "The page is not served over HTTPS."],
    [url.href.length > LONG, `The address is longer than ${LONG} characters.`],
    [path.includes("_"), "Words are joined by underscores instead of hyphens."],
    [/\p{Lu}/u.test(path), "The path has capital letters; most servers tell them from small ones."],
    [/[^\u0020-\u007E]/u.test(path), "The path has characters beyond ASCII, which are copied as escapes."],
    [/\s/.test(path), "The path has white space."],
    [url.pathname.includes("//"), "The path has an empty segment."],
    [names.length > 3, "There are more than three parameters."],
    [session, "The address carries a session."],
    [names.some((name) => TRACKING.test(name)), "The address carries tracking parameters."],
    [segments.length > 5, "The page lies more than five levels deep."],
  ];
  return {
    length: url.href.length,
    depth: segments.length,
    parameters: names.length,
    https: url.protocol === "https:",
    issues: issues.filter(([applies]) => applies).map(([, text]) => storable(text, 200)),
  };
}

function decode(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}
