import type { OverallStatus, ShownStatus } from "#control-plane/public/status-pages/page.ts";

// White text has a contrast of at least 4.5 to each of these colours.
/** Works. */
export const GREEN = "#1a7f37";
/** Works badly. */
export const YELLOW = "#8a5d00";
/** Works in part. */
export const ORANGE = "#bc4c00";
/** Does not work. */
export const RED = "#cf222e";
const BLUE = "#0969da";
/** Is not known. */
export const GREY = "#59636e";

/** The colour of a monitor's status. */
export const STATUS_COLOURS: Readonly<Record<ShownStatus, string>> = {
  up: GREEN,
  degraded: YELLOW,
  down: RED,
  maintenance: BLUE,
  unknown: GREY,
};

/** The colour of the status of a whole page. */
export const OVERALL_COLOURS: Readonly<Record<OverallStatus, string>> = {
  operational: GREEN,
  degraded_performance: YELLOW,
  partial_outage: ORANGE,
  major_outage: RED,
  under_maintenance: BLUE,
  unknown: GREY,
};
