import { httpsQueryName, readHttpsAnswer, type ServiceBinding } from "#probe-agent/analysis/dns/service-binding.ts";
import type { Net } from "#probe-agent/toolkit/net.ts";

/** The HTTPS records that speak for an origin. */
export interface HttpsRecords {
  /** The name asked first. */
  readonly name: string;
  /** DNS status of the last question. */
  readonly status: string;
  readonly aliases: readonly string[];
  readonly records: readonly ServiceBinding[];
  /** Why the records may not be all; null where they are. */
  readonly why: string | null;
}

/** Aliases followed: RFC 9460 section 2.4.2 wants a limit, as for CNAMEs. */
const MAX_ALIASES = 8;
const LOOKUP_MS = 3000;

/** Asks for the HTTPS records of an origin and follows AliasMode to where they are. */
export async function askHttpsRecords(net: Net, host: string, port: number): Promise<HttpsRecords> {
  const first = httpsQueryName(host, port);
  const aliases: string[] = [];
  const seen = new Set<string>();
  let name = first;
  for (;;) {
    seen.add(name.toLowerCase());
    const answer = await net.dns.query({ name, type: "HTTPS", timeoutMs: LOOKUP_MS });
    const { status } = answer;
    const end = (records: readonly ServiceBinding[], why: string | null): HttpsRecords => ({
      name: first,
      status,
      aliases,
      records,
      why,
    });
    if (status === "NXDOMAIN") return end([], null);
    if (status !== "NOERROR") return end([], `HTTPS records could not be looked up: ${status}.`);
    const read = readHttpsAnswer(answer.answers);
    if (read.mode === "none") return end([], null);
    if (read.mode === "service") return end(read.records, null);
    if (read.target === null) return end([], "An HTTPS record says that the service does not exist.");
    name = read.target;
    if (seen.has(name.toLowerCase())) return end([], "HTTPS records lead in a circle.");
    if (aliases.length === MAX_ALIASES) return end([], "HTTPS records lead on and on.");
    aliases.push(name);
  }
}

/** What stands in for records that did not come in time. */
export function tooLate(host: string, port: number): HttpsRecords {
  const name = httpsQueryName(host, port);
  return { name, status: "TIMEOUT", aliases: [], records: [], why: "HTTPS records could not be looked up: TIMEOUT." };
}
