import { Type } from "typebox";
import { Nullable } from "#shared/tools/fields.ts";
import { IdField } from "#control-plane/http/params.ts";

const Pixels = (description: string) => Type.Integer({ description: `${description}, pixels` });
const Time = (description: string) => Type.String({ format: "date-time", description });
const PictureId = { ...IdField, description: "Id of the picture: GET monitors?id=&action=picture&picture_id=" };

/** How pictures are taken and compared, and the pictures that count, in responses. */
export const SHOWN_VISUAL = Nullable(
  Type.Object(
    {
      viewport: Type.Object(
        { width: Pixels("Width"), height: Pixels("Height") },
        { description: "Size of the window of the browser" },
      ),
      full_page: Type.Boolean({ description: "Whether pictures show the whole page" }),
      wait_ms: Type.Integer({ description: "Wait after the page has loaded, milliseconds" }),
      ignore: Type.Array(
        Type.Object({
          x: Pixels("From the left"),
          y: Pixels("From the top"),
          width: Pixels("Width"),
          height: Pixels("Height"),
        }),
        { description: "Regions in which differences do not count" },
      ),
      threshold_percent: Type.Number({ description: "The page has changed if more of its pixels differ, percent" }),
      accepted: Nullable(
        Type.Object(
          { picture_id: PictureId, at: Time("When it was accepted; the first picture is accepted at once") },
          { description: "The picture to which others are compared; null: none yet" },
        ),
      ),
      latest: Nullable(
        Type.Object(
          {
            picture_id: PictureId,
            at: Time("When it was taken"),
            ratio: Type.Number({ description: "Pixels that differ from the accepted picture, percent" }),
            changed_percent: Type.Number({ description: "The same as ratio, by a name that says its unit" }),
            difference_picture_id: Nullable({
              ...PictureId,
              description: "Picture that shows what differs; null: none",
            }),
          },
          { description: "The newest picture; null: none yet" },
        ),
      ),
    },
    { description: "visual: how pictures are taken and compared, and the newest ones; null for other check types" },
  ),
);
