import type { TrustAnchor } from "#probe-agent/port/dns.ts";
import { dsText, makeKey, signZone } from "#test/servers/dnssec/sign.ts";
import type { Zone } from "#test/servers/dnssec/zone.ts";

/** A root and one zone below it, both signed. */
export interface SignedTree {
  readonly root: Zone;
  readonly zone: Zone;
  readonly anchors: readonly TrustAnchor[];
}

/** Signs a zone with these records, and a root above it, which lists the zone's keys unless the delegation is unsigned. */
export function signTree(apex: string, records: readonly string[], isDelegationSigned = true): SignedTree {
  const rootKey = makeKey(".", 13, 257);
  const key = makeKey(apex, 13, 257);
  const root = signZone({
    apex: ".",
    text: `. 3600 IN SOA a.root. h.root. 1 7200 3600 604800 300
. 3600 IN NS a.root.
${apex}. 3600 IN NS ns.${apex}.
${isDelegationSigned ? dsText(apex, key) : ""}`,
    keys: [rootKey],
  });
  const text = `${apex}. 3600 IN SOA ns.${apex}. h.${apex}. 1 7200 3600 604800 300
${apex}. 3600 IN NS ns.${apex}.
${records.join("\n")}
`;
  const anchors = [{ zone: ".", type: "DNSKEY", raw: rootKey.record.raw }] as const;
  return { root, zone: signZone({ apex, text, keys: [key] }), anchors };
}
