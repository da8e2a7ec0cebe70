import type { OpenFirstFilter } from "#control-plane/outages/incidents/incidents.ts";

/** States by which the list filters. */
const STATES = ["all", "open", "resolved"] as const;
/** Who has opened an incident: a monitor or a person. */
const KINDS = ["all", "automatic", "manual"] as const;

const ROWS = 50;

/** What the address of the list says. */
export interface IncidentQuery {
  readonly state: (typeof STATES)[number];
  readonly kind: (typeof KINDS)[number];
  /** Id of a monitor; null: all. */
  readonly monitorId: number | null;
  /** Number of the page, from 1. */
  readonly page: number;
}

/** Reads the query of the list's address. A value that is not valid counts as absent: an old address still works. */
export function readIncidentQuery(query: Readonly<Record<string, unknown>>): IncidentQuery {
  const number = (name: string, form: RegExp): number | null => {
    const value = query[name];
    return typeof value === "string" && form.test(value) ? Number(value) : null;
  };
  return {
    state: STATES.find((state) => state === query["state"]) ?? "all",
    kind: KINDS.find((kind) => kind === query["kind"]) ?? "all",
    monitorId: number("monitor", /^[1-9]\d{0,14}$/),
    page: number("page", /^[1-9]\d{0,4}$/) ?? 1,
  };
}

/** Writes the address of a list. What is as usual is left out. */
export function writeIncidentsPath({ state, kind, monitorId, page }: IncidentQuery): string {
  const query = new URLSearchParams();
  if (state !== "all") query.set("state", state);
  if (kind !== "all") query.set("kind", kind);
  if (monitorId !== null) query.set("monitor", String(monitorId));
  if (page > 1) query.set("page", String(page));
  return query.size === 0 ? "/app/incidents" : `/app/incidents?${query.toString()}`;
}

/** Reports whether a query shows less than all incidents. */
export function isFiltered({ state, kind, monitorId }: IncidentQuery): boolean {
  return state !== "all" || kind !== "all" || monitorId !== null;
}

/** Returns what is read for a query. */
export function toReading({ state, kind, monitorId, page }: IncidentQuery): {
  readonly filter: OpenFirstFilter;
  readonly rows: { readonly limit: number; readonly offset: number };
} {
  const filter = {
    state,
    ...(kind === "all" ? {} : { isManual: kind === "manual" }),
    ...(monitorId === null ? {} : { monitorId }),
  };
  return { filter, rows: { limit: ROWS, offset: (page - 1) * ROWS } };
}

/** Returns the numbers of the pages before and after the one of a query; null if there is none. */
export function neighboursOf({ page }: IncidentQuery, total: number) {
  return { previous: page > 1 ? page - 1 : null, next: page * ROWS < total ? page + 1 : null };
}
