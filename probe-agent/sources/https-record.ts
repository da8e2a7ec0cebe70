import { httpsQueryName, readHttpsAnswer, type ServiceBinding } from "#probe-agent/analysis/dns/service-binding.ts";
import type { Net } from "#probe-agent/toolkit/net.ts";

/** The HTTPS records that apply to an origin. */
export interface HttpsRecords {
  /** Name of the first query. */
  readonly name: string;
  /** DNS status of the last query. */
  readonly status: string;
  readonly aliases: readonly string[];
  readonly records: readonly ServiceBinding[];
  /** Why the records may be incomplete. Null if they are complete. */
  readonly why: string | null;
}

/** Maximum number of aliases followed. RFC 9460 section 2.4.2 requires a limit, as for CNAMEs. */
const MAX_ALIASES = 8;
const LOOKUP_MS = 3000;

/** Looks up the HTTPS records of an origin, and follows AliasMode to their name. */
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
    if (aliases.length === MAX_ALIASES)
      return end([], `HTTPS records form a chain of more than ${MAX_ALIASES} aliases.`);
    aliases.push(name);
  }
}

/** Returns the result to use if the records did not arrive in time. */
export function timedOutRecords(host: string, port: number): HttpsRecords {
  const name = httpsQueryName(host, port);
  return { name, status: "TIMEOUT", aliases: [], records: [], why: "HTTPS records could not be looked up: TIMEOUT." };
}
