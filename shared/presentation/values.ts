import { describeDuration, writeDuration } from "#shared/text/duration.ts";
import { toPlainLine } from "#shared/text/plain-line.ts";

/** Writes a duration in milliseconds without its unit: two decimals below 10, one below 100, else none. */
export function milliseconds(ms: number): string {
  return ms < 10 ? String(Number(ms.toFixed(2))) : ms < 100 ? String(Number(ms.toFixed(1))) : String(Math.round(ms));
}

/** Writes the shortest and the longest of some durations without their unit: "2.4 to 17"; null if there are none. */
export function millisecondsRange(values: readonly number[]): string | null {
  if (values.length === 0) return null;
  const [least, most] = [milliseconds(Math.min(...values)), milliseconds(Math.max(...values))];
  return least === most ? least : `${least} to ${most}`;
}

/** Writes a duration in milliseconds with its unit: "0.42 ms", "34.1 ms", "1.25 s", "1 min 30 s". */
export function duration(ms: number): string {
  if (ms < 999.5) return `${milliseconds(ms)} ms`;
  // From a minute on, two units are easier to read: "1 min 30 s".
  return ms < 60_000 ? `${Number((ms / 1_000).toFixed(2))} s` : writeDuration(ms / 1_000);
}

const SIZES = [
  [1_000_000_000, "GB"],
  [1_000_000, "MB"],
  [1_000, "kB"],
] as const;

/** Writes a number of octets in decimal units: "812 B", "4.7 kB", "1.2 MB". */
export function bytes(count: number): string {
  for (const [size, unit] of SIZES) {
    // What rounds to 1000 of a unit is 1 of the next.
    if (count >= size - (unit === "kB" ? 0 : size / 20_000)) return `${Number((count / size).toFixed(1))} ${unit}`;
  }
  return `${count} B`;
}

/** Writes a percentage with at most two decimals: "12.5 %". Neither a little nor nearly all is rounded away. */
export function percent(value: number): string {
  const rounded = Number(value.toFixed(2));
  if (rounded === 0 && value > 0) return "less than 0.01 %";
  return rounded === 100 && value < 100 ? "99.99 %" : `${rounded} %`;
}

const YEAR_MS = 31_556_952_000;

/**
 * Writes a point of time by its distance from now: "in 88 days", "12 days ago", "in 4 years". Null if it is not a date.
 */
export function distance(iso: string, now: Date): string | null {
  const ms = Date.parse(iso) - now.getTime();
  if (Number.isNaN(ms)) return null;
  const years = Math.floor(Math.abs(ms) / YEAR_MS);
  const length = years < 2 ? describeDuration(Math.abs(ms)) : `${years} years`;
  return ms >= 0 ? `in ${length}` : `${length} ago`;
}

/** Writes a date with its distance from now: "2027-02-20 (in 88 days)". Text that is not a date stays as it is. */
export function date(iso: string, now: Date): string {
  const away = distance(iso, now);
  return away === null ? iso : `${new Date(Date.parse(iso)).toISOString().split("T", 1)[0]} (${away})`;
}

/** Writes a point of time with its distance from now: "2027-02-20 10:00:07 UTC (in 88 days)". Other text stays as it is. */
export function moment(iso: string, now: Date): string {
  const away = distance(iso, now);
  if (away === null) return iso;
  const [day = "", time = ""] = new Date(Date.parse(iso)).toISOString().split("T");
  return `${day} ${time.slice(0, 8)} UTC (${away})`;
}

/** Writes "yes" or "no"; null if unknown. */
export function yesNo(value: boolean | null | undefined): string | null {
  return value === null || value === undefined ? null : value ? "yes" : "no";
}

/** Writes a number with its noun: "1 hop", "3 hops"; `plural` if it is not the noun with an s. */
export function counted(count: number, noun: string, plural = `${noun}s`): string {
  return `${count} ${count === 1 ? noun : plural}`;
}

const MOST_URL = 80;

/** Writes a URL with at most 80 characters, for a headline or a narrow cell. */
export function cutUrl(url: string): string {
  return toPlainLine(url, MOST_URL);
}

/** Writes the URL of a page for a headline: like cutUrl, without https:// and without a final slash after the host. */
export function shortUrl(url: string): string {
  return cutUrl(url.replace(/^https:\/\//i, "").replace(/^((?:http:\/\/)?[^/?#]+)\/$/i, "$1"));
}
