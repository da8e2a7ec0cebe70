import type { Element } from "domhandler";
import { textOf } from "#probe-agent/analysis/html/document.ts";
import { splitSrcset } from "#probe-agent/analysis/page/page-resources/srcset.ts";
import { styleReferences } from "#probe-agent/analysis/page/page-resources/style-references.ts";

/** A reference that a browser requests without a click, or for forms on submission. */
export interface Reference {
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
export function findReferences(element: Element, read: Read): Reference[] {
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
