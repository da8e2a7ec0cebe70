import { renderHidden, renderInput, renderNote } from "#control-plane/surfaces/dashboard/frame/fields.ts";
import {
  renderCheck,
  renderCheckList,
  renderSelect,
  renderText,
} from "#control-plane/surfaces/dashboard/frame/choices.ts";
import type { NamedMonitor } from "#control-plane/surfaces/dashboard/incidents/list.ts";
import { INCIDENTS } from "#control-plane/surfaces/dashboard/strings/incidents.ts";
import { IMPACTS, STATUSES } from "#control-plane/outages/incidents/incident.ts";
import { MOST_TEXT } from "#control-plane/outages/incidents/texts.ts";

/** An incident as it was typed. */
export interface TypedIncident {
  readonly title: string;
  readonly text: string;
  readonly status: string;
  readonly impact: string;
  readonly isPublic: boolean;
  readonly monitorIds: readonly number[];
  readonly pageIds: readonly number[];
}

/** What the form of an incident is rendered with. */
interface IncidentForm {
  readonly typed: TypedIncident;
  /** Monitors to choose from, by name, and the number of all monitors. */
  readonly monitors: readonly NamedMonitor[];
  readonly monitorCount: number;
  readonly pages: readonly { readonly id: number; readonly title: string }[];
  readonly formToken: string;
  /** Problems by the field of the API, "" for the form as a whole. */
  readonly problems: ReadonlyMap<string, string>;
}

/** The fields of the form, whose problems are shown beside them. */
const FIELDS: ReadonlySet<string> = new Set(["title", "text", "status", "impact", "monitor_ids", "page_ids"]);

const TOP = `<h1>${INCIDENTS.newTitle}</h1><p class="faint">${INCIDENTS.newHint}</p>`;
const OPENING = `<form class="stack" method="post" action="/app/incidents/new">`;
const END = `<div class="row"><button class="primary">${INCIDENTS.submit}</button><a class="button" href="/app/incidents">${INCIDENTS.cancel}</a></div></form>`;

/** Renders the form that opens an incident by hand. */
export function renderIncidentForm(form: IncidentForm): string {
  const { typed, monitors, monitorCount, pages, formToken, problems } = form;
  const problemOf = (field: string): string | null => problems.get(field) ?? null;
  const others = Array.from(problems, ([field, problem]) => (FIELDS.has(field) ? [] : [problem])).flat();
  const optionsOf = (words: Readonly<Record<string, string>>, values: readonly string[], chosen: string) =>
    values.map((value) => ({ value, label: words[value] ?? value, isSelected: value === chosen }));
  return [
    TOP,
    ...others.map((problem) => renderNote("bad", problem)),
    OPENING,
    renderHidden("_csrf", formToken),
    renderInput({
      name: "title",
      label: INCIDENTS.titleLabel,
      hint: INCIDENTS.titleHint,
      value: typed.title,
      problem: problemOf("title"),
      isRequired: true,
      maxLength: 200,
    }),
    renderText({
      name: "text",
      id: "f-text",
      label: INCIDENTS.text,
      hint: INCIDENTS.textHint,
      value: typed.text,
      problem: problemOf("text"),
      maxLength: MOST_TEXT,
    }),
    renderSelect({
      name: "status",
      label: INCIDENTS.status,
      problem: problemOf("status"),
      options: optionsOf(INCIDENTS.statuses, STATUSES, typed.status),
    }),
    renderSelect({
      name: "impact",
      label: INCIDENTS.impact,
      problem: problemOf("impact"),
      options: optionsOf(INCIDENTS.impacts, IMPACTS, typed.impact),
    }),
    renderCheckList({
      name: "monitor_ids",
      legend: INCIDENTS.affected,
      hint: `${INCIDENTS.affectedHint}${monitorCount > monitors.length ? ` ${INCIDENTS.moreMonitors(monitors.length)}` : ""}`,
      problem: problemOf("monitor_ids"),
      empty: INCIDENTS.noMonitors,
      options: monitors.map(({ id, name }) => ({
        value: String(id),
        label: name,
        isOn: typed.monitorIds.includes(id),
      })),
    }),
    renderCheckList({
      name: "page_ids",
      legend: INCIDENTS.statusPages,
      hint: "",
      problem: problemOf("page_ids"),
      empty: INCIDENTS.noPages,
      options: pages.map(({ id, title }) => ({ value: String(id), label: title, isOn: typed.pageIds.includes(id) })),
    }),
    renderCheck({ name: "public", value: "yes", label: INCIDENTS.public, isOn: typed.isPublic }),
    END,
  ].join("");
}
