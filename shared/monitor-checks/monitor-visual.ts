import { Type } from "typebox";
import { MONITOR_CHECK, REPORT_PARAMS } from "#shared/monitor-checks/define.ts";
import { defineTool } from "#shared/tools/define.ts";
import { Url } from "#shared/tools/fields.ts";

/** Limits of a picture. Larger ones are cut to them on the agent, and rejected by the control plane. */
export const PICTURE = {
  /** Pixels of the viewport's width. */
  minWidth: 320,
  maxWidth: 3_840,
  minViewportHeight: 200,
  maxViewportHeight: 2_160,
  /** Pixels of the height of a whole page. */
  maxHeight: 10_000,
  /** Width x height: a whole page of 1280 x 10,000. A comparison needs about 20 bytes of memory for each pixel. */
  maxPixels: 12_800_000,
} as const;

/** Returns the largest height of a picture of this width. */
export function mostHeight(width: number): number {
  return Math.min(PICTURE.maxHeight, Math.floor(PICTURE.maxPixels / width));
}

/** Takes a picture of a page for monitors of type visual. The picture comes as a file with the result. */
export const monitorVisual = defineTool({
  ...MONITOR_CHECK,
  name: "monitor-visual",
  title: "Visual monitor",
  summary: "A picture of a page, as a browser shows it",
  toolset: "web",
  target: { param: "url", kind: "url", connects: true },
  example: { url: "https://example.com" },
  needs: () => ["browser"],
  artifact: true,
  deadlineMs: ({ timeout_seconds, wait_ms = 0 }) => MONITOR_CHECK.deadlineMs({ timeout_seconds }) + wait_ms,
  params: Type.Object({
    url: Url({ description: "Page to load" }),
    width: Type.Integer({ minimum: PICTURE.minWidth, maximum: PICTURE.maxWidth, description: "Viewport, pixels" }),
    height: Type.Integer({
      minimum: PICTURE.minViewportHeight,
      maximum: PICTURE.maxViewportHeight,
      description: "Viewport, pixels",
    }),
    full_page: Type.Boolean({
      description: `The whole page instead of the viewport, at most ${PICTURE.maxHeight} pixels high`,
    }),
    wait_ms: Type.Optional(
      Type.Integer({ minimum: 0, maximum: 10_000, description: "Wait after the page has loaded, milliseconds" }),
    ),
    ...REPORT_PARAMS,
  }),
});
