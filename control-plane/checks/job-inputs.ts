import { propagation } from "#shared/tools/propagation/contract.ts";
import { reverseIp } from "#shared/tools/reverse-ip/contract.ts";
import type { Accounts } from "#control-plane/accounts/accounts.ts";
import type { InputCall, InputGatherer, Inputs } from "#control-plane/checks/context.ts";
import type { App } from "#control-plane/core/app.ts";
import { createObservations, type Observations } from "#control-plane/checks/observations.ts";
import { parseLocations } from "#shared/internet/locations.ts";
import { parseParams } from "#shared/schema/schema.ts";
import { dns } from "#shared/tools/dns/contract.ts";
import type { Vantage } from "#shared/tools/propagation/vantages.ts";
import type { LocationRow } from "#control-plane/checks/answer.ts";

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
async function gatherVantages(call: InputCall): Promise<Readonly<Record<string, unknown>>> {
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

/**
 * Returns a gatherer of the names that earlier results showed at the address of a reverse-ip call, with ISO 8601 times.
 */
function gatherObservations(observations: Pick<Observations, "at">): InputGatherer {
  return async ({ params, accountId }) => {
    // Without the database the answer only lacks one of its sources.
    const names = await observations.at(String(params["ip"]), accountId).catch(() => []);
    return {
      observations: names.map(({ host, firstSeen, lastSeen }) => {
        return { host, first_seen: firstSeen.toISOString(), last_seen: lastSeen.toISOString() };
      }),
    };
  };
}

/** Inputs that a replica adds to jobs. */
interface JobInputs {
  readonly inputs: Inputs;
  close(): void;
}

/** Opens the inputs that the control plane adds to jobs. Lists the tools for which it gathers an input. */
export function openJobInputs({
  sql,
  clock,
  accounts,
}: Pick<App, "sql" | "clock"> & { readonly accounts: Accounts }): JobInputs {
  const observations = createObservations(sql, clock);
  accounts.onErase((tx, accountId) => observations.forget(tx, accountId));
  accounts.addExporter("observations", (tx, accountId) => observations.export(tx, accountId));
  return {
    inputs: {
      observe: (accountId, seen) => observations.note(accountId, seen),
      gatherers: new Map([
        [propagation.name, gatherVantages],
        [reverseIp.name, gatherObservations(observations)],
      ]),
    },
    close: () => observations.close(),
  };
}
