import type { TrustAnchor } from "#probe-agent/port/dns.ts";
import { dsText, makeKey, signZone, type SigningKey, type ZonePlan } from "#test/servers/dnssec/sign.ts";
import { recordsOf, type Zone } from "#test/servers/dnssec/zone.ts";

/** A root, one zone below it and an unsigned one below that, signed by our own signer. */
export interface Grown {
  readonly zones: readonly Zone[];
  readonly anchors: readonly TrustAnchor[];
  /** Keys of the zone `example`: the first signs the keys. */
  readonly keys: readonly SigningKey[];
  readonly rootKey: SigningKey;
}

/** How the zone `example` is made; what is absent is sound. */
export interface Growth extends Partial<Pick<ZonePlan, "nsec3" | "inception" | "expiration">> {
  readonly keys?: readonly SigningKey[];
  /** DS records in the root, one a line; default SHA-256 of the first key. */
  readonly ds?: string;
}

const EXAMPLE = `
example. 3600 IN SOA Ns1.example. bugs.example. 1 7200 3600 604800 300
example. 3600 IN NS Ns1.example.
example. 3600 IN MX 10 Mail.Example.
ns1.example. 3600 IN A 192.0.2.1
www.example. 3600 IN A 192.0.2.2
www.example. 3600 IN A 192.0.2.3
*.w.example. 3600 IN TXT "wild"
real.w.example. 3600 IN A 192.0.2.6
a.ent.example. 3600 IN TXT "below"
alias.example. 3600 IN CNAME www.example.
sub.example. 3600 IN NS ns.sub.example.
ns.sub.example. 3600 IN A 192.0.2.4
`;

const SUB = `
sub.example. 3600 IN SOA ns.sub.example. h.sub.example. 1 7200 3600 604800 300
sub.example. 3600 IN NS ns.sub.example.
www.sub.example. 3600 IN A 192.0.2.5
`;

/** Grows the tree. */
export function grow(growth: Growth = {}): Grown {
  const keys = growth.keys ?? [makeKey("example", 13, 257), makeKey("example", 13, 256)];
  const { ds, keys: _keys, ...rest } = growth;
  const rootKey = makeKey(".", 13, 257);
  const [first] = keys;
  const delegation = ds ?? (first === undefined ? "" : dsText("example", first));
  const root = signZone({
    apex: ".",
    text: `. 3600 IN SOA a.root. h.root. 1 7200 3600 604800 300\n. 3600 IN NS a.root.\nexample. 3600 IN NS ns1.example.\n${delegation}`,
    keys: [rootKey],
  });
  const example = signZone({ apex: "example", text: EXAMPLE, keys, ...rest });
  return {
    zones: [root, example, { apex: "sub.example", records: recordsOf(SUB) }],
    anchors: [{ zone: ".", type: "DNSKEY", raw: rootKey.record.raw }],
    keys,
    rootKey,
  };
}
