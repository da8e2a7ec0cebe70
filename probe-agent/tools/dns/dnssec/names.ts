import { lowerName, nameToText, textToName, type NameOctets } from "#probe-agent/dns-codec/names.ts";

/** A domain name in canonical form, in lower case (RFC 4034 section 6.2). */
export interface Name {
  /** Presentation form without the final dot, "." for the root. Equal texts are equal names. */
  readonly text: string;
  /** Labels, leaf first, one character per octet. The root has none. */
  readonly labels: readonly string[];
  readonly wire: NameOctets;
}

/** Parses a name in presentation form, in any letter case. Returns null if it is not a domain name. */
export function parseName(text: string): Name | null {
  const octets = textToName(text);
  if (octets === null) return null;
  const wire = lowerName(octets);
  const labels: string[] = [];
  for (let at = 0; (wire[at] ?? 0) !== 0; at += (wire[at] ?? 0) + 1) {
    labels.push(Buffer.from(wire.subarray(at + 1, at + 1 + (wire[at] ?? 0))).toString("latin1"));
  }
  return { text: nameToText(wire), labels, wire };
}

/** Returns the name in a field of typed RDATA, or null if there is none. */
export function nameField(typed: Readonly<Record<string, unknown>> | undefined, field: string): Name | null {
  const value = typed?.[field];
  return typeof value === "string" ? parseName(value) : null;
}

/** Builds a name from canonical labels, leaf first. Returns null if it would exceed 255 octets. */
export function makeName(labels: readonly string[]): Name | null {
  const wire = Buffer.concat([
    ...labels.map((label) => Buffer.from(`${String.fromCharCode(label.length)}${label}`, "latin1")),
    Buffer.of(0),
  ]);
  return wire.length > 255 ? null : { text: nameToText(wire), labels, wire };
}

/** The root zone's name, ".". */
export const ROOT_NAME: Name = { text: ".", labels: [], wire: Uint8Array.of(0) };

/** Returns the name made of the last `count` labels, or the name itself if it has no more than that. */
export function ancestor(name: Name, count: number): Name {
  if (count >= name.labels.length) return name;
  return makeName(name.labels.slice(name.labels.length - count)) ?? ROOT_NAME;
}

/** Returns the name one label up. The root's parent is the root. */
export function parentOf(name: Name): Name {
  return ancestor(name, Math.max(0, name.labels.length - 1));
}

/** Reports whether a name equals the other or is below it. */
export function isWithin(name: Name, above: Name): boolean {
  const skip = name.labels.length - above.labels.length;
  return skip >= 0 && above.labels.every((label, index) => label === name.labels[skip + index]);
}

/** Reports whether a name is below the other. False if they are equal. */
export function isBelow(name: Name, above: Name): boolean {
  return name.labels.length > above.labels.length && isWithin(name, above);
}

/** Compares in canonical order (RFC 4034 section 6.1). Negative if `one` comes first. */
export function compareNames(one: Name, other: Name): number {
  const shorter = Math.min(one.labels.length, other.labels.length);
  for (let back = 1; back <= shorter; back += 1) {
    const left = one.labels[one.labels.length - back] ?? "";
    const right = other.labels[other.labels.length - back] ?? "";
    if (left !== right) return left < right ? -1 : 1;
  }
  return one.labels.length - other.labels.length;
}

/** Counts the labels that two names have in common, starting at the root. */
export function commonLabels(one: Name, other: Name): number {
  let count = 0;
  while (
    count < one.labels.length &&
    count < other.labels.length &&
    one.labels[one.labels.length - 1 - count] === other.labels[other.labels.length - 1 - count]
  ) {
    count += 1;
  }
  return count;
}

/** Returns `*.` plus the name, or null if that is too long. */
export function wildcardAt(name: Name): Name | null {
  return makeName(["*", ...name.labels]);
}

/** Returns the longest candidate that equals `name` or is above it, or null if there is none. */
export function closestAbove(name: Name, candidates: readonly Name[]): Name | null {
  const above = candidates.filter((candidate) => isWithin(name, candidate));
  return above.toSorted((one, other) => other.labels.length - one.labels.length)[0] ?? null;
}
