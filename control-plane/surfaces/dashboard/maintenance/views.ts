import type { FastifyReply, FastifyRequest } from "fastify";
import { memberOf } from "#control-plane/surfaces/dashboard/session-guard/session-guard.ts";
import { sendPage } from "#control-plane/surfaces/dashboard/layout/page.ts";
import { namedMonitors } from "#control-plane/surfaces/dashboard/incidents/views.ts";
import { HINT } from "#control-plane/surfaces/dashboard/maintenance/list.ts";
import { REPEATS, type TypedWindow } from "#control-plane/surfaces/dashboard/maintenance/values.ts";
import { absentMessage, Refusal, requireFound } from "#control-plane/http/errors.ts";
import type { Maintenance } from "#control-plane/outages/maintenance/maintenance.ts";
import type { MaintenanceWindow } from "#control-plane/outages/maintenance/window.ts";
import {
  renderCheck,
  renderCheckList,
  renderSelect,
  renderZoneInput,
} from "#control-plane/surfaces/dashboard/layout/choices.ts";
import { renderHidden, renderInput, renderNote } from "#control-plane/surfaces/dashboard/layout/fields.ts";
import type { NamedMonitor } from "#control-plane/surfaces/dashboard/incidents/list.ts";
import { html, type Html } from "#control-plane/core/pages/html.ts";
import type { Dashboard } from "#control-plane/surfaces/dashboard/parts.ts";

/** A request for the window in its path. */
export type WithId = { Params: { id: string } };

/** Returns the window in the path. Throws the 404 for what is none of the account. */
export async function windowOf(
  request: FastifyRequest<WithId>,
  maintenance: Pick<Maintenance, "find">,
): Promise<MaintenanceWindow> {
  const { id } = request.params;
  if (!/^[1-9]\d{0,14}$/.test(id)) throw new Refusal("not_found", absentMessage("maintenance window"));
  return requireFound(await maintenance.find(memberOf(request).accountId, Number(id)), "maintenance window");
}

/** Sends the form of a window. `id`: null for a new one; `problems`: by the input, none if absent. */
export async function sendForm(
  request: FastifyRequest,
  reply: FastifyReply,
  deps: Pick<Dashboard, "overviews">,
  form: {
    readonly id: number | null;
    readonly typed: TypedWindow;
    readonly problems?: ReadonlyMap<string, string>;
  },
): Promise<FastifyReply> {
  const session = memberOf(request);
  const { choices, total } = await namedMonitors(deps, session.accountId, form.typed.monitorIds);
  const body = renderWindowForm({
    problems: new Map(),
    ...form,
    monitors: choices,
    monitorCount: total,
    formToken: session.formToken,
  });
  return sendPage(request, reply, { title: titleOf(form.id), session, section: "maintenance", body, isForm: true });
}

/** What the form of a window is rendered with. */
interface WindowForm {
  /** null: a new window. */
  readonly id: number | null;
  readonly typed: TypedWindow;
  /** Monitors to choose from, by name, and the number of all monitors. */
  readonly monitors: readonly NamedMonitor[];
  readonly monitorCount: number;
  readonly formToken: string;
  /** Problems by the input, "" for the form as a whole. */
  readonly problems: ReadonlyMap<string, string>;
}

/** The inputs, whose problems are shown beside them. */
const INPUTS: ReadonlySet<string> = new Set([
  "title",
  "monitor_ids",
  "tags",
  "starts",
  "lasts",
  "repeats",
  "rule",
  "timezone",
]);

function titleOf(id: number | null): string {
  return id === null ? "Plan maintenance" : "Edit maintenance";
}

/** Renders the form of a window. */
function renderWindowForm({ id, typed, monitors, monitorCount, formToken, problems }: WindowForm): Html {
  const problemOf = (input: string): string | null => problems.get(input) ?? null;
  const others = Array.from(problems).filter(([input]) => !INPUTS.has(input));
  const optionsOf = (words: Readonly<Record<string, string>>, chosen: string) =>
    Object.entries(words).map(([value, label]) => ({ value, label, isSelected: value === chosen }));
  const more =
    monitorCount > monitors.length ? ` The first ${monitors.length} by name are here. Choose the others by a tag.` : "";
  const path = id === null ? "/app/maintenance" : `/app/maintenance/${id}`;
  const isByRule = typed.repeats === "custom" || problemOf("rule") !== null;
  return html`
    <h1>${titleOf(id)}</h1><p class="faint">${HINT}</p>
    <form class="stack" method="post" action="${path}/${id === null ? "new" : "edit"}">
    ${others.map(([, problem]) => renderNote("bad", problem))}
    ${renderHidden("_csrf", formToken)}
    ${renderInput({
      name: "title",
      label: "Title",
      hint: "What is done. Status pages show it if you choose so below.",
      value: typed.title,
      problem: problemOf("title"),
      isRequired: true,
      maxLength: 200,
    })}
    ${renderInput({
      name: "starts",
      label: "Start",
      hint: "In the time zone below.",
      type: "datetime-local",
      value: typed.starts,
      problem: problemOf("starts"),
      isRequired: true,
      maxLength: 40,
    })}
    <div class="pair">
    ${renderInput({
      name: "lasts",
      label: "Duration",
      hint: "From 1 minute to 30 days.",
      value: typed.lasts,
      problem: problemOf("lasts"),
      isRequired: true,
      maxLength: 10,
    })}
    ${renderSelect({
      name: "unit",
      label: "Unit",
      problem: null,
      options: optionsOf({ minutes: "minutes", hours: "hours", days: "days" }, typed.unit),
    })}
    </div>
    ${renderSelect({
      name: "repeats",
      label: "Repeats",
      problem: problemOf("repeats"),
      options: optionsOf(REPEATS, typed.repeats),
    })}
    <details class="part"${isByRule && html` open`}><summary>Repeat by a rule</summary><div class="inside">
    ${renderInput({
      name: "rule",
      label: "Rule",
      hint: "If it repeats by a rule: in the form of RFC 5545. FREQ=MONTHLY;BYDAY=1SU is every first Sunday.",
      value: typed.rule,
      problem: problemOf("rule"),
      maxLength: 500,
    })}
    </div></details>
    ${renderZoneInput({
      name: "timezone",
      label: "Time zone",
      value: typed.timezone,
      problem: problemOf("timezone"),
      isRequired: true,
    })}
    ${renderCheckList({
      name: "monitor_ids",
      legend: "Monitors",
      hint: `A window needs at least one monitor or one tag.${more}`,
      problem: problemOf("monitor_ids"),
      empty: "There are no monitors.",
      options: monitors.map((monitor) => ({
        value: String(monitor.id),
        label: monitor.name,
        isOn: typed.monitorIds.includes(monitor.id),
      })),
    })}
    ${renderInput({
      name: "tags",
      label: "Tags",
      hint: "The window covers the monitors that have one of these tags. Separate them with spaces.",
      value: typed.tags,
      problem: problemOf("tags"),
    })}
    ${renderCheck({
      name: "public",
      value: "yes",
      label: "Show it on the status pages of these monitors",
      isOn: typed.isPublic,
    })}
    <div class="row"><button class="primary">Save</button><a class="button" href="${path}">Cancel</a></div></form>`;
}
