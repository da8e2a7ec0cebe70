import { capital } from "#control-plane/surfaces/dashboard/frame/problems.ts";
import { renderAgo, renderPlanned, renderSince, toLocalTimes } from "#control-plane/surfaces/dashboard/frame/times.ts";
import type { ViewerTime } from "#control-plane/core/charts/viewer-time.ts";
import { KIND_WORDS, STATE_WORDS } from "#control-plane/surfaces/dashboard/monitors/words.ts";
import { HEARTBEAT, MONITOR } from "#control-plane/surfaces/dashboard/strings/monitor.ts";
import { MONITORS } from "#control-plane/surfaces/dashboard/strings/monitors.ts";
import type { MonitorView } from "#control-plane/monitors/view.ts";
import type { ListedState } from "#control-plane/monitors/overview.ts";
import { compileTemplate } from "#control-plane/core/pages/templates.ts";

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

const renderTop: (head: {
  readonly name: string;
  readonly word: string;
  readonly tone: string;
  readonly isMuted: boolean;
  readonly kind: string;
  readonly target: string;
}) => string = compileTemplate(`
<p class="back"><a href="/app/monitors">${MONITOR.back}</a></p>
<div class="title"><span class="badge large <%= it.tone %>"><%= it.word %></span><% if (it.isMuted) { %> <span class="badge large">${MONITORS.muted}</span><% } %><h1><bdi><%= it.name %></bdi></h1></div>
<p class="faint"><%= it.kind %> <bdi><%= it.target %></bdi></p>
`);

const renderActions: (actions: {
  readonly id: number;
  readonly formToken: string;
  readonly canRun: boolean;
  readonly isActive: boolean;
}) => string = compileTemplate(`
<div class="row">
<% if (it.canRun) { %><form method="post" action="/app/monitors/<%= it.id %>/run"><input type="hidden" name="_csrf" value="<%= it.formToken %>"><button>${MONITOR.run}</button></form><% } %>
<form method="post" action="/app/monitors/<%= it.id %>/<%= it.isActive ? "pause" : "resume" %>"><input type="hidden" name="_csrf" value="<%= it.formToken %>"><button><%= it.isActive ? "${MONITOR.pause}" : "${MONITOR.resume}" %></button></form>
<a class="button" href="/app/monitors/<%= it.id %>/edit">${MONITOR.edit}</a>
<a class="button" href="/app/monitors/new?from=<%= it.id %>">${MONITOR.clone}</a>
<a class="button danger" href="/app/monitors/<%= it.id %>/delete">${MONITOR.remove}</a>
</div>
`);

const renderNotes: (notes: {
  readonly problem: string | null;
  readonly tone: string;
  readonly incident: OpenIncident | null;
  readonly advisory: string | null;
  readonly paused: string | null;
}) => string = compileTemplate(`
<% if (it.paused !== null) { %><p class="note"><%= it.paused %></p><% } %>
<% if (it.problem !== null) { %><div class="note <%= it.tone %>"><p><b><%= it.problem %></b></p>
<% if (it.incident !== null) { %><p><a href="/app/incidents/<%= it.incident.id %>">${MONITOR.incident}</a> <% if (it.incident.by !== null) { %>${MONITOR.acknowledged} <%= it.incident.by %><% } %></p><% } %></div><% } %>
<% if (it.advisory !== null) { %><p class="note warn"><%= it.advisory %></p><% } %>
`);

/** The open incident of a monitor. */
interface OpenIncident {
  readonly id: number;
  /** Who has acknowledged it; null: nobody. */
  readonly by: string | null;
}

/** What the head of the page says beside the monitor itself. */
interface HeadFacts {
  /** The incident that its fault has opened; null: there is none. */
  readonly incident: OpenIncident | null;
  /** By what people get its notices; null: nobody gets them. */
  readonly told: string | null;
  /** Whether maintenance covers it now. */
  readonly isMuted: boolean;
}

/** Renders the top of a monitor's page: its state and its cause, since when, who gets notifications, and what can be done with it. */
export function renderHead(page: MonitorPage, { incident, told, isMuted }: HeadFacts): string {
  const { monitor, formToken, canWrite } = page;
  const state = stateOf(monitor);
  const { word, tone } = STATE_WORDS[state];
  const isFailing = state === "down" || state === "degraded" || state === "unknown";
  const top = renderTop({
    name: nameOf(monitor),
    word,
    tone,
    isMuted,
    kind: KIND_WORDS[monitor.check_type],
    target: monitor.name === "" ? "" : monitor.url,
  });
  const actions = canWrite
    ? renderActions({
        id: monitor.id,
        formToken,
        canRun: monitor.is_active && monitor.heartbeat === null && monitor.composite === null,
        isActive: monitor.is_active,
      })
    : "";
  const waiting = monitor.heartbeat === null ? MONITOR.waiting : MONITOR.waitingHeartbeat;
  const isNew = state === "unknown" && monitor.last_checked_at === null && monitor.composite === null;
  const slow = state === "degraded" && monitor.degraded_ms !== null ? MONITOR.slow(monitor.degraded_ms) : null;
  const problem = monitor.last_error?.message ?? slow ?? (isNew ? waiting : null);
  const notes = renderNotes({
    problem: isFailing && problem !== null ? capital(toLocalTimes(problem, page.viewer.zone.name)) : null,
    tone,
    incident,
    advisory: monitor.advisory?.message ?? null,
    paused: monitor.is_active ? null : monitor.paused_reason === "plan" ? MONITOR.pausedByPlan : MONITOR.paused,
  });
  return `${top}${notes}${renderGlance(page, word, told)}${actions}`;
}

const renderLabel: (tile: { readonly label: string }) => string = compileTemplate("<div><dt><%= it.label %></dt><dd>");
const renderText: (tile: { readonly text: string }) => string = compileTemplate("<%= it.text %>");
const NOBODY = `<a class="warn" href="#told">${MONITOR.toldNobody}</a>`;

type Tile = readonly [label: string, value: string];

/**
 * Renders since when a monitor is in its state, its last and its next check, and who gets its notices. `word`: its state.
 * `told`: by what people get notices, null: nobody gets them.
 */
function renderGlance(page: MonitorPage, word: string, told: string | null): string {
  const { monitor, now, viewer } = page;
  const { last_change_at: since, uptime, is_active: isActive } = monitor;
  const isYoung = ageOf(page) < DAY_MS;
  const tiles: readonly Tile[] = [
    [MONITOR.since(word), since === null || !isActive ? "" : renderSince(new Date(since), now, viewer)],
    ...(monitor.heartbeat === null ? tilesOfChecks(page) : tilesOfPings(monitor.heartbeat, page)),
    [
      isYoung ? MONITOR.uptimeSince(writeSince(page)) : MONITOR.uptime,
      uptime.d1 === null ? "" : renderText({ text: writePercent(uptime.d1) }),
    ],
    [MONITOR.told, told === null ? NOBODY : renderText({ text: told })],
  ];
  const shown = tiles.filter(([, value]) => value !== "");
  return `<dl class="glance">${shown.map(([label, value]) => `${renderLabel({ label })}${value}</dd></div>`).join("")}</dl>`;
}

function tilesOfChecks({ monitor, now, viewer }: MonitorPage): readonly Tile[] {
  const { last_checked_at: checked, next_check_at: next, is_active: isActive } = monitor;
  const never = monitor.composite === null && isActive ? renderText({ text: MONITOR.never }) : "";
  const secondsToNext = Math.max(0, Math.round((Date.parse(next ?? "") - now.getTime()) / 1_000));
  return [
    [MONITOR.checked, checked === null ? never : renderAgo(new Date(checked), now, viewer)],
    [MONITOR.next, next === null ? "" : renderText({ text: MONITOR.nextIn(secondsToNext) })],
  ];
}

/** A heartbeat is not checked: it has pings, and one that is due. */
function tilesOfPings(
  { last_ping_at: pinged, run_started_at: started, deadline_at: late }: NonNullable<MonitorView["heartbeat"]>,
  { now, viewer }: MonitorPage,
): readonly Tile[] {
  const ago = (at: string | null): string => (at === null ? "" : renderAgo(new Date(at), now, viewer));
  const isLate = late !== null && Date.parse(late) <= now.getTime();
  return [
    [HEARTBEAT.ping, pinged === null ? renderText({ text: HEARTBEAT.noPing }) : ago(pinged)],
    [HEARTBEAT.running, ago(started)],
    [isLate ? HEARTBEAT.late : HEARTBEAT.due, late === null ? "" : renderPlanned(new Date(late), now, viewer)],
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
