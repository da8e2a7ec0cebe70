/** How much of a User-Agent is read, in characters. */
const MOST_READ = 512;

/**
 * Browsers by the products in their User-Agent, those first that name other browsers too: Edge, Opera and Samsung
 * Internet say that they are Chrome, and Chrome says that it is Safari.
 */
const BROWSERS: readonly (readonly [name: string, ...products: string[]])[] = [
  ["Edge", "Edg", "EdgA", "EdgiOS", "Edge"],
  ["Opera", "OPR", "OPT", "OPX"],
  ["Samsung Internet", "SamsungBrowser"],
  ["Vivaldi", "Vivaldi"],
  ["Firefox", "Firefox", "FxiOS"],
  ["Chrome", "Chrome", "CriOS", "HeadlessChrome"],
  ["Safari", "Safari"],
];

/** Systems by the words in a User-Agent, those first that name others too: Android says that it is Linux. */
const SYSTEMS: readonly (readonly [name: string, ...words: string[]])[] = [
  ["iPhone", "iPhone"],
  ["iPad", "iPad"],
  ["Android", "Android"],
  ["Windows", "Windows"],
  ["ChromeOS", "CrOS"],
  ["macOS", "Macintosh"],
  ["Linux", "Linux", "X11"],
];

/** Programs that are no browsers, by their product, which is the first word of their User-Agent. */
const PROGRAMS: ReadonlySet<string> = new Set([
  "curl",
  "Wget",
  "HTTPie",
  "python-requests",
  "Go-http-client",
  "okhttp",
]);

/**
 * Returns the short name of the program that sends a User-Agent, such as "Firefox on Linux" or "curl 8.1"; null if it is
 * unknown. Programs can claim to be another one. Pure; takes time in proportion to the text, of which it reads a bounded
 * part.
 */
export function programName(userAgent: string): string | null {
  const words = userAgent.slice(0, MOST_READ).split(/[ ();,]/);
  const [product = "", version = ""] = (words[0] ?? "").split("/", 2);
  if (PROGRAMS.has(product)) return `${product} ${shortVersion(version)}`.trimEnd();
  const products = new Set(words.filter((word) => word.includes("/")).map((word) => word.slice(0, word.indexOf("/"))));
  const browser = BROWSERS.find(([, ...own]) => own.some((one) => products.has(one)))?.[0];
  if (browser === undefined) return null;
  const system = SYSTEMS.find(([, ...own]) => own.some((one) => words.includes(one)))?.[0];
  return system === undefined ? browser : `${browser} on ${system}`;
}

/** Returns the first two numbers of a version; empty: it has none. */
function shortVersion(version: string): string {
  return /^\d{1,5}(?:\.\d{1,5})?/.exec(version)?.[0] ?? "";
}
