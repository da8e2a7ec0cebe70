/** A snapshot as the archive's index lists it. */
export interface Capture {
  /** Fourteen digits: YYYYMMDDhhmmss, UTC. */
  readonly timestamp: string;
  /** Null for a record that refers to an earlier copy. */
  readonly code: number | null;
}

/** A snapshot as a result shows it. */
interface Snapshot {
  readonly timestamp: string;
  readonly url: string;
  readonly code: number | null;
}

/**
 * Rows of the index (CDX server, output=json): strings throughout, the first row names the fields. Without a capture the
 * answer is []. Null where it is no such answer; rows that cannot be read are left out.
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
 * The closest snapshot of an answer of the availability service, null for none. undefined where it is no such answer.
 * That there is none means little: the service is known to leave out pages the index has.
 */
export function readAvailability(value: unknown): Capture | null | undefined {
  const snapshots = field(value, "archived_snapshots");
  if (typeof snapshots !== "object" || snapshots === null) return undefined;
  const closest = field(snapshots, "closest");
  const timestamp = field(closest, "timestamp");
  if (field(closest, "available") !== true || typeof timestamp !== "string" || isoTime(timestamp) === null) return null;
  return { timestamp, code: statusOf(field(closest, "status")) };
}

/** A capture with its address; `archive` is where the archive shows pages, with a slash at its end. */
export function toSnapshot({ timestamp, code }: Capture, archive: string, url: string): Snapshot {
  return { timestamp: isoTime(timestamp) ?? timestamp, url: `${archive}${timestamp}/${url}`, code };
}

/** How many captures each year has. */
export function countYears(captures: readonly Capture[]): Record<string, number> {
  const years = new Map<string, number>();
  for (const { timestamp } of captures) {
    const year = timestamp.slice(0, 4);
    years.set(year, (years.get(year) ?? 0) + 1);
  }
  return Object.fromEntries([...years].toSorted(([one], [other]) => (one < other ? -1 : 1)));
}

/** ISO 8601 of a timestamp; null where it is no time. */
function isoTime(timestamp: string): string | null {
  const parts = /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)$/.exec(timestamp);
  if (parts === null) return null;
  const [, year, month, day, hour, minute, second] = parts;
  const text = `${year}-${month}-${day}T${hour}:${minute}:${second}Z`;
  const time = new Date(text);
  // The 30th of February is a date to the parser and none to the calendar.
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
