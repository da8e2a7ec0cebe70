import {
  asName,
  originName,
  readAs,
  readOrigin,
  type AsRecord,
  type Origin,
} from "#probe-agent/analysis/registry/cymru.ts";
import type { Net } from "#probe-agent/toolkit/net.ts";

/** What Team Cymru's zones said; `answered` is false when they could not be asked. */
interface CymruAnswer {
  readonly answered: boolean;
  /** Null where no prefix in global routing holds the address. */
  readonly origin: Origin | null;
  /** The first announcing system; null where it is not known. */
  readonly system: AsRecord | null;
}

const QUESTION_MS = 3_000;

/** Asks who announces an address, then who that is. */
export async function askCymru(net: Net, ip: string): Promise<CymruAnswer> {
  const zones = net.services.cymruZones;
  const name = originName(ip, zones);
  const texts = name === null ? null : await askTexts(net, name);
  if (texts === null) return { answered: false, origin: null, system: null };
  const origin = readOrigin(texts, ip);
  const asn = origin?.asns[0];
  return { answered: true, origin, system: asn === undefined ? null : await askCymruAs(net, asn) };
}

/** Asks who an autonomous system is; null where the zone does not have it or did not answer. */
export async function askCymruAs(net: Net, asn: number): Promise<AsRecord | null> {
  const about = await askTexts(net, asName(asn, net.services.cymruZones));
  return about === null ? null : readAs(about, asn);
}

/** TXT texts of a name; empty where it has none, null where nobody can tell. */
async function askTexts(net: Net, name: string): Promise<readonly string[] | null> {
  const answer = await net.dns.query({ name, type: "TXT", timeoutMs: QUESTION_MS });
  if (answer.status === "NXDOMAIN") return [];
  if (answer.status !== "NOERROR" || answer.flags.tc) return null;
  return answer.answers.map(({ typed }) => typed["text"]).filter((text) => typeof text === "string");
}
