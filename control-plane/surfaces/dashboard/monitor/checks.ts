import { capital } from "#control-plane/surfaces/dashboard/frame/problems.ts";
import { renderSecond, writeAgo } from "#control-plane/surfaces/dashboard/frame/times.ts";
import type { MonitorPage } from "#control-plane/surfaces/dashboard/monitor/head.ts";
import { STATE_WORDS } from "#control-plane/surfaces/dashboard/monitors/words.ts";
import { CHECKS } from "#control-plane/surfaces/dashboard/strings/monitor.ts";
import type { RecentCheck } from "#control-plane/outages/history/recent.ts";
import { describeFault } from "#control-plane/outages/incidents/cause/fault.ts";
import type { Fault } from "#control-plane/outages/incidents/incident.ts";
import { compileTemplate } from "#control-plane/core/pages/templates.ts";

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
      response: isFailing(check) || check.response_time_ms === null ? "" : `${check.response_time_ms} ms`,
      code: code === null ? "" : String(code),
      cause: error === null ? "" : capital(headlineOf(error, monitor)),
    });
    return `<tr><td>${renderSecond(new Date(check.checked_at), viewer)}</td>${cells}`;
  });
  return `${TABLE_TOP}${rows.join("")}</tbody></table></div>`;
}

/** Reports whether a check has failed: how long an error page took says nothing about the site. */
function isFailing({ status }: RecentCheck): boolean {
  return status === "down" || status === "unknown";
}

const renderAnswers: (answered: {
  readonly tone: string;
  readonly isSaid: boolean;
  readonly ago: string;
  readonly text: string;
}) => string = compileTemplate(
  `<p class="note <%= it.tone %> flash"<% if (it.isSaid) { %> role="status"<% } %>><% if (it.ago !== "") { %>${CHECKS.checked} <%= it.ago %>: <% } %><%= it.text %></p>`,
);

/** The states of checks, the worst first. */
const WORST = ["down", "unknown", "degraded", "up"] as const satisfies readonly RecentCheck["status"][];
const MOST_ANSWERS = 3;

/** What has become of a check that somebody has asked for. */
interface Answered {
  readonly html: string;
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
    return { html: renderAnswers({ tone: "", isSaid, ago: "", text: CHECKS.onItsWay }), locations: 0 };
  const texts = answers.slice(0, MOST_ANSWERS).map((check) => {
    const { response_time_ms: ms, http_status_code: code, error, location } = check;
    const found = String(code ?? STATE_WORDS[check.status].word);
    return CHECKS.answer(
      found,
      ms,
      error === null ? null : headlineOf(error, monitor),
      answers.length > 1 ? location : null,
    );
  });
  const more = answers.length > MOST_ANSWERS ? [CHECKS.moreAnswers(answers.length - MOST_ANSWERS)] : [];
  const ago = writeAgo(new Date(newest.checked_at), now);
  const { tone } = STATE_WORDS[worst.status];
  return {
    html: renderAnswers({ tone, isSaid, ago, text: [...texts, ...more].join("; ") }),
    locations: answers.length,
  };
}

/** Returns the words for a fault. */
function headlineOf(error: NonNullable<RecentCheck["error"]>, monitor: MonitorPage["monitor"]): string {
  const { url, check_type: checkType, locations, timeout_seconds } = monitor;
  const target = { url, checkType, settings: { locations, timeout_seconds, port: monitor.port } };
  // The words of a stored fault are those of the contracts' stages and sources.
  return describeFault(target, { ...error, message: "" } as Fault).headline;
}
