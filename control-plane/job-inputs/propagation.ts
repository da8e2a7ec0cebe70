import { parseLocations } from "#shared/locations.ts";
import { parseParams } from "#shared/schema.ts";
import { dns } from "#shared/tools/dns.ts";
import type { Vantage } from "#shared/tools/vantages.ts";
import type { LocationRow } from "#control-plane/checks/answer.ts";
import type { InputCall } from "#control-plane/checks/context.ts";

/** Milliseconds that other agents may take of a call's own time. */
const ELSEWHERE_MS = 4_000;
/** Regions asked, as many as the largest plan allows of one call. */
const MOST_REGIONS = 50;
/** Records of one answer that are handed on, and characters of each. */
const MOST_RECORDS = 50;
const MOST_TEXT = 1_000;
/** Extended DNS Errors of one answer that are handed on, and characters of each. */
const MOST_ERRORS = 5;
const MOST_ERROR_TEXT = 200;

/** Gathers the answers of other agents' resolvers, one in each region; [] for types that the dns tool does not ask for. */
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
    // The call itself has taken the target's budget.
    pace: "paced",
    deadlineMs: ELSEWHERE_MS,
  });
  return answer.kind === "multi" ? answer.data.locations.flatMap(vantageOf) : [];
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

/** The answer of one agent's own resolver; none where the agent failed. */
function vantageOf(row: LocationRow): Vantage[] {
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
