import type { Element } from "domhandler";
import { attribute } from "#probe-agent/analysis/html/page.ts";

const JAVASCRIPT = /^(?:module|(?:text|application)\/(?:x-)?(?:java|ecma)script)$/i;
/**
 * Script types that optimisers set on scripts that they run later: WP Rocket, LiteSpeed Cache, Perfmatters,
 * FlyingPress, Partytown, and Cloudflare's Rocket Loader, which puts a number before the type.
 */
const DELAYED =
  /^(?:rocketlazyloadscript|litespeed\/javascript|pmdelayedscript|flyingpress\/delayed|text\/partytown|[0-9a-f]{20,32}-(?:module|(?:text|application)\/javascript))$/i;
/** Attributes that consent tools document for scripts of the type text/plain that run after consent. */
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
/** Class names with the same purpose: OneTrust, Complianz, CookieYes, iubenda. */
const CONSENT_CLASS = /(?:^|\s)(?:optanon-category-|cmplz-|cli-|_iub_cs_activate)/;
/** Attributes that hold the address of a script. */
const ADDRESSES = ["src", "data-src", "data-rocket-src", "data-cmp-src", "data-suppressedsrc", "data-cookieblock-src"];

/** Returns the address that a script element loads now or later, or null for an inline script. */
export function scriptAddress(element: Element): string | null {
  for (const name of ADDRESSES) {
    const value = attribute(element, name);
    if (value !== null && value !== "") return value;
  }
  return null;
}

/**
 * Reports whether the text of an inline script is code that runs now or later, or a data block with an id, which holds
 * the state of a framework.
 */
export function containsCode(element: Element): boolean {
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
