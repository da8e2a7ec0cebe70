import type { ViewerTime } from "#control-plane/core/charts/viewer-time.ts";
import { html, type Html } from "#control-plane/core/pages/html.ts";
import { largestUnit, toLocalTimes, writeAgo, viewerTimeOf } from "#control-plane/surfaces/dashboard/layout/times.ts";
import {
  isFiltered,
  MORE_ROWS,
  SORTS,
  STATES,
  writeListPath,
  type ListQuery,
  readKeptRows,
  readListQuery,
} from "#control-plane/surfaces/dashboard/monitors/list-query.ts";
import { renderSiteForm } from "#control-plane/surfaces/dashboard/monitors/site-form.ts";
import { type Selection, selectRows } from "#control-plane/surfaces/dashboard/monitors/select-rows.ts";
import { STATE_LABELS } from "#control-plane/surfaces/dashboard/monitors/labels.ts";
import { counted } from "#control-plane/surfaces/dashboard/layout/amounts.ts";
import { CHECK_TYPES, kindOf } from "#control-plane/outages/kinds/kinds.ts";
import type { ListedMonitor } from "#control-plane/monitors/overview.ts";
import type { FastifyInstance } from "fastify";
import { memberOf } from "#control-plane/surfaces/dashboard/session-guard/session-guard.ts";
import { sendPage } from "#control-plane/surfaces/dashboard/layout/page.ts";
import { renderStrips } from "#control-plane/surfaces/dashboard/monitors/strips.ts";
import { createYielder } from "#control-plane/core/yielder.ts";
import { isAllowed } from "#control-plane/people/users/roles.ts";
import type { Dashboard } from "#control-plane/surfaces/dashboard/parts.ts";

/** Seconds between two refreshes of an open list. */
const REFRESH_SECONDS = 10;

/** Registers GET /app/monitors. */
export function registerList(scope: FastifyInstance, { guard, clock, overviews }: Dashboard): void {
  scope.route({
    ...guard.page({ needs: "read" }),
    url: "/app/monitors",
    schema: { hide: true },
    async handler(request, reply) {
      const session = memberOf(request);
      const query = readListQuery(request.query as Readonly<Record<string, unknown>>);
      const isRefresh = request.headers["x-view"] === "live";
      const kept = readKeptRows(request.headers["x-rows"]);
      const selection = selectRows(await overviews.of(session.accountId, { isRefresh }), query, kept);
      const viewer = viewerTimeOf(session);
      const shown = selection.rows.map(({ id }) => id);
      const strips = await overviews.stripsOf(session.accountId, shown);
      const bars = await renderStrips(strips, viewer, createYielder(clock));
      const body = renderList({
        query,
        selection,
        stripOf: (id) => bars.get(id),
        now: clock.now(),
        viewer,
        canWrite: isAllowed(session.role, "write"),
        formToken: session.formToken,
      });
      const title = titleOf(selection);
      return sendPage(request, reply, { title, session, section: "monitors", body, liveSeconds: REFRESH_SECONDS });
    },
  });
}

/** What the list shows. */
interface MonitorList {
  readonly query: ListQuery;
  readonly selection: Selection;
  /** Strip of the last 24 hours of a monitor; undefined: there is none. */
  readonly stripOf: (id: number) => Html | undefined;
  readonly now: Date;
  readonly viewer: ViewerTime;
  /** Whether the member may change monitors. */
  readonly canWrite: boolean;
  /** Value of the field `_csrf`. */
  readonly formToken: string;
}

const ACTIONS = html`
  <div class="row">
    <a class="button" href="/app/monitors/paste">Paste addresses</a>
    <a class="button primary" href="/app/monitors/new">Add a monitor</a>
  </div>`;

const NO_MATCH = html`<div class="card"><p>No monitor matches.</p><p><a href="/app/monitors">Show all</a></p></div>`;

/** Renders the list of monitors: counts, filter, and rows with what fails first. */
function renderList(list: MonitorList): Html {
  const { query, selection, canWrite } = list;
  if (selection.total === 0) return renderNone(list);
  return html`
    <div class="head">
      <h1>Monitors</h1>
      ${canWrite && ACTIONS}
    </div>
    ${renderCounts(query, selection)}
    ${renderFilter(query, selection)}
    ${selection.matching === 0 ? NO_MATCH : renderRows(list)}`;
}

/** Returns the title of the tab: how many monitors are down and not muted, before the name of the page. */
function titleOf({ alarming }: Selection): string {
  return alarming === 0 ? "Monitors" : `(${alarming}) Monitors`;
}

/** Renders what the page of an account without monitors leads to: the first one, by its address alone. */
function renderNone({ canWrite, formToken }: MonitorList): Html {
  return html`
    <h1>Monitors</h1>
    <div class="card">
      <h2>No monitors yet</h2>
      <p>A monitor checks a site, a name or a job again and again, and tells you when it fails.</p>
      ${
        canWrite
          ? html`
              ${renderSiteForm(formToken)}
              <p><a href="/app/monitors/new">Watch something else: a port, DNS, a certificate, a job</a></p>
              <p><a href="/app/monitors/paste">Paste many addresses at once</a></p>`
          : html`<p>Ask an editor or an owner of the account to add one.</p>`
      }
    </div>`;
}

function renderCounts(query: ListQuery, { counts, total }: Selection): Html {
  const shown = (["down", "degraded", "unknown", "muted", "paused", "up"] as const).filter(
    (state) => counts[state] > 0 || state === "down",
  );
  return html`
    <ul class="counts">
      ${renderCount("/app/monitors", { count: total, word: "all", tone: "", isCurrent: !isFiltered(query) })}
      ${shown.map((state) =>
        renderCount(writeListPath({ ...query, state }), {
          count: counts[state],
          word: wordOf(state).toLowerCase(),
          tone: counts[state] === 0 || state === "muted" ? "" : STATE_LABELS[state].tone,
          isCurrent: query.state === state,
        }),
      )}
    </ul>`;
}

function renderCount(
  path: string,
  of: { readonly count: number; readonly word: string; readonly tone: string; readonly isCurrent: boolean },
): Html {
  return html`<li><a class="${of.tone}" href="${path}"${of.isCurrent && html` aria-current="true"`}><b>${of.count}</b> ${of.word}</a></li>`;
}

type Option = readonly [value: string, word: string];

const ANY: Option = ["", "Any"];

const SORT_WORDS: Readonly<Record<ListQuery["sort"], string>> = {
  state: "Failing first",
  name: "Name",
  newest: "Newest first",
};

function renderFilter(query: ListQuery, { tags }: Selection): Html {
  const states = STATES.map((state): Option => [state, wordOf(state)]);
  const kinds = CHECK_TYPES.map((kind): Option => [kind, kindOf(kind).label]);
  const sorts = SORTS.map((sort): Option => [sort, SORT_WORDS[sort]]);
  // Small screens show the selects too if one of them has a value.
  const isOpen = isFiltered({ ...query, text: "" });
  return html`
    <form class="filter sticky" method="get" action="/app/monitors" role="search" data-kept>
      <div class="field">
        <label for="q">Search</label>
        <input id="q" name="q" type="search" value="${query.text}" maxlength="200" autocomplete="off" placeholder="Name, address or tag" data-search>
      </div>
      <details class="selects"${isOpen && html` open`}>
        <summary>Filter and sort</summary>
        ${renderSelect("state", "State", [ANY, ...states], query.state)}
        ${renderSelect("kind", "Kind", [ANY, ...kinds], query.kind)}
        ${tags.length > 0 && renderSelect("tag", "Tag", [ANY, ...tags.map((tag): Option => [tag, tag])], query.tag)}
        ${renderSelect("sort", "Sort by", sorts, query.sort)}
      </details>
      <div class="row"><button>Apply</button>${isFiltered(query) && html` <a href="/app/monitors">Show all</a>`}</div>
    </form>`;
}

/** `chosen`: null: the empty value. */
function renderSelect(name: string, label: string, options: readonly Option[], chosen: string | null): Html {
  return html`
    <div class="field">
      <label for="s-${name}">${label}</label>
      <select id="s-${name}" name="${name}">
        ${options.map(([value, word]) => html`<option value="${value}"${value === (chosen ?? "") && html` selected`}>${word}</option>`)}
      </select>
    </div>`;
}

function wordOf(state: (typeof STATES)[number]): string {
  if (state === "failing") return "Down or degraded";
  return state === "muted" ? "Muted" : STATE_LABELS[state].word;
}

/** Renders the rows, and below them how many there are and what can be done with all of them. */
function renderRows(list: MonitorList): Html {
  const { query, selection, canWrite } = list;
  const { rows, matching } = selection;
  const paths = new Map<string, string>();
  const pathOf = (tag: string): string => {
    const path = paths.get(tag) ?? writeListPath({ ...query, tag });
    paths.set(tag, path);
    return path;
  };
  // It leads to the last row of this list.
  const more = `${writeListPath({ ...query, rows: query.rows + MORE_ROWS })}#m-${rows.at(-1)?.id}`;
  const bulk = writeListPath(query).replace("/app/monitors", "/app/monitors/bulk");
  const shown =
    rows.length < matching
      ? html`Shown: ${rows.length} / ${matching}. <a href="${more}" data-more>Show more</a>`
      : counted(matching, "monitor");
  return html`
    <ul class="rows" id="rows">${rows.map((monitor) => renderRow(monitor, list, pathOf))}</ul>
    <p class="faint">${shown}${canWrite && html` <a href="${bulk}">Change these monitors</a>`}</p>`;
}

/** `pathOf`: returns the address of the list of a tag. */
function renderRow(monitor: ListedMonitor, list: MonitorList, pathOf: (tag: string) => string): Html {
  const { id, name, url, tags, state, isMuted } = monitor;
  const { word, tone } = STATE_LABELS[state];
  const target = name === "" || name === url ? "" : url;
  const message = toLocalTimes(causeOf(monitor), list.viewer.zone.name);
  return html`
    <li id="m-${id}" class="${tone}"><span class="badge ${tone}">${word}</span>
      <div class="what">
        <div class="named"><a href="/app/monitors/${id}" data-row><bdi>${name === "" ? url : name}</bdi></a> ${isMuted && html`<span class="badge">Muted</span> `}<bdi class="target faint">${target}</bdi></div>
        ${(message !== "" || tags.length > 0) && html`<p>${message !== "" && html`<span class="${tone}">${message}</span> `}${tags.map((tag) => html`<a class="tag" href="${pathOf(tag)}">${tag}</a> `)}</p>`}
      </div>
      <div class="strip">${list.stripOf(id)}</div>
      <div class="when">${writeSince(monitor, list.now)}<p class="faint">${writeAbout(monitor, list.now)}</p></div>
    </li>`;
}

/** Returns what a row says of its state; empty: nothing. What is degraded and fails nowhere is slow. */
function causeOf({ state, error, advisory }: ListedMonitor): string {
  if (state === "degraded") return advisory ?? error ?? "It answers, but more slowly than its limit.";
  return (state === "down" || state === "unknown" ? error : advisory) ?? "";
}

/** Writes for how long a monitor is in its state. */
function writeSince({ state, since, isFlapping }: ListedMonitor, now: Date): string {
  if (state === "paused") return "";
  const known = since === null ? "not checked yet" : `for ${largestUnit(now.getTime() - since.getTime())}`;
  return isFlapping ? `${known}, flapping` : known;
}

/** Writes the kind of a monitor, and when it was checked. */
function writeAbout({ checkType, state, lastCheckedAt }: ListedMonitor, now: Date): string {
  const kind = kindOf(checkType).label;
  if (lastCheckedAt === null || state === "paused") return kind;
  return `${kind}, checked ${writeAgo(lastCheckedAt, now)}`;
}
