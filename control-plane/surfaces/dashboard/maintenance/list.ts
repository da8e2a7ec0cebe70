import { writeDuration } from "#shared/text/duration.ts";
import type { ViewerTime } from "#control-plane/core/charts/viewer-time.ts";
import { renderTime } from "#control-plane/surfaces/dashboard/layout/times.ts";
import { REPEATS, repeatsOf } from "#control-plane/surfaces/dashboard/maintenance/values.ts";
import { counted } from "#control-plane/surfaces/dashboard/layout/amounts.ts";
import type { MaintenanceWindow, Status } from "#control-plane/outages/maintenance/window.ts";
import { html, type Html } from "#control-plane/core/pages/html.ts";

/** What a window does, below the headings of its pages. */
export const HINT =
  "During a window its monitors are checked as always, but nobody is alerted and downtime does not count for uptime.";

/** States of a window in words. */
export const STATES: Readonly<Record<Status, string>> = {
  scheduled: "Planned",
  in_progress: "In progress",
  completed: "Completed",
  cancelled: "Cancelled",
};

/** The lists of windows, each with what it says if it is empty. */
const LISTS = {
  open: { label: "Current and planned", none: "No maintenance is planned." },
  completed: { label: "Completed", none: "No window is completed yet." },
  cancelled: { label: "Cancelled", none: "No window is cancelled." },
} as const;

/** Which windows are listed. */
export type ListName = keyof typeof LISTS;

/** What the list shows. */
interface WindowList {
  readonly shown: ListName;
  readonly windows: readonly MaintenanceWindow[];
  /** Number of the page, from 1, and of the last page. */
  readonly page: number;
  readonly lastPage: number;
  readonly viewer: ViewerTime;
  readonly canWrite: boolean;
}

/** Renders the maintenance windows of an account. */
export function renderWindowList({ shown, windows, page, lastPage, viewer, canWrite }: WindowList): Html {
  const lists = Object.entries(LISTS).map(([name, { label }]) => {
    const path = `/app/maintenance${name === "open" ? "" : `?show=${name}`}`;
    return html`<li><a href="${path}"${name === shown && html` aria-current="page"`}>${label}</a></li>`;
  });
  return html`
    <div class="head"><div><h1>Maintenance</h1><p class="faint">${HINT}</p></div>
    ${canWrite && html`<a class="button primary" href="/app/maintenance/new">Plan maintenance</a>`}</div>
    <nav aria-label="Which windows are listed"><ul class="counts">${lists}</ul></nav>
    ${windows.length === 0 ? html`<p class="card">${LISTS[shown].none}</p>` : html`<ul class="rows" id="rows">${windows.map((window) => renderRow(window, viewer))}</ul>`}
    ${(page > 1 || page < lastPage) && renderPages(shown, page, lastPage)}`;
}

function renderRow(window: MaintenanceWindow, viewer: ViewerTime): Html {
  const { id, title, status, isPublic } = window;
  return html`
    <li id="w-${id}"><span class="badge ${status === "in_progress" && "warn"}">${STATES[status]}</span>
    <div class="what"><a href="/app/maintenance/${id}" data-row dir="auto">${title}</a><p>${coveredBy(window)}${isPublic && ", on status pages"}</p></div>
    <p class="when">${renderWhen(window, viewer)}</p></li>`;
}

/** Returns what a window covers: "2 monitors, tags a, b". */
function coveredBy({ monitorIds, tags }: MaintenanceWindow): string {
  const parts = [
    ...(monitorIds.length === 0 ? [] : [counted(monitorIds.length, "monitor")]),
    ...(tags.length === 0 ? [] : [`${tags.length === 1 ? "tag" : "tags"} ${tags.join(", ")}`]),
  ];
  return parts.join(", ");
}

/** Renders when a window is open: the end of one in progress, else its next start, of one that is over its first, and how often. */
function renderWhen(window: MaintenanceWindow, viewer: ViewerTime): Html {
  const { currentEndsAt: end, nextStartsAt, startsAt, durationSeconds, rrule } = window;
  const repeats = REPEATS[repeatsOf(rrule)];
  if (end !== null) return html`until ${renderTime(end, viewer)}<br>${repeats}`;
  const start = renderTime(nextStartsAt ?? startsAt, viewer);
  return html`${start}, ${writeDuration(durationSeconds)}<br>${repeats}`;
}

function renderPages(shown: ListName, page: number, lastPage: number): Html {
  const linkTo = (to: number, rel: string, label: string) =>
    html`<a href="/app/maintenance?show=${shown}&amp;page=${to}" rel="${rel}">${label}</a>`;
  return html`
    <nav class="row" aria-label="Pages of the list">
    ${page > 1 && linkTo(Math.min(page - 1, lastPage), "prev", "Previous")}
    ${page < lastPage && linkTo(page + 1, "next", "Next")}</nav>`;
}
