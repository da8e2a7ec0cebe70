import type { FastifyReply, FastifyRequest } from "fastify";
import type { Clock } from "#shared/time/clock.ts";
import { memberOf, type Door } from "#control-plane/surfaces/dashboard/door/door.ts";
import type { MemberWrites } from "#control-plane/surfaces/dashboard/door/member-writes.ts";
import { sendPage } from "#control-plane/surfaces/dashboard/frame/page.ts";
import { namedMonitors } from "#control-plane/surfaces/dashboard/incidents/views.ts";
import type { TypedWindow } from "#control-plane/surfaces/dashboard/maintenance/values.ts";
import type { Overviews } from "#control-plane/surfaces/dashboard/monitors/overviews.ts";
import { MAINTENANCE } from "#control-plane/surfaces/dashboard/strings/maintenance.ts";
import { absentMessage, Refusal, requireFound } from "#control-plane/http/errors.ts";
import type { Maintenance } from "#control-plane/outages/maintenance/maintenance.ts";
import type { MaintenanceWindow } from "#control-plane/outages/maintenance/window.ts";
import {
  renderCheck,
  renderCheckList,
  renderSelect,
  renderZoneInput,
} from "#control-plane/surfaces/dashboard/frame/choices.ts";
import { renderHidden, renderInput, renderNote } from "#control-plane/surfaces/dashboard/frame/fields.ts";
import type { NamedMonitor } from "#control-plane/surfaces/dashboard/incidents/list.ts";
import { compileTemplate } from "#control-plane/core/pages/templates.ts";

/** Dependencies of the views of maintenance. */
export interface MaintenanceViewsDeps {
  readonly door: Door;
  readonly clock: Clock;
  readonly maintenance: Maintenance;
  readonly overviews: Pick<Overviews, "of">;
  readonly writes: MemberWrites;
}

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
  deps: Pick<MaintenanceViewsDeps, "overviews">,
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
  const title = form.id === null ? MAINTENANCE.newTitle : MAINTENANCE.editTitle;
  return sendPage(request, reply, { title, session, section: "maintenance", body, isForm: true });
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

const renderOpening: (form: { readonly heading: string; readonly action: string }) => string = compileTemplate(
  `<h1><%= it.heading %></h1><p class="faint">${MAINTENANCE.hint}</p><form class="stack" method="post" action="<%= it.action %>">`,
);

const renderEnd: (form: { readonly back: string }) => string = compileTemplate(
  `<div class="row"><button class="primary">${MAINTENANCE.save}</button><a class="button" href="<%= it.back %>">${MAINTENANCE.dismiss}</a></div></form>`,
);

const renderFoldTop: (fold: { readonly isOpen: boolean }) => string = compileTemplate(
  `<details class="part"<% if (it.isOpen) { %> open<% } %>><summary>${MAINTENANCE.byRule}</summary><div class="inside">`,
);

/** Renders the form of a window. */
function renderWindowForm({ id, typed, monitors, monitorCount, formToken, problems }: WindowForm): string {
  const problemOf = (input: string): string | null => problems.get(input) ?? null;
  const others = Array.from(problems, ([input, problem]) => (INPUTS.has(input) ? [] : [problem])).flat();
  const optionsOf = (words: Readonly<Record<string, string>>, chosen: string) =>
    Object.entries(words).map(([value, label]) => ({ value, label, isSelected: value === chosen }));
  const more = monitorCount > monitors.length ? ` ${MAINTENANCE.moreMonitors(monitors.length)}` : "";
  return [
    renderOpening({
      heading: id === null ? MAINTENANCE.newTitle : MAINTENANCE.editTitle,
      action: id === null ? "/app/maintenance/new" : `/app/maintenance/${id}/edit`,
    }),
    ...others.map((problem) => renderNote("bad", problem)),
    renderHidden("_csrf", formToken),
    renderInput({
      name: "title",
      label: MAINTENANCE.name,
      hint: MAINTENANCE.nameHint,
      value: typed.title,
      problem: problemOf("title"),
      isRequired: true,
      maxLength: 200,
    }),
    renderInput({
      name: "starts",
      label: MAINTENANCE.startsAt,
      hint: MAINTENANCE.startsHint,
      type: "datetime-local",
      value: typed.starts,
      problem: problemOf("starts"),
      isRequired: true,
      maxLength: 40,
    }),
    `<div class="pair">`,
    renderInput({
      name: "lasts",
      label: MAINTENANCE.lasts,
      hint: MAINTENANCE.lastsHint,
      value: typed.lasts,
      problem: problemOf("lasts"),
      isRequired: true,
      maxLength: 10,
    }),
    renderSelect({
      name: "unit",
      label: MAINTENANCE.unit,
      problem: null,
      options: optionsOf(MAINTENANCE.units, typed.unit),
    }),
    "</div>",
    renderSelect({
      name: "repeats",
      label: MAINTENANCE.repeating,
      problem: problemOf("repeats"),
      options: optionsOf(MAINTENANCE.repeats, typed.repeats),
    }),
    renderFoldTop({ isOpen: typed.repeats === "custom" || problemOf("rule") !== null }),
    renderInput({
      name: "rule",
      label: MAINTENANCE.rule,
      hint: MAINTENANCE.ruleHint,
      value: typed.rule,
      problem: problemOf("rule"),
      maxLength: 500,
    }),
    "</div></details>",
    renderZoneInput({
      name: "timezone",
      label: MAINTENANCE.zone,
      value: typed.timezone,
      problem: problemOf("timezone"),
      isRequired: true,
    }),
    renderCheckList({
      name: "monitor_ids",
      legend: MAINTENANCE.affected,
      hint: `${MAINTENANCE.affectedHint}${more}`,
      problem: problemOf("monitor_ids"),
      empty: MAINTENANCE.noChoice,
      options: monitors.map((monitor) => ({
        value: String(monitor.id),
        label: monitor.name,
        isOn: typed.monitorIds.includes(monitor.id),
      })),
    }),
    renderInput({
      name: "tags",
      label: MAINTENANCE.tags,
      hint: MAINTENANCE.tagsHint,
      value: typed.tags,
      problem: problemOf("tags"),
    }),
    renderCheck({ name: "public", value: "yes", label: MAINTENANCE.public, isOn: typed.isPublic }),
    renderEnd({ back: id === null ? "/app/maintenance" : `/app/maintenance/${id}` }),
  ].join("");
}
