import type { FastifyReply, FastifyRequest } from "fastify";
import type { Clock } from "#shared/time/clock.ts";
import { offerSwitch, type OtherAccountDeps } from "#control-plane/surfaces/dashboard/door/other-account.ts";
import { memberOf, type Door } from "#control-plane/surfaces/dashboard/door/door.ts";
import type { MemberWrites } from "#control-plane/surfaces/dashboard/door/member-writes.ts";
import { sendPage } from "#control-plane/surfaces/dashboard/frame/page.ts";
import { viewerTimeOf } from "#control-plane/surfaces/dashboard/frame/times.ts";
import type { TypedWriting } from "#control-plane/surfaces/dashboard/incidents/actions.ts";
import type { NamedMonitor } from "#control-plane/surfaces/dashboard/incidents/list.ts";
import { renderIncidentPage } from "#control-plane/surfaces/dashboard/incidents/page.ts";
import type { Overviews } from "#control-plane/surfaces/dashboard/monitors/overviews.ts";
import { absentMessage, Refusal, requireFound } from "#control-plane/http/errors.ts";
import { readIncident, type ReadEvidence } from "#control-plane/outages/incidents/incidents.ts";
import { shownTitle } from "#control-plane/outages/incidents/texts.ts";
import type { IncidentWrites } from "#control-plane/outages/incidents/writes.ts";
import type { StatusPages } from "#control-plane/public/status-pages/status-pages.ts";
import { isAllowed } from "#control-plane/people/users/roles.ts";

/** Seconds between two refreshes of an open view. */
export const REFRESH_SECONDS = 10;
/** Maximum number of monitors in a choice; a longer list is of no use, and its page is loaded every 10 s. */
const MOST_CHOICES = 500;
/** Every status page: more than an account can have. */
export const ALL_PAGES = { limit: 1_000, offset: 0 };

/** Dependencies of the views of incidents. */
export interface IncidentViewsDeps extends OtherAccountDeps {
  readonly door: Door;
  readonly clock: Clock;
  readonly overviews: Pick<Overviews, "of">;
  readonly writes: MemberWrites;
  readonly incidents: IncidentWrites;
  readonly statusPages: Pick<StatusPages, "list">;
  readonly evidenceOf: ReadEvidence;
}

/** A request for the incident in its path. */
export type WithId = { Params: { id: string } };

/** Sends the page of an incident. `typed`: a form that was refused, null: none was. */
export async function showIncident(
  request: FastifyRequest<WithId>,
  reply: FastifyReply,
  deps: IncidentViewsDeps,
  typed: TypedWriting | null,
): Promise<FastifyReply> {
  const session = memberOf(request);
  const { accountId } = session;
  const { sql, clock, evidenceOf, statusPages, overviews } = deps;
  const reading = { now: clock.now(), evidenceOf };
  const found = await readIncident(sql, accountId, idOf(request), reading);
  if (found === null) {
    const has = async (other: number) => (await readIncident(sql, other, idOf(request), reading)) !== null;
    const offered = await offerSwitch(request, reply, deps, has);
    if (offered !== null) return offered;
  }
  const incident = requireFound(found, "incident");
  const [monitors, { pages }] = await Promise.all([overviews.of(accountId), statusPages.list(accountId, ALL_PAGES)]);
  const body = renderIncidentPage({
    incident,
    hasMonitor: monitors.some(({ id }) => id === incident.monitor?.id),
    monitors: monitors.filter(({ id }) => incident.monitor_ids.includes(id)).map(toNamed),
    pages: pages.map(({ id, title, monitors: onPage }) => ({
      id,
      title,
      isByMonitor: onPage.some((monitor) => incident.monitor_ids.includes(monitor.id)),
    })),
    viewer: viewerTimeOf(session),
    timezone: session.timezone,
    formToken: session.formToken,
    canWrite: isAllowed(session.role, "write"),
    typed,
  });
  const page = { title: shownTitle(incident), session, section: "incidents", body } as const;
  // The address of a refused form is not that of the page.
  return sendPage(request, reply, typed === null ? { ...page, liveSeconds: REFRESH_SECONDS } : page);
}

/**
 * Returns monitors of an account to choose from, by name, at most MOST_CHOICES of them and always those of `chosen`, with
 * the number of all.
 */
export async function namedMonitors(
  { overviews }: Pick<IncidentViewsDeps, "overviews">,
  accountId: number,
  chosen: readonly number[],
): Promise<{
  readonly choices: readonly NamedMonitor[];
  readonly total: number;
  readonly isKept: (id: number) => boolean;
}> {
  const all = (await overviews.of(accountId)).map(toNamed);
  const wanted = new Set(chosen);
  const first = all.filter(({ id }) => wanted.has(id));
  const others = all.filter(({ id }) => !wanted.has(id)).toSorted(byName);
  const choices = [...first, ...others.slice(0, MOST_CHOICES - first.length)].toSorted(byName);
  const ids = new Set(all.map(({ id }) => id));
  return { choices, total: all.length, isKept: (id) => ids.has(id) };
}

/** Returns the id of an incident in the path. Throws the 404 for what is no id. */
export function idOf({ params }: FastifyRequest<WithId>): number {
  if (!/^[1-9]\d{0,14}$/.test(params.id)) throw new Refusal("not_found", absentMessage("incident"));
  return Number(params.id);
}

function toNamed({ id, name, url }: NamedMonitor & { readonly url: string }): NamedMonitor {
  return { id, name: name === "" ? url : name };
}

function byName(one: NamedMonitor, other: NamedMonitor): number {
  return one.name.localeCompare(other.name, "en") || one.id - other.id;
}
