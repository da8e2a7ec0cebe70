import { readIp } from "#probe-agent/analysis/network/ip-numbers.ts";
import { arrayOf, recordOf } from "#probe-agent/analysis/registry/rdap/json.ts";

/** A name that resolved to an address according to a passive DNS service. */
export interface PassiveName {
  readonly host: string;
  /** In ISO 8601 UTC. Null if the row has no such time. */
  readonly first_seen: string | null;
  readonly last_seen: string | null;
}

const MAX_ROWS = 10_000;
const MAX_ROW = 20_000;

/**
 * Parses Common Output Format (draft-dulaunoy-dnsop-passive-dns-cof): one JSON object per line. Returns the names of A
 * and AAAA rows for this address, and the number of lines that could not be read.
 */
export function readPassiveDns(
  text: string,
  ip: string,
): { readonly names: PassiveName[]; readonly unreadable: number } {
  const wanted = readIp(ip);
  const names: PassiveName[] = [];
  let unreadable = 0;
  for (const line of text.split("\n", MAX_ROWS)) {
    if (line.trim() === "") continue;
    const row = line.length > MAX_ROW ? null : parse(line);
    const { rrname, rrtype } = row ?? {};
    if (row === null || typeof rrname !== "string" || typeof rrtype !== "string") {
      unreadable += 1;
      continue;
    }
    // rdata is one text or a list of texts.
    const data = typeof row["rdata"] === "string" ? [row["rdata"]] : arrayOf(row["rdata"], 200);
    const leadsHere = data.some((value) => {
      const read = typeof value === "string" ? readIp(value) : null;
      return read !== null && read.version === wanted?.version && read.value === wanted.value;
    });
    if (!leadsHere || !["A", "AAAA"].includes(rrtype.toUpperCase())) continue;
    names.push({
      host: rrname,
      first_seen: instant(row["time_first"] ?? row["zone_time_first"]),
      last_seen: instant(row["time_last"] ?? row["zone_time_last"]),
    });
  }
  return { names, unreadable };
}

function parse(line: string): Readonly<Record<string, unknown>> | null {
  try {
    return recordOf(JSON.parse(line));
  } catch {
    return null;
  }
}

/** Converts seconds since 1970, as a number or in digits, to ISO 8601 UTC. Null for anything else. */
function instant(value: unknown): string | null {
  const seconds = typeof value === "string" && /^\d{1,11}$/.test(value) ? Number(value) : value;
  if (typeof seconds !== "number" || !(seconds > 0 && seconds < 4_102_444_800)) return null;
  return new Date(Math.floor(seconds) * 1000).toISOString();
}
