import type { FastifyInstance } from "fastify";
import { secretChange } from "#control-plane/http/access/diff-resource.ts";
import { memberOf, type SessionGuard } from "#control-plane/surfaces/dashboard/session-guard/session-guard.ts";
import type { MemberWrites } from "#control-plane/surfaces/dashboard/session-guard/member-writes.ts";
import { sendConfirmation } from "#control-plane/surfaces/dashboard/layout/confirmation.ts";
import { findHeartbeat, type WithId } from "#control-plane/surfaces/dashboard/monitor/monitor-page.ts";
import { requireWritten } from "#control-plane/http/written.ts";
import { changeOf } from "#control-plane/monitors/changed-fields.ts";
import type { Monitors } from "#control-plane/monitors/monitors.ts";

const URL = "/app/monitors/:id/rotate";

/** Registers the replacement of the address of a heartbeat, after a question. */
export function registerRotation(
  scope: FastifyInstance,
  {
    guard,
    monitors,
    writes,
  }: { readonly guard: SessionGuard; readonly monitors: Monitors; readonly writes: MemberWrites },
): void {
  scope.route<WithId>({
    ...guard.page({ needs: "write" }),
    url: URL,
    schema: { hide: true },
    async handler(request, reply) {
      const { id } = await findHeartbeat(request, monitors);
      return sendConfirmation(request, reply, {
        title: "Replace the address?",
        sentence:
          "The present address stops working at once: jobs that call it are missed until they have the new one.",
        action: `/app/monitors/${id}/rotate`,
        submit: "Replace the address",
        back: `/app/monitors/${id}`,
      });
    },
  });
  scope.route<WithId>({
    ...guard.form({ needs: "write" }),
    url: URL,
    schema: { hide: true },
    async handler(request, reply) {
      const { id } = await findHeartbeat(request, monitors);
      const own = { accountId: memberOf(request).accountId, id };
      const ran = await writes.run(request, async (tx) => {
        const data = requireWritten(await monitors.rotate(tx, own));
        return { data: null, changes: [changeOf(data, "rotated", [secretChange("heartbeat_url")])] };
      });
      if (!ran.ok) throw ran.refusal;
      return reply.redirect(`/app/monitors/${own.id}?done=rotated#address`, 303);
    },
  });
}
