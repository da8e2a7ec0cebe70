import type { Contract } from "#shared/tools/define.ts";
import type { FoundMeasurement } from "#control-plane/checks/measurements/measurements.ts";
import { showMeasurement } from "#control-plane/checks/measurements/serialize.ts";

/** A shared measurement in the form that the public can read. */
export type PublicMeasurement = ReturnType<typeof showPublic>;

/**
 * Returns the public part of a measurement: the answer, its locations and the tool with its parameters. It leaves out
 * the account, the measurement's id, the ids of probes, and all free text of the caller except the target, because a
 * User-Agent or a header can hold a secret.
 */
export function showPublic(contract: Contract | undefined, found: FoundMeasurement) {
  const shown = showMeasurement(found.measurement, found.locations, contract);
  return {
    share_id: shown.share_id,
    tool: shown.tool,
    title: contract?.title ?? shown.tool,
    target: contract === undefined ? null : targetOf(contract, shown.params),
    params: publicParams(contract, shown.params),
    status: shown.status,
    total: shown.total,
    completed: shown.completed,
    created_at: shown.created_at,
    finished_at: shown.finished_at,
    data: {
      locations: shown.data.locations.map(({ location, ...row }) => {
        const { probe_id: _probe, ...place } = location;
        return { location: place, ...row };
      }),
      summary: shown.data.summary,
    },
  };
}

function targetOf(contract: Contract, params: Readonly<Record<string, unknown>>): string | null {
  const target = contract.target === null ? null : params[contract.target.param];
  return typeof target === "string" ? target : null;
}

/** Returns the target and the parameters with a closed set of values. Free text is only for the owner. */
function publicParams(contract: Contract | undefined, params: Readonly<Record<string, unknown>>) {
  if (contract === undefined) return {};
  const shown = Object.entries(contract.params.properties).filter(
    ([name, schema]) => name === contract.target?.param || isClosed(schema as Readonly<Record<string, unknown>>),
  );
  return Object.fromEntries(
    shown.filter(([name]) => params[name] !== undefined).map(([name]) => [name, params[name]] as const),
  );
}

/** Reports whether a parameter holds only numbers, flags or words of a list, so no free text of the caller. */
function isClosed(schema: Readonly<Record<string, unknown>>): boolean {
  const { type, enum: words, anyOf, "x-kind": kind } = schema;
  if (type === "integer" || type === "number" || type === "boolean") return true;
  if (kind === "flag" || kind === "list" || Array.isArray(words)) return true;
  return Array.isArray(anyOf) && anyOf.every((option: unknown) => hasConst(option));
}

function hasConst(option: unknown): boolean {
  return typeof option === "object" && option !== null && ("const" in option || "enum" in option);
}
