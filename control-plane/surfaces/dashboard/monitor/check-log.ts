import { renderTime } from "#control-plane/surfaces/dashboard/frame/times.ts";
import { renderCheckTable } from "#control-plane/surfaces/dashboard/monitor/checks.ts";
import { nameOf, type MonitorPage } from "#control-plane/surfaces/dashboard/monitor/head.ts";
import { STATE_WORDS } from "#control-plane/surfaces/dashboard/monitors/words.ts";
import { CHECKS } from "#control-plane/surfaces/dashboard/strings/monitor.ts";
import type { RecentCheck } from "#control-plane/outages/history/recent.ts";
import type { CheckCursor, CheckSearch, FoundChecks } from "#control-plane/outages/history/search.ts";
import { compileTemplate } from "#control-plane/core/pages/templates.ts";

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

const renderTop: (top: {
  readonly id: number;
  readonly name: string;
  readonly locations: readonly string[];
  readonly location: string;
  readonly verdicts: readonly { readonly value: string; readonly word: string; readonly isChosen: boolean }[];
}) => string = compileTemplate(`
<p class="back"><a href="/app/monitors/<%= it.id %>">${CHECKS.back}</a></p><h1>${CHECKS.logTitle} <%= it.name %></h1>
<form class="filter" method="get" action="/app/monitors/<%= it.id %>/checks" role="search">
<div class="field"><label for="f-location">${CHECKS.location}</label><select id="f-location" name="location"><option value="">${CHECKS.any}</option>
<% for (const one of it.locations) { %><option value="<%= one %>"<% if (one === it.location) { %> selected<% } %>><%= one %></option><% } %></select></div>
<div class="field"><label for="f-verdict">${CHECKS.verdict}</label><select id="f-verdict" name="verdict"><option value="">${CHECKS.any}</option>
<% for (const one of it.verdicts) { %><option value="<%= one.value %>"<% if (one.isChosen) { %> selected<% } %>><%= one.word %></option><% } %></select></div>
<div class="row"><button>${CHECKS.apply}</button></div></form>
`);

/** Renders the links between the pages of a log. `label`: what the pages are. */
export const renderPageLinks: (nav: { readonly label: string; readonly links: readonly PageLink[] }) => string =
  compileTemplate(`
<% if (it.links.length > 0) { %><nav class="row" aria-label="<%= it.label %>"><% for (const link of it.links) { %>
<a class="button" rel="<%= link.rel %>" href="<%= link.path %>"><%= link.label %></a><% } %></nav><% } %>
`);

/** Renders a page of the checks of a monitor. `locations`: by which they can be filtered. */
export function renderCheckLog(
  found: FoundChecks,
  search: CheckSearch,
  locations: readonly string[],
  { monitor, viewer }: Pick<MonitorPage, "monitor" | "viewer">,
): string {
  const { checks, older, newer, searchedTo } = found;
  const { location, status, before, after } = search;
  const known = [...locations, ...checks.map((check) => check.location), ...(location === null ? [] : [location])];
  const top = renderTop({
    id: monitor.id,
    name: nameOf(monitor),
    locations: [...new Set(known)].toSorted(),
    location: location ?? "",
    verdicts: VERDICTS.map((value) => ({ value, word: STATE_WORDS[value].word, isChosen: value === status })),
  });
  const isNewer = before === null && after !== null;
  const pathOf = (cursor: { readonly before?: CheckCursor; readonly after?: CheckCursor }): string => {
    const query = new URLSearchParams();
    if (location !== null) query.set("location", location);
    if (status !== null) query.set("verdict", status);
    for (const [name, { at, id }] of Object.entries(cursor)) query.set(name, `${at}-${id}`);
    return `/app/monitors/${monitor.id}/checks${query.size === 0 ? "" : `?${query.toString()}`}`;
  };
  const isBounded = searchedTo !== null;
  const links: readonly PageLink[] = [
    ...(before === null && after === null ? [] : [{ label: CHECKS.newest, path: pathOf({}), rel: "start" }]),
    ...(newer === null
      ? []
      : [
          {
            label: isNewer && isBounded ? CHECKS.furtherNewer : CHECKS.newer,
            path: pathOf({ after: newer }),
            rel: "prev",
          },
        ]),
    ...(older === null
      ? []
      : [
          {
            label: !isNewer && isBounded ? CHECKS.further : CHECKS.older,
            path: pathOf({ before: older }),
            rel: "next",
          },
        ]),
  ];
  const isAll = location === null && status === null && before === null && after === null && !isBounded;
  const table =
    checks.length === 0
      ? `<p>${isAll ? CHECKS.noneYet : CHECKS.none}</p>`
      : renderCheckTable(checks, { monitor, viewer });
  const bound =
    searchedTo === null
      ? ""
      : `<p class="faint">${isNewer ? CHECKS.searchedUpTo : CHECKS.searchedTo} ${renderTime(new Date(searchedTo), viewer)}</p>`;
  return `${top}${table}${bound}${renderPageLinks({ label: CHECKS.pages, links })}`;
}
