import { readMailDate } from "#probe-agent/tools/email-header/date.ts";

/** Time of a message's arrival. The times of its signatures are compared with it. */
export interface Arrival {
  /** Milliseconds since 1970. */
  readonly time: number;
  /**
   * received: the newest hop not in the future; mbox: the "From " line; date: the Date field; now: no date is known.
   */
  readonly source: "received" | "mbox" | "date" | "now";
}

/** Lead of a clock that is tolerated, in milliseconds. */
export const CLOCK_AHEAD_MS = 10 * 60_000;
/** Numbers of words of an asctime date: with two zones, one zone or none. */
const MBOX_DATE_WORDS = [7, 6, 5];

/**
 * Finds the time when a message arrived. Receivers add their Received fields at the top, so the newest hop is the last
 * one; hops with a date later than now are skipped. Without a dated hop, the date of the mbox file counts, otherwise
 * the sender's Date, otherwise `now`. `hopTimes` are newest first, in milliseconds, null without a date.
 */
export function readArrival(
  hopTimes: readonly (number | null)[],
  { mboxFrom, date, now }: { readonly mboxFrom: string | null; readonly date: number | null; readonly now: Date },
): Arrival {
  const latest = now.getTime() + CLOCK_AHEAD_MS;
  const isPast = (time: number | null): time is number => time !== null && time <= latest;
  const received = hopTimes.find(isPast);
  if (received !== undefined) return { time: received, source: "received" };
  const delivered = mboxFrom === null ? null : readMboxTime(mboxFrom);
  if (isPast(delivered)) return { time: delivered, source: "mbox" };
  return isPast(date) ? { time: date, source: "date" } : { time: now.getTime(), source: "now" };
}

/** Reads the date at the end of a "From " line (RFC 4155): "From a@b.example Tue Jan  2 10:00:00 2024". */
function readMboxTime(line: string): number | null {
  const words = line.slice(0, 1_000).trim().split(/\s+/);
  for (const count of MBOX_DATE_WORDS) {
    const { time } = readMailDate(words.slice(-count).join(" "));
    if (time !== null) return time;
  }
  return null;
}
