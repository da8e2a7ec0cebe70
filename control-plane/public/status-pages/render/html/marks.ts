import { html } from "#control-plane/core/pages/html.ts";
import type { OverallStatus, ShownIncident, ShownStatus } from "#control-plane/public/status-pages/page.ts";
import { OVERALL_COLOURS } from "#control-plane/public/status-pages/render/colours.ts";

/** A mark: the id of its shape in SHAPES, and the class of its colour in the style. */
export interface Mark {
  readonly shape: "iu" | "ig" | "id" | "im" | "in";
  readonly colour: string;
}

/** The mark of a monitor's status. */
export const STATUS_MARKS: Readonly<Record<ShownStatus, Mark>> = {
  up: { shape: "iu", colour: "up" },
  degraded: { shape: "ig", colour: "deg" },
  down: { shape: "id", colour: "dn" },
  maintenance: { shape: "im", colour: "mt" },
  unknown: { shape: "in", colour: "un" },
};

/** The mark of the status of a whole page. */
export const OVERALL_MARKS: Readonly<Record<OverallStatus, Mark>> = {
  operational: STATUS_MARKS.up,
  degraded_performance: STATUS_MARKS.degraded,
  partial_outage: { shape: "id", colour: "out" },
  major_outage: STATUS_MARKS.down,
  under_maintenance: STATUS_MARKS.maintenance,
  unknown: STATUS_MARKS.unknown,
};

/** The class of the colour of an open incident. */
export const IMPACT_COLOURS: Readonly<Record<ShownIncident["impact"], string>> = {
  none: "un",
  minor: "deg",
  major: "out",
  critical: "dn",
  maintenance: "mt",
};

/**
 * Paths of the shapes by id, in a square of 16: circle with a tick, triangle, octagon with a cross, wrench, circle with a
 * question mark.
 */
const PATHS: Readonly<Record<Mark["shape"], string>> = {
  iu: "M8 0a8 8 0 1 1 0 16A8 8 0 0 1 8 0zM11.4 4.7 6.9 9.2 4.6 6.9 3.2 8.3l3.7 3.7 5.9-5.9z",
  ig: "M8 .6 16 15H0zM7.1 5.6v5h1.8v-5zm0 6v1.8h1.8v-1.8z",
  id: "M4.7 0h6.6L16 4.7v6.6L11.3 16H4.7L0 11.3V4.7zM5.4 4 4 5.4 6.6 8 4 10.6 5.4 12 8 9.4l2.6 2.6 1.4-1.4L9.4 8 12 5.4 10.6 4 8 6.6z",
  im: "M15.2 4.2a4.6 4.6 0 0 1-6 5.6L4 15a2.1 2.1 0 0 1-3-3l5.2-5.2a4.6 4.6 0 0 1 5.6-6L9.2 3.4l.6 2.8 2.8.6z",
  in: "M8 0a8 8 0 1 1 0 16A8 8 0 0 1 8 0zm0 1.6a6.4 6.4 0 1 0 0 12.8A6.4 6.4 0 0 0 8 1.6zM7.2 10h1.6v-.8C8.8 8.4 11 8 11 6a3 3 0 0 0-6 0h1.6a1.4 1.4 0 1 1 2.8 0c0 1-2.2 1.4-2.2 3.2zm0 1.2v1.6h1.6v-1.6z",
};

/** The shapes that a document uses with `<use href="#id">`. */
export const SHAPES = html`<svg class="x">${Object.entries(PATHS).map(
  ([id, path]) => html`<symbol id="${id}" viewBox="0 0 16 16"><path fill-rule="evenodd" d="${path}"/></symbol>`,
)}</svg>`;

/** Returns the icon of a document that shows the status of a whole page by shape and colour, as a data: URI. */
export function iconOf(status: OverallStatus): string {
  const path = `<path fill="${OVERALL_COLOURS[status]}" fill-rule="evenodd" d="${PATHS[OVERALL_MARKS[status].shape]}"/>`;
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16">${path}</svg>`;
  // Only what an address cannot hold, or an attribute would hold longer, is encoded: each visitor loads it.
  return `data:image/svg+xml,${svg.replaceAll(/[<>"#]/g, encodeURIComponent)}`;
}
