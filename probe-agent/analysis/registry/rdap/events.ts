import { arrayOf, instantOf, recordOf } from "#probe-agent/analysis/registry/rdap/json.ts";

/**
 * Range of plausible years. Registries that know no date send values outside this range, e.g. 0001-01-01 and
 * 9999-12-31.
 */
const YEARS = [1970, 2200] as const;

/**
 * Returns the date of the first event of a kind in ISO 8601 UTC (RFC 9083 section 4.5). Null if there is none, or if
 * the year is not plausible.
 */
export function eventDate(events: unknown, action: string): string | null {
  const event = arrayOf(events, 50)
    .map(recordOf)
    .find((row) => row?.["eventAction"] === action);
  const at = instantOf(event?.["eventDate"]);
  const year = at === null ? 0 : new Date(at).getUTCFullYear();
  return year >= YEARS[0] && year <= YEARS[1] ? at : null;
}
