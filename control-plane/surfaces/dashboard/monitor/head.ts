import { capital } from "#control-plane/surfaces/dashboard/layout/problems.ts";
import { renderAgo, renderPlanned, renderSince, toLocalTimes } from "#control-plane/surfaces/dashboard/layout/times.ts";
import type { ViewerTime } from "#control-plane/core/charts/viewer-time.ts";
import { kindOf } from "#control-plane/outages/kinds/kinds.ts";
import { STATE_LABELS } from "#control-plane/surfaces/dashboard/monitors/labels.ts";
import { waitOf } from "#control-plane/surfaces/dashboard/layout/amounts.ts";
import type { MonitorView } from "#control-plane/monitors/serialize.ts";
import type { ListedState } from "#control-plane/monitors/overview.ts";
import { html, type Html } from "#control-plane/core/pages/html.ts";

const DAY_MS = 86_400_000;

/** What every part of a monitor's page is rendered with. */
export interface MonitorPage {
  readonly monitor: MonitorView;
  readonly now: Date;
  readonly viewer: ViewerTime;
  /** Value of the field `_csrf`. */
  readonly formToken: string;
  /** Whether the member may change monitors. */
  readonly canWrite: boolean;
}

/** Returns the state of a monitor as lists show it. */
function stateOf({ is_active: isActive, status, degraded }: MonitorView): ListedState {
  if (!isActive) return "paused";
  return degraded ? "degraded" : status;
}

/** Returns what a monitor is called: its name, else its target. */
export function nameOf({ name, url }: Pick<MonitorView, "name" | "url">): string {
  return name === "" ? url : name;
}

/** The open incident of a monitor. */
interface OpenIncident {
  readonly id: number;
  /** Who has acknowledged it; null: nobody. */
  readonly by: string | null;
}

/** What the head of the page says beside the monitor itself. */
interface HeadFacts {
  /** The incident that its fault has opened; null if there is none. */
  readonly incident: OpenIncident | null;
  /** By what people get its notices; null: nobody gets them. */
  readonly channels: string | null;
  /** Whether maintenance covers it now. */
  readonly isMuted: boolean;
}

/** Renders the top of a monitor's page: its state and its cause, since when, who gets notifications, and what can be done with it. */
export function renderHead(page: MonitorPage, facts: HeadFacts): Html {
  const { monitor, canWrite } = page;
  const { word, tone } = STATE_LABELS[stateOf(monitor)];
  return html`
    <p class="back"><a href="/app/monitors">All monitors</a></p>
    <div class="title"><span class="badge large ${tone}">${word}</span>${facts.isMuted && html` <span class="badge large">Muted</span>`}<h1><bdi>${nameOf(monitor)}</bdi></h1></div>
    <p class="faint">${kindOf(monitor.check_type).label} <bdi>${monitor.name === "" ? "" : monitor.url}</bdi></p>
    ${renderNotes(page, facts)}
    ${renderGlance(page, word, facts.channels)}
    ${canWrite && renderActions(page)}`;
}

function renderNotes({ monitor, viewer }: MonitorPage, { incident }: HeadFacts): Html {
  const state = stateOf(monitor);
  const problem = problemOf(monitor, state);
  const paused =
    monitor.paused_reason === "plan"
      ? "The plan of the account allows fewer monitors, so this one is paused."
      : "This monitor is paused: nothing is checked, and no notifications are sent.";
  const opened =
    incident !== null &&
    html`<p><a href="/app/incidents/${incident.id}">See the incident</a> ${incident.by !== null && `Acknowledged by ${incident.by}`}</p>`;
  return html`
    ${!monitor.is_active && html`<p class="note">${paused}</p>`}
    ${
      problem !== null &&
      html`
        <div class="note ${STATE_LABELS[state].tone}">
          <p><b>${capital(toLocalTimes(problem, viewer.zone.name))}</b></p>
          ${opened}
        </div>`
    }
    ${monitor.advisory !== null && html`<p class="note warn">${monitor.advisory.message}</p>`}`;
}

/** Returns why a monitor is not up; null if it is, or nobody knows. */
function problemOf(monitor: MonitorView, state: ListedState): string | null {
  if (state === "up" || state === "paused") return null;
  if (monitor.last_error !== null) return monitor.last_error.message;
  if (state === "degraded" && monitor.degraded_ms !== null)
    return `It answers, but in more than ${monitor.degraded_ms.toLocaleString("en")} ms.`;
  const isNew = state === "unknown" && monitor.last_checked_at === null && monitor.composite === null;
  if (!isNew) return null;
  return monitor.heartbeat === null ? "The first check is on its way." : "The job has not called yet.";
}

function renderActions({ monitor, formToken }: MonitorPage): Html {
  const { id, is_active: isActive } = monitor;
  const canRun = isActive && monitor.heartbeat === null && monitor.composite === null;
  const renderAction = (name: string, label: string): Html => html`
    <form method="post" action="/app/monitors/${id}/${name}"><input type="hidden" name="_csrf" value="${formToken}"><button>${label}</button></form>`;
  return html`
    <div class="row">
      ${canRun && renderAction("run", "Check now")}
      ${isActive ? renderAction("pause", "Pause") : renderAction("resume", "Resume")}
      <a class="button" href="/app/monitors/${id}/edit">Edit</a>
      <a class="button" href="/app/monitors/new?from=${id}">Clone</a>
      <a class="button danger" href="/app/monitors/${id}/delete">Delete</a>
    </div>`;
}

/** null if nothing is known of it. */
type Tile = readonly [label: string, value: Html | string | null];

/**
 * Renders since when a monitor is in its state, its last and its next check, and who gets its notices. `word`: its state.
 * `channels`: by what people get notices, null: nobody gets them.
 */
function renderGlance(page: MonitorPage, word: string, channels: string | null): Html {
  const { monitor, now, viewer } = page;
  const { last_change_at: since, uptime, is_active: isActive } = monitor;
  const isYoung = ageOf(page) < DAY_MS;
  const tiles: readonly Tile[] = [
    [`${word} for`, since === null || !isActive ? null : renderSince(new Date(since), now, viewer)],
    ...(monitor.heartbeat === null ? tilesOfChecks(page) : tilesOfPings(monitor.heartbeat, page)),
    [
      isYoung ? `Uptime since ${writeSince(page)}` : "Uptime, 24 hours",
      uptime.d1 === null ? null : writePercent(uptime.d1),
    ],
    ["Notifications go to", channels ?? html`<a class="warn" href="#told">Nobody</a>`],
  ];
  const shown = tiles.filter(([, value]) => value !== null);
  return html`<dl class="glance">${shown.map(([label, value]) => html`<div><dt>${label}</dt><dd>${value}</dd></div>`)}</dl>`;
}

function tilesOfChecks({ monitor, now, viewer }: MonitorPage): readonly Tile[] {
  const { last_checked_at: checked, next_check_at: next, is_active: isActive } = monitor;
  const never = monitor.composite === null && isActive ? "None yet" : null;
  const secondsToNext = Math.max(0, Math.round((Date.parse(next ?? "") - now.getTime()) / 1_000));
  return [
    ["Last check", checked === null ? never : renderAgo(new Date(checked), now, viewer)],
    ["Next check", next === null ? null : secondsToNext === 0 ? "now" : `in ${waitOf(secondsToNext)}`],
  ];
}

/** A heartbeat is not checked: it has pings, and one that is due. */
function tilesOfPings(
  { last_ping_at: pinged, run_started_at: started, deadline_at: late }: NonNullable<MonitorView["heartbeat"]>,
  { now, viewer }: MonitorPage,
): readonly Tile[] {
  const ago = (at: string | null) => (at === null ? null : renderAgo(new Date(at), now, viewer));
  const isLate = late !== null && Date.parse(late) <= now.getTime();
  return [
    ["Last ping", ago(pinged) ?? "none yet"],
    ["Run started", ago(started)],
    [
      isLate ? "Late since" : "Late without a ping at",
      late === null ? null : renderPlanned(new Date(late), now, viewer),
    ],
  ];
}

/** Returns for how long a monitor exists, milliseconds: no uptime is known before. */
export function ageOf({ monitor, now }: MonitorPage): number {
  return now.getTime() - Date.parse(monitor.created_at);
}

/** Writes since when a monitor exists. */
export function writeSince({ monitor, viewer }: MonitorPage): string {
  return viewer.format(Date.parse(monitor.created_at), "minute");
}

/** Writes a percentage with two decimals, cut and not rounded: 99.999 is not 100. */
export function writePercent(value: number): string {
  return `${(Math.floor(value * 100) / 100).toFixed(2)} %`;
}
