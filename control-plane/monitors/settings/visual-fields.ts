import { Type } from "typebox";
import { PICTURE } from "#shared/monitor-checks/monitor-visual.ts";
import { Nullable } from "#shared/tools/fields.ts";

const Pixels = (minimum: number, maximum: number, description: string) =>
  Type.Integer({ minimum, maximum, description: `${description}, pixels` });

/** What pictures show and how they are compared; omitted parts keep their values. */
export const VISUAL = Nullable(
  Type.Object(
    {
      viewport: Type.Optional(
        Type.Object(
          {
            width: Type.Optional(Pixels(PICTURE.minWidth, PICTURE.maxWidth, "Width. Default: 1280")),
            height: Type.Optional(Pixels(PICTURE.minViewportHeight, PICTURE.maxViewportHeight, "Height. Default: 800")),
          },
          { additionalProperties: false, description: "Size of the window of the browser" },
        ),
      ),
      full_page: Type.Optional(
        Type.Boolean({
          description: `Picture of the whole page, at most ${PICTURE.maxHeight} pixels high. Default: false`,
        }),
      ),
      wait_ms: Type.Optional(
        Type.Integer({
          minimum: 0,
          maximum: 10_000,
          description: "Wait after the page has loaded, milliseconds. Default: 0",
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
