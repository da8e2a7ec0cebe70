import { validateRecords } from "#test/entry-points.ts";
import type { Question, Reply } from "#probe-agent/tools/dns/dnssec/session.ts";
import { type Verdict } from "#probe-agent/tools/dns/dnssec.ts";
import type { TrustAnchor } from "#probe-agent/port/dns.ts";
import { answerFrom } from "#test/servers/dnssec/answer.ts";
import { fixtureZone, recordsOf, type Zone } from "#test/servers/dnssec/zone.ts";

/** Within the validity of every fixture. */
export const NOW = new Date("2026-07-01T00:00:00Z");

function plainZone(apex: string, more: string): Zone {
  const soa = `${apex}. 3600 IN SOA ns.${apex}. h.${apex}. 1 7200 3600 604800 300`;
  return { apex, records: recordsOf(`${soa}\n${apex}. 3600 IN NS ns.${apex}.\n${more}`) };
}

/** Zones nobody signs, below those of the fixtures. */
export const UNSIGNED_ZONES: readonly Zone[] = [
  plainZone("plain", "www.plain. 300 IN A 192.0.2.30"),
  plainZone("unsigned.test", "web.unsigned.test. 300 IN A 192.0.2.31\nback.unsigned.test. 300 IN CNAME web.rsa.test."),
  ...["rsa", "ed", "curve"].map((name) => plainZone(`sub.${name}.test`, `www.sub.${name}.test. 300 IN A 192.0.2.32`)),
];

/** The tree BIND signed: the root, test, and three zones below it. */
export const BIND_ZONES: readonly Zone[] = [
  ...["root", "test", "rsa.test", "ed.test", "curve.test"].map(fixtureZone),
  ...UNSIGNED_ZONES,
];

/** Trust in a zone's own key-signing keys. */
export function anchorsOf(zone: Zone): readonly TrustAnchor[] {
  return zone.records.flatMap(({ type, typed, raw }) =>
    type === "DNSKEY" && typed["flags"] === 257 ? [{ zone: zone.apex, type, raw }] : [],
  );
}

/** Changes to what the tree says. */
export type Tamper = (question: Question, reply: Reply) => Reply;

/** Validates what a tree says about a name, as a resolver without checking would pass it on. */
export function validateIn(
  zones: readonly Zone[],
  question: Question,
  options: { readonly anchors?: readonly TrustAnchor[]; readonly now?: Date; readonly tamper?: Tamper } = {},
): Verdict {
  const root = zones.find(({ apex }) => apex === ".");
  const anchors = options.anchors ?? (root === undefined ? [] : anchorsOf(root));
  const lookup = (asked: Question): Reply => {
    const reply = answerFrom(zones, asked.name, asked.type);
    return options.tamper?.(asked, reply) ?? reply;
  };
  return validateRecords([{ ...question, reply: lookup(question) }], lookup, anchors, options.now ?? NOW);
}
