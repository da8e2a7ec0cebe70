import type { FastifyReply, FastifyRequest } from "fastify";
import { offerSwitch } from "#control-plane/surfaces/dashboard/session-guard/other-account.ts";
import { memberOf } from "#control-plane/surfaces/dashboard/session-guard/session-guard.ts";
import { sendPage } from "#control-plane/surfaces/dashboard/layout/page.ts";
import { viewerTimeOf, formatLocal, renderTime, toLocalTimes } from "#control-plane/surfaces/dashboard/layout/times.ts";
import {
  type TypedWriting,
  renderActions,
  renderWriting,
  type ChosenPage,
  type ShownIncident,
} from "#control-plane/surfaces/dashboard/incidents/actions.ts";
import { type NamedMonitor, nameOf, toneOf } from "#control-plane/surfaces/dashboard/incidents/list.ts";
import { absentMessage, Refusal, requireFound } from "#control-plane/http/errors.ts";
import { readIncident } from "#control-plane/outages/incidents/incidents.ts";
import { shownTitle } from "#control-plane/outages/incidents/texts.ts";
import { isAllowed } from "#control-plane/people/users/roles.ts";
import type { ViewerTime } from "#control-plane/core/charts/viewer-time.ts";
import { layOutIncident, type IncidentLayout } from "#control-plane/public/incident-pages/show-incident.ts";
import { capital } from "#control-plane/surfaces/dashboard/layout/problems.ts";
import { html, type Html } from "#control-plane/core/pages/html.ts";
import { renderRows, type Block } from "#control-plane/public/incident-pages/page.ts";
import type { Dashboard } from "#control-plane/surfaces/dashboard/parts.ts";

/** Seconds between two refreshes of an open view. */
export const REFRESH_SECONDS = 10;
/** Maximum number of monitors in a choice; a longer list is of no use, and its page is loaded every 10 s. */
const MOST_CHOICES = 500;
/** Every status page: more than an account can have. */
export const ALL_PAGES = { limit: 1_000, offset: 0 };

/** A request for the incident in its path. */
export type WithId = { Params: { id: string } };

/** Sends the page of an incident. `typed`: a form that was refused, null: none was. */
export async function showIncident(
  request: FastifyRequest<WithId>,
  reply: FastifyReply,
  deps: Dashboard,
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
  { overviews }: Pick<Dashboard, "overviews">,
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

/** Renders the page of an incident: its state and cause, what can be done, what was found, what has happened, and its other facts. */
function renderIncidentPage(page: IncidentPage): Html {
  const { incident, formToken, timezone, canWrite } = page;
  const tone = toneOf(incident);
  const { state, sentences, blocks, facts } = layOutIncident(incident, {
    timeOf: (text) => formatLocal(new Date(text), timezone, "second"),
    inText: (text) => toLocalTimes(text, timezone),
  });
  return html`
    <p class="back"><a href="/app/incidents">All incidents</a></p>
    <div class="title"><span class="badge large ${tone}">${state}</span><h1>${shownTitle(incident)}</h1></div>
    <div class="note ${tone}">${sentences.map((sentence, index) => html`<p>${index === 0 ? html`<b>${sentence}</b>` : sentence}</p>`)}
    <p>${renderOpener(page)}</p></div>
    ${canWrite && renderActions(incident, formToken)}
    ${canWrite && renderWriting(incident, page.pages, formToken, page.typed)}
    ${renderUpdates(page)}
    ${blocks.map(renderBlock)}
    ${renderFacts(page, facts)}`;
}

/** Renders who has opened an incident: a monitor, by its name, or a person. */
function renderOpener({ incident: { monitor }, hasMonitor }: IncidentPage): Html {
  if (monitor === null) return html`Opened by hand.`;
  const name = html`<bdi>${nameOf(monitor)}</bdi>`;
  return html`Monitor: ${hasMonitor ? html`<a href="/app/monitors/${monitor.id}">${name}</a>` : name}`;
}

function renderUpdates({ incident: { updates }, viewer }: IncidentPage): Html | null {
  if (updates.length === 0) return null;
  return html`
    <section class="card" id="updates"><h2>Updates</h2><ul class="updates">
    ${updates.map(
      ({ at, by, status, text, public: isPublic }) => html`
      <li><p><b>${capital(status)}</b> <span class="faint">${by}, </span>${renderTime(new Date(at), viewer)}&#32;<span class="tag">${isPublic ? "on status pages" : "for the account only"}</span></p>
      <p class="lines">${text}</p></li>`,
    )}</ul></section>`;
}

function renderBlock(block: Block): Html {
  const { title, isOpen, lines, columns, rows } = block;
  const content = html`
    ${lines.map((line) => html`<p>${line}</p>`)}
    ${rows.length > 0 && html`<div class="scroll" role="group" tabindex="0" aria-label="${title}"><table class="lines cards${columns === null && " facts"}">${renderRows(block)}</table></div>`}`;
  return isOpen
    ? html`<section class="card"><h2>${title}</h2>${content}</section>`
    : html`<details class="part"><summary>${title}</summary><div>${content}</div></details>`;
}

function renderFacts({ incident, pages, monitors }: IncidentPage, facts: IncidentLayout["facts"]): Html {
  const named = pages.filter(({ id }) => incident.page_ids.includes(id)).map(({ title }) => title);
  const monitorLinks = monitors.map(({ id, name }) => html`<a href="/app/monitors/${id}">${name}</a> `);
  // The heading has the title.
  const others = facts.filter(([label]) => label !== "Title");
  return html`
    <section class="card"><h2>Details</h2><div class="scroll" role="group" tabindex="0" aria-label="Details"><table class="facts cards"><tbody>
    ${others.map(([label, value]) => renderFact(label, value))}
    ${renderFact("Impact", incident.impact)}
    ${renderFact("Public", incident.public ? "yes, status pages can show it" : "no")}
    ${named.length > 0 && renderFact("Named pages", named.join(", "))}
    ${incident.monitor === null && monitors.length > 0 && renderFact("Monitors", monitorLinks)}
    </tbody></table></div></section>`;
}

function renderFact(label: string, value: string | readonly Html[]): Html {
  return html`<tr><th scope="row">${label}</th><td>${value}</td></tr>`;
}
