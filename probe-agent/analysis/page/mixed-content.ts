import type { Element } from "domhandler";
import { literalFamily } from "#shared/egress/addresses.ts";
import { documentBase, resolveUrl } from "#probe-agent/analysis/http/address.ts";
import { walkElements } from "#probe-agent/analysis/html/document.ts";
import { lineCounter } from "#probe-agent/analysis/html/lines.ts";
import { attribute, INERT_ELEMENTS } from "#probe-agent/analysis/html/page.ts";
import type { Page } from "#probe-agent/analysis/html/read-page.ts";
import { findReferences, type Reference } from "#probe-agent/analysis/page/mixed-content/references.ts";

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
