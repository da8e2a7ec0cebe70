import { capital } from "#control-plane/surfaces/dashboard/layout/problems.ts";
import { renderSecond, writeAgo } from "#control-plane/surfaces/dashboard/layout/times.ts";
import type { MonitorPage } from "#control-plane/surfaces/dashboard/monitor/head.ts";
import { STATE_LABELS } from "#control-plane/surfaces/dashboard/monitors/labels.ts";
import { counted } from "#control-plane/surfaces/dashboard/layout/amounts.ts";
import type { RecentCheck } from "#control-plane/outages/history/recent.ts";
import { describeFault } from "#control-plane/outages/incidents/cause/fault.ts";
import type { Fault } from "#control-plane/outages/incidents/incident.ts";
import { html, type Html } from "#control-plane/core/pages/html.ts";

/** Renders the newest checks of a monitor, newest first, with a link to all of them; null if there are none. */
export function renderChecks(checks: readonly RecentCheck[], page: MonitorPage): Html | null {
  if (checks.length === 0) return null;
  return html`
    <section class="card">
      <h2>Checks</h2>
      ${renderCheckTable(checks, page)}
      <p><a href="/app/monitors/${page.monitor.id}/checks">All checks</a></p>
    </section>`;
}

/** Renders a table of checks. */
export function renderCheckTable(
  checks: readonly RecentCheck[],
  { monitor, viewer }: Pick<MonitorPage, "monitor" | "viewer">,
): Html {
  const rows = checks.map((check) => {
    const { word, tone } = STATE_LABELS[check.status];
    const { error, response_time_ms: ms } = check;
    return html`
      <tr><td>${renderSecond(new Date(check.checked_at), viewer)}</td>
        <td>${check.location}</td>
        <td><span class="badge ${tone}">${word}</span></td>
        <td class="number">${!isFailing(check) && ms !== null && `${ms} ms`}</td>
        <td class="number" data-label="HTTP">${check.http_status_code}</td>
        <td>${error !== null && capital(headlineOf(error, monitor))}</td>
      </tr>`;
  });
  return html`
    <div class="scroll" role="group" tabindex="0" aria-label="Checks">
      <table class="cards">
        <thead>
          <tr>
            <th scope="col">Time</th>
            <th scope="col">Location</th>
            <th scope="col">Result</th>
            <th scope="col" class="number">Response</th>
            <th scope="col" class="number">HTTP</th>
            <th scope="col">Cause</th>
          </tr>
        </thead>
        <tbody>${rows}</tbody>
      </table>
    </div>`;
}

/** Reports whether a check has failed: how long an error page took says nothing about the site. */
function isFailing({ status }: RecentCheck): boolean {
  return status === "down" || status === "unknown";
}

/** The states of checks, the worst first. */
const WORST = ["down", "unknown", "degraded", "up"] as const satisfies readonly RecentCheck["status"][];
const MOST_ANSWERS = 3;

/** What has become of a check that somebody has asked for. */
interface Answered {
  readonly note: Html;
  /** Number of locations that have answered. */
  readonly locations: number;
}

/**
 * Renders what has become of a check that was asked for at `since`: the newest answers of its locations, those that fail
 * first, or that it is on its way. `isSaid`: whether screen readers say it when it changes.
 */
export function renderAnswered(
  checks: readonly RecentCheck[],
  { since, isSaid }: { readonly since: Date; readonly isSaid: boolean },
  { monitor, now }: MonitorPage,
): Answered {
  const fresh = checks.filter((check) => Date.parse(check.checked_at) >= since.getTime());
  const byLocation = new Map(fresh.toReversed().map((check) => [check.location, check]));
  const [newest] = fresh;
  const answers = [...byLocation.values()].toSorted(
    (one, other) => WORST.indexOf(one.status) - WORST.indexOf(other.status),
  );
  const [worst] = answers;
  if (newest === undefined || worst === undefined)
    return { note: renderAnswer("", isSaid, "The check is on its way."), locations: 0 };
  const texts = answers.slice(0, MOST_ANSWERS).map((check) => writeAnswer(check, monitor, answers.length > 1));
  const more = answers.length > MOST_ANSWERS ? [counted(answers.length - MOST_ANSWERS, "more location")] : [];
  const ago = writeAgo(new Date(newest.checked_at), now);
  return {
    note: renderAnswer(STATE_LABELS[worst.status].tone, isSaid, `Checked ${ago}: ${[...texts, ...more].join("; ")}`),
    locations: answers.length,
  };
}

function renderAnswer(tone: string, isSaid: boolean, text: string): Html {
  return html`<p class="note ${tone} flash"${isSaid && html` role="status"`}>${text}</p>`;
}

/** Writes what a check has found: "503 in 120 ms from eu-west, the server has an error". */
function writeAnswer(check: RecentCheck, monitor: MonitorPage["monitor"], isOfSeveral: boolean): string {
  const { response_time_ms: ms, http_status_code: code, error } = check;
  const found = String(code ?? STATE_LABELS[check.status].word);
  const took = ms === null ? found : `${found} in ${ms.toLocaleString("en")} ms`;
  const placed = isOfSeveral ? `${took} from ${check.location}` : took;
  return error === null ? placed : `${placed}, ${headlineOf(error, monitor)}`;
}

/** Returns the words for a fault. */
function headlineOf(error: NonNullable<RecentCheck["error"]>, monitor: MonitorPage["monitor"]): string {
  const { url, check_type: checkType, locations, timeout_seconds } = monitor;
  const target = { url, checkType, settings: { locations, timeout_seconds, port: monitor.port } };
  // The words of a stored fault are those of the contracts' stages and sources.
  return describeFault(target, { ...error, message: "" } as Fault).headline;
}
