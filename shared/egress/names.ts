import { domainToASCII } from "node:url";

/** Longest name in presentation form without final dot (RFC 1035 section 2.3.4: 255 octets on the wire). */
const MAX_NAME = 253;

// Hyphens anywhere and underscores exist in the wild; nothing else survives in names we use.
const LABEL = /^[a-z0-9_-]{1,63}$/;

/** Whether every label and the whole fit the DNS. For A-label, lower-case names without final dot. */
export function isUsableName(name: string): boolean {
  return name.length <= MAX_NAME && name.split(".").every((label) => LABEL.test(label));
}

/** Names that mean this host, this link or this site (RFC 6761, 6762, 8375; .internal by ICANN resolution). */
const LOCAL_SUFFIXES = ["localhost", "local", "internal", "home.arpa"] as const;

/** Whether the name is, or is below, one that never leaves the local network. */
export function isLocalName(name: string): boolean {
  return LOCAL_SUFFIXES.some((suffix) => isBelow(name, suffix));
}

/** What a name is needed for: only looked up, or connected to as well. */
export type NameRule = (name: string, connects: boolean) => boolean;

/**
 * The rule of section 12 with some suffixes opened (VANTAGE_ALLOW_NAMES: "lab", ".lab" and "*.lab" are the same);
 * throws a RangeError on what is no name. A single label is a host of the search domain: refused for connections.
 */
export function createNameRule(opened: readonly string[]): NameRule {
  const isListed = createSuffixRule(opened);
  return (name, connects) => {
    const plain = !isLocalName(name) && !(connects && !name.includes("."));
    return plain || isListed(name);
  };
}

/** Whether a name is, or is below, one of a list; throws a RangeError likewise. */
export function createSuffixRule(listed: readonly string[]): (name: string) => boolean {
  const suffixes = listed.map(readSuffix);
  return (name) => suffixes.some((suffix) => isBelow(name, suffix));
}

function isBelow(name: string, suffix: string): boolean {
  return name === suffix || name.endsWith(`.${suffix}`);
}

/** A name suffix in normal form ("*.Lab." -> "lab"); throws a RangeError on what is no name. */
export function readSuffix(text: string): string {
  const bare = text.replace(/^\*?\./, "").replace(/\.$/, "");
  const name = /^[^\s/\\?#@:%[\]]{1,1024}$/.test(bare) ? domainToASCII(bare) : "";
  if (!isUsableName(name)) throw new RangeError(`${JSON.stringify(text.slice(0, 60))} is not a name suffix`);
  return name;
}
