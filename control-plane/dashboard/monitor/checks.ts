import { renderTime } from "#control-plane/dashboard/frame/times.ts";
import type { MonitorPage } from "#control-plane/dashboard/monitor/head.ts";
import { STATE_WORDS } from "#control-plane/dashboard/monitors/words.ts";
import { CHECKS } from "#control-plane/dashboard/strings/monitor.ts";
import type { RecentCheck } from "#control-plane/history/recent.ts";
import { describeFault } from "#control-plane/incidents/cause/fault.ts";
import type { Fault } from "#control-plane/incidents/incident.ts";
import { compileTemplate } from "#control-plane/pages/templates.ts";

const TABLE_TOP = `
<div class="scroll" role="group" tabindex="0" aria-label="${CHECKS.title}"><table class="cards"><thead><tr><th scope="col">${CHECKS.time}</th><th scope="col">${CHECKS.location}</th>
<th scope="col">${CHECKS.verdict}</th><th scope="col" class="number">${CHECKS.response}</th><th scope="col" class="number">${CHECKS.code}</th><th scope="col">${CHECKS.cause}</th></tr></thead><tbody>
`;

const renderLink: (link: { readonly id: number }) => string = compileTemplate(
  `<p><a href="/app/monitors/<%= it.id %>/checks">${CHECKS.all}</a></p>`,
);

const renderCells: (check: {
  readonly location: string;
  readonly word: string;
  readonly tone: string;
  readonly response: string;
  readonly code: string;
  readonly cause: string;
}) => string = compileTemplate(`
<td><%= it.location %></td><td><span class="badge <%= it.tone %>"><%= it.word %></span></td>
<td class="number"><%= it.response %></td><td class="number" data-label="${CHECKS.code}"><%= it.code %></td><td><%= it.cause %></td></tr>
`);

/** Renders the newest checks of a monitor, newest first, with a link to all of them. */
export function renderChecks(checks: readonly RecentCheck[], page: MonitorPage): string {
  if (checks.length === 0) return "";
  const link = renderLink({ id: page.monitor.id });
  return `<section class="card"><h2>${CHECKS.title}</h2>${renderCheckTable(checks, page)}${link}</section>`;
}

/** Renders a table of checks. */
export function renderCheckTable(
  checks: readonly RecentCheck[],
  { monitor, viewer }: Pick<MonitorPage, "monitor" | "viewer">,
): string {
  const rows = checks.map((check) => {
    const { word, tone } = STATE_WORDS[check.status];
    const { error, http_status_code: code } = check;
    const cells = renderCells({
      location: check.location,
      word,
      tone,
      response: check.response_time_ms === null ? "" : `${check.response_time_ms} ms`,
      code: code === null ? "" : String(code),
      cause: error === null ? "" : headlineOf(error, monitor),
    });
    return `<tr><td>${renderTime(new Date(check.checked_at), viewer)}</td>${cells}`;
  });
  return `${TABLE_TOP}${rows.join("")}</tbody></table></div>`;
}

/** Returns the words for a fault; a status says itself what is wrong. */
function headlineOf(error: NonNullable<RecentCheck["error"]>, monitor: MonitorPage["monitor"]): string {
  if (error.reason === "unexpected_status") return "";
  const { url, check_type: checkType, locations, timeout_seconds } = monitor;
  const target = { url, checkType, settings: { locations, timeout_seconds, port: monitor.port } };
  // The words of a stored fault are those of the contracts' stages and sources.
  return describeFault(target, { ...error, message: "" } as Fault).headline;
}
