import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { memberOf } from "#control-plane/surfaces/dashboard/session-guard/session-guard.ts";
import { readForm } from "#control-plane/surfaces/dashboard/session-guard/form.ts";
import { sendPage } from "#control-plane/surfaces/dashboard/layout/page.ts";
import { problemsOf } from "#control-plane/surfaces/dashboard/layout/problems.ts";
import { fieldsOf } from "#control-plane/surfaces/dashboard/monitor-form/form-fields.ts";
import {
  isOfSchedule,
  readSchedule,
  registerNextRuns,
} from "#control-plane/surfaces/dashboard/monitor-form/next-runs.ts";
import { viewerTimeOf } from "#control-plane/surfaces/dashboard/layout/times.ts";
import { nameOf } from "#control-plane/surfaces/dashboard/monitor/head.ts";
import {
  renderKindChoice,
  renderMonitorForm,
  titleOf,
  type MonitorForm,
} from "#control-plane/surfaces/dashboard/monitor-form/render.ts";
import {
  toBody,
  typedIn,
  typedOf,
  withoutSecrets,
  type Typed,
} from "#control-plane/surfaces/dashboard/monitor-form/values.ts";
import { absentMessage, Refusal, requireFound, requireRead } from "#control-plane/http/errors.ts";
import { whenGone } from "#control-plane/http/gone.ts";
import { requireWritten } from "#control-plane/http/written.ts";
import { CHECK_TYPES, type CheckType } from "#control-plane/outages/kinds/kinds.ts";
import { changeOf } from "#control-plane/monitors/changed-fields.ts";
import type { Monitors } from "#control-plane/monitors/monitors.ts";
import { parseChange, parseCreation } from "#control-plane/monitors/settings/parse.ts";
import type { MonitorView } from "#control-plane/monitors/serialize.ts";
import { STATE_LABELS } from "#control-plane/surfaces/dashboard/monitors/labels.ts";
import type { Tried } from "#control-plane/monitors/try/run.ts";
import { html, type Html } from "#control-plane/core/pages/html.ts";
import type { Dashboard } from "#control-plane/surfaces/dashboard/parts.ts";

type WithId = { Params: { id: string } };

const NONE: ReadonlyMap<string, string> = new Map();

/** Registers the pages that create and change a monitor, each tried before it is saved. */
export function registerMonitorForm(scope: FastifyInstance, deps: Dashboard): void {
  registerCreation(scope, deps);
  registerEdit(scope, deps);
  registerNextRuns(scope, deps);
}

function registerCreation(scope: FastifyInstance, { guard, clock, monitors, trials, writes }: Dashboard): void {
  scope.route({
    ...guard.page({ needs: "write" }),
    url: "/app/monitors/new",
    schema: { hide: true },
    async handler(request, reply) {
      const { accountId, formToken } = memberOf(request);
      const { kind, from } = request.query as { readonly kind?: unknown; readonly from?: unknown };
      const copied = typeof from === "string" && isId(from) ? await monitors.find(accountId, Number(from)) : null;
      const checkType = copied?.monitor.check_type ?? CHECK_TYPES.find((name) => name === kind);
      if (checkType === undefined) return sendForm(request, reply, "Add a monitor", renderKindChoice(formToken));
      const typed = copied === null ? FIRST_VALUES : withoutSecrets(typedOf(copied.monitor, fieldsOf(checkType)));
      const problems: ReadonlyMap<string, string> =
        copied !== null && hasSecrets(copied.monitor)
          ? new Map([["", "Secrets were not copied. Type them again."]])
          : NONE;
      return sendMonitorForm(request, reply, {
        checkType,
        id: null,
        name: "",
        typed,
        problems,
        tried: null,
        now: clock.now(),
      });
    },
  });
  scope.route({
    ...guard.form({ needs: "write" }),
    url: "/app/monitors/new",
    schema: { hide: true },
    async handler(request, reply) {
      const { accountId } = memberOf(request);
      const form = readForm(request);
      const checkType = kindIn(form.text("check_type"));
      const fields = fieldsOf(checkType);
      const typed = typedIn(form, fields);
      const shown = { checkType, id: null, name: "", typed, now: clock.now() };
      return orAgain(request, reply, shown, async () => {
        if (form.text("do") === "runs") return showRuns(request, reply, shown);
        const body = { ...toBody(typed, fields, null), check_type: checkType };
        const given = requireRead(parseCreation(body, "current"));
        if (form.text("do") === "try") {
          const { tried, warnings } = requireWritten(
            await trials.tryMonitor({ accountId, signal: whenGone(reply) }, given),
          );
          const result = renderTried(tried, warnings);
          return sendMonitorForm(request, reply, { ...shown, problems: NONE, tried: result });
        }
        const ran = await writes.run(request, async (tx) => {
          const created = requireWritten(await monitors.create(tx, accountId, given));
          return { data: created.id, changes: [changeOf(created, "created")] };
        });
        if (!ran.ok) throw ran.refusal;
        const done = fields.some(isOfSchedule) ? "waiting" : "created";
        return reply.redirect(`/app/monitors/${ran.data}?done=${done}`, 303);
      });
    },
  });
}

function registerEdit(scope: FastifyInstance, { guard, clock, monitors, trials, writes }: Dashboard): void {
  const url = "/app/monitors/:id/edit";
  scope.route<WithId>({
    ...guard.page({ needs: "write" }),
    url,
    schema: { hide: true },
    async handler(request, reply) {
      const monitor = await findOwn(request, monitors);
      const { id, check_type: checkType } = monitor;
      const typed = typedOf(monitor, fieldsOf(checkType));
      return sendMonitorForm(request, reply, {
        checkType,
        id,
        name: nameOf(monitor),
        typed,
        problems: NONE,
        tried: null,
        now: clock.now(),
      });
    },
  });
  scope.route<WithId>({
    ...guard.form({ needs: "write" }),
    url,
    schema: { hide: true },
    async handler(request, reply) {
      const { accountId } = memberOf(request);
      const monitor = await findOwn(request, monitors);
      const { id, check_type: checkType } = monitor;
      const form = readForm(request);
      const fields = fieldsOf(checkType);
      const typed = typedIn(form, fields);
      const shown = { checkType, id, name: nameOf(monitor), typed, now: clock.now() };
      return orAgain(request, reply, shown, async () => {
        if (form.text("do") === "runs") return showRuns(request, reply, shown);
        const body = toBody(typed, fields, typedOf(monitor, fields));
        const given = requireRead(parseChange(body, "current"));
        if (form.text("do") === "try") {
          const { tried, warnings } = requireWritten(
            await trials.tryChange({ accountId, signal: whenGone(reply) }, id, given),
          );
          return sendMonitorForm(request, reply, { ...shown, problems: NONE, tried: renderTried(tried, warnings) });
        }
        const statistics = await monitors.statisticsOf({ accountId, id });
        const ran = await writes.run(request, async (tx) => {
          const data = requireWritten(await monitors.change(tx, { accountId, id }, given, statistics));
          return { data, changes: [changeOf(data.monitor, "changed", data.changed)] };
        });
        if (!ran.ok) throw ran.refusal;
        return reply.redirect(`/app/monitors/${id}?done=saved`, 303);
      });
    },
  });
}

/** What a new form begins with. */
const FIRST_VALUES: Typed = new Map([
  ["follow", "on"],
  ["notify_email", "on"],
]);

type Shown = Omit<MonitorForm, "formToken" | "viewer">;
/** A form as it was typed. */
type Posted = Pick<Shown, "checkType" | "id" | "name" | "typed" | "now">;

/** Shows the form of a heartbeat with the next runs of its schedule. Throws Refusal where the schedule has none. */
function showRuns(request: FastifyRequest, reply: FastifyReply, shown: Posted): Promise<FastifyReply> {
  requireRead(readSchedule(shown.typed));
  return sendMonitorForm(request, reply, { ...shown, problems: NONE, tried: null });
}

/** Runs what a form asks for; what is refused is shown in the form, as it was typed. */
async function orAgain(
  request: FastifyRequest,
  reply: FastifyReply,
  shown: Posted,
  run: () => Promise<FastifyReply>,
): Promise<FastifyReply> {
  try {
    return await run();
  } catch (error) {
    if (!(error instanceof Refusal) || error.status === 404) throw error;
    reply.code(error.status).headers(error.details.headers ?? {});
    return sendMonitorForm(request, reply, { ...shown, problems: problemsOf(error), tried: null });
  }
}

function sendMonitorForm(request: FastifyRequest, reply: FastifyReply, form: Shown): Promise<FastifyReply> {
  const session = memberOf(request);
  const body = renderMonitorForm({ ...form, formToken: session.formToken, viewer: viewerTimeOf(session) });
  return sendForm(request, reply, titleOf(form), body);
}

function sendForm(request: FastifyRequest, reply: FastifyReply, title: string, body: Html): Promise<FastifyReply> {
  return sendPage(request, reply, { title, session: memberOf(request), section: "monitors", body, isForm: true });
}

async function findOwn({ params, session }: FastifyRequest<WithId>, monitors: Monitors): Promise<MonitorView> {
  if (!isId(params.id)) throw new Refusal("not_found", absentMessage("monitor"));
  const found = await monitors.find(session?.accountId ?? 0, Number(params.id));
  return requireFound(found, "monitor").monitor;
}

function kindIn(given: string): CheckType {
  const kind = CHECK_TYPES.find((name) => name === given);
  if (kind === undefined)
    throw new Refusal("missing_parameter", { field: "check_type", message: "Choose what is checked." });
  return kind;
}

function isId(text: string): boolean {
  return /^[1-9]\d{0,14}$/.test(text);
}

function hasSecrets(monitor: MonitorView): boolean {
  const typed = typedOf(monitor, fieldsOf(monitor.check_type));
  const without = withoutSecrets(typed);
  return Array.from(typed).some(([name, text]) => without.get(name) !== text);
}

const HEADLINES = {
  up: "It works.",
  degraded: "It works, but slowly.",
  down: "It does not work now.",
  unknown: "It could not be checked now.",
} as const;

/** Renders what the try of a monitor has found, and what the user should know beside. */
function renderTried(tried: Tried, warnings: readonly { readonly message: string }[]): Html {
  return html`
    <section class="note ${tried.checked && STATE_LABELS[tried.verdict].tone}" role="status">
      <p><b>${tried.checked ? HEADLINES[tried.verdict] : tried.message}</b></p>
      ${tried.cause !== null && html`<p>${tried.cause.message}</p>`}
      ${tried.checks.length > 0 && html`<ul>${tried.checks.map(renderTriedCheck)}</ul>`}
      ${warnings.map(({ message }) => html`<p>${message}</p>`)}
    </section>`;
}

function renderTriedCheck({ location, status, response_time_ms: ms, error }: Tried["checks"][number]): Html {
  const { word, tone } = STATE_LABELS[status];
  return html`<li>${location}: <span class="badge ${tone}">${word}</span> ${ms !== null && `${ms} ms`} ${error?.message}</li>`;
}
