import { Type, type Static } from "typebox";
import { monitorVisual, mostHeight, PICTURE } from "#shared/monitor-checks/monitor-visual.ts";
import type { FieldProblem } from "#shared/schema/problem.ts";
import { Nullable } from "#shared/tools/fields.ts";
import type { CommonDraft } from "#control-plane/outages/kinds/common.ts";
import { OPTIONS, PROBE, PROBED, problem, URL_TARGET, type Kind } from "#control-plane/outages/kinds/kind.ts";
import { asked } from "#control-plane/outages/kinds/form-field.ts";

/** A rectangle of a picture in which differences do not count; in pixels from the upper left corner. */
export interface IgnoredRegion {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** What a visual monitor takes pictures of, and how they are compared. */
export interface VisualSettings {
  readonly viewport: { readonly width: number; readonly height: number };
  readonly full_page: boolean;
  /** Wait after the page has loaded. */
  readonly wait_ms: number;
  readonly ignore: readonly IgnoredRegion[];
  /** A page has changed if more of its pixels differ. */
  readonly threshold_percent: number;
}

const Pixels = (minimum: number, maximum: number, description: string, form?: ReturnType<typeof asked>) =>
  Type.Integer({ minimum, maximum, description: `${description}, pixels`, ...form });

/** What pictures show and how they are compared; omitted parts keep their values. */
const SCHEMA = Nullable(
  Type.Object(
    {
      viewport: Type.Optional(
        Type.Object(
          {
            width: Type.Optional(
              Pixels(
                PICTURE.minWidth,
                PICTURE.maxWidth,
                "Width. Default: 1280",
                asked("Width of the window (pixels)", "more", { hint: "Empty: 1280" }),
              ),
            ),
            height: Type.Optional(
              Pixels(
                PICTURE.minViewportHeight,
                PICTURE.maxViewportHeight,
                "Height. Default: 800",
                asked("Height of the window (pixels)", "more", { hint: "Empty: 800" }),
              ),
            ),
          },
          { additionalProperties: false, description: "Size of the window of the browser" },
        ),
      ),
      full_page: Type.Optional(
        Type.Boolean({
          description: `Picture of the whole page, at most ${PICTURE.maxHeight} pixels high. Default: false`,
          ...asked("Picture of the whole page", "more"),
        }),
      ),
      wait_ms: Type.Optional(
        Type.Integer({
          minimum: 0,
          maximum: 10_000,
          description: "Wait after the page has loaded, milliseconds. Default: 0",
          ...asked("Wait after loading (milliseconds)", "more", { hint: "Empty: 0" }),
        }),
      ),
      ignore: Type.Optional(
        Type.Array(
          Type.Object(
            {
              x: Pixels(0, PICTURE.maxWidth, "From the left"),
              y: Pixels(0, PICTURE.maxHeight, "From the top"),
              width: Pixels(1, PICTURE.maxWidth, "Width"),
              height: Pixels(1, PICTURE.maxHeight, "Height"),
            },
            { additionalProperties: false },
          ),
          { maxItems: 50, description: "Regions in which differences do not count. Default: none" },
        ),
      ),
      threshold_percent: Type.Optional(
        Type.Number({
          minimum: 0,
          maximum: 100,
          description: "The page has changed if more of its pixels differ, percent. Default: 0.1",
          ...asked("Changed when more than this differs (percent)", "expect", { hint: "Empty: 0.1" }),
        }),
      ),
    },
    {
      additionalProperties: false,
      examples: [{ full_page: true, ignore: [{ x: 0, y: 0, width: 1_280, height: 90 }], threshold_percent: 0.5 }],
      description: "visual: what pictures show and how they are compared",
    },
  ),
);

/** How pictures are taken and compared if a monitor says nothing about it. */
export const VISUAL_DEFAULT: VisualSettings = {
  viewport: { width: 1_280, height: 800 },
  full_page: false,
  wait_ms: 0,
  ignore: [],
  threshold_percent: 0.1,
};
/** A browser has to start and to load everything that belongs to a page. */
const TIMEOUT_SECONDS = 30;
/** Minimum time limit of a check, in seconds: a browser has to start. */
const LEAST_SECONDS = 10;
/** Time to compare and store a picture after its check, in seconds: the check counts as running until then. */
const COMPARE_SECONDS = 60;

/** Pictures of a page. It is never down. */
export const visual = {
  ...PROBED,
  label: "Picture",
  watches: "pictures of a page",
  target: { ...URL_TARGET, port: "field" },
  defaults: { timeout_seconds: TIMEOUT_SECONDS },
  options: {
    ...OPTIONS,
    schema: SCHEMA,
    readOnly: ["accepted", "latest"],
    defaults: () => VISUAL_DEFAULT,
    read: (given, present) => ({ ok: true, value: merge(given as Static<typeof SCHEMA>, present) }),
    isNewStart: (before, after) => basisOf("", before) !== basisOf("", after),
  },
  findConflict: visualConflict,
  locations: "one",
  probe: {
    ...PROBE,
    contract: monitorVisual,
    params(url, _settings, options) {
      const { viewport, full_page, wait_ms } = options ?? VISUAL_DEFAULT;
      return { url, width: viewport.width, height: viewport.height, full_page, wait_ms };
    },
    capability: "browser",
    extraSeconds: (options) => (options === null ? 0 : Math.ceil(options.wait_ms / 1_000) + COMPARE_SECONDS),
  },
} as const satisfies Kind<VisualSettings>;

/**
 * Returns the facts on which the look of a visual monitor's pictures depends, as JSON. Pictures are comparable only if
 * these are equal.
 */
export function basisOf(url: string, { viewport, full_page, wait_ms }: VisualSettings): string {
  return JSON.stringify([url, viewport.width, viewport.height, full_page, wait_ms]);
}

/** Applies given parts to the present ones; null restores the defaults. */
function merge(given: Static<typeof SCHEMA>, present: VisualSettings | null): VisualSettings {
  if (given === null) return VISUAL_DEFAULT;
  const base = present ?? VISUAL_DEFAULT;
  return { ...base, ...given, viewport: { ...base.viewport, ...given.viewport } };
}

function visualConflict(
  { timeout_seconds: seconds, locations }: CommonDraft,
  options: VisualSettings | null,
): FieldProblem | null {
  if (seconds < LEAST_SECONDS) {
    const message = `must be at least ${LEAST_SECONDS} for check_type visual: a browser has to load the page`;
    return problem("timeout_seconds", "range", message);
  }
  if (locations.length > 1) {
    const message = "must have one item for check_type visual: pictures from different places differ";
    return problem("locations", "range", message);
  }
  if (options === null) return null;
  const { viewport, full_page: isFull, ignore } = options;
  if (viewport.width * viewport.height > PICTURE.maxPixels) {
    return problem("visual.viewport", "range", `must have at most ${PICTURE.maxPixels} pixels`);
  }
  const height = isFull ? mostHeight(viewport.width) : viewport.height;
  const outside = ignore.findIndex((one) => one.x + one.width > viewport.width || one.y + one.height > height);
  if (outside === -1) return null;
  return problem(
    `visual.ignore.${outside}`,
    "range",
    `must be inside the picture, which has ${isFull ? "at most " : ""}${viewport.width} x ${height} pixels`,
  );
}
