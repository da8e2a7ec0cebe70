import type { TrustAnchor } from "#probe-agent/port/dns.ts";
import { dsText, makeKey, signZone, type SigningKey, type ZonePlan } from "#test/servers/dnssec/sign.ts";
import { recordsOf, type Zone } from "#test/servers/dnssec/zone.ts";

/** A signed zone `example` with DNAMEs and with delegations of every kind below it. */
export interface Branches {
  readonly zones: readonly Zone[];
  /** The root's key. */
  readonly anchors: readonly TrustAnchor[];
  /** The key of island.example, which its parent does not vouch for. */
  readonly islandAnchor: TrustAnchor;
  /** The key that signs `example`. */
  readonly key: SigningKey;
}

const LONG = Array.from({ length: 3 }, () => "l".repeat(60)).join(".");

const EXAMPLE = `
example. 3600 IN SOA ns.example. h.example. 1 7200 3600 604800 300
example. 3600 IN NS ns.example.
ns.example. 3600 IN A 192.0.2.1
www.example. 3600 IN A 192.0.2.2
old.example. 3600 IN DNAME New.example.
host.new.example. 3600 IN A 192.0.2.3
alias.new.example. 3600 IN CNAME www.example.
first.example. 3600 IN DNAME second.example.
second.example. 3600 IN DNAME new.example.
away.example. 3600 IN DNAME other.
plain.example. 3600 IN DNAME unsigned.example.
long.example. 3600 IN DNAME ${LONG}.example.
*.wild.example. 3600 IN DNAME new.example.
*.w.example. 3600 IN CNAME none.unsigned.example.
into.example. 3600 IN CNAME none.unsigned.example.
round.example. 3600 IN CNAME back.unsigned.example.
unsigned.example. 3600 IN NS ns.example.
cut.deep.ent.example. 3600 IN NS ns.example.
island.example. 3600 IN NS ns.example.
safe.example. 3600 IN NS ns.example.
`;

function zoneText(apex: string, more = ""): string {
  return `${apex}. 3600 IN SOA ns.example. h.example. 1 7200 3600 604800 300
${apex}. 3600 IN NS ns.example.
www.${apex}. 3600 IN A 192.0.2.9
alias.${apex}. 3600 IN CNAME none.${apex}.
${more}`;
}

/** Makes the tree; `nsec3` is how `example` denies, default NSEC. */
export function makeBranches(nsec3?: ZonePlan["nsec3"]): Branches {
  const keys = Object.fromEntries(
    [".", "example", "other", "safe.example", "island.example"].map((apex) => [apex, makeKey(apex, 13, 257)]),
  );
  const keyOf = (apex: string): SigningKey => {
    const key = keys[apex];
    if (key === undefined) throw new Error(`no key of ${apex}`);
    return key;
  };
  const sign = (apex: string, text: string, more: Partial<ZonePlan> = {}): Zone =>
    signZone({ apex, text, keys: [keyOf(apex)], ...more });
  const delegations = ["example", "other"].map(
    (apex) => `${apex}. 3600 IN NS ns.example.\n${dsText(apex, keyOf(apex))}`,
  );
  return {
    zones: [
      sign(
        ".",
        `. 3600 IN SOA ns.example. h.example. 1 7200 3600 604800 300\n. 3600 IN NS ns.example.\n${delegations.join("\n")}`,
      ),
      sign(
        "example",
        `${EXAMPLE}${dsText("safe.example", keyOf("safe.example"))}`,
        nsec3 === undefined ? {} : { nsec3 },
      ),
      sign("other", zoneText("other")),
      sign("safe.example", zoneText("safe.example")),
      sign("island.example", zoneText("island.example")),
      {
        apex: "unsigned.example",
        records: recordsOf(zoneText("unsigned.example", "back.unsigned.example. 3600 IN CNAME www.example.")),
      },
      { apex: "cut.deep.ent.example", records: recordsOf(zoneText("cut.deep.ent.example")) },
    ],
    anchors: [{ zone: ".", type: "DNSKEY", raw: keyOf(".").record.raw }],
    islandAnchor: { zone: "island.example", type: "DNSKEY", raw: keyOf("island.example").record.raw },
    key: keyOf("example"),
  };
}
