import type { FastifyReply, FastifyRequest } from "fastify";
import type { Clock } from "#shared/time/clock.ts";
import { offerSwitch, type OtherAccountDeps } from "#control-plane/surfaces/dashboard/door/other-account.ts";
import { memberOf, type Door } from "#control-plane/surfaces/dashboard/door/door.ts";
import type { MemberWrites } from "#control-plane/surfaces/dashboard/door/member-writes.ts";
import { sendPage } from "#control-plane/surfaces/dashboard/frame/page.ts";
import { viewerTimeOf, formatLocal, renderTime, toLocalTimes } from "#control-plane/surfaces/dashboard/frame/times.ts";
import {
  type TypedWriting,
  renderActions,
  renderWriting,
  type ChosenPage,
  type ShownIncident,
} from "#control-plane/surfaces/dashboard/incidents/actions.ts";
import { type NamedMonitor, nameOf, toneOf } from "#control-plane/surfaces/dashboard/incidents/list.ts";
import type { Overviews } from "#control-plane/surfaces/dashboard/monitors/overviews.ts";
import { absentMessage, Refusal, requireFound } from "#control-plane/http/errors.ts";
import { readIncident, type ReadEvidence } from "#control-plane/outages/incidents/incidents.ts";
import { shownTitle } from "#control-plane/outages/incidents/texts.ts";
import type { IncidentWrites } from "#control-plane/outages/incidents/writes.ts";
import type { StatusPages } from "#control-plane/public/status-pages/status-pages.ts";
import { isAllowed } from "#control-plane/people/users/roles.ts";
import type { ViewerTime } from "#control-plane/core/charts/viewer-time.ts";
import { INCIDENTS } from "#control-plane/surfaces/dashboard/strings/incidents.ts";
import { layOutIncident, type IncidentLayout } from "#control-plane/public/incident-pages/show-incident.ts";
import { compileTemplate } from "#control-plane/core/pages/templates.ts";

/** Seconds between two refreshes of an open view. */
export const REFRESH_SECONDS = 10;
/** Maximum number of monitors in a choice; a longer list is of no use, and its page is loaded every 10 s. */
const MOST_CHOICES = 500;
/** Every status page: more than an account can have. */
export const ALL_PAGES = { limit: 1_000, offset: 0 };

/** Dependencies of the views of incidents. */
export interface IncidentViewsDeps extends OtherAccountDeps {
  readonly door: Door;
  readonly clock: Clock;
  readonly overviews: Pick<Overviews, "of">;
  readonly writes: MemberWrites;
  readonly incidents: IncidentWrites;
  readonly statusPages: Pick<StatusPages, "list">;
  readonly evidenceOf: ReadEvidence;
}

/** A request for the incident in its path. */
export type WithId = { Params: { id: string } };

/** Sends the page of an incident. `typed`: a form that was refused, null: none was. */
export async function showIncident(
  request: FastifyRequest<WithId>,
  reply: FastifyReply,
  deps: IncidentViewsDeps,
  typed: TypedWriting | null,
): Promise<FastifyReply> {
  const session = memberOf(request);
  const { accountId } = session;
  const { sql, clock, evidenceOf, statusPages, overviews } = deps;
  const reading = { now: clock.now(), evidenceOf };
  const found = await readIncident(sql, accountId, idOf(request), reading);
  if (found === null) {
    const has = async (other: number) => (await readIncident(sql, other, idOf(request), reading)) !== null;
    const offered = await offerSwitch(request, reply, deps, has);
    if (offered !== null) return offered;
  }
  const incident = requireFound(found, "incident");
  const [monitors, { pages }] = await Promise.all([overviews.of(accountId), statusPages.list(accountId, ALL_PAGES)]);
  const body = renderIncidentPage({
    incident,
    hasMonitor: monitors.some(({ id }) => id === incident.monitor?.id),
    monitors: monitors.filter(({ id }) => incident.monitor_ids.includes(id)).map(toNamed),
    pages: pages.map(({ id, title, monitors: onPage }) => ({
      id,
      title,
      isByMonitor: onPage.some((monitor) => incident.monitor_ids.includes(monitor.id)),
    })),
    viewer: viewerTimeOf(session),
    timezone: session.timezone,
    formToken: session.formToken,
    canWrite: isAllowed(session.role, "write"),
    typed,
  });
  const page = { title: shownTitle(incident), session, section: "incidents", body } as const;
  // The address of a refused form is not that of the page.
  return sendPage(request, reply, typed === null ? { ...page, liveSeconds: REFRESH_SECONDS } : page);
}

/**
 * Returns monitors of an account to choose from, by name, at most MOST_CHOICES of them and always those of `chosen`, with
 * the number of all.
 */
export async function namedMonitors(
  { overviews }: Pick<IncidentViewsDeps, "overviews">,
  accountId: number,
  chosen: readonly number[],
): Promise<{
  readonly choices: readonly NamedMonitor[];
  readonly total: number;
  readonly isKept: (id: number) => boolean;
}> {
  const all = (await overviews.of(accountId)).map(toNamed);
  const wanted = new Set(chosen);
  const first = all.filter(({ id }) => wanted.has(id));
  const others = all.filter(({ id }) => !wanted.has(id)).toSorted(byName);
  const choices = [...first, ...others.slice(0, MOST_CHOICES - first.length)].toSorted(byName);
  const ids = new Set(all.map(({ id }) => id));
  return { choices, total: all.length, isKept: (id) => ids.has(id) };
}

/** Returns the id of an incident in the path. Throws the 404 for what is no id. */
export function idOf({ params }: FastifyRequest<WithId>): number {
  if (!/^[1-9]\d{0,14}$/.test(params.id)) throw new Refusal("not_found", absentMessage("incident"));
  return Number(params.id);
}

function toNamed({ id, name, url }: NamedMonitor & { readonly url: string }): NamedMonitor {
  return { id, name: name === "" ? url : name };
}

function byName(one: NamedMonitor, other: NamedMonitor): number {
  return one.name.localeCompare(other.name, "en") || one.id - other.id;
}

/** What the page of an incident is rendered with. */
interface IncidentPage {
  readonly incident: ShownIncident;
  /** Whether its monitor still exists. */
  readonly hasMonitor: boolean;
  /** Titles of the monitors that it concerns, of those that the account still has. */
  readonly monitors: readonly { readonly id: number; readonly name: string }[];
  /** The status pages of the account. */
  readonly pages: readonly ChosenPage[];
  readonly viewer: ViewerTime;
  readonly timezone: string;
  /** Value of the field `_csrf`. */
  readonly formToken: string;
  readonly canWrite: boolean;
  /** What was typed into a form that was refused; null: nothing. */
  readonly typed: TypedWriting | null;
}

const renderHead: (head: {
  readonly title: string;
  readonly state: string;
  readonly tone: string;
  readonly monitor: { readonly id: number | null; readonly name: string } | null;
  readonly sentences: readonly string[];
}) => string = compileTemplate(`
<p class="back"><a href="/app/incidents">${INCIDENTS.back}</a></p>
<div class="title"><span class="badge large <%= it.tone %>"><%= it.state %></span><h1><%= it.title %></h1></div>
<div class="note <%= it.tone %>"><% it.sentences.forEach((sentence, index) => { %><p><% if (index === 0) { %><b><%= sentence %></b><% } else { %><%= sentence %><% } %></p><% }) %>
<p><% if (it.monitor === null) { %>${INCIDENTS.byHandSentence}<% } else if (it.monitor.id === null) { %>${INCIDENTS.monitor}: <bdi><%= it.monitor.name %></bdi><% } else { %>${INCIDENTS.monitor}: <a href="/app/monitors/<%= it.monitor.id %>"><bdi><%= it.monitor.name %></bdi></a><% } %></p></div>
`);

interface Fact {
  readonly label: string;
  readonly value: string;
}

const renderFacts: (data: {
  readonly facts: readonly Fact[];
  readonly monitors: readonly { readonly id: number; readonly name: string }[];
}) => string = compileTemplate(`
<section class="card"><h2>${INCIDENTS.facts}</h2><div class="scroll" role="group" tabindex="0" aria-label="${INCIDENTS.facts}"><table class="facts cards"><tbody>
<% for (const fact of it.facts) { %><tr><th scope="row"><%= fact.label %></th><td><%= fact.value %></td></tr><% } %>
<% if (it.monitors.length > 0) { %><tr><th scope="row">${INCIDENTS.monitors}</th><td><% for (const one of it.monitors) { %><a href="/app/monitors/<%= one.id %>"><%= one.name %></a> <% } %></td></tr><% } %>
</tbody></table></div></section>
`);

const renderUpdateTop: (update: { readonly status: string; readonly by: string }) => string = compileTemplate(
  `<li><p><b><%= it.status %></b> <span class="faint"><%= it.by %>, </span>`,
);

const renderUpdateText: (update: { readonly seen: string; readonly text: string }) => string = compileTemplate(
  `&#32;<span class="tag"><%= it.seen %></span></p><p class="lines"><%= it.text %></p></li>`,
);

const renderBlock: (block: IncidentLayout["blocks"][number]) => string = compileTemplate(`
<% if (it.isOpen) { %><section class="card"><h2><%= it.title %></h2><% } else { %><details class="part"><summary><%= it.title %></summary><div><% } %>
<% for (const line of it.lines) { %><p><%= line %></p><% } %>
<% if (it.rows.length > 0) { %><div class="scroll" role="group" tabindex="0" aria-label="<%= it.title %>"><table class="lines cards<% if (it.columns === null) { %> facts<% } %>">
<% if (it.columns !== null) { %><thead><tr><% for (const column of it.columns) { %><th scope="col"><%= column %></th><% } %></tr></thead><% } %>
<tbody><% for (const row of it.rows) { %><tr>
<% for (const [index, cell] of row.entries()) { %><% if (row.length === 1) { %><th scope="rowgroup" colspan="9"><%= cell %></th><% } else if (index === 0 && it.columns === null) { %><th scope="row"><%= cell %></th><% } else { %><td<% if (index > 0 && it.columns !== null && it.columns.length > 2) { %> data-label="<%= it.columns[index] %>"<% } %>><%= cell %></td><% } %><% } %>
</tr><% } %></tbody></table></div><% } %>
<% if (it.isOpen) { %></section><% } else { %></div></details><% } %>
`);

/** Renders the page of an incident: its state and cause, what can be done, what was found, what has happened, and its other facts. */
function renderIncidentPage(page: IncidentPage): string {
  const { incident, timezone, canWrite } = page;
  const { monitor } = incident;
  const layout = layOutIncident(incident, {
    timeOf: (text) => formatLocal(new Date(text), timezone, "second"),
    inText: (text) => toLocalTimes(text, timezone),
  });
  const head = renderHead({
    title: shownTitle(incident),
    state: layout.state,
    tone: toneOf(incident),
    monitor: monitor === null ? null : { id: page.hasMonitor ? monitor.id : null, name: nameOf(monitor) },
    sentences: layout.sentences,
  });
  return [
    head,
    canWrite ? renderActions(incident, page.formToken) : "",
    canWrite ? renderWriting(incident, page.pages, page.formToken, page.typed) : "",
    renderUpdates(page),
    ...layout.blocks.map(renderBlock),
    renderFacts({
      // The heading has the title.
      facts: [...layout.facts.filter(([label]) => label !== "Title").map(toFact), ...factsOf(page)],
      monitors: monitor === null ? page.monitors : [],
    }),
  ].join("");
}

function factsOf({ incident, pages }: IncidentPage): readonly Fact[] {
  const named = pages.filter(({ id }) => incident.page_ids.includes(id)).map(({ title }) => title);
  return [
    { label: INCIDENTS.impact, value: INCIDENTS.impacts[incident.impact] },
    { label: INCIDENTS.visible, value: incident.public ? INCIDENTS.isPublic : INCIDENTS.isPrivate },
    ...(named.length === 0 ? [] : [{ label: INCIDENTS.named, value: named.join(", ") }]),
  ];
}

function toFact([label, value]: readonly [label: string, value: string]): Fact {
  return { label, value };
}

function renderUpdates({ incident, viewer }: IncidentPage): string {
  if (incident.updates.length === 0) return "";
  const lines = incident.updates.map(({ at, by, status, text, public: isPublic }) => {
    const top = renderUpdateTop({ status: INCIDENTS.statuses[status], by: by ?? "" });
    const seen = isPublic ? INCIDENTS.updatePublic : INCIDENTS.updatePrivate;
    return `${top}${renderTime(new Date(at), viewer)}${renderUpdateText({ seen, text })}`;
  });
  return `<section class="card" id="updates"><h2>${INCIDENTS.updates}</h2><ul class="updates">${lines.join("")}</ul></section>`;
}
