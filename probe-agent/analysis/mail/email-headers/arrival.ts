import { readMailDate } from "#probe-agent/analysis/mail/email-headers/date.ts";

/** When a message arrived. Signatures are judged by this time: their keys and dates were valid then, or were not. */
export interface Arrival {
  /** Milliseconds since 1970. */
  readonly time: number;
  /** received: the newest hop that can be true; mbox: the "From " line; date: the Date field; now: no date is given. */
  readonly source: "received" | "mbox" | "date" | "now";
}

/** A clock that is ahead by less is ordinary, milliseconds. */
export const CLOCK_AHEAD_MS = 10 * 60_000;
/** asctime's words, with a zone before and after the year. */
const MBOX_DATE_WORDS = [7, 6, 5];

/**
 * Tells when a message arrived. Receivers put their Received fields on top, so the newest one is the last that anyone
 * wrote; one that is dated later than now is passed over. Without any: what the mbox file says, else the sender's own
 * Date, else `now`. `hopTimes`: newest first, milliseconds, null without a date.
 */
export function readArrival(
  hopTimes: readonly (number | null)[],
  { mboxFrom, date, now }: { readonly mboxFrom: string | null; readonly date: number | null; readonly now: Date },
): Arrival {
  const latest = now.getTime() + CLOCK_AHEAD_MS;
  const isPast = (time: number | null): time is number => time !== null && time <= latest;
  const received = hopTimes.find(isPast);
  if (received !== undefined) return { time: received, source: "received" };
  const delivered = mboxFrom === null ? null : mboxTime(mboxFrom);
  if (isPast(delivered)) return { time: delivered, source: "mbox" };
  return isPast(date) ? { time: date, source: "date" } : { time: now.getTime(), source: "now" };
}

/** The date that ends a "From " line (RFC 4155): "From a@b.example Tue Jan  2 10:00:00 2024". */
function mboxTime(line: string): number | null {
  const words = line.slice(0, 1_000).trim().split(/\s+/);
  for (const count of MBOX_DATE_WORDS) {
    const { time } = readMailDate(words.slice(-count).join(" "));
    if (time !== null) return time;
  }
  return null;
}
