import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { offerSwitch } from "#control-plane/surfaces/dashboard/session-guard/other-account.ts";
import { memberOf } from "#control-plane/surfaces/dashboard/session-guard/session-guard.ts";
import { sentence } from "#control-plane/surfaces/dashboard/layout/problems.ts";
import { viewerTimeOf, renderTime, toLocalTimes } from "#control-plane/surfaces/dashboard/layout/times.ts";
import { readLocationStatuses } from "#control-plane/watching/checking/monitor-status.ts";
import { readCheckQuery, renderCheckLog } from "#control-plane/surfaces/dashboard/monitor/check-log.ts";
import { renderAnswered, renderChecks } from "#control-plane/surfaces/dashboard/monitor/checks.ts";
import { nameOf, renderHead, type MonitorPage } from "#control-plane/surfaces/dashboard/monitor/head.ts";
import {
  renderEnds,
  renderLocations,
  renderMembers,
  renderPictures,
} from "#control-plane/surfaces/dashboard/monitor/state.ts";
import {
  findHeartbeat,
  idOf,
  sendMonitorPage,
  type WithId,
} from "#control-plane/surfaces/dashboard/monitor/monitor-page.ts";
import { readPingQuery, renderPingLog } from "#control-plane/surfaces/dashboard/monitor/ping-log.ts";
import { registerPictures } from "#control-plane/surfaces/dashboard/monitor/picture-routes.ts";
import { referencesIn, renderSettings } from "#control-plane/surfaces/dashboard/monitor/settings.ts";
import { renderHeartbeat } from "#control-plane/surfaces/dashboard/monitor/heartbeat.ts";
import { registerRotation } from "#control-plane/surfaces/dashboard/monitor/rotation.ts";
import { registerMute, renderMute, type RefusedMute } from "#control-plane/surfaces/dashboard/monitor/mute.ts";
import { rangeOf, renderResponseTimes } from "#control-plane/surfaces/dashboard/monitor/latency.ts";
import { registerRemoval } from "#control-plane/surfaces/dashboard/monitor/removal.ts";
import {
  channelsOf,
  renderNotifications,
  type TestedMail,
} from "#control-plane/surfaces/dashboard/monitor/notifications.ts";
import { counted } from "#control-plane/surfaces/dashboard/layout/amounts.ts";
import { requireFound, requireRead } from "#control-plane/http/errors.ts";
import { searchPings } from "#control-plane/watching/heartbeats/shown-pings.ts";
import { readIncidents } from "#control-plane/outages/incidents/incidents.ts";
import { requireWritten } from "#control-plane/http/written.ts";
import { coveredBetween } from "#control-plane/outages/maintenance/coverage/coverage.ts";
import { MOST_WINDOWS } from "#control-plane/outages/maintenance/maintenance.ts";
import { covers } from "#control-plane/outages/maintenance/window.ts";
import { changeOf } from "#control-plane/monitors/changed-fields.ts";
import { parseChange } from "#control-plane/monitors/settings/parse.ts";
import type { MonitorView } from "#control-plane/monitors/serialize.ts";
import { isAllowed } from "#control-plane/people/users/roles.ts";
import { writeDuration } from "#shared/text/duration.ts";
import type { showIncident } from "#control-plane/outages/incidents/serialize.ts";
import { html, type Html } from "#control-plane/core/pages/html.ts";
import type { Dashboard } from "#control-plane/surfaces/dashboard/parts.ts";

const REFRESH_SECONDS = 10;
/** The same while somebody waits for a result, and for how long that is, milliseconds. */
const AWAITED_REFRESH_SECONDS = 1;
const AWAITED_MS = 15_000;
const NEWEST_INCIDENTS = 10;
const CHECKS_OF_PAGE = 50;
const PINGS_OF_PAGE = 25;
const URL_OF_MONITOR = "/app/monitors/:id";

/** Registers the page of a monitor and what can be done there: check now, pause, resume, delete. */
export function registerMonitor(scope: FastifyInstance, deps: Dashboard): void {
  const { guard, monitors, writes } = deps;
  scope.route<WithId>({
    ...guard.page({ needs: "read" }),
    url: URL_OF_MONITOR,
    schema: { hide: true },
    async handler(request, reply) {
      return showMonitor(request, reply, deps, {});
    },
  });
  scope.route<WithId>({
    ...guard.form({ needs: "write" }),
    url: `${URL_OF_MONITOR}/test-mail`,
    schema: { hide: true },
    async handler(request, reply) {
      const own = { accountId: memberOf(request).accountId, id: idOf(request) };
      const ran = await writes.run(request, async (tx) => {
        const tested = requireWritten(await monitors.testMail(tx, own));
        return { data: await deps.testMails.begin(tx, { ...own, ...tested }), changes: [] };
      });
      if (!ran.ok) {
        const { status, details } = ran.refusal;
        if (status !== 429) throw ran.refusal;
        reply.code(status).headers(details.headers ?? {});
        return showMonitor(request, reply, deps, { tested: sentence(details.message) });
      }
      await deps.testMails.send(ran.data.claimed);
      return showMonitor(request, reply, deps, { tested: await deps.testMails.read(deps.sql, ran.data.reference) });
    },
  });
  scope.route<WithId>({
    ...guard.form({ needs: "write" }),
    url: `${URL_OF_MONITOR}/run`,
    schema: { hide: true },
    async handler(request, reply) {
      const own = { accountId: memberOf(request).accountId, id: idOf(request) };
      const asked = deps.clock.now().getTime();
      const ran = await writes.run(request, async (tx) => ({
        data: requireWritten(await monitors.run(tx, own)),
        changes: [],
      }));
      if (!ran.ok) throw ran.refusal;
      return reply.redirect(`/app/monitors/${own.id}?asked=${asked}`, 303);
    },
  });
  for (const action of ["pause", "resume"] as const) {
    scope.route<WithId>({
      ...guard.form({ needs: "write" }),
      url: `${URL_OF_MONITOR}/${action}`,
      schema: { hide: true },
      async handler(request, reply) {
        const own = { accountId: memberOf(request).accountId, id: idOf(request) };
        const given = requireRead(parseChange({ is_active: action === "resume" }, "current"));
        const statistics = await monitors.statisticsOf(own);
        const ran = await writes.run(request, async (tx) => {
          const data = requireWritten(await monitors.change(tx, own, given, statistics));
          return { data, changes: [changeOf(data.monitor, "changed", data.changed)] };
        });
        if (!ran.ok) throw ran.refusal;
        return reply.redirect(`/app/monitors/${own.id}?done=${action}`, 303);
      },
    });
  }
  scope.route<WithId>({
    ...guard.page({ needs: "read" }),
    url: `${URL_OF_MONITOR}/checks`,
    schema: { hide: true },
    async handler(request, reply) {
      const { accountId } = memberOf(request);
      const { monitor } = requireFound(await monitors.find(accountId, idOf(request)), "monitor");
      const search = readCheckQuery(request.query as Readonly<Record<string, unknown>>);
      const searched = {
        id: monitor.id,
        createdAt: new Date(monitor.created_at),
        intervalMinutes: monitor.interval_minutes,
      };
      const found = await deps.history.searchChecks(searched, search, CHECKS_OF_PAGE);
      const locations = (await readLocationStatuses(deps.sql, monitor.id)).map(({ location }) => location);
      const body = renderCheckLog(found, search, locations, pageOf(request, monitor, deps));
      return sendMonitorPage(request, reply, `Checks of ${nameOf(monitor)}`, body);
    },
  });
  scope.route<WithId>({
    ...guard.page({ needs: "read" }),
    url: `${URL_OF_MONITOR}/pings`,
    schema: { hide: true },
    async handler(request, reply) {
      const monitor = await findHeartbeat(request, monitors);
      const search = readPingQuery(request.query as Readonly<Record<string, unknown>>);
      const found = await searchPings(deps.sql, monitor.id, search, PINGS_OF_PAGE);
      const body = renderPingLog(found, search, pageOf(request, monitor, deps));
      return sendMonitorPage(request, reply, `Pings of ${nameOf(monitor)}`, body);
    },
  });
  registerPictures(scope, deps);
  registerRotation(scope, deps);
  registerMute(scope, deps, (request, reply, refusedMute) => showMonitor(request, reply, deps, { refusedMute }));
  registerRemoval(scope, deps);
}

/** What a form of the page of a monitor has led to that is shown on it; absent: nothing. */
interface Outcome {
  /** What became of test mails, or why they were refused. */
  readonly tested?: readonly TestedMail[] | string;
  readonly refusedMute?: RefusedMute;
}

/** Sends the page of a monitor. */
async function showMonitor(
  request: FastifyRequest<WithId>,
  reply: FastifyReply,
  deps: Dashboard,
  outcome: Outcome,
): Promise<FastifyReply> {
  const { tested = null, refusedMute = null } = outcome;
  const { accountId, plan } = memberOf(request);
  const { sql, clock, monitors, webhooks } = deps;
  const found = await monitors.find(accountId, idOf(request));
  if (found === null) {
    const has = async (other: number) => (await monitors.find(other, idOf(request))) !== null;
    const offered = await offerSwitch(request, reply, deps, has);
    if (offered !== null) return offered;
  }
  const { monitor, checks } = requireFound(found, "monitor");
  const page = pageOf(request, monitor, deps);
  const newest = { limit: NEWEST_INCIDENTS, offset: 0 };
  const range = rangeOf((request.query as { readonly range?: unknown }).range);
  const references = referencesIn(monitor);
  const [hooks, { incidents, total }, latency, locations, named, { windows }] = await Promise.all([
    webhooks.list(sql, accountId),
    readIncidents(sql, accountId, { monitorId: monitor.id }, newest, clock.now()),
    deps.history.latency(monitor.id, range),
    readLocationStatuses(sql, monitor.id),
    references.length === 0 ? [] : deps.overviews.of(accountId),
    deps.maintenance.list(accountId, { status: "in_progress" }, { limit: MOST_WINDOWS, offset: 0 }),
  ]);
  const times = [new Date(latency.from), new Date(latency.to)] as const;
  const covered = (await coveredBetween(sql, accountId, [monitor], ...times)).get(monitor.id) ?? [];
  const muting = windows.filter((window) => covers(window, monitor));
  const isTimed = monitor.heartbeat === null && monitor.composite === null;
  const open = incidents.find((one) => one.resolved_at === null && one.cause !== null);
  const isChecked = isTimed && monitor.is_active;
  const asked = isChecked ? readAsked(request.query as Readonly<Record<string, unknown>>) : null;
  const first = isChecked && monitor.last_checked_at === null ? new Date(monitor.created_at) : null;
  const since = asked ?? first;
  const isWaiting = since !== null && page.now.getTime() - since.getTime() < AWAITED_MS;
  const answered = asked === null ? null : renderAnswered(checks, { since: asked, isSaid: isWaiting }, page);
  const incident = open === undefined ? null : { id: open.id, by: open.acknowledged?.by ?? null };
  const body = html`
    ${answered?.note}
    ${renderHead(page, { incident, channels: channelsOf(monitor, hooks, plan), isMuted: muting.length > 0 })}
    ${renderMute(muting, page, refusedMute)}
    ${isTimed && renderLocations(locations, page)}
    ${renderMembers(page)}
    ${renderHeartbeat(page)}
    ${renderPictures(page)}
    ${isTimed && renderResponseTimes(latency, range, { incidents, maintenance: covered }, page)}
    ${renderIncidents(incidents, total, page)}
    ${renderEnds(page)}
    ${renderNotifications(page, hooks, { plan, tested })}
    ${renderChecks(checks, page)}
    ${renderSettings(
      page,
      named.filter(({ id }) => references.includes(id)).map(({ id, name, url }) => ({ id, name: name || url })),
    )}`;
  // What a form has answered stays on the page until it is loaded again.
  const isAnswer = tested !== null || refusedMute !== null;
  const isAnswered = answered !== null && answered.locations >= monitor.locations.length;
  const liveSeconds = isWaiting && !isAnswered ? AWAITED_REFRESH_SECONDS : REFRESH_SECONDS;
  return sendMonitorPage(request, reply, nameOf(monitor), body, isAnswer ? undefined : liveSeconds);
}

/** Reads when somebody has asked for the check whose result the page shows, Unix milliseconds; null if nobody has. */
function readAsked({ asked }: Readonly<Record<string, unknown>>): Date | null {
  return typeof asked === "string" && /^\d{1,14}$/.test(asked) ? new Date(Number(asked)) : null;
}

function pageOf(request: FastifyRequest, monitor: MonitorView, { clock }: Pick<Dashboard, "clock">): MonitorPage {
  const session = memberOf(request);
  const canWrite = isAllowed(session.role, "write");
  return { monitor, now: clock.now(), viewer: viewerTimeOf(session), formToken: session.formToken, canWrite };
}

/** Renders the newest incidents of a monitor, newest first. `total`: the number of all of them. */
function renderIncidents(
  incidents: readonly ReturnType<typeof showIncident>[],
  total: number,
  { viewer, monitor }: MonitorPage,
): Html {
  const lines = incidents.map((incident) => {
    const isOpen = incident.resolved_at === null;
    const lasted = writeDuration(incident.duration_seconds);
    const cause = toLocalTimes(incident.cause?.message ?? incident.title, viewer.zone.name);
    return html`<li>${renderTime(new Date(incident.started_at), viewer)} <a href="/app/incidents/${incident.id}">${cause}</a> <span class="${isOpen ? "bad" : "faint"}">${isOpen && "open for "}${lasted}</span></li>`;
  });
  const more = total - lines.length;
  return html`
    <section class="card">
      <h2>Incidents</h2>
      ${lines.length === 0 ? html`<p>No incidents so far.</p>` : html`<ul>${lines}</ul>`}
      ${more > 0 && html`<p><a href="/app/incidents?monitor=${monitor.id}">and ${counted(more, "older one")}</a></p>`}
    </section>`;
}
