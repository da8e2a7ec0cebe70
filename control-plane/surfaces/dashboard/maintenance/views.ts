import type { FastifyReply, FastifyRequest } from "fastify";
import type { Clock } from "#shared/time/clock.ts";
import { memberOf, type Door } from "#control-plane/surfaces/dashboard/door/door.ts";
import type { MemberWrites } from "#control-plane/surfaces/dashboard/door/member-writes.ts";
import { sendPage } from "#control-plane/surfaces/dashboard/frame/page.ts";
import { namedMonitors } from "#control-plane/surfaces/dashboard/incidents/views.ts";
import { renderWindowForm } from "#control-plane/surfaces/dashboard/maintenance/form.ts";
import type { TypedWindow } from "#control-plane/surfaces/dashboard/maintenance/values.ts";
import type { Overviews } from "#control-plane/surfaces/dashboard/monitors/overviews.ts";
import { MAINTENANCE } from "#control-plane/surfaces/dashboard/strings/maintenance.ts";
import { absentMessage, Refusal, requireFound } from "#control-plane/http/errors.ts";
import type { Maintenance } from "#control-plane/outages/maintenance/maintenance.ts";
import type { MaintenanceWindow } from "#control-plane/outages/maintenance/window.ts";

/** Dependencies of the views of maintenance. */
export interface MaintenanceViewsDeps {
  readonly door: Door;
  readonly clock: Clock;
  readonly maintenance: Maintenance;
  readonly overviews: Pick<Overviews, "of">;
  readonly writes: MemberWrites;
}

/** A request for the window in its path. */
export type WithId = { Params: { id: string } };

/** Returns the window in the path. Throws the 404 for what is none of the account. */
export async function windowOf(
  request: FastifyRequest<WithId>,
  maintenance: Pick<Maintenance, "find">,
): Promise<MaintenanceWindow> {
  const { id } = request.params;
  if (!/^[1-9]\d{0,14}$/.test(id)) throw new Refusal("not_found", absentMessage("maintenance window"));
  return requireFound(await maintenance.find(memberOf(request).accountId, Number(id)), "maintenance window");
}

/** Sends the form of a window. `id`: null for a new one; `problems`: by the input, none if absent. */
export async function sendForm(
  request: FastifyRequest,
  reply: FastifyReply,
  deps: Pick<MaintenanceViewsDeps, "overviews">,
  form: {
    readonly id: number | null;
    readonly typed: TypedWindow;
    readonly problems?: ReadonlyMap<string, string>;
  },
): Promise<FastifyReply> {
  const session = memberOf(request);
  const { choices, total } = await namedMonitors(deps, session.accountId, form.typed.monitorIds);
  const body = renderWindowForm({
    problems: new Map(),
    ...form,
    monitors: choices,
    monitorCount: total,
    formToken: session.formToken,
  });
  const title = form.id === null ? MAINTENANCE.newTitle : MAINTENANCE.editTitle;
  return sendPage(request, reply, { title, session, section: "maintenance", body, isForm: true });
}
