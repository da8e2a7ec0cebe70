import { renderSelect } from "#control-plane/surfaces/dashboard/layout/choices.ts";
import { renderTime } from "#control-plane/surfaces/dashboard/layout/times.ts";
import { renderCheckTable } from "#control-plane/surfaces/dashboard/monitor/checks.ts";
import { nameOf, type MonitorPage } from "#control-plane/surfaces/dashboard/monitor/head.ts";
import { STATE_LABELS } from "#control-plane/surfaces/dashboard/monitors/labels.ts";
import type { RecentCheck } from "#control-plane/outages/history/recent.ts";
import type { CheckCursor, CheckSearch, FoundChecks } from "#control-plane/outages/history/search.ts";
import { html, type Html } from "#control-plane/core/pages/html.ts";

const VERDICTS = ["up", "degraded", "down", "unknown"] as const satisfies readonly RecentCheck["status"][];
const LONGEST_LOCATION = 200;

/** Reads the address of the log of checks. A value that is not valid counts as absent. */
export function readCheckQuery(query: Readonly<Record<string, unknown>>): CheckSearch {
  const { location, verdict } = query;
  return {
    location: typeof location === "string" && location !== "" ? location.slice(0, LONGEST_LOCATION) : null,
    status: VERDICTS.find((one) => one === verdict) ?? null,
    before: readCursor(query["before"]),
    after: readCursor(query["after"]),
  };
}

/** Reads "<Unix milliseconds>-<id>". */
function readCursor(given: unknown): CheckCursor | null {
  const [, at, id] = /^(\d{1,14})-(\d{1,15})$/.exec(typeof given === "string" ? given : "") ?? [];
  return at === undefined || id === undefined ? null : { at: Number(at), id: Number(id) };
}

/** A link to another page of a log. */
export interface PageLink {
  readonly label: string;
  readonly path: string;
  readonly rel: string;
}

/** Renders the links between the pages of a log. `label`: what the pages are. */
export function renderPageLinks(label: string, links: readonly PageLink[]): Html | null {
  if (links.length === 0) return null;
  return html`
    <nav class="row" aria-label="${label}">
      ${links.map((link) => html`<a class="button" rel="${link.rel}" href="${link.path}">${link.label}</a>`)}
    </nav>`;
}

/** Renders a page of the checks of a monitor. `locations`: by which they can be filtered. */
export function renderCheckLog(
  found: FoundChecks,
  search: CheckSearch,
  locations: readonly string[],
  { monitor, viewer }: Pick<MonitorPage, "monitor" | "viewer">,
): Html {
  const { checks, searchedTo } = found;
  const { location, status, before, after } = search;
  const known = [...locations, ...checks.map((check) => check.location), ...(location === null ? [] : [location])];
  const places = [...new Set(known)].toSorted().map((name) => ({ value: name, label: name }));
  const verdicts = VERDICTS.map((value) => ({ value, label: STATE_LABELS[value].word }));
  const isAll = location === null && status === null && before === null && after === null && searchedTo === null;
  const bound = before === null && after !== null ? "Searched up to" : "Searched back to";
  return html`
    <p class="back"><a href="/app/monitors/${monitor.id}">Back to the monitor</a></p>
    <h1>Checks of ${nameOf(monitor)}</h1>
    <form class="filter" method="get" action="/app/monitors/${monitor.id}/checks" role="search">
      ${renderFilter("location", "Location", places, location)}
      ${renderFilter("verdict", "Result", verdicts, status)}
      <div class="row"><button>Apply</button></div>
    </form>
    ${
      checks.length > 0
        ? renderCheckTable(checks, { monitor, viewer })
        : html`<p>${isAll ? "It has not been checked yet." : "No check matches."}</p>`
    }
    ${searchedTo !== null && html`<p class="faint">${bound} ${renderTime(new Date(searchedTo), viewer)}</p>`}
    ${renderPageLinks("Pages of the checks", linksOf(found, search, monitor.id))}`;
}

/** Renders a choice of one value by which a log is filtered, or of any. `chosen`: null: any. */
export function renderFilter(
  name: string,
  label: string,
  values: readonly { readonly value: string; readonly label: string }[],
  chosen: string | null,
): Html {
  const options = [{ value: "", label: "Any" }, ...values].map((one) => ({ ...one, isSelected: one.value === chosen }));
  return renderSelect({ name, label, problem: null, options });
}

/** Returns the links to other pages of the checks of a monitor. A page that is not full leads to where its search has ended. */
function linksOf({ older, newer, searchedTo }: FoundChecks, search: CheckSearch, id: number): readonly PageLink[] {
  const { location, status, before, after } = search;
  const isNewer = before === null && after !== null;
  const isBounded = searchedTo !== null;
  const pathOf = (cursor: { readonly before?: CheckCursor; readonly after?: CheckCursor }): string => {
    const query = new URLSearchParams();
    if (location !== null) query.set("location", location);
    if (status !== null) query.set("verdict", status);
    for (const [name, { at, id: check }] of Object.entries(cursor)) query.set(name, `${at}-${check}`);
    return `/app/monitors/${id}/checks${query.size === 0 ? "" : `?${query.toString()}`}`;
  };
  const toNewer = isNewer && isBounded ? "Search further" : "Newer";
  const toOlder = !isNewer && isBounded ? "Search further back" : "Older";
  return [
    ...(before === null && after === null ? [] : [{ label: "Newest", path: pathOf({}), rel: "start" }]),
    ...(newer === null ? [] : [{ label: toNewer, path: pathOf({ after: newer }), rel: "prev" }]),
    ...(older === null ? [] : [{ label: toOlder, path: pathOf({ before: older }), rel: "next" }]),
  ];
}
