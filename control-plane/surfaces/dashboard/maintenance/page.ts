import { writeDuration } from "#shared/text/duration.ts";
import type { ViewerTime } from "#control-plane/core/charts/viewer-time.ts";
import { renderTime } from "#control-plane/surfaces/dashboard/frame/times.ts";
import type { NamedMonitor } from "#control-plane/surfaces/dashboard/incidents/list.ts";
import { repeatsOf } from "#control-plane/surfaces/dashboard/maintenance/values.ts";
import { MAINTENANCE } from "#control-plane/surfaces/dashboard/strings/maintenance.ts";
import type { MaintenanceWindow } from "#control-plane/outages/maintenance/window.ts";
import { compileTemplate } from "#control-plane/core/pages/templates.ts";

/** What the page of a window is rendered with. */
interface WindowPage {
  readonly window: MaintenanceWindow;
  /** The next times at which it opens, in order. */
  readonly nextStarts: readonly Date[];
  /** Monitors that it names and the account still has. */
  readonly monitors: readonly NamedMonitor[];
  readonly viewer: ViewerTime;
  /** Value of the field `_csrf`. */
  readonly formToken: string;
  readonly canWrite: boolean;
}

const renderHead: (head: { readonly title: string; readonly state: string; readonly tone: string }) => string =
  compileTemplate(`
<p><a href="/app/maintenance">${MAINTENANCE.back}</a></p>
<div class="head"><div><h1 dir="auto"><%= it.title %></h1><p><span class="badge <%= it.tone %>"><%= it.state %></span>`);

const renderActions: (actions: {
  readonly id: number;
  readonly formToken: string;
  readonly change: { readonly action: string; readonly label: string } | null;
}) => string = compileTemplate(`
<div class="row"><a class="button" href="/app/maintenance/<%= it.id %>/edit">${MAINTENANCE.edit}</a>
<% if (it.change !== null) { %><form method="post" action="/app/maintenance/<%= it.id %>/<%= it.change.action %>"><input type="hidden" name="_csrf" value="<%= it.formToken %>"><button><%= it.change.label %></button></form><% } %>
<a class="button danger" href="/app/maintenance/<%= it.id %>/delete">${MAINTENANCE.delete}</a></div>`);

const renderLabel: (fact: { readonly label: string }) => string = compileTemplate(
  `<tr><th scope="row"><%= it.label %></th><td>`,
);

const renderText: (part: { readonly text: string }) => string = compileTemplate("<%= it.text %>");

function renderFact(label: string, value: string): string {
  return `${renderLabel({ label })}${renderText({ text: value })}</td></tr>`;
}

function renderTimes(label: string, times: readonly Date[], viewer: ViewerTime): string {
  return `${renderLabel({ label })}${times.map((at) => renderTime(at, viewer)).join(", ")}</td></tr>`;
}

const renderMonitors: (list: { readonly monitors: readonly NamedMonitor[] }) => string = compileTemplate(`
<tr><th scope="row">${MAINTENANCE.monitors}</th><td><% if (it.monitors.length === 0) { %>${MAINTENANCE.noMonitors}<% } %>
<% for (const one of it.monitors) { %><a href="/app/monitors/<%= one.id %>"><bdi><%= one.name %></bdi></a> <% } %></td></tr>`);

/** Renders the page of a maintenance window: when it is open, what it covers, and what can be done with it. */
export function renderWindowPage({ window, nextStarts, monitors, viewer, formToken, canWrite }: WindowPage): string {
  const { id, status, currentEndsAt: end, rrule } = window;
  const repeats = repeatsOf(rrule);
  const head = renderHead({
    title: window.title,
    state: MAINTENANCE.states[status],
    tone: status === "in_progress" ? "warn" : "",
  });
  return [
    head,
    end === null ? "" : `&#32;${MAINTENANCE.until} ${renderTime(end, viewer)}`,
    "</p></div>",
    canWrite ? renderActions({ id, formToken, change: changeOf(window) }) : "",
    `</div><section class="card"><div class="scroll" role="group" tabindex="0" aria-label="${MAINTENANCE.facts}"><table class="facts cards"><tbody>`,
    renderTimes(rrule === null ? MAINTENANCE.first : MAINTENANCE.firstOfMany, [window.startsAt], viewer),
    renderFact(MAINTENANCE.lasts, writeDuration(window.durationSeconds)),
    renderFact(MAINTENANCE.repeating, repeats === "custom" ? (rrule ?? "") : MAINTENANCE.repeats[repeats]),
    rrule === null ? "" : renderFact(MAINTENANCE.zone, window.timezone),
    rrule === null || nextStarts.length === 0 ? "" : renderTimes(MAINTENANCE.next, nextStarts, viewer),
    renderMonitors({ monitors }),
    window.tags.length === 0 ? "" : renderFact(MAINTENANCE.tags, window.tags.join(", ")),
    renderFact(MAINTENANCE.visible, window.isPublic ? MAINTENANCE.shown : MAINTENANCE.hidden),
    "</tbody></table></div></section>",
  ].join("");
}

/** Returns what can be done with a window besides editing and deleting it; null: nothing. */
function changeOf({ status, rrule }: MaintenanceWindow): { readonly action: string; readonly label: string } | null {
  if (status === "completed") return null;
  if (status === "cancelled") return { action: "restore", label: MAINTENANCE.restore };
  const isEnding = status === "in_progress" && rrule === null;
  return { action: "cancel", label: isEnding ? MAINTENANCE.end : MAINTENANCE.cancel };
}
