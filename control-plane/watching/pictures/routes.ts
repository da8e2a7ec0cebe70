import { Type } from "typebox";
import { Refusal, refuseField } from "#control-plane/http/errors.ts";
import { IdField, readQuery } from "#control-plane/http/params.ts";
import { SentFile } from "#control-plane/http/sent-file.ts";
import type { ReadAction } from "#control-plane/http/operations/read-action.ts";
import type { Pictures } from "#control-plane/watching/pictures/pictures.ts";

const QUERY = Type.Object({
  picture_id: Type.Optional({ ...IdField, description: "picture: id of a picture of the visual monitor id" }),
});

/** Creates the read of a picture: GET /api/v4/monitors?id=&action=picture&picture_id=. */
export function pictureAction(pictures: Pick<Pictures, "find">): ReadAction {
  return {
    name: "picture",
    query: QUERY.properties,
    data: "image/png",
    async run(request, { id }) {
      const { picture_id: pictureId } = readQuery(QUERY, request);
      if (pictureId === undefined)
        throw refuseField({ field: "picture_id", reason: "required", message: "is required" });
      const picture = await pictures.find(id, pictureId);
      if (picture === null) throw new Refusal("not_found", "The monitor has no picture with this id.");
      return new SentFile("image/png", Buffer.from(picture.content), picture.sha256);
    },
  };
}
