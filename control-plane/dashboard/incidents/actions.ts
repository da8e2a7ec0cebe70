import { renderHidden } from "#control-plane/dashboard/frame/fields.ts";
import { renderCheck, renderSelect, renderText } from "#control-plane/dashboard/frame/choices.ts";
import { INCIDENTS } from "#control-plane/dashboard/strings/incidents.ts";
import { STATUSES, type Status } from "#control-plane/incidents/incident.ts";
import type { readIncident } from "#control-plane/incidents/incidents.ts";
import { MOST_TEXT } from "#control-plane/incidents/texts.ts";
import { compileTemplate } from "#control-plane/pages/templates.ts";

/** An incident with its timeline, as the API shows it. */
export type ShownIncident = NonNullable<Awaited<ReturnType<typeof readIncident>>>;

/** A note or an update that was refused, as it was typed. */
export interface TypedWriting {
  readonly form: "note" | "publish";
  readonly text: string;
  readonly status: string;
  readonly isPublic: boolean;
  /** Name of the field that is refused: text or status. */
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

/** Renders the forms of an incident: an update and a note. `typed`: what was refused, null: nothing. */
export function renderWriting(incident: ShownIncident, formToken: string, typed: TypedWriting | null): string {
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
    "</div>",
  ].join("");
}
