import { renderTime } from "#control-plane/dashboard/frame/times.ts";
import type { MonitorPage } from "#control-plane/dashboard/monitor/head.ts";
import { STATE_WORDS } from "#control-plane/dashboard/monitors/words.ts";
import { CHECKS } from "#control-plane/dashboard/strings.ts";
import type { RecentCheck } from "#control-plane/history/recent.ts";
import { describeFault } from "#control-plane/incidents/cause/fault.ts";
import type { Fault } from "#control-plane/incidents/incident.ts";
import { compileTemplate } from "#control-plane/pages/templates.ts";

const renderTop: (top: object) => string = compileTemplate(`
<section class="card"><h2>${CHECKS.title}</h2>
<div class="scroll" role="group" tabindex="0" aria-label="${CHECKS.title}"><table><thead><tr><th scope="col">${CHECKS.time}</th><th scope="col">${CHECKS.location}</th>
<th scope="col">${CHECKS.verdict}</th><th scope="col" class="number">${CHECKS.response}</th><th scope="col">${CHECKS.cause}</th></tr></thead><tbody>
`);

const renderCells: (check: {
  readonly location: string;
  readonly word: string;
  readonly tone: string;
  readonly response: string;
  readonly cause: string;
}) => string = compileTemplate(`
<td><%= it.location %></td><td><span class="badge <%= it.tone %>"><%= it.word %></span></td>
<td class="number"><%= it.response %></td><td><%= it.cause %></td></tr>
`);

/** Renders the newest checks of a monitor, newest first. */
export function renderChecks(checks: readonly RecentCheck[], { monitor, viewer }: MonitorPage): string {
  if (checks.length === 0) return "";
  const rows = checks.map((check) => {
    const { word, tone } = STATE_WORDS[check.status];
    const { error, http_status_code: code } = check;
    const cells = renderCells({
      location: check.location,
      word,
      tone,
      response: check.response_time_ms === null ? "" : `${check.response_time_ms} ms`,
      cause: [code === null ? "" : `HTTP ${code}`, error === null ? "" : headlineOf(error, monitor)]
        .filter((part) => part !== "")
        .join(", "),
    });
    return `<tr><td>${renderTime(new Date(check.checked_at), viewer)}</td>${cells}`;
  });
  return `${renderTop({})}${rows.join("")}</tbody></table></div></section>`;
}

/** Returns the words for a fault; a status says itself what is wrong. */
function headlineOf(error: NonNullable<RecentCheck["error"]>, monitor: MonitorPage["monitor"]): string {
  if (error.reason === "unexpected_status") return "";
  const { url, check_type: checkType, locations, timeout_seconds } = monitor;
  const target = { url, checkType, settings: { locations, timeout_seconds, port: monitor.port } };
  // The words of a stored fault are those of the contracts' stages and sources.
  return describeFault(target, { ...error, message: "" } as Fault).headline;
}
