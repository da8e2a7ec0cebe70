import type { Element } from "domhandler";
import { attribute } from "#probe-agent/analysis/html/page.ts";

const JAVASCRIPT = /^(?:module|(?:text|application)\/(?:x-)?(?:java|ecma)script)$/i;
/**
 * Types under which optimisers and consent tools keep scripts until they run them: WP Rocket, LiteSpeed Cache,
 * Perfmatters, FlyingPress, Partytown, and Cloudflare's Rocket Loader, which puts a number before the type.
 */
const DELAYED =
  /^(?:rocketlazyloadscript|litespeed\/javascript|pmdelayedscript|flyingpress\/delayed|text\/partytown|[0-9a-f]{20,32}-(?:module|(?:text|application)\/javascript))$/i;
/** What a consent tool's manual puts on a script of the type text/plain, so that it runs after consent. */
const CONSENT_ATTRIBUTES = [
  "data-cookieconsent",
  "data-cookiecategory",
  "data-category",
  "data-consent",
  "data-usercentrics",
  "data-service",
  "data-cmp-vendor",
  "data-borlabs-cookie-script-blocker-id",
];
/** Words of class attributes that do the same: OneTrust, Complianz, CookieYes, iubenda. */
const CONSENT_CLASS = /(?:^|\s)(?:optanon-category-|cmplz-|cli-|_iub_cs_activate)/;
/** Where they keep the address. */
const ADDRESSES = ["src", "data-src", "data-rocket-src", "data-cmp-src", "data-suppressedsrc", "data-cookieblock-src"];

/** The address a script element loads now or later; null for an inline script. */
export function scriptAddress(element: Element): string | null {
  for (const name of ADDRESSES) {
    const value = attribute(element, name);
    if (value !== null && value !== "") return value;
  }
  return null;
}

/** Whether an inline script's text is code that runs now or later, or the state of a framework: a data block with an id. */
export function holdsCode(element: Element): boolean {
  const type = attribute(element, "type") ?? "";
  if (type === "" || JAVASCRIPT.test(type) || DELAYED.test(type)) return true;
  if (type.toLowerCase() === "text/plain") return waitsForConsent(element);
  return attribute(element, "id") !== null;
}

function waitsForConsent(element: Element): boolean {
  return (
    CONSENT_ATTRIBUTES.some((name) => attribute(element, name) !== null) ||
    CONSENT_CLASS.test(attribute(element, "class")?.slice(0, 1000) ?? "")
  );
}
