import { showHiddenInLines } from "#shared/text/hidden-characters.ts";
import { writeDuration } from "#shared/text/duration.ts";
import type { ViewerTime } from "#control-plane/core/charts/viewer-time.ts";
import { renderSecond } from "#control-plane/surfaces/dashboard/layout/times.ts";
import { renderFilter, renderPageLinks, type PageLink } from "#control-plane/surfaces/dashboard/monitor/check-log.ts";
import { nameOf, type MonitorPage } from "#control-plane/surfaces/dashboard/monitor/head.ts";
import { counted } from "#control-plane/surfaces/dashboard/layout/amounts.ts";
import type { FoundPings, ShownPing } from "#control-plane/watching/heartbeats/shown-pings.ts";
import { PING_RESULTS, type PingResult, type PingSearch } from "#control-plane/watching/heartbeats/ping.ts";
import { html, type Html } from "#control-plane/core/pages/html.ts";

/** Characters of a body that are shown before it is opened. */
const LINE = 100;

const RESULT_WORDS: Readonly<Record<PingResult, { readonly word: string; readonly tone: string }>> = {
  success: { word: "Success", tone: "good" },
  fail: { word: "Failure", tone: "bad" },
  start: { word: "Start", tone: "" },
  log: { word: "Log", tone: "" },
};

/** Renders pings with what each has sent. */
export function renderPingList(pings: readonly ShownPing[], viewer: ViewerTime): Html {
  return html`<ul class="pings">${pings.map((ping) => renderPing(ping, viewer))}</ul>`;
}

function renderPing(ping: ShownPing, viewer: ViewerTime): Html {
  const { word, tone } = RESULT_WORDS[resultOf(ping)];
  const { duration_ms: ms, exit_code: code, rid, remote_addr: address, method, user_agent: client } = ping;
  const from = [rid === null ? null : `run ${rid}`, address, method, client].filter((part) => part !== null);
  return html`
    <li>
      ${renderSecond(new Date(ping.received_at), viewer)}
      <span><span class="badge ${tone}">${word}</span> ${code !== null && `exit code ${code}`}</span>
      <span>${ms !== null && `took ${ms < 1_000 ? `${ms} ms` : writeDuration(ms / 1_000)}`}</span>
      <span class="faint">${from.join(", ")}</span>
      ${renderBody(ping)}
    </li>`;
}

/** Renders the body of a ping: its first line, and the rest if it is opened. */
function renderBody({ body: sent, body_truncated: isCut }: ShownPing): Html | null {
  const body = showHiddenInLines(sent ?? "");
  const { line, isWhole } = firstLine(body);
  if (body === "" || (isWhole && !isCut)) return line === "" ? null : html`<p class="mono">${line}</p>`;
  const size = `${counted(sent?.length ?? 0, "character")}${isCut ? ", cut" : ""}`;
  return html`
    <details>
      <summary><span class="mono">${line}</span> <span class="faint">${size}</span></summary>
      <pre tabindex="0">${body}</pre>
    </details>`;
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

/** Renders a page of the pings of a heartbeat. */
export function renderPingLog(
  { pings, older, newer }: FoundPings,
  { result, before, after }: PingSearch,
  { monitor, viewer }: Pick<MonitorPage, "monitor" | "viewer">,
): Html {
  const path = `/app/monitors/${monitor.id}/pings`;
  const results = PING_RESULTS.map((value) => ({ value, label: RESULT_WORDS[value].word }));
  const pathOf = (cursor: Readonly<Record<string, number>>): string => {
    const query = new URLSearchParams(result === null ? {} : { result });
    for (const [name, number] of Object.entries(cursor)) query.set(name, String(number));
    return query.size === 0 ? path : `${path}?${query.toString()}`;
  };
  const isFirst = before === null && after === null;
  const links: readonly PageLink[] = [
    ...(isFirst ? [] : [{ label: "Newest", path: pathOf({}), rel: "start" }]),
    ...(newer === null ? [] : [{ label: "Newer", path: pathOf({ after: newer }), rel: "prev" }]),
    ...(older === null ? [] : [{ label: "Older", path: pathOf({ before: older }), rel: "next" }]),
  ];
  return html`
    <p><a href="/app/monitors/${monitor.id}">Back to the monitor</a></p>
    <h1>Pings of ${nameOf(monitor)}</h1>
    <p class="faint">The 100 newest are kept.</p>
    <form class="filter" method="get" action="${path}" role="search">
      ${renderFilter("result", "Result", results, result)}
      <div class="row"><button>Apply</button></div>
    </form>
    ${
      pings.length > 0
        ? renderPingList(pings, viewer)
        : html`<p>${isFirst && result === null ? "No ping has come yet." : "No ping matches."}</p>`
    }
    ${renderPageLinks("Pages of the pings", links)}`;
}
