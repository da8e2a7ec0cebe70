import { writeDuration } from "#shared/text/duration.ts";
import type { ViewerTime } from "#control-plane/core/charts/viewer-time.ts";
import { renderTime } from "#control-plane/surfaces/dashboard/frame/times.ts";
import { repeatsOf } from "#control-plane/surfaces/dashboard/maintenance/values.ts";
import { MAINTENANCE } from "#control-plane/surfaces/dashboard/strings/maintenance.ts";
import type { MaintenanceWindow, Status } from "#control-plane/outages/maintenance/window.ts";
import { compileTemplate } from "#control-plane/core/pages/templates.ts";

/** Which windows are listed. */
export type Shown = keyof typeof MAINTENANCE.shows;

/** What the list shows. */
interface WindowList {
  readonly shown: Shown;
  readonly windows: readonly MaintenanceWindow[];
  /** Number of the page, from 1, and of the last page. */
  readonly page: number;
  readonly lastPage: number;
  readonly viewer: ViewerTime;
  readonly canWrite: boolean;
}

const TONES: Readonly<Record<Status, string>> = { in_progress: "warn", scheduled: "", completed: "", cancelled: "" };

const renderTop: (list: {
  readonly shown: Shown;
  readonly shows: readonly (readonly [string, string])[];
  readonly canWrite: boolean;
  readonly none: string | null;
}) => string = compileTemplate(`
<div class="head"><div><h1>${MAINTENANCE.title}</h1><p class="faint">${MAINTENANCE.hint}</p></div>
<% if (it.canWrite) { %><a class="button primary" href="/app/maintenance/new">${MAINTENANCE.create}</a><% } %></div>
<nav aria-label="${MAINTENANCE.showsLabel}"><ul class="counts"><% for (const [name, label] of it.shows) { %><li><a href="/app/maintenance<% if (name !== "open") { %>?show=<%= name %><% } %>"<% if (name === it.shown) { %> aria-current="page"<% } %>><%= label %></a></li><% } %></ul></nav>
<% if (it.none !== null) { %><p class="card"><%= it.none %></p><% } else { %><ul class="rows" id="rows"><% } %>
`);

const renderRow: (row: {
  readonly id: number;
  readonly title: string;
  readonly tone: string;
  readonly state: string;
  readonly covers: string;
  readonly isPublic: boolean;
}) => string = compileTemplate(`
<li id="w-<%= it.id %>"><span class="badge <%= it.tone %>"><%= it.state %></span>
<div class="what"><a href="/app/maintenance/<%= it.id %>" data-row dir="auto"><%= it.title %></a><p><%= it.covers %><% if (it.isPublic) { %>, ${MAINTENANCE.isPublic}<% } %></p></div>
<p class="when">`);

const renderEnd: (end: {
  readonly shown: Shown;
  readonly hasRows: boolean;
  readonly newer: number | null;
  readonly older: number | null;
}) => string = compileTemplate(`
<% if (it.hasRows) { %></ul><% } %>
<% if (it.newer !== null || it.older !== null) { %><nav class="row" aria-label="${MAINTENANCE.pages}">
<% if (it.newer !== null) { %><a href="/app/maintenance?show=<%= it.shown %>&amp;page=<%= it.newer %>" rel="prev">${MAINTENANCE.newer}</a><% } %>
<% if (it.older !== null) { %><a href="/app/maintenance?show=<%= it.shown %>&amp;page=<%= it.older %>" rel="next">${MAINTENANCE.older}</a><% } %></nav><% } %>
`);

/** Renders the maintenance windows of an account. */
export function renderWindowList({ shown, windows, page, lastPage, viewer, canWrite }: WindowList): string {
  const hasRows = windows.length > 0;
  const top = renderTop({
    shown,
    shows: Object.entries(MAINTENANCE.shows),
    canWrite,
    none: hasRows ? null : MAINTENANCE.none[shown],
  });
  const rows = windows.map((window) => {
    const row = renderRow({
      id: window.id,
      title: window.title,
      tone: TONES[window.status],
      state: MAINTENANCE.states[window.status],
      covers: MAINTENANCE.covers(window.monitorIds.length, window.tags),
      isPublic: window.isPublic,
    });
    return `${row}${renderWhen(window, viewer)}</p></li>`;
  });
  const newer = page > 1 ? Math.min(page - 1, lastPage) : null;
  const end = renderEnd({ shown, hasRows, newer, older: page < lastPage ? page + 1 : null });
  return `${top}${rows.join("")}${end}`;
}

const renderOften: (often: { readonly lasts: string; readonly repeats: string }) => string = compileTemplate(
  `<% if (it.lasts !== "") { %>, <%= it.lasts %><% } %><br><%= it.repeats %>`,
);

/** Renders when a window is open: the end of one in progress, else its next start, of one that is over its first, and how often. */
function renderWhen(window: MaintenanceWindow, viewer: ViewerTime): string {
  const { currentEndsAt: end, nextStartsAt, startsAt, durationSeconds, rrule } = window;
  const repeats = MAINTENANCE.repeats[repeatsOf(rrule)];
  if (end !== null) return `${MAINTENANCE.until} ${renderTime(end, viewer)}${renderOften({ lasts: "", repeats })}`;
  return `${renderTime(nextStartsAt ?? startsAt, viewer)}${renderOften({ lasts: writeDuration(durationSeconds), repeats })}`;
}
