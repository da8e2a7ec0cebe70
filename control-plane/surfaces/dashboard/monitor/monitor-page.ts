import type { FastifyReply, FastifyRequest } from "fastify";
import { memberOf } from "#control-plane/surfaces/dashboard/session-guard/session-guard.ts";
import { sendPage } from "#control-plane/surfaces/dashboard/layout/page.ts";
import { absentMessage, Refusal } from "#control-plane/http/errors.ts";
import type { Html } from "#control-plane/core/pages/html.ts";
import type { Monitors } from "#control-plane/monitors/monitors.ts";
import type { MonitorView } from "#control-plane/monitors/serialize.ts";

/** A route below /app/monitors/:id. */
export type WithId = { Params: { id: string } };

/** Returns the id of a monitor in the path. Throws the 404 for what is no id. */
export function idOf({ params }: FastifyRequest<WithId>): number {
  if (!/^[1-9]\d{0,14}$/.test(params.id)) throw new Refusal("not_found", absentMessage("monitor"));
  return Number(params.id);
}

/** Returns the heartbeat of the member's account in the path. Throws the 404 for what is none. */
export async function findHeartbeat(
  request: FastifyRequest<WithId>,
  monitors: Pick<Monitors, "find">,
): Promise<MonitorView> {
  const found = await monitors.find(memberOf(request).accountId, idOf(request));
  if (found === null || found.monitor.heartbeat === null) throw new Refusal("not_found", absentMessage("heartbeat"));
  return found.monitor;
}

/** Sends a page about a monitor. `liveSeconds`: between two refreshes; default: none. */
export function sendMonitorPage(
  request: FastifyRequest,
  reply: FastifyReply,
  title: string,
  body: Html,
  liveSeconds?: number,
): Promise<FastifyReply> {
  const page = { title, session: memberOf(request), section: "monitors", body } as const;
  return sendPage(request, reply, liveSeconds === undefined ? page : { ...page, liveSeconds });
}
