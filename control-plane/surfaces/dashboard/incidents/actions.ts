import { renderHidden, renderInput } from "#control-plane/surfaces/dashboard/layout/fields.ts";
import { renderCheck, renderSelect, renderText } from "#control-plane/surfaces/dashboard/layout/choices.ts";
import { capital } from "#control-plane/surfaces/dashboard/layout/problems.ts";
import { IMPACTS, STATUSES, type Status } from "#control-plane/outages/incidents/incident.ts";
import type { readIncident } from "#control-plane/outages/incidents/incidents.ts";
import { MOST_TEXT } from "#control-plane/outages/incidents/texts.ts";
import { html, type Html } from "#control-plane/core/pages/html.ts";

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

/** A status page that can show an incident. */
export interface ChosenPage {
  readonly id: number;
  readonly title: string;
  /** Whether it shows the incident because it has one of its monitors. */
  readonly isByMonitor: boolean;
}

/** Renders the buttons of an incident: acknowledge it or take that back, and resolve it if a person opened it. */
export function renderActions(incident: ShownIncident, formToken: string): Html {
  const isOpen = incident.resolved_at === null;
  const isNew = incident.acknowledged === null;
  const token = renderHidden("_csrf", formToken);
  return html`
    <div class="row act">
    ${isOpen && html`<form method="post" action="/app/incidents/${incident.id}/acknowledge">${token}<input type="hidden" name="acknowledged" value="${isNew ? "yes" : "no"}"><button${isNew && html` class="primary"`}>${isNew ? "Acknowledge" : "Take back the acknowledgement"}</button></form>`}
    ${isOpen && incident.manual && html`<form method="post" action="/app/incidents/${incident.id}/resolve">${token}<button>Resolve</button></form>`}
    </div>`;
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
): Html {
  const typedInto = (action: TypedWriting["form"]) => (typed?.form === action ? typed : null);
  const renderForm = (
    { action, title, hint, submit }: { action: TypedWriting["form"]; title: string; hint?: Html; submit: string },
    fields: Html,
  ) => html`
    <details class="part"${typed?.form === action && html` open`}><summary>${title}</summary><div>${hint}
    <form class="stack" method="post" action="/app/incidents/${incident.id}/${action}" data-kept>${renderHidden("_csrf", formToken)}
    ${fields}
    <div class="row"><button class="primary">${submit}</button></div></form></div></details>`;
  const mailed = html`<p class="faint">Subscribers of the status pages that show the incident get it by mail.</p>`;
  return html`
    <div class="stack">
    ${renderForm(
      { action: "publish", title: "Publish an update", hint: mailed, submit: "Publish" },
      renderUpdate(incident, pages, typedInto("publish")),
    )}
    ${renderForm({ action: "note", title: "Add a note", submit: "Add the note" }, renderNote(typedInto("note")))}
    ${
      incident.manual &&
      renderForm(
        { action: "edit", title: "Change title and impact", submit: "Change" },
        renderEdit(incident, typedInto("edit")),
      )
    }
    </div>`;
}

function renderUpdate(incident: ShownIncident, pages: readonly ChosenPage[], typed: TypedWriting | null): Html {
  const problemOf = (field: string) => problemIn(typed, field);
  return html`
    ${renderStatus(statusesOf(incident), typed?.status ?? incident.status, problemOf("status"))}
    ${renderPublicText("f-update", typed?.text ?? "", problemOf("text"))}
    ${pages.length > 0 && renderPages(pages, typed?.pageIds ?? incident.page_ids, problemOf("page_ids"))}
    ${renderPublic(typed?.isPublic ?? incident.public)}`;
}

/** Returns the statuses that an update can have: an outage ends when its monitor is up, and what has ended stays so. */
function statusesOf({ resolved_at: end, manual }: ShownIncident): readonly Status[] {
  if (end !== null) return ["resolved"];
  return manual ? STATUSES : STATUSES.filter((status) => status !== "resolved");
}

/** Renders the choice of pages. Those that have the monitor show the incident in any case. */
function renderPages(pages: readonly ChosenPage[], named: readonly number[], problem: string | null): Html {
  const free = pages.filter(({ isByMonitor }) => !isByMonitor);
  const others = pages.filter(({ isByMonitor }) => isByMonitor);
  // What is named and cannot be chosen stays named.
  const kept = named.filter((id) => !free.some((page) => page.id === id));
  return html`
    <fieldset class="field"${problem !== null && html` aria-describedby="p-page_ids"`}><legend>Status pages that show it</legend><input type="hidden" name="pages" value="shown">
    ${problem !== null && html`<p class="problem" id="p-page_ids">${problem}</p>`}
    ${others.length > 0 && html`<p class="hint">These have its monitor and show it in any case: <bdi>${others.map(({ title }) => title).join(", ")}</bdi></p>`}<div class="choices">
    ${free.map(({ id, title }) => renderCheck({ name: "page_ids", value: String(id), label: title, isOn: named.includes(id) }))}
    ${kept.map((id) => renderHidden("page_ids", String(id)))}</div></fieldset>`;
}

function renderNote(typed: TypedWriting | null): Html {
  return renderText({
    name: "text",
    id: "f-note",
    label: "Note",
    hint: "For the timeline. It is never public.",
    value: typed?.text ?? "",
    problem: problemIn(typed, "text"),
    maxLength: MOST_TEXT,
  });
}

function renderEdit(incident: ShownIncident, typed: TypedWriting | null): Html {
  return html`
    ${renderInput({
      name: "title",
      label: "Title",
      value: typed?.title ?? incident.title,
      problem: problemIn(typed, "title"),
      isRequired: true,
      maxLength: 200,
    })}
    ${renderImpact(typed?.impact ?? incident.impact, problemIn(typed, "impact"))}`;
}

function problemIn(typed: TypedWriting | null, field: string): string | null {
  return typed?.field === field ? typed.problem : null;
}

/** Renders the choice of an incident's status. */
export function renderStatus(statuses: readonly Status[], chosen: string, problem: string | null): Html {
  const options = statuses.map((value) => ({ value, label: capital(value), isSelected: value === chosen }));
  return renderSelect({ name: "status", label: "Status", problem, options });
}

/** Renders the choice of an incident's impact. */
export function renderImpact(chosen: string, problem: string | null): Html {
  const options = IMPACTS.map((value) => ({ value, label: value, isSelected: value === chosen }));
  return renderSelect({ name: "impact", label: "Impact", problem, options });
}

/** Renders the text of an update. `id`: of the element. */
export function renderPublicText(id: string, value: string, problem: string | null): Html {
  const field = { name: "text", id, label: "Text", hint: "For the users of your service.", maxLength: MOST_TEXT };
  return renderText({ ...field, value, problem });
}

/** Renders the choice whether status pages show an update. */
export function renderPublic(isOn: boolean): Html {
  return renderCheck({ name: "public", value: "yes", label: "Show it on status pages", isOn });
}
