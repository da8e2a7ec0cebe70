import { arrayOf, instantOf, recordOf } from "#probe-agent/analysis/registry/rdap/json.ts";

/** What registries put where they know no date, e.g. 0001-01-01 and 9999-12-31, lies beyond these. */
const YEARS = [1970, 2200] as const;

/** ISO 8601 UTC of the first event of a kind (RFC 9083 section 4.5); null where there is none, or no date anybody meant. */
export function eventDate(events: unknown, action: string): string | null {
  const event = arrayOf(events, 50)
    .map(recordOf)
    .find((row) => row?.["eventAction"] === action);
  const at = instantOf(event?.["eventDate"]);
  const year = at === null ? 0 : new Date(at).getUTCFullYear();
  return year >= YEARS[0] && year <= YEARS[1] ? at : null;
}
