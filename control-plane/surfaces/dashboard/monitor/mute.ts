import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { memberOf } from "#control-plane/surfaces/dashboard/session-guard/session-guard.ts";
import { readForm } from "#control-plane/surfaces/dashboard/session-guard/form.ts";
import { problemsOf } from "#control-plane/surfaces/dashboard/layout/problems.ts";
import { renderTime } from "#control-plane/surfaces/dashboard/layout/times.ts";
import type { MonitorPage } from "#control-plane/surfaces/dashboard/monitor/head.ts";
import { idOf, type WithId } from "#control-plane/surfaces/dashboard/monitor/monitor-page.ts";
import { absentMessage, Refusal } from "#control-plane/http/errors.ts";
import { requireWritten } from "#control-plane/http/written.ts";
import { changeOf } from "#control-plane/outages/maintenance/serialize.ts";
import type { MaintenanceWindow } from "#control-plane/outages/maintenance/window.ts";
import { html, type Html } from "#control-plane/core/pages/html.ts";
import type { Dashboard } from "#control-plane/surfaces/dashboard/parts.ts";

/** For how many minutes a monitor can be muted, with the words of the button. */
const SPANS: Readonly<Record<string, string>> = {
  "30": "Mute for 30 min",
  "120": "Mute for 2 h",
  "480": "Mute for 8 h",
};

/** An end of a mute that was refused. */
export interface RefusedMute {
  /** As it was typed. */
  readonly until: string;
  readonly problem: string;
}

/** Renders the maintenance that a monitor is in, which can be ended, and the forms that mute it. */
export function renderMute(
  windows: readonly MaintenanceWindow[],
  page: MonitorPage,
  refused: RefusedMute | null,
): Html {
  return html`${windows.map((window) => renderRunning(window, page))}${page.canWrite && renderForms(page, refused)}`;
}

function renderRunning(window: MaintenanceWindow, { monitor, formToken, canWrite, viewer }: MonitorPage): Html {
  const { id, title, currentEndsAt: end } = window;
  if (end === null) return html``;
  return html`
    <p class="note"><a href="/app/maintenance/${id}"><bdi>${title}</bdi></a> Maintenance until ${renderTime(end, viewer)}</p>
    ${
      canWrite &&
      isOfOne(window, monitor.id) &&
      html`
        <form class="row" method="post" action="/app/monitors/${monitor.id}/unmute">
          <input type="hidden" name="_csrf" value="${formToken}">
          <input type="hidden" name="window" value="${id}">
          <button>End now</button>
        </form>`
    }`;
}

function renderForms({ monitor, formToken }: MonitorPage, refused: RefusedMute | null): Html {
  const action = `/app/monitors/${monitor.id}/mute`;
  const isRefused = refused !== null;
  return html`
    <details class="part" id="mute"${isRefused && html` open`}>
      <summary>Mute</summary>
      <div>
        <p class="faint">Checks go on, no notifications are sent, and the time does not count for its uptime.</p>
        <form class="row" method="post" action="${action}">
          <input type="hidden" name="_csrf" value="${formToken}">
          ${Object.entries(SPANS).map(([minutes, word]) => html`<button name="minutes" value="${minutes}">${word}</button>`)}
        </form>
        <form class="stack" method="post" action="${action}" data-kept>
          <input type="hidden" name="_csrf" value="${formToken}">
          <div class="field">
            <label for="f-until">Until</label>
            <p class="hint" id="h-until">As 2026-12-24 18:00, in your time zone</p>
            ${isRefused && html`<p class="problem" id="p-until" role="alert">${refused.problem}</p>`}
            <input id="f-until" name="until" maxlength="40" required autocomplete="off" value="${refused?.until}" aria-describedby="h-until${isRefused && " p-until"}"${isRefused && html` aria-invalid="true" autofocus`}>
          </div>
          <div class="row"><button>Mute until then</button></div>
        </form>
        <p><a href="/app/maintenance/new?monitor=${monitor.id}">Plan maintenance for later, or for several monitors</a></p>
      </div>
    </details>`;
}

/** Reports whether a window is open once and covers this monitor alone: ending it does nothing else. */
function isOfOne({ monitorIds, tags, rrule }: MaintenanceWindow, id: number): boolean {
  return rrule === null && tags.length === 0 && monitorIds.length === 1 && monitorIds[0] === id;
}

/** Shows the page of a monitor whose mute was refused. */
type ShowRefused = (
  request: FastifyRequest<WithId>,
  reply: FastifyReply,
  refused: RefusedMute,
) => Promise<FastifyReply>;

/** Registers the forms that mute a monitor by a maintenance window, and end it. */
export function registerMute(
  scope: FastifyInstance,
  { guard, clock, writes, monitors, maintenance }: Dashboard,
  showRefused: ShowRefused,
): void {
  scope.route<WithId>({
    ...guard.form({ needs: "write" }),
    url: "/app/monitors/:id/mute",
    schema: { hide: true },
    async handler(request, reply) {
      const { accountId, timezone } = memberOf(request);
      const id = idOf(request);
      if (!(await monitors.has(accountId, id))) throw new Refusal("not_found", absentMessage("monitor"));
      const form = readForm(request);
      const minutes = form.text("minutes");
      const until = form.text("until");
      const now = clock.now();
      const end = Object.hasOwn(SPANS, minutes)
        ? { ends_at: new Date(now.getTime() + Number(minutes) * 60_000).toISOString() }
        : { ends_at: until.trim().replace(" ", "T") };
      const given = { title: "Muted", monitor_ids: [id], starts_at: now.toISOString(), timezone, ...end };
      const ran = await writes.run(request, async (tx) => {
        const { window } = requireWritten(await maintenance.create(tx, accountId, given));
        return { data: window.id, changes: [changeOf(window, null)] };
      });
      if (ran.ok) return reply.redirect(`/app/monitors/${id}?done=muted`, 303);
      const { field, reason } = ran.refusal.details;
      // The words of a range name a field that the form does not have.
      const isOut = field === "ends_at" && reason === "range";
      const problem = isOut
        ? "Must be a time that is 1 minute to 30 days from now."
        : problemsOf(ran.refusal).get("ends_at");
      if (problem === undefined) throw ran.refusal;
      return showRefused(request, reply.code(ran.refusal.status), { until, problem });
    },
  });
  scope.route<WithId>({
    ...guard.form({ needs: "write" }),
    url: "/app/monitors/:id/unmute",
    schema: { hide: true },
    async handler(request, reply) {
      const { accountId } = memberOf(request);
      const id = idOf(request);
      const given = readForm(request).text("window");
      const window = /^[1-9]\d{0,14}$/.test(given) ? await maintenance.find(accountId, Number(given)) : null;
      if (window === null || !isOfOne(window, id)) throw new Refusal("not_found", absentMessage("maintenance window"));
      const ran = await writes.run(request, async (tx) => {
        const changed = requireWritten(await maintenance.change(tx, accountId, window.id, { status: "cancelled" }));
        return { data: null, changes: [changeOf(changed.window, changed.before)] };
      });
      if (!ran.ok) throw ran.refusal;
      return reply.redirect(`/app/monitors/${id}?done=unmuted`, 303);
    },
  });
}
