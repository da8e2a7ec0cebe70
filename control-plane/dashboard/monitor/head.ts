import { renderAgo } from "#control-plane/dashboard/frame/times.ts";
import type { ViewerTime } from "#control-plane/charts/viewer-time.ts";
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
<p><a href="/app/monitors">${MONITOR.back}</a></p>
<div class="head"><div><h1><%= it.name %></h1><p><span class="badge <%= it.tone %>"><%= it.word %></span>
 <span class="faint"><%= it.kind %> <%= it.target %></span></p></div>
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
  readonly advisory: string | null;
  readonly paused: string | null;
}) => string = compileTemplate(`
<% if (it.paused !== null) { %><p class="note"><%= it.paused %></p><% } %>
<% if (it.problem !== null) { %><p class="note <%= it.tone %>"><%= it.problem %></p><% } %>
<% if (it.advisory !== null) { %><p class="note warn"><%= it.advisory %></p><% } %>
`);

/** Renders the top of a monitor's page: its state, its fault, since when, and what can be done with it. */
export function renderHead({ monitor, now, viewer, formToken, canWrite }: MonitorPage): string {
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
  const notes = renderNotes({
    problem: isFailing ? (monitor.last_error?.message ?? null) : null,
    tone,
    advisory: monitor.advisory?.message ?? null,
    paused: monitor.is_active ? null : monitor.paused_reason === "plan" ? MONITOR.pausedByPlan : MONITOR.paused,
  });
  return `${top}${actions}</div>${notes}${renderTimes(monitor, now, viewer)}`;
}

const renderWord: (word: { readonly text: string }) => string = compileTemplate("<%= it.text %>");

function renderTimes(
  { last_change_at: since, last_checked_at: checked, next_check_at: next }: MonitorView,
  now: Date,
  viewer: ViewerTime,
): string {
  const parts = [
    ...(since === null ? [] : [`${renderWord({ text: MONITOR.changed })} ${renderAgo(new Date(since), now, viewer)}`]),
    ...(checked === null
      ? [renderWord({ text: MONITOR.never })]
      : [`${renderWord({ text: MONITOR.checked })} ${renderAgo(new Date(checked), now, viewer)}`]),
    ...(next === null
      ? []
      : [renderWord({ text: MONITOR.next(Math.max(0, Math.round((Date.parse(next) - now.getTime()) / 1_000))) })]),
  ];
  return `<p class="faint">${parts.join(" &middot; ")}</p>`;
}
