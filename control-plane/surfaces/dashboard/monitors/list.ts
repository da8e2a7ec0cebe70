import type { ViewerTime } from "#control-plane/core/charts/viewer-time.ts";
import { largestUnit, toLocalTimes } from "#control-plane/surfaces/dashboard/frame/times.ts";
import {
  isFiltered,
  MORE_ROWS,
  SORTS,
  STATES,
  writeListPath,
  type ListQuery,
} from "#control-plane/surfaces/dashboard/monitors/list-query.ts";
import { renderSiteForm } from "#control-plane/surfaces/dashboard/monitors/site-form.ts";
import type { Selection } from "#control-plane/surfaces/dashboard/monitors/select-rows.ts";
import { KIND_WORDS, STATE_WORDS } from "#control-plane/surfaces/dashboard/monitors/words.ts";
import { MONITORS } from "#control-plane/surfaces/dashboard/strings/monitors.ts";
import { CHECK_TYPES } from "#control-plane/outages/kinds/kinds.ts";
import type { ListedMonitor } from "#control-plane/monitors/overview.ts";
import { compileTemplate } from "#control-plane/core/pages/templates.ts";

/** What the list shows. */
interface MonitorList {
  readonly query: ListQuery;
  readonly selection: Selection;
  /** Strip of the last 24 hours of a monitor, as rendered; empty if there is none. */
  readonly stripOf: (id: number) => string;
  readonly now: Date;
  readonly viewer: ViewerTime;
  /** Whether the member may change monitors. */
  readonly canWrite: boolean;
  /** Value of the field `_csrf`. */
  readonly formToken: string;
}

interface Option {
  readonly value: string;
  readonly label: string;
  readonly isSelected: boolean;
}

const renderHead: (head: { readonly counts: readonly Count[]; readonly canWrite: boolean }) => string =
  compileTemplate(`
<div class="head"><h1>${MONITORS.title}</h1>
<% if (it.canWrite) { %><div class="row"><a class="button" href="/app/monitors/paste">${MONITORS.paste}</a>
<a class="button primary" href="/app/monitors/new">${MONITORS.add}</a></div><% } %></div>
<ul class="counts"><% for (const count of it.counts) { %>
<li><a class="<%= count.tone %>" href="<%= count.path %>"<% if (count.isCurrent) { %> aria-current="true"<% } %>><b><%= count.number %></b> <%= count.word %></a></li>
<% } %></ul>
`);

interface Count {
  readonly number: number;
  readonly word: string;
  readonly tone: string;
  readonly path: string;
  readonly isCurrent: boolean;
}

const renderFilter: (filter: {
  readonly text: string;
  readonly selects: readonly { readonly name: string; readonly label: string; readonly options: readonly Option[] }[];
  readonly isFiltered: boolean;
  /** Whether small screens show the selects too. */
  readonly isOpen: boolean;
}) => string = compileTemplate(`
<form class="filter sticky" method="get" action="/app/monitors" role="search" data-kept>
<div class="field"><label for="q">${MONITORS.search}</label>
<input id="q" name="q" type="search" value="<%= it.text %>" maxlength="200" autocomplete="off" placeholder="${MONITORS.searchHint}" data-search></div>
<details class="selects"<% if (it.isOpen) { %> open<% } %>><summary>${MONITORS.selects}</summary>
<% for (const select of it.selects) { %>
<div class="field"><label for="s-<%= select.name %>"><%= select.label %></label><select id="s-<%= select.name %>" name="<%= select.name %>">
<% for (const option of select.options) { %><option value="<%= option.value %>"<% if (option.isSelected) { %> selected<% } %>><%= option.label %></option><% } %>
</select></div>
<% } %></details>
<div class="row"><button>${MONITORS.filter}</button><% if (it.isFiltered) { %> <a href="/app/monitors">${MONITORS.all}</a><% } %></div>
</form>
`);

const renderRowTop: (row: Row) => string = compileTemplate(`
<li id="m-<%= it.id %>" class="<%= it.tone %>"><span class="badge <%= it.tone %>"><%= it.word %></span>
<div class="what"><div class="named"><a href="/app/monitors/<%= it.id %>" data-row><bdi><%= it.name %></bdi></a> <% if (it.isMuted) { %><span class="badge">${MONITORS.muted}</span> <% } %><bdi class="target faint"><%= it.target %></bdi></div>
<% if (it.message !== "" || it.tags.length > 0) { %><p><% if (it.message !== "") { %><span class="<%= it.tone %>"><%= it.message %></span> <% } %><% for (const tag of it.tags) { %><a class="tag" href="<%= tag.path %>"><%= tag.name %></a> <% } %></p><% } %>
</div><div class="strip">`);

const renderRowEnd: (row: Row) => string =
  compileTemplate(`</div><div class="when"><%= it.since %><p class="faint"><%= it.about %></p></div></li>
`);

interface Row {
  readonly id: number;
  readonly tone: string;
  readonly word: string;
  readonly name: string;
  readonly isMuted: boolean;
  readonly target: string;
  readonly message: string;
  /** For how long it is in its state. */
  readonly since: string;
  /** Its kind, and when it was checked. */
  readonly about: string;
  readonly tags: readonly { readonly name: string; readonly path: string }[];
}

const renderEnd: (end: {
  readonly shown: number;
  readonly matching: number;
  /** The number of those that match, in words. */
  readonly count: string;
  readonly morePath: string;
  readonly bulkPath: string;
}) => string = compileTemplate(`
<p class="faint"><% if (it.shown < it.matching) { %>${MONITORS.shown} <%= it.shown %> / <%= it.matching %>.
 <a href="<%= it.morePath %>" data-more>${MONITORS.more}</a><% } else { %><%= it.count %><% } %>
<% if (it.bulkPath !== "") { %> <a href="<%= it.bulkPath %>">${MONITORS.bulk}</a><% } %></p>
`);

const NO_MATCH = `<div class="card"><p>${MONITORS.noMatch}</p><p><a href="/app/monitors">${MONITORS.all}</a></p></div>`;
const NONE_TOP = `<h1>${MONITORS.title}</h1><div class="card"><h2>${MONITORS.none}</h2><p>${MONITORS.noneHint}</p>`;
const NONE_END = `<p><a href="/app/monitors/new">${MONITORS.otherKinds}</a></p><p><a href="/app/monitors/paste">${MONITORS.pasteMany}</a></p></div>`;

/** Renders what the page of an account without monitors leads to: the first one, by its address alone. */
function renderNone({ canWrite, formToken }: MonitorList): string {
  if (!canWrite) return `${NONE_TOP}<p>${MONITORS.noneToRead}</p></div>`;
  return `${NONE_TOP}${renderSiteForm({ formToken, hasFocus: true })}${NONE_END}`;
}

/** Renders the list of monitors: counts, filter, and rows with what fails first. */
export function renderList(list: MonitorList): string {
  const { query, selection, canWrite } = list;
  if (selection.total === 0) return renderNone(list);
  const head = renderHead({ counts: countsOf(query, selection), canWrite });
  if (selection.matching === 0) return head + filterOf(query, selection) + NO_MATCH;
  const paths = new Map<string, string>();
  const pathOf = (tag: string): string => {
    const path = paths.get(tag) ?? writeListPath({ ...query, tag });
    paths.set(tag, path);
    return path;
  };
  const rows = selection.rows.map((monitor) => {
    const row = rowOf(monitor, list, pathOf);
    return `${renderRowTop(row)}${list.stripOf(monitor.id)}${renderRowEnd(row)}`;
  });
  const end = renderEnd({
    shown: selection.rows.length,
    matching: selection.matching,
    count: MONITORS.count(selection.matching),
    bulkPath: canWrite ? writeListPath(query).replace("/app/monitors", "/app/monitors/bulk") : "",
    // It leads to the last row of this list.
    morePath: `${writeListPath({ ...query, rows: query.rows + MORE_ROWS })}#m-${selection.rows.at(-1)?.id}`,
  });
  return `${head}${filterOf(query, selection)}<ul class="rows" id="rows">${rows.join("")}</ul>${end}`;
}

/** Returns the title of the tab: how many monitors are down and not muted, before the name of the page. */
export function titleOf({ alarming }: Selection): string {
  return alarming === 0 ? MONITORS.title : `(${alarming}) ${MONITORS.title}`;
}

function countsOf(query: ListQuery, { counts, total }: Selection): readonly Count[] {
  const all = {
    number: total,
    word: MONITORS.allCount,
    tone: "",
    path: "/app/monitors",
    isCurrent: !isFiltered(query),
  };
  const shown = (["down", "degraded", "unknown", "muted", "paused", "up"] as const).filter(
    (state) => counts[state] > 0 || state === "down",
  );
  return [
    all,
    ...shown.map((state) => ({
      number: counts[state],
      word: wordOf(state).toLowerCase(),
      tone: counts[state] === 0 || state === "muted" ? "" : STATE_WORDS[state].tone,
      path: writeListPath({ ...query, state }),
      isCurrent: query.state === state,
    })),
  ];
}

function filterOf(query: ListQuery, { tags }: Selection): string {
  const optionsOf = (values: readonly string[], chosen: string | null, labelOf: (value: string) => string): Option[] =>
    values.map((value) => ({ value, label: labelOf(value), isSelected: value === chosen }));
  const any = (isSelected: boolean): Option => ({ value: "", label: MONITORS.any, isSelected });
  const selects = [
    {
      name: "state",
      label: MONITORS.state,
      options: [
        any(query.state === null),
        ...STATES.map((state) => ({ value: state, label: wordOf(state), isSelected: state === query.state })),
      ],
    },
    {
      name: "kind",
      label: MONITORS.kind,
      options: [
        any(query.kind === null),
        ...optionsOf(CHECK_TYPES, query.kind, (kind) => KIND_WORDS[kind as keyof typeof KIND_WORDS]),
      ],
    },
    ...(tags.length === 0
      ? []
      : [
          {
            name: "tag",
            label: MONITORS.tag,
            options: [any(query.tag === null), ...optionsOf(tags, query.tag, (tag) => tag)],
          },
        ]),
    { name: "sort", label: MONITORS.sort, options: optionsOf(SORTS, query.sort, (sort) => SORT_WORDS[sort] ?? sort) },
  ];
  const isOpen = isFiltered({ ...query, text: "" });
  return renderFilter({ text: query.text, selects, isFiltered: isFiltered(query), isOpen });
}

function wordOf(state: (typeof STATES)[number]): string {
  if (state === "failing") return MONITORS.failing;
  return state === "muted" ? MONITORS.muted : STATE_WORDS[state].word;
}

const SORT_WORDS: Readonly<Record<string, string>> = MONITORS.sorts;

/** `pathOf`: returns the address of the list of a tag. */
function rowOf(monitor: ListedMonitor, { now, viewer }: MonitorList, pathOf: (tag: string) => string): Row {
  const { id, name, url, checkType, tags, state, isMuted, error, advisory, isFlapping, since, lastCheckedAt } = monitor;
  const { word, tone } = STATE_WORDS[state];
  const known = since === null ? MONITORS.never : `${MONITORS.since} ${largestUnit(now.getTime() - since.getTime())}`;
  const isPaused = state === "paused";
  const checked =
    lastCheckedAt === null || isPaused
      ? ""
      : `${MONITORS.checked} ${largestUnit(now.getTime() - lastCheckedAt.getTime())} ${MONITORS.ago}`;
  return {
    id,
    tone,
    word,
    isMuted,
    name: name === "" ? url : name,
    target: name === "" || name === url ? "" : url,
    message: toLocalTimes(causeOf(state, error, advisory), viewer.zone.name),
    since: isPaused ? "" : `${known}${isFlapping ? `, ${MONITORS.flapping}` : ""}`,
    about: [KIND_WORDS[checkType], checked].filter((part) => part !== "").join(", "),
    tags: tags.map((tag) => ({ name: tag, path: pathOf(tag) })),
  };
}

/** Returns what a row says of its state; empty: nothing. What is degraded and fails nowhere is slow. */
function causeOf(state: ListedMonitor["state"], error: string | null, advisory: string | null): string {
  if (state === "degraded") return advisory ?? error ?? MONITORS.slow;
  return (state === "down" || state === "unknown" ? error : advisory) ?? "";
}
