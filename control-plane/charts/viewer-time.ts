import { toLocal, type TimeZone } from "#control-plane/time-zone.ts";

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

/** Returns the time of a zone in English: "14:30", "26 Nov 14:30" and "26 Nov". */
export function viewerTimeIn(zone: TimeZone): ViewerTime {
  return {
    zone,
    format(instant, precision) {
      const local = new Date(toLocal(zone, instant));
      const clock = local.toISOString().slice(11, 16);
      const day = `${local.getUTCDate()} ${MONTHS[local.getUTCMonth()] ?? ""}`;
      if (precision === "clock") return clock;
      return precision === "day" ? day : `${day} ${clock}`;
    },
  };
}
