import type { FastifyInstance } from "fastify";
import type { Clock } from "#shared/time/clock.ts";
import type { Read } from "#shared/schema/problem.ts";
import { writeDuration } from "#shared/text/duration.ts";
import type { ViewerTime } from "#control-plane/core/charts/viewer-time.ts";
import { memberOf, type SessionGuard } from "#control-plane/surfaces/dashboard/session-guard/session-guard.ts";
import { sendFragment } from "#control-plane/surfaces/dashboard/layout/page.ts";
import { renderPlanned, viewerTimeOf, writePlanned } from "#control-plane/surfaces/dashboard/layout/times.ts";
import { fieldsOf, labelOf, type FormField } from "#control-plane/surfaces/dashboard/monitor-form/form-fields.ts";
import { toBody, type Typed } from "#control-plane/surfaces/dashboard/monitor-form/values.ts";
import { nextRuns } from "#control-plane/watching/heartbeats/deadline.ts";
import { findScheduleProblem } from "#control-plane/watching/heartbeats/heartbeats.ts";
import { defaultDraft } from "#control-plane/outages/kinds/defaults.ts";
import type { HeartbeatSettings } from "#control-plane/outages/kinds/heartbeat.ts";
import { mergeGiven } from "#control-plane/monitors/settings/merge.ts";
import { parseCreation } from "#control-plane/monitors/settings/parse.ts";
import { html, type Html } from "#control-plane/core/pages/html.ts";
import { openTimeZone } from "#control-plane/core/time-zone.ts";

/** Path of the fragment with the next runs of what is typed. */
export const NEXT_RUNS_PATH = "/app/monitors/next-runs";

/** Number of next runs that are shown. */
const SHOWN = 5;

/** The fields of the form that say when pings are expected. */
const SCHEDULE_FIELDS = fieldsOf("heartbeat").filter(({ name, group }) => group === "what" && name.includes("."));

/** Reports whether a field says when pings are expected. */
export function isOfSchedule({ name }: Pick<FormField, "name">): boolean {
  return SCHEDULE_FIELDS.some((field) => field.name === name);
}

/** Renders the next runs of a heartbeat in the viewer's zone, and in its own where that is another; of a period, what it means. */
export function renderNextRuns(
  heartbeat: Pick<HeartbeatSettings, "cron" | "timezone" | "period_seconds" | "grace_seconds">,
  now: Date,
  viewer: ViewerTime,
): Html {
  const { timezone, period_seconds: period, grace_seconds: grace } = heartbeat;
  const runs = nextRuns(heartbeat, now, SHOWN);
  const late = writeDuration(grace);
  if (runs === null)
    return html`<p class="">Without a schedule the first ping starts the count: after each success the next one is due within ${writeDuration(period)}, and late ${late} after that.</p>`;
  const zone = isSameZone(timezone, viewer.zone.name) ? null : openTimeZone(timezone);
  const items = runs.map((run) => {
    const local = zone !== null && html` <span class="faint">(${writePlanned(run, now, zone)} in ${timezone})</span>`;
    return html`<li>${renderPlanned(run, now, viewer)}${local}</li>`;
  });
  return html`
    <ul class="runs">${items}</ul>
    <p class="faint">Times are in your zone, ${viewer.zone.name}. A run is late ${late} after its time.</p>`;
}

function isSameZone(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase();
}

/** Reads the schedule that was typed as the API reads that of a new heartbeat: an empty field has its default. Pure. */
export function readSchedule(typed: Typed): Read<HeartbeatSettings> {
  const body = { ...toBody(typed, SCHEDULE_FIELDS, null), check_type: "heartbeat" };
  const given = parseCreation(body, "current");
  if (!given.ok) return given;
  const merged = mergeGiven(defaultDraft("heartbeat", 1), given.value);
  if (!merged.ok) return merged;
  const { heartbeat } = merged.value;
  if (heartbeat === null) throw new Error("a heartbeat has no settings");
  const problem = findScheduleProblem(heartbeat);
  return problem === null ? { ok: true, value: heartbeat } : { ok: false, problem };
}

/** Renders the next runs of a schedule as it was typed, or what the API would say against it. */
export function renderTypedRuns(typed: Typed, now: Date, viewer: ViewerTime): Html {
  const read = readSchedule(typed);
  if (read.ok) return html`<p><b>Next runs</b></p>${renderNextRuns(read.value, now, viewer)}`;
  const { field, message } = read.problem;
  return html`<p class="bad">${labelOf(field)}: ${message}.</p>`;
}

/** Registers the fragment that the form of a heartbeat shows while its schedule is typed. */
export function registerNextRuns(
  scope: FastifyInstance,
  { guard, clock }: { readonly guard: SessionGuard; readonly clock: Clock },
): void {
  scope.route({
    ...guard.page({ needs: "write" }),
    url: NEXT_RUNS_PATH,
    schema: { hide: true },
    async handler(request, reply) {
      const query = request.query as Readonly<Record<string, unknown>>;
      const typed = new Map(SCHEDULE_FIELDS.map(({ name }) => [name, textOf(query[name])]));
      const runs = renderTypedRuns(typed, clock.now(), viewerTimeOf(memberOf(request)));
      return sendFragment(request, reply, runs);
    },
  });
}

function textOf(given: unknown): string {
  return typeof given === "string" ? given : "";
}
