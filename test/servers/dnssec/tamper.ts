import type { Reply } from "#probe-agent/tools/dns/dnssec/session.ts";
import type { DnsRecord } from "#probe-agent/port/dns.ts";
import type { Grown } from "#test/servers/dnssec/grow.ts";
import type { SigningKey } from "#test/servers/dnssec/sign.ts";
import type { Tamper } from "#test/servers/dnssec/tree.ts";
import type { Zone } from "#test/servers/dnssec/zone.ts";

/** Changes the reply to one question and leaves the others. */
export function only(name: string, type: string, change: (reply: Reply) => Partial<Reply>): Tamper {
  return (asked, reply) => (asked.name === name && asked.type === type ? { ...reply, ...change(reply) } : reply);
}

/** A reply without records of these types. */
export function without(...types: readonly string[]) {
  return (reply: Reply): Partial<Reply> => ({
    answers: reply.answers.filter(({ type }) => !types.includes(type)),
    authority: reply.authority.filter(({ type }) => !types.includes(type)),
  });
}

/** The same records under another name. */
export function renamed(records: readonly DnsRecord[], name: string): readonly DnsRecord[] {
  return records.map((record) => ({ ...record, name }));
}

/** The key that signs the records of the zone `example`. */
export function zoneSigner({ keys }: Grown): SigningKey {
  const [, zoneKey] = keys;
  if (zoneKey === undefined) throw new Error("no zone key");
  return zoneKey;
}

/** A grown zone by its apex. */
export function zoneOf(grown: Pick<Grown, "zones">, apex: string): Zone {
  const zone = grown.zones.find((one) => one.apex === apex);
  if (zone === undefined) throw new Error(`no zone ${apex}`);
  return zone;
}
