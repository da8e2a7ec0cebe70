import {
  asName,
  originName,
  readAs,
  readOrigin,
  type AsRecord,
  type Origin,
} from "#probe-agent/analysis/registry/cymru.ts";
import type { Net } from "#probe-agent/toolkit/net.ts";

/** Answer from Team Cymru's zones. `answered` is false if they did not answer. */
interface CymruAnswer {
  readonly answered: boolean;
  /** Null if no prefix in global routing contains the address. */
  readonly origin: Origin | null;
  /** The first announcing system. Null if it is not known. */
  readonly system: AsRecord | null;
}

const QUESTION_MS = 3_000;

/** Looks up which autonomous system announces an address, then the data of that system. */
export async function askCymru(net: Net, ip: string): Promise<CymruAnswer> {
  const zones = net.services.cymruZones;
  const name = originName(ip, zones);
  const texts = name === null ? null : await askTexts(net, name);
  if (texts === null) return { answered: false, origin: null, system: null };
  const origin = readOrigin(texts, ip);
  const asn = origin?.asns[0];
  return { answered: true, origin, system: asn === undefined ? null : await askCymruAs(net, asn) };
}

/** Looks up the data of an autonomous system. Null if the zone does not have it or did not answer. */
export async function askCymruAs(net: Net, asn: number): Promise<AsRecord | null> {
  const about = await askTexts(net, asName(asn, net.services.cymruZones));
  return about === null ? null : readAs(about, asn);
}

/** Looks up the TXT texts of a name. Empty if it has none, null if the lookup failed. */
async function askTexts(net: Net, name: string): Promise<readonly string[] | null> {
  const answer = await net.dns.query({ name, type: "TXT", timeoutMs: QUESTION_MS });
  if (answer.status === "NXDOMAIN") return [];
  if (answer.status !== "NOERROR" || answer.flags.tc) return null;
  return answer.answers.map(({ typed }) => typed["text"]).filter((text) => typeof text === "string");
}
