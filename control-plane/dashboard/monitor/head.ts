import { sentence } from "#control-plane/dashboard/frame/problems.ts";
import type { ViewerTime } from "#control-plane/charts/viewer-time.ts";
import { renderGlance } from "#control-plane/dashboard/monitor/glance.ts";
import { KIND_WORDS, STATE_WORDS } from "#control-plane/dashboard/monitors/words.ts";
import { MONITOR } from "#control-plane/dashboard/strings/monitor.ts";
import type { MonitorView } from "#control-plane/monitors/view.ts";
import type { ListedState } from "#control-plane/monitors/overview.ts";
import { compileTemplate } from "#control-plane/pages/templates.ts";

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

/** Returns the state of a monitor as lists show it, without maintenance. */
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
  readonly kind: string;
  readonly target: string;
}) => string = compileTemplate(`
<p class="back"><a href="/app/monitors">${MONITOR.back}</a></p>
<div class="title"><span class="badge large <%= it.tone %>"><%= it.word %></span><h1><bdi><%= it.name %></bdi></h1></div>
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
}

/** Renders the top of a monitor's page: its state and its cause, since when, who is told, and what can be done with it. */
export function renderHead(page: MonitorPage, { incident, told }: HeadFacts): string {
  const { monitor, formToken, canWrite } = page;
  const state = stateOf(monitor);
  const { word, tone } = STATE_WORDS[state];
  const isFailing = state === "down" || state === "degraded" || state === "unknown";
  const top = renderTop({
    name: nameOf(monitor),
    word,
    tone,
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
  const problem = monitor.last_error?.message ?? (isNew ? waiting : null);
  const notes = renderNotes({
    problem: isFailing && problem !== null ? sentence(problem) : null,
    tone,
    incident,
    advisory: monitor.advisory?.message ?? null,
    paused: monitor.is_active ? null : monitor.paused_reason === "plan" ? MONITOR.pausedByPlan : MONITOR.paused,
  });
  return `${top}${notes}${renderGlance(page, word, told)}${actions}`;
}
