import type { Element } from "domhandler";
import { literalFamily } from "#shared/egress/addresses.ts";
import { documentBase, resolveUrl } from "#probe-agent/analysis/http/address.ts";
import { walkElements, textOf } from "#probe-agent/analysis/html/document.ts";
import { lineCounter } from "#probe-agent/analysis/html/lines.ts";
import { attribute, INERT_ELEMENTS } from "#probe-agent/analysis/html/page.ts";
import type { Page } from "#probe-agent/analysis/html/read-page.ts";
import { splitSrcset } from "#probe-agent/analysis/page/page-resources/srcset.ts";
import { styleReferences } from "#probe-agent/analysis/page/page-resources/style-references.ts";

/** One reference to an insecure address. */
export interface MixedReference {
  readonly tag: string;
  /** Attribute with the reference. "text" for the content of a style element. */
  readonly attr: string;
  /** Resolved against the page and its base element. */
  readonly url: string;
  /** Line of the HTML, from 1. */
  readonly line: number;
}

/** A reference to an image, audio or video, which browsers request over https instead if they can. */
interface PassiveReference extends MixedReference {
  /**
   * Whether browsers upgrade the request. false for hosts that are IP addresses, unless the policy upgrades them;
   * browsers block those (W3C Mixed Content, section 4.1).
   */
  readonly upgradable: boolean;
}

/** Insecure references of a page that was itself served over HTTPS (W3C Mixed Content). */
export interface MixedContent {
  /** Whether the page was served over HTTPS. If not, nothing is mixed. */
  readonly https: boolean;
  /** Blocked by browsers: scripts, styles, frames, srcset images, ... */
  readonly active: readonly MixedReference[];
  /** Upgraded by browsers, and missing if the upgrade fails: images, audio, video. */
  readonly passive: readonly PassiveReference[];
  /** Forms that submit to an insecure address. */
  readonly forms: readonly MixedReference[];
  /** References of style elements and style attributes. They are also listed as active or passive. */
  readonly cssUrls: readonly MixedReference[];
  /** Number of references found of each kind, including those not listed. */
  readonly counts: { readonly active: number; readonly passive: number; readonly forms: number; readonly css: number };
  /** Whether the policy upgrades every insecure reference. */
  readonly upgradeInsecureRequests: boolean;
  /**
   * "clean": no insecure reference, "passive": all are upgraded, by browsers or by the policy, "active": browsers block
   * some, "blocked": the policy blocks all.
   */
  readonly verdict: "clean" | "passive" | "active" | "blocked";
}

/** Directives of a page's Content-Security-Policy about insecure references. */
interface MixedPolicy {
  readonly upgradeInsecureRequests: boolean;
  readonly blockAllMixedContent: boolean;
}

/** Maximum number of references listed of each kind. */
const MAX_LISTED = 100;

/** Finds the insecure references of a page and grades them under its policy. */
export function findMixedContent(page: Page, pageUrl: string, policy: MixedPolicy): MixedContent {
  const https = pageUrl.startsWith("https:");
  const { upgradeInsecureRequests } = policy;
  const found = {
    active: [] as MixedReference[],
    passive: [] as PassiveReference[],
    forms: [] as MixedReference[],
    cssUrls: [] as MixedReference[],
  };
  const counts = { active: 0, passive: 0, forms: 0, css: 0 };
  if (https) {
    const base = documentBase(page.facts.baseHref, pageUrl);
    const lines = lineCounter(page.text);
    for (const element of walkElements(page.document.root, INERT_ELEMENTS)) {
      for (const reference of insecureReferences(element, base)) {
        const { attr, kind, css, upgradable, url } = reference;
        const entry = { tag: element.name, attr, url, line: lines(element.startIndex ?? 0) };
        counts[kind] += 1;
        if (kind === "passive") keep(found.passive, { ...entry, upgradable: upgradable || upgradeInsecureRequests });
        else keep(found[kind], entry);
        if (!css) continue;
        counts.css += 1;
        keep(found.cssUrls, entry);
      }
    }
  }
  return { https, ...found, counts, upgradeInsecureRequests, verdict: gradeReferences(counts, policy) };
}

function keep<T>(list: T[], entry: T): void {
  if (list.length < MAX_LISTED) list.push(entry);
}

/**
 * Returns the verdict for a page. Upgrading takes precedence over blocking (W3C Upgrade Insecure Requests, section 3.4)
 * and leaves nothing to block.
 */
function gradeReferences(counts: MixedContent["counts"], policy: MixedPolicy): MixedContent["verdict"] {
  if (counts.active + counts.passive === 0) return "clean";
  if (policy.upgradeInsecureRequests) return "passive";
  if (policy.blockAllMixedContent) return "blocked";
  return counts.active > 0 ? "active" : "passive";
}

function insecureReferences(element: Element, base: string): (Reference & { url: string; upgradable: boolean })[] {
  return findReferences(element, (name) => attribute(element, name)).flatMap((reference) => {
    const url = resolveUrl(reference.address, base);
    if (url === null || !["http:", "ws:", "ftp:"].includes(url.protocol) || isTrustworthy(url)) return [];
    const upgradable = literalFamily(url.hostname.replace(/^\[|\]$/g, "")) === null;
    return [{ ...reference, url: url.href.slice(0, 2048), upgradable }];
  });
}

/**
 * Reports whether browsers trust the origin of an http URL although it is not encrypted (W3C Secure Contexts 3.1; onion
 * services as in Tor Browser).
 */
function isTrustworthy(url: URL): boolean {
  const host = url.hostname.replace(/\.$/, "");
  return (
    host === "localhost" ||
    host.endsWith(".localhost") ||
    host.endsWith(".onion") ||
    host === "[::1]" ||
    /^127(?:\.\d{1,3}){3}$/.test(host)
  );
}

/** A reference that a browser requests without a click, or for forms on submission. */
interface Reference {
  readonly attr: string;
  /** Address, unchanged. */
  readonly address: string;
  readonly kind: "active" | "passive" | "forms";
  /** Whether the reference is in the text of a style sheet or style attribute. */
  readonly css: boolean;
}

type Read = (attribute: string) => string | null;

/** Attributes that load something, by element: [attribute, kind]. Browsers upgrade image, audio and video requests. */
const ATTRIBUTES: Readonly<Record<string, readonly (readonly [string, Reference["kind"]])[]>> = {
  script: [
    ["src", "active"],
    ["href", "active"],
    ["xlink:href", "active"],
  ],
  iframe: [["src", "active"]],
  frame: [["src", "active"]],
  embed: [["src", "active"]],
  object: [["data", "active"]],
  applet: [["archive", "active"]],
  portal: [["src", "active"]],
  track: [["src", "active"]],
  use: [
    ["href", "active"],
    ["xlink:href", "active"],
  ],
  feimage: [
    ["href", "passive"],
    ["xlink:href", "passive"],
  ],
  img: [["src", "passive"]],
  image: [
    ["href", "passive"],
    ["xlink:href", "passive"],
  ],
  audio: [["src", "passive"]],
  video: [
    ["src", "passive"],
    ["poster", "passive"],
  ],
  input: [["formaction", "forms"]],
  button: [["formaction", "forms"]],
  form: [["action", "forms"]],
  body: [["background", "passive"]],
  table: [["background", "passive"]],
  td: [["background", "passive"]],
};

/** Maximum number of characters of one style that are read, and of references in one attribute. */
const MAX_STYLE = 200_000;
const MAX_REFERENCES = 200;

/** Finds the references of an element. srcset is active: browsers do not upgrade image sets (W3C Mixed Content 2.2). */
function findReferences(element: Element, read: Read): Reference[] {
  const name = element.name.toLowerCase();
  const references: Reference[] = [];
  for (const [attr, kind] of ATTRIBUTES[name] ?? []) {
    const address = read(attr);
    push(references, attr, address, kind);
  }
  if (name === "link") references.push(...findLinkReferences(read));
  if (name === "input" && read("type")?.toLowerCase() === "image") push(references, "src", read("src"), "passive");
  if (name === "source") push(references, "src", read("src"), isInPicture(element) ? "active" : "passive");
  if (name === "img" || name === "source") {
    for (const address of parseSrcsetAddresses(read("srcset") ?? "")) push(references, "srcset", address, "active");
  }
  if (name === "style") references.push(...findStyleReferences("text", textOf(element, MAX_STYLE)));
  const style = read("style");
  if (style !== null) references.push(...findStyleReferences("style", style));
  return references;
}

const ACTIVE_LINKS = new Set(["stylesheet", "modulepreload", "manifest", "import", "preload", "prefetch", "prerender"]);
/** Destinations of a preload that browsers upgrade (W3C Mixed Content, section 4.1). */
const UPGRADED = new Set(["image", "audio", "video"]);

function findLinkReferences(read: Read): Reference[] {
  const references: Reference[] = [];
  const rel = (read("rel") ?? "").toLowerCase().split(/\s+/);
  const passive = UPGRADED.has(read("as")?.toLowerCase() ?? "") && rel.includes("preload");
  if (rel.some((word) => ACTIVE_LINKS.has(word))) {
    push(references, "href", read("href"), passive ? "passive" : "active");
    for (const address of parseSrcsetAddresses(read("imagesrcset") ?? ""))
      push(references, "imagesrcset", address, "active");
  } else if (rel.some((word) => word === "icon" || word.startsWith("apple-touch-icon"))) {
    push(references, "href", read("href"), "passive");
  }
  return references;
}

/**
 * Finds the references of a style. url() of backgrounds is upgradable, @import and fonts are not. An address that is
 * only a fragment refers to the page itself, whatever the base URL.
 */
function findStyleReferences(attr: string, css: string): Reference[] {
  const found = styleReferences(css.slice(0, MAX_STYLE), true).filter(({ address }) => !address.startsWith("#"));
  return found.slice(0, MAX_REFERENCES).map(({ address, kind }) => {
    return { attr, address, kind: kind === "image" ? "passive" : "active", css: true };
  });
}

/** Parses the addresses of a srcset (HTML, parsing a srcset attribute). One that ends in a comma has no descriptors. */
export function parseSrcsetAddresses(srcset: string): string[] {
  return splitSrcset(srcset, MAX_REFERENCES)
    .map(({ address }) => address)
    .filter((address) => address !== "");
}

function isInPicture(element: Element): boolean {
  const parent = element.parent;
  return parent !== null && "name" in parent && parent.name === "picture";
}

function push(
  references: Reference[],
  attr: string,
  address: string | null,
  kind: Reference["kind"],
  css = false,
): void {
  if (address !== null && address !== "") references.push({ attr, address, kind, css });
}
