import { renderHidden, renderInput } from "#control-plane/surfaces/dashboard/frame/fields.ts";
import { renderCheck, renderSelect, renderText } from "#control-plane/surfaces/dashboard/frame/choices.ts";
import { INCIDENTS } from "#control-plane/surfaces/dashboard/strings/incidents.ts";
import { IMPACTS, STATUSES, type Status } from "#control-plane/outages/incidents/incident.ts";
import type { readIncident } from "#control-plane/outages/incidents/incidents.ts";
import { MOST_TEXT } from "#control-plane/outages/incidents/texts.ts";
import { compileTemplate } from "#control-plane/core/pages/templates.ts";

/** An incident with its timeline, as the API shows it. */
export type ShownIncident = NonNullable<Awaited<ReturnType<typeof readIncident>>>;

/** A form that was refused, as it was typed: what the others have is empty. */
export interface TypedWriting {
  readonly form: "note" | "publish" | "edit";
  readonly text: string;
  readonly status: string;
  readonly isPublic: boolean;
  readonly pageIds: readonly number[];
  readonly title: string;
  readonly impact: string;
  /** Name of the field that is refused: text, status, page_ids, title or impact. */
  readonly field: string;
  readonly problem: string;
}

const renderButtons: (actions: {
  readonly id: number;
  readonly formToken: string;
  readonly canAcknowledge: boolean;
  readonly canWithdraw: boolean;
  readonly canResolve: boolean;
}) => string = compileTemplate(`
<div class="row act">
<% if (it.canAcknowledge || it.canWithdraw) { %><form method="post" action="/app/incidents/<%= it.id %>/acknowledge"><input type="hidden" name="_csrf" value="<%= it.formToken %>"><input type="hidden" name="acknowledged" value="<%= it.canAcknowledge ? "yes" : "no" %>"><button<% if (it.canAcknowledge) { %> class="primary"<% } %>><%= it.canAcknowledge ? "${INCIDENTS.acknowledge}" : "${INCIDENTS.withdraw}" %></button></form><% } %>
<% if (it.canResolve) { %><form method="post" action="/app/incidents/<%= it.id %>/resolve"><input type="hidden" name="_csrf" value="<%= it.formToken %>"><button>${INCIDENTS.resolve}</button></form><% } %>
</div>
`);

/** Renders the buttons of an incident: acknowledge it or take that back, and resolve it if a person opened it. */
export function renderActions(incident: ShownIncident, formToken: string): string {
  const isOpen = incident.resolved_at === null;
  return renderButtons({
    id: incident.id,
    formToken,
    canAcknowledge: isOpen && incident.acknowledged === null,
    canWithdraw: isOpen && incident.acknowledged !== null,
    canResolve: isOpen && incident.manual,
  });
}

const renderOpening: (form: {
  readonly id: number;
  readonly action: string;
  readonly title: string;
  readonly hint: string;
  readonly isOpen: boolean;
}) => string = compileTemplate(
  `<details class="part"<% if (it.isOpen) { %> open<% } %>><summary><%= it.title %></summary><div><% if (it.hint !== "") { %><p class="faint"><%= it.hint %></p><% } %><form class="stack" method="post" action="/app/incidents/<%= it.id %>/<%= it.action %>" data-kept>`,
);

const renderSubmit: (form: { readonly label: string }) => string = compileTemplate(
  `<div class="row"><button class="primary"><%= it.label %></button></div></form></div></details>`,
);

/** Returns the statuses that an update can have: an outage ends when its monitor is up, and what has ended stays so. */
function statusesOf({ resolved_at: end, manual }: ShownIncident): readonly Status[] {
  if (end !== null) return ["resolved"];
  return manual ? STATUSES : STATUSES.filter((status) => status !== "resolved");
}

/** A status page that can show an incident. */
export interface ChosenPage {
  readonly id: number;
  readonly title: string;
  /** Whether it shows the incident because it has one of its monitors. */
  readonly isByMonitor: boolean;
}

const renderPagesTop: (set: { readonly problem: string | null; readonly byMonitor: string }) => string =
  compileTemplate(`
<fieldset class="field"<% if (it.problem !== null) { %> aria-describedby="p-page_ids"<% } %>><legend>${INCIDENTS.statusPages}</legend><input type="hidden" name="pages" value="shown">
<% if (it.problem !== null) { %><p class="problem" id="p-page_ids"><%= it.problem %></p><% } %>
<% if (it.byMonitor !== "") { %><p class="hint">${INCIDENTS.byMonitor} <bdi><%= it.byMonitor %></bdi></p><% } %><div class="choices">
`);

/** Renders the choice of pages. Those that have the monitor show the incident in any case. */
function renderPages(pages: readonly ChosenPage[], named: readonly number[], problem: string | null): string {
  const free = pages.filter(({ isByMonitor }) => !isByMonitor);
  const others = pages.filter(({ isByMonitor }) => isByMonitor);
  // What is named and cannot be chosen stays named.
  const kept = named.filter((id) => !free.some((page) => page.id === id));
  return [
    renderPagesTop({ problem, byMonitor: others.map(({ title }) => title).join(", ") }),
    ...free.map(({ id, title }) =>
      renderCheck({ name: "page_ids", value: String(id), label: title, isOn: named.includes(id) }),
    ),
    ...kept.map((id) => renderHidden("page_ids", String(id))),
    "</div></fieldset>",
  ].join("");
}

/** Renders the form of title and impact of an incident that a person opened. */
function renderEdit(incident: ShownIncident, formToken: string, typed: TypedWriting | null): string {
  const problemOf = (field: string) => (typed?.field === field ? typed.problem : null);
  const impact = typed?.impact ?? incident.impact;
  return [
    renderOpening({ id: incident.id, action: "edit", title: INCIDENTS.edit, hint: "", isOpen: typed !== null }),
    renderHidden("_csrf", formToken),
    renderInput({
      name: "title",
      label: INCIDENTS.titleLabel,
      value: typed?.title ?? incident.title,
      problem: problemOf("title"),
      isRequired: true,
      maxLength: 200,
    }),
    renderSelect({
      name: "impact",
      label: INCIDENTS.impact,
      problem: problemOf("impact"),
      options: IMPACTS.map((value) => ({ value, label: INCIDENTS.impacts[value], isSelected: value === impact })),
    }),
    renderSubmit({ label: INCIDENTS.editSubmit }),
  ].join("");
}

/**
 * Renders the forms of an incident: an update, a note, and, if a person opened it, its title and impact. `typed`: what
 * was refused, null: nothing. `pages`: those of the account.
 */
export function renderWriting(
  incident: ShownIncident,
  pages: readonly ChosenPage[],
  formToken: string,
  typed: TypedWriting | null,
): string {
  const { id } = incident;
  const update = typed?.form === "publish" ? typed : null;
  const note = typed?.form === "note" ? typed : null;
  const problemOf = (of: TypedWriting | null, field: string) => (of?.field === field ? of.problem : null);
  const status = update?.status ?? incident.status;
  return [
    '<div class="stack">',
    renderOpening({
      id,
      action: "publish",
      title: INCIDENTS.publish,
      hint: INCIDENTS.publishHint,
      isOpen: update !== null,
    }),
    renderHidden("_csrf", formToken),
    renderSelect({
      name: "status",
      label: INCIDENTS.status,
      problem: problemOf(update, "status"),
      options: statusesOf(incident).map((value) => ({
        value,
        label: INCIDENTS.statuses[value],
        isSelected: value === status,
      })),
    }),
    renderText({
      name: "text",
      id: "f-update",
      label: INCIDENTS.text,
      hint: INCIDENTS.textHint,
      value: update?.text ?? "",
      problem: problemOf(update, "text"),
      maxLength: MOST_TEXT,
    }),
    pages.length === 0 ? "" : renderPages(pages, update?.pageIds ?? incident.page_ids, problemOf(update, "page_ids")),
    renderCheck({ name: "public", value: "yes", label: INCIDENTS.public, isOn: update?.isPublic ?? incident.public }),
    renderSubmit({ label: INCIDENTS.publishSubmit }),
    renderOpening({ id, action: "note", title: INCIDENTS.note, hint: "", isOpen: note !== null }),
    renderHidden("_csrf", formToken),
    renderText({
      name: "text",
      id: "f-note",
      label: INCIDENTS.noteText,
      hint: INCIDENTS.noteHint,
      value: note?.text ?? "",
      problem: problemOf(note, "text"),
      maxLength: MOST_TEXT,
    }),
    renderSubmit({ label: INCIDENTS.noteSubmit }),
    incident.manual ? renderEdit(incident, formToken, typed?.form === "edit" ? typed : null) : "",
    "</div>",
  ].join("");
}
