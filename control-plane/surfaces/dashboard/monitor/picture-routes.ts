import type { FastifyInstance } from "fastify";
import { memberOf } from "#control-plane/surfaces/dashboard/session-guard/session-guard.ts";
import { idOf, type WithId } from "#control-plane/surfaces/dashboard/monitor/monitor-page.ts";
import { absentMessage, Refusal } from "#control-plane/http/errors.ts";
import { SentFile, sendFile } from "#control-plane/http/sent-file.ts";
import { requireWritten } from "#control-plane/http/written.ts";
import { changeOf } from "#control-plane/monitors/changed-fields.ts";
import type { Dashboard } from "#control-plane/surfaces/dashboard/parts.ts";

/** Registers the pictures of a visual monitor for the members of its account, and the form that accepts the newest one. */
export function registerPictures(scope: FastifyInstance, { guard, monitors, writes, pictures }: Dashboard): void {
  scope.route<{ Params: { id: string; picture: string } }>({
    ...guard.page({ needs: "read" }),
    url: "/app/monitors/:id/pictures/:picture",
    schema: { hide: true },
    async handler(request, reply) {
      const id = idOf(request);
      const pictureId = /^[1-9]\d{0,14}$/.test(request.params.picture) ? Number(request.params.picture) : 0;
      const isOwn = await monitors.has(memberOf(request).accountId, id);
      const picture = isOwn && pictureId > 0 ? await pictures.find(id, pictureId) : null;
      if (picture === null) throw new Refusal("not_found", absentMessage("picture"));
      // A browser asks each time, so that it shows nothing to who is signed in after this member, or not any more.
      const file = new SentFile("image/png", Buffer.from(picture.content), picture.sha256);
      return sendFile(request, reply, file, "private, no-cache");
    },
  });
  scope.route<WithId>({
    ...guard.form({ needs: "write" }),
    url: "/app/monitors/:id/accept",
    schema: { hide: true },
    async handler(request, reply) {
      const own = { accountId: memberOf(request).accountId, id: idOf(request) };
      const ran = await writes.run(request, async (tx) => {
        const data = requireWritten(await monitors.accept(tx, own));
        return { data, changes: [changeOf(data, "accepted")] };
      });
      if (!ran.ok) throw ran.refusal;
      return reply.redirect(`/app/monitors/${own.id}?done=accepted`, 303);
    },
  });
}
