import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parseZoneText } from "#probe-agent/analysis/dns/trust-anchors.ts";
import type { DnsRecord } from "#probe-agent/port/dns.ts";

/** One zone with all its records, signatures and denial chain included where it is signed. */
export interface Zone {
  /** Lower case, no final dot, "." for the root. */
  readonly apex: string;
  readonly records: readonly DnsRecord[];
}

/** Records from zone-file text; throws where it is none: a test's own fault. */
export function recordsOf(text: string): readonly DnsRecord[] {
  const read = parseZoneText(text);
  if (!read.ok) throw new Error(`line ${read.line}: ${read.message}`);
  return read.records;
}

/** A zone of test/fixtures/dnssec by its name there. */
export function fixtureZone(name: string): Zone {
  const path = fileURLToPath(new URL(`../../fixtures/dnssec/${name}.zone`, import.meta.url));
  return { apex: name === "root" ? "." : name, records: recordsOf(readFileSync(path, "utf8")) };
}

/** Labels of a name from the root down, lower case; the test's names have no escapes. */
export function labelsOf(name: string): string[] {
  return name === "." ? [] : name.toLowerCase().split(".").toReversed();
}

/** Whether `name` is `above` or below it. */
export function within(name: string, above: string): boolean {
  const labels = labelsOf(name);
  return labelsOf(above).every((label, index) => labels[index] === label);
}

/** Canonical order (RFC 4034 section 6.1), derived here on its own. */
export function before(one: string, other: string): boolean {
  const left = labelsOf(one);
  const right = labelsOf(other);
  for (let index = 0; ; index += 1) {
    const a = left[index];
    const b = right[index];
    if (b === undefined) return false;
    if (a === undefined) return true;
    const order = Buffer.compare(Buffer.from(a), Buffer.from(b));
    if (order !== 0) return order < 0;
  }
}

/** Wire form in lower case. */
export function wireName(name: string): Buffer {
  const labels = labelsOf(name).toReversed();
  return Buffer.concat([
    ...labels.map((label) => Buffer.concat([Buffer.of(label.length), Buffer.from(label)])),
    Buffer.of(0),
  ]);
}

/** NSEC3 hash as a label (RFC 5155 section 5), derived here by way of one big number. */
export function nsec3Label(name: string, iterations: number, saltHex: string): string {
  const salt = Buffer.from(saltHex, "hex");
  let digest: Buffer = wireName(name);
  for (let round = 0; round <= iterations; round += 1) {
    digest = createHash("sha1")
      .update(Buffer.concat([digest, salt]))
      .digest();
  }
  return BigInt(`0x${digest.toString("hex")}`)
    .toString(32)
    .padStart(32, "0");
}
