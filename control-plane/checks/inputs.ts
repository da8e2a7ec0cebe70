import { parseLocations } from "#shared/locations.ts";
import { parseParams } from "#shared/schema.ts";
import type { Contract } from "#shared/tools/define.ts";
import { dns } from "#shared/tools/dns.ts";
import type { Vantage } from "#shared/tools/vantages.ts";
import type { CheckAnswer, LocationRow } from "#control-plane/checks/answer.ts";
import type { CheckRequest, Inputs } from "#control-plane/checks/context.ts";

/** A call whose job may be added to. */
export interface InputCall {
  readonly contract: Contract;
  readonly params: Readonly<Record<string, unknown>>;
  readonly accountId: number | null;
  /** Runs another check for the same caller. */
  readonly askElsewhere: (question: Question) => Promise<CheckAnswer>;
}

type Question = Pick<CheckRequest, "contract" | "params" | "locations" | "maxLocations" | "pace" | "deadlineMs">;

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

/** What goes with the job of a tool that takes input; undefined: nothing. Rejects only for a bug. */
export async function gatherInput(
  inputs: Inputs,
  call: InputCall,
): Promise<Readonly<Record<string, unknown>> | undefined> {
  const { contract, params, accountId } = call;
  switch (contract.name) {
    case "reverse-ip":
      // The database being away costs the answer one of its sources.
      return { observations: await inputs.namesAt(String(params["ip"]), accountId).catch(() => []) };
    case "propagation":
      return { vantages: await askVantages(call) };
    default:
      return undefined;
  }
}

/** What the resolvers of other agents say, one in each region; [] for types the dns tool does not ask for. */
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
    // The target's budget was taken by the call itself.
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

/** What one agent's own resolver said. */
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
