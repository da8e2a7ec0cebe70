import { arrayOf, instantOf, recordOf } from "#probe-agent/analysis/rdap/json.ts";

/** ISO 8601 UTC of the first event of a kind (RFC 9083 section 4.5); null where there is none. */
export function eventDate(events: unknown, action: string): string | null {
  const event = arrayOf(events, 50)
    .map(recordOf)
    .find((row) => row?.["eventAction"] === action);
  return instantOf(event?.["eventDate"]);
}
