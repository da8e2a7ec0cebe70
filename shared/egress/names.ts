import { domainToASCII } from "node:url";

/** Maximum length of a name in presentation form without final dot (RFC 1035 section 2.3.4: 255 octets on the wire). */
const MAX_NAME = 253;

// Names in use have hyphens at any position and underscores; other characters are rejected.
const LABEL = /^[a-z0-9_-]{1,63}$/;

/** Reports whether a name's labels and length fit the DNS. For lower-case A-label names without final dot. */
export function isUsableName(name: string): boolean {
  return name.length <= MAX_NAME && name.split(".").every((label) => LABEL.test(label));
}

/** Suffixes that denote this host, this link or this site (RFC 6761, 6762, 8375; .internal by ICANN resolution). */
const LOCAL_SUFFIXES = ["localhost", "local", "internal", "home.arpa"] as const;

/** Reports whether the name equals or is below a suffix of the local network. */
export function isLocalName(name: string): boolean {
  return LOCAL_SUFFIXES.some((suffix) => isBelow(name, suffix));
}

/** Reports whether a name is allowed. `connects` is true for connections and false for lookups. */
type NameRule = (name: string, connects: boolean) => boolean;

/**
 * Creates the name rule with allowed suffixes (VANTAGE_ALLOW_NAMES: "lab", ".lab" and "*.lab" are equivalent). Throws a
 * RangeError on an invalid name. A single label is a host of the search domain, so connections to it are refused.
 */
export function createNameRule(opened: readonly string[]): NameRule {
  const isListed = createSuffixRule(opened);
  return (name, connects) => {
    const plain = !isLocalName(name) && !(connects && !name.includes("."));
    return plain || isListed(name);
  };
}

/** Creates a test whether a name equals or is below a suffix of a list. Throws a RangeError on an invalid name. */
export function createSuffixRule(listed: readonly string[]): (name: string) => boolean {
  const suffixes = listed.map(readSuffix);
  return (name) => suffixes.some((suffix) => isBelow(name, suffix));
}

function isBelow(name: string, suffix: string): boolean {
  return name === suffix || name.endsWith(`.${suffix}`);
}

/** Normalizes a name suffix ("*.Lab." -> "lab"). Throws a RangeError on an invalid name. */
export function readSuffix(text: string): string {
  const bare = text.replace(/^\*?\./, "").replace(/\.$/, "");
  const name = /^[^\s/\\?#@:%[\]]{1,1024}$/.test(bare) ? domainToASCII(bare) : "";
  if (!isUsableName(name)) throw new RangeError(`${JSON.stringify(text.slice(0, 60))} is not a name suffix`);
  return name;
}
