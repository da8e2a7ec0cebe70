import { showHiddenInLines } from "#shared/text/hidden-characters.ts";
import { writeDuration } from "#shared/text/duration.ts";
import { renderSecond } from "#control-plane/surfaces/dashboard/frame/times.ts";
import { renderPageLinks, type PageLink } from "#control-plane/surfaces/dashboard/monitor/check-log.ts";
import { nameOf, type MonitorPage } from "#control-plane/surfaces/dashboard/monitor/head.ts";
import { CHECKS, PINGS } from "#control-plane/surfaces/dashboard/strings/monitor.ts";
import type { FoundPings, ShownPing } from "#control-plane/watching/heartbeats/shown-pings.ts";
import { PING_RESULTS, type PingResult, type PingSearch } from "#control-plane/watching/heartbeats/ping.ts";
import { compileTemplate } from "#control-plane/core/pages/templates.ts";

/** Characters of a body that are shown before it is opened. */
const LINE = 100;

const renderPing: (ping: {
  readonly word: string;
  readonly tone: string;
  readonly code: string;
  readonly duration: string;
  readonly from: string;
  readonly line: string;
  readonly size: string;
  readonly body: string;
}) => string = compileTemplate(`
<span><span class="badge <%= it.tone %>"><%= it.word %></span> <%= it.code %></span><span><%= it.duration %></span><span class="faint"><%= it.from %></span>
<% if (it.body !== "") { %><details><summary><span class="mono"><%= it.line %></span> <span class="faint"><%= it.size %></span></summary><pre tabindex="0"><%= it.body %></pre></details>
<% } else if (it.line !== "") { %><p class="mono"><%= it.line %></p><% } %>
`);

/** Renders pings with what each has sent. */
export function renderPingList(pings: readonly ShownPing[], { viewer }: Pick<MonitorPage, "viewer">): string {
  const items = pings.map((ping) => {
    const { word, tone } = PINGS.results[resultOf(ping)];
    const { duration_ms: ms, exit_code: code, rid, body_truncated: isCut } = ping;
    const body = showHiddenInLines(ping.body ?? "");
    const { line, isWhole } = firstLine(body);
    const client = ping.user_agent === null ? [] : [ping.user_agent];
    const shown = renderPing({
      word,
      tone,
      code: code === null ? "" : PINGS.code(code),
      duration: ms === null ? "" : PINGS.took(ms < 1_000 ? `${ms} ms` : writeDuration(ms / 1_000)),
      from: [...(rid === null ? [] : [PINGS.run(rid)]), ping.remote_addr, ping.method, ...client].join(", "),
      line,
      size: PINGS.characters(ping.body?.length ?? 0, isCut),
      body: isWhole && !isCut ? "" : body,
    });
    return `<li>${renderSecond(new Date(ping.received_at), viewer)}${shown}</li>`;
  });
  return `<ul class="pings">${items.join("")}</ul>`;
}

function resultOf({ kind, exit_code: code }: ShownPing): PingResult {
  return kind === "exit" ? (code === 0 ? "success" : "fail") : kind;
}

/** Returns the first line of a body that has any text, cut; isWhole: there is nothing beside. */
function firstLine(body: string): { readonly line: string; readonly isWhole: boolean } {
  const text = body.trim();
  const [first = ""] = text.split(/[\r\n]/, 1);
  const line = first.length > LINE ? `${first.slice(0, LINE).toWellFormed()}...` : first;
  return { line, isWhole: line === text };
}

/** Reads the address of the log of pings. A value that is not valid counts as absent. */
export function readPingQuery(query: Readonly<Record<string, unknown>>): PingSearch {
  return {
    result: PING_RESULTS.find((one) => one === query["result"]) ?? null,
    before: readNumber(query["before"]),
    after: readNumber(query["after"]),
  };
}

function readNumber(given: unknown): number | null {
  return typeof given === "string" && /^\d{1,15}$/.test(given) ? Number(given) : null;
}

const renderTop: (top: {
  readonly id: number;
  readonly name: string;
  readonly results: readonly { readonly value: string; readonly word: string; readonly isChosen: boolean }[];
}) => string = compileTemplate(`
<p><a href="/app/monitors/<%= it.id %>">${CHECKS.back}</a></p><h1>${PINGS.logTitle} <%= it.name %></h1><p class="faint">${PINGS.kept}</p>
<form class="filter" method="get" action="/app/monitors/<%= it.id %>/pings" role="search">
<div class="field"><label for="f-result">${PINGS.result}</label><select id="f-result" name="result"><option value="">${CHECKS.any}</option>
<% for (const one of it.results) { %><option value="<%= one.value %>"<% if (one.isChosen) { %> selected<% } %>><%= one.word %></option><% } %></select></div>
<div class="row"><button>${CHECKS.apply}</button></div></form>
`);

/** Renders a page of the pings of a heartbeat. */
export function renderPingLog(
  { pings, older, newer }: FoundPings,
  { result, before, after }: PingSearch,
  { monitor, viewer }: Pick<MonitorPage, "monitor" | "viewer">,
): string {
  const results = PING_RESULTS.map((value) => ({ value, word: PINGS.results[value].word, isChosen: value === result }));
  const pathOf = (cursor: Readonly<Record<string, number>>): string => {
    const query = new URLSearchParams(result === null ? {} : { result });
    for (const [name, number] of Object.entries(cursor)) query.set(name, String(number));
    return `/app/monitors/${monitor.id}/pings${query.size === 0 ? "" : `?${query.toString()}`}`;
  };
  const isFirst = before === null && after === null;
  const links: readonly PageLink[] = [
    ...(isFirst ? [] : [{ label: CHECKS.newest, path: pathOf({}), rel: "start" }]),
    ...(newer === null ? [] : [{ label: CHECKS.newer, path: pathOf({ after: newer }), rel: "prev" }]),
    ...(older === null ? [] : [{ label: CHECKS.older, path: pathOf({ before: older }), rel: "next" }]),
  ];
  const none = isFirst && result === null ? PINGS.noneYet : PINGS.none;
  const list = pings.length === 0 ? `<p>${none}</p>` : renderPingList(pings, { viewer });
  const top = renderTop({ id: monitor.id, name: nameOf(monitor), results });
  return `${top}${list}${renderPageLinks({ label: PINGS.pages, links })}`;
}
