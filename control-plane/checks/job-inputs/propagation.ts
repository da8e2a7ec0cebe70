import { parseLocations } from "#shared/internet/locations.ts";
import { parseParams } from "#shared/schema/schema.ts";
import { dns } from "#shared/tools/dns/contract.ts";
import type { Vantage } from "#shared/tools/propagation/vantages.ts";
import type { LocationRow } from "#control-plane/checks/answer.ts";
import type { InputCall } from "#control-plane/checks/context.ts";

/** Time in milliseconds that the answers of other agents can take from the call's own deadline. */
const ELSEWHERE_MS = 4_000;
/** Maximum number of regions: as many locations as the largest plan allows in one call. */
const MOST_REGIONS = 50;
/** Maximum number of records of one answer. */
const MOST_RECORDS = 50;
/** Maximum number of characters of a record. */
const MOST_TEXT = 1_000;
/** Maximum number of Extended DNS Errors of one answer. */
const MOST_ERRORS = 5;
/** Maximum number of characters in the text of an Extended DNS Error. */
const MOST_ERROR_TEXT = 200;

/**
 * Gathers the answers of other agents' resolvers, one in each region. Empty for record types that the dns tool lacks.
 */
export async function gatherVantages(call: InputCall): Promise<Readonly<Record<string, unknown>>> {
  return { vantages: await askVantages(call) };
}

async function askVantages({ params, askElsewhere }: InputCall): Promise<readonly Vantage[]> {
  const { domain, type } = params;
  const parsed = parseParams(dns.params, { domain, types: type }, { from: "json", unknown: "ignore" });
  const everywhere = parseLocations("all");
  if (!parsed.ok || !everywhere.ok) return [];
  const answer = await askElsewhere({
    contract: dns,
    params: parsed.value,
    locations: everywhere.items,
    maxLocations: MOST_REGIONS,
    // The call itself has already taken the target's budget.
    pace: "paced",
    deadlineMs: ELSEWHERE_MS,
  });
  return answer.kind === "multi" ? answer.data.locations.flatMap(toVantage) : [];
}

interface DnsData {
  readonly results: readonly {
    readonly status: string;
    readonly records: readonly { readonly data: string; readonly ttl: number; readonly type: string }[];
    readonly rtt_ms: number | null;
    readonly server: string;
    readonly ede?: readonly { readonly code: number; readonly text: string }[];
  }[];
}

/** Returns the answer of one agent's own resolver; empty if the agent failed. */
function toVantage(row: LocationRow): Vantage[] {
  if (row.status !== "ok") return [];
  const [result] = (row.data as DnsData).results;
  if (result === undefined) return [];
  const { region, country, city } = row.location;
  const { status, records, rtt_ms: rttMs, server, ede = [] } = result;
  return [
    {
      region,
      country,
      city,
      server,
      status,
      records: records
        .slice(0, MOST_RECORDS)
        .map(({ type, data, ttl }) => ({ type, data: data.slice(0, MOST_TEXT), ttl })),
      rtt_ms: rttMs,
      ede: ede.slice(0, MOST_ERRORS).map(({ code, text }) => ({ code, text: text.slice(0, MOST_ERROR_TEXT) })),
    },
  ];
}
