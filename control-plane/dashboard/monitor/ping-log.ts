import { writeDuration } from "#shared/text/duration.ts";
import { renderSecond } from "#control-plane/dashboard/frame/times.ts";
import { renderPageLinks, type PageLink } from "#control-plane/dashboard/monitor/check-log.ts";
import { nameOf, type MonitorPage } from "#control-plane/dashboard/monitor/head.ts";
import { CHECKS, PINGS } from "#control-plane/dashboard/strings/monitor.ts";
import type { FoundPings, ShownPing } from "#control-plane/heartbeats/shown-pings.ts";
import { PING_RESULTS, type PingResult, type PingSearch } from "#control-plane/heartbeats/store.ts";
import { compileTemplate } from "#control-plane/pages/templates.ts";

/** Characters of a body that are shown before it is opened. */
const LINE = 100;

const TABLE_TOP = `
<div class="scroll" role="group" tabindex="0" aria-label="${PINGS.title}"><table class="pings"><thead><tr><th scope="col">${PINGS.time}</th><th scope="col">${PINGS.result}</th>
<th scope="col" class="number">${PINGS.duration}</th><th scope="col">${PINGS.from}</th><th scope="col">${PINGS.body}</th></tr></thead><tbody>
`;

const renderCells: (ping: {
  readonly word: string;
  readonly tone: string;
  readonly code: string;
  readonly run: string;
  readonly duration: string;
  readonly address: string;
  readonly client: string;
  readonly line: string;
  readonly size: string;
  readonly body: string;
}) => string = compileTemplate(`
<td><span class="badge <%= it.tone %>"><%= it.word %></span><% if (it.code !== "") { %> <%= it.code %><% } %><% if (it.run !== "") { %><br><span class="faint"><%= it.run %></span><% } %></td>
<td class="number"><%= it.duration %></td><td><%= it.address %><br><span class="faint"><%= it.client %></span></td>
<td><% if (it.body !== "") { %><details><summary><span class="mono"><%= it.line %></span> <span class="faint"><%= it.size %></span></summary><pre tabindex="0"><%= it.body %></pre></details>
<% } else { %><span class="mono"><%= it.line %></span><% } %></td></tr>
`);

/** Renders a table of pings with what each has sent. */
export function renderPingTable(pings: readonly ShownPing[], { viewer }: Pick<MonitorPage, "viewer">): string {
  const rows = pings.map((ping) => {
    const { word, tone } = PINGS.results[resultOf(ping)];
    const { duration_ms: ms, exit_code: code, rid, body, body_truncated: isCut } = ping;
    const { line, isWhole } = firstLine(body ?? "");
    const cells = renderCells({
      word,
      tone,
      code: code === null ? "" : PINGS.code(code),
      run: rid === null ? "" : PINGS.run(rid),
      duration: ms === null ? "" : ms < 1_000 ? `${ms} ms` : writeDuration(ms / 1_000),
      address: ping.remote_addr,
      client: [ping.method, ...(ping.user_agent === null ? [] : [ping.user_agent])].join(" "),
      line,
      size: PINGS.characters(body?.length ?? 0, isCut),
      body: isWhole && !isCut ? "" : (body ?? ""),
    });
    return `<tr><td>${renderSecond(new Date(ping.received_at), viewer)}</td>${cells}`;
  });
  return `${TABLE_TOP}${rows.join("")}</tbody></table></div>`;
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
  const table = pings.length === 0 ? `<p>${none}</p>` : renderPingTable(pings, { viewer });
  const top = renderTop({ id: monitor.id, name: nameOf(monitor), results });
  return `${top}${table}${renderPageLinks({ label: PINGS.pages, links })}`;
}
