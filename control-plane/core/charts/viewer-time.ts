import { toLocal, type TimeZone } from "#control-plane/core/time-zone.ts";

/** How exact a time is written: time of day, day with time of day, or day. */
type Precision = "clock" | "minute" | "day";

/** The time of who looks at a chart. */
export interface ViewerTime {
  /** The places of ticks follow it: midnight is midnight there. */
  readonly zone: TimeZone;
  /** Writes an instant (Unix milliseconds) in this zone. */
  readonly format: (instant: number, precision: Precision) => string;
}

const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/** Instants whose texts are kept: more than the steps of the strips of a page, which all begin at the same times. */
const MOST_KEPT = 500;

/** Returns the time of a zone in English: "14:30", "26 Nov 14:30" and "26 Nov". */
export function viewerTimeIn(zone: TimeZone): ViewerTime {
  const kept = new Map<number, { readonly day: string; readonly clock: string }>();
  function write(instant: number) {
    const local = new Date(toLocal(zone, instant));
    const day = `${local.getUTCDate()} ${MONTHS[local.getUTCMonth()] ?? ""}`;
    return { day, clock: local.toISOString().slice(11, 16) };
  }
  return {
    zone,
    format(instant, precision) {
      const { day, clock } = kept.get(instant) ?? write(instant);
      if (kept.size < MOST_KEPT) kept.set(instant, { day, clock });
      if (precision === "clock") return clock;
      return precision === "day" ? day : `${day} ${clock}`;
    },
  };
}
