import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Clock } from "#shared/time/clock.ts";
import { memberOf, type Door } from "#control-plane/surfaces/dashboard/door/door.ts";
import { readForm } from "#control-plane/surfaces/dashboard/door/form.ts";
import type { MemberWrites } from "#control-plane/surfaces/dashboard/door/member-writes.ts";
import { renderHidden } from "#control-plane/surfaces/dashboard/frame/fields.ts";
import { problemsOf } from "#control-plane/surfaces/dashboard/frame/problems.ts";
import { renderTime } from "#control-plane/surfaces/dashboard/frame/times.ts";
import type { MonitorPage } from "#control-plane/surfaces/dashboard/monitor/head.ts";
import { idOf, type WithId } from "#control-plane/surfaces/dashboard/monitor/own.ts";
import { MUTE } from "#control-plane/surfaces/dashboard/strings/monitor.ts";
import { absentMessage, Refusal } from "#control-plane/http/errors.ts";
import { requireWritten } from "#control-plane/http/written.ts";
import type { Maintenance } from "#control-plane/outages/maintenance/maintenance.ts";
import { changeOf } from "#control-plane/outages/maintenance/view.ts";
import type { MaintenanceWindow } from "#control-plane/outages/maintenance/window.ts";
import type { Monitors } from "#control-plane/monitors/monitors.ts";
import { compileTemplate } from "#control-plane/core/pages/templates.ts";

/** For how many minutes a monitor can be muted, with the words of the button. */
const SPANS: Readonly<Record<string, string>> = { "30": MUTE.half, "120": MUTE.two, "480": MUTE.eight };

const renderForms: (mute: {
  readonly id: number;
  readonly formToken: string;
  readonly spans: readonly (readonly [string, string])[];
  readonly until: string;
  readonly problem: string | null;
}) => string = compileTemplate(`
<details class="part" id="mute"<% if (it.problem !== null) { %> open<% } %>><summary>${MUTE.title}</summary><div><p class="faint">${MUTE.hint}</p>
<form class="row" method="post" action="/app/monitors/<%= it.id %>/mute"><input type="hidden" name="_csrf" value="<%= it.formToken %>">
<% for (const [minutes, word] of it.spans) { %><button name="minutes" value="<%= minutes %>"><%= word %></button><% } %></form>
<form class="stack" method="post" action="/app/monitors/<%= it.id %>/mute" data-kept><input type="hidden" name="_csrf" value="<%= it.formToken %>">
<div class="field"><label for="f-until">${MUTE.until}</label><p class="hint" id="h-until">${MUTE.untilHint}</p><% if (it.problem !== null) { %><p class="problem" id="p-until" role="alert"><%= it.problem %></p><% } %>
<input id="f-until" name="until" maxlength="40" required autocomplete="off" value="<%= it.until %>"<% if (it.problem === null) { %> aria-describedby="h-until"<% } else { %> aria-describedby="h-until p-until" aria-invalid="true" autofocus<% } %>></div>
<div class="row"><button>${MUTE.submit}</button></div></form>
<p><a href="/app/maintenance/new?monitor=<%= it.id %>">${MUTE.plan}</a></p></div></details>
`);

const renderRunning: (window: { readonly id: number; readonly title: string }) => string = compileTemplate(
  `<p class="note"><a href="/app/maintenance/<%= it.id %>"><bdi><%= it.title %></bdi></a> ${MUTE.running}&#32;`,
);

const renderEnding: (end: { readonly id: number }) => string = compileTemplate(
  `<form class="row" method="post" action="/app/monitors/<%= it.id %>/unmute">`,
);

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
): string {
  const { monitor, formToken, canWrite, viewer } = page;
  const running = windows.flatMap((window) => {
    if (window.currentEndsAt === null) return [];
    const note = `${renderRunning(window)}${renderTime(window.currentEndsAt, viewer)}</p>`;
    if (!canWrite || !isOfOne(window, monitor.id)) return [note];
    const fields = renderHidden("_csrf", formToken) + renderHidden("window", String(window.id));
    return [`${note}${renderEnding({ id: monitor.id })}${fields}<button>${MUTE.end}</button></form>`];
  });
  const typed = refused ?? { until: "", problem: null };
  const forms = canWrite ? renderForms({ id: monitor.id, formToken, spans: Object.entries(SPANS), ...typed }) : "";
  return `${running.join("")}${forms}`;
}

/** Reports whether a window is open once and covers this monitor alone: ending it does nothing else. */
function isOfOne({ monitorIds, tags, rrule }: MaintenanceWindow, id: number): boolean {
  return rrule === null && tags.length === 0 && monitorIds.length === 1 && monitorIds[0] === id;
}

/** Dependencies of muting. */
export interface MuteDeps {
  readonly door: Door;
  readonly clock: Clock;
  readonly writes: MemberWrites;
  readonly maintenance: Pick<Maintenance, "create" | "change" | "find" | "list">;
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
  { door, clock, writes, monitors, maintenance }: MuteDeps & { readonly monitors: Pick<Monitors, "has"> },
  showRefused: ShowRefused,
): void {
  scope.route<WithId>({
    ...door.form({ needs: "write" }),
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
      const given = { title: MUTE.name, monitor_ids: [id], starts_at: now.toISOString(), timezone, ...end };
      const ran = await writes.run(request, async (tx) => {
        const { window } = requireWritten(await maintenance.create(tx, accountId, given));
        return { data: window.id, changes: [changeOf(window, null)] };
      });
      if (ran.ok) return reply.redirect(`/app/monitors/${id}?done=muted`, 303);
      const { field, reason } = ran.refusal.details;
      // The words of a range name a field that the form does not have.
      const isOut = field === "ends_at" && reason === "range";
      const problem = isOut ? MUTE.untilRange : problemsOf(ran.refusal).get("ends_at");
      if (problem === undefined) throw ran.refusal;
      return showRefused(request, reply.code(ran.refusal.status), { until, problem });
    },
  });
  scope.route<WithId>({
    ...door.form({ needs: "write" }),
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
