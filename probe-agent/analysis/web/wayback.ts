/** A snapshot in the archive's index. */
export interface Capture {
  /** Fourteen digits: YYYYMMDDhhmmss, UTC. */
  readonly timestamp: string;
  /** null for a record that refers to an earlier copy. */
  readonly code: number | null;
}

/** A snapshot in a result. */
interface Snapshot {
  readonly timestamp: string;
  readonly url: string;
  readonly code: number | null;
}

/**
 * Parses the rows of the index (CDX server, output=json): all cells are strings, and the first row names the fields.
 * Without a capture the response is []. Returns null for any other response. Invalid rows are left out.
 */
export function readCaptures(value: unknown): Capture[] | null {
  if (!Array.isArray(value)) return null;
  const [header, ...rows] = value as unknown[];
  if (header === undefined) return [];
  if (!Array.isArray(header)) return null;
  const time = header.indexOf("timestamp");
  const code = header.indexOf("statuscode");
  if (time === -1) return null;
  return rows.flatMap((row) => {
    const cells = Array.isArray(row) ? (row as unknown[]) : [];
    const timestamp = cells[time];
    return typeof timestamp === "string" && isoTime(timestamp) !== null
      ? [{ timestamp, code: statusOf(cells[code]) }]
      : [];
  });
}

/**
 * Parses the closest snapshot of a response of the availability service; null if there is none. Returns undefined for
 * any other response. That there is none means little: the service is known to omit pages that the index has.
 */
export function readAvailability(value: unknown): Capture | null | undefined {
  const snapshots = field(value, "archived_snapshots");
  if (typeof snapshots !== "object" || snapshots === null) return undefined;
  const closest = field(snapshots, "closest");
  const timestamp = field(closest, "timestamp");
  if (field(closest, "available") !== true || typeof timestamp !== "string" || isoTime(timestamp) === null) return null;
  return { timestamp, code: statusOf(field(closest, "status")) };
}

/** Adds the URL to a capture. `archive` is the base URL of archived pages, with a final slash. */
export function toSnapshot({ timestamp, code }: Capture, archive: string, url: string): Snapshot {
  return { timestamp: isoTime(timestamp) ?? timestamp, url: `${archive}${timestamp}/${url}`, code };
}

/** Counts the captures of each year. */
export function countYears(captures: readonly Capture[]): Record<string, number> {
  const years = new Map<string, number>();
  for (const { timestamp } of captures) {
    const year = timestamp.slice(0, 4);
    years.set(year, (years.get(year) ?? 0) + 1);
  }
  return Object.fromEntries([...years].toSorted(([one], [other]) => (one < other ? -1 : 1)));
}

/** Converts a timestamp to ISO 8601; null if it is not a time. */
function isoTime(timestamp: string): string | null {
  const parts = /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)$/.exec(timestamp);
  if (parts === null) return null;
  const [, year, month, day, hour, minute, second] = parts;
  const text = `${year}-${month}-${day}T${hour}:${minute}:${second}Z`;
  const time = new Date(text);
  // The parser accepts dates that do not exist, such as the 30th of February.
  return !Number.isNaN(time.getTime()) && time.toISOString().startsWith(text.slice(0, -1)) ? text : null;
}

function statusOf(value: unknown): number | null {
  return typeof value === "string" && /^[1-5]\d\d$/.test(value) ? Number(value) : null;
}

function field(value: unknown, key: string): unknown {
  return typeof value === "object" && value !== null && Object.hasOwn(value, key)
    ? (value as Readonly<Record<string, unknown>>)[key]
    : undefined;
}
