import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { memberOf } from "#control-plane/surfaces/dashboard/session-guard/session-guard.ts";
import { readForm, toId, type Form } from "#control-plane/surfaces/dashboard/session-guard/form.ts";
import { sendPage } from "#control-plane/surfaces/dashboard/layout/page.ts";
import { readListQuery } from "#control-plane/surfaces/dashboard/monitors/list-query.ts";
import { selectRows } from "#control-plane/surfaces/dashboard/monitors/select-rows.ts";
import { Refusal } from "#control-plane/http/errors.ts";
import { requireWritten } from "#control-plane/http/written.ts";
import { MOST_IDS } from "#control-plane/monitors/bulk/fields.ts";
import { parseBulk } from "#control-plane/monitors/bulk/parse.ts";
import { changeOf } from "#control-plane/monitors/changed-fields.ts";
import { labelOf } from "#control-plane/surfaces/dashboard/monitor-form/form-fields.ts";
import { counted } from "#control-plane/surfaces/dashboard/layout/amounts.ts";
import type { ManyChanged } from "#control-plane/monitors/bulk/bulk.ts";
import { html, type Html } from "#control-plane/core/pages/html.ts";
import type { Dashboard } from "#control-plane/surfaces/dashboard/parts.ts";

/** Registers the page that changes all monitors of a filter in the same way: one form, what it changes, then the change. */
export function registerBulk(scope: FastifyInstance, { guard, monitors, overviews, writes }: Dashboard): void {
  scope.route({
    ...guard.page({ needs: "write" }),
    url: "/app/monitors/bulk",
    schema: { hide: true },
    async handler(request, reply) {
      const { accountId, formToken } = memberOf(request);
      const query = { ...readListQuery(request.query as Readonly<Record<string, unknown>>), rows: MOST_IDS };
      const { rows } = selectRows(await overviews.of(accountId), query);
      const ids = rows.map(({ id }) => id);
      return send(request, reply, renderBulk({ ids, formToken, problem: null, typed: new Map() }));
    },
  });
  scope.route({
    ...guard.form({ needs: "write" }),
    url: "/app/monitors/bulk",
    schema: { hide: true },
    async handler(request, reply) {
      const { accountId, formToken } = memberOf(request);
      const form = readForm(request);
      const ids = form
        .text("ids")
        .split(",")
        .flatMap((id) => toId(id) ?? []);
      const typed = new Map(FIELDS.map(({ name }) => [name, form.text(name)]));
      const isApplied = form.text("do") === "apply";
      try {
        const change = requireWritten(parseBulk({ ids, set: setOf(form), dry_run: !isApplied }));
        const ran = await writes.run(request, async (tx) => {
          const data = requireWritten(await monitors.changeMany(tx, accountId, change));
          const changed = data.monitors.filter((one) => one.changed.length > 0);
          return {
            data: data.monitors,
            changes: isApplied ? changed.map((row) => changeOf(row, "changed", row.changed)) : [],
          };
        });
        if (!ran.ok) throw ran.refusal;
        if (isApplied) return await reply.redirect("/app/monitors?done=bulk", 303);
        return await send(request, reply, renderBulkPlan({ ids, formToken, typed, monitors: ran.data }));
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        const problem = error.details.problems?.map((one) => one.message).join(" ") ?? error.message;
        return send(request, reply.code(error.status), renderBulk({ ids, formToken, problem, typed }));
      }
    },
  });
}

/** A field of the form. choice: yes, no or neither; lines: one item a line; words: items with spaces or commas. */
interface Field {
  readonly name: string;
  /** Absent: that of the form of a monitor. */
  readonly label?: string;
  readonly input: "choice" | "number" | "lines" | "words";
}

/** The fields of the form, in their order. */
const FIELDS: readonly Field[] = [
  { name: "is_active", label: "Checked (no: paused)", input: "choice" },
  { name: "interval_minutes", input: "number" },
  { name: "locations", input: "lines" },
  { name: "timeout_seconds", input: "number" },
  { name: "degraded_ms", input: "number" },
  { name: "tags_add", label: "Add tags", input: "words" },
  { name: "tags_remove", label: "Take tags away", input: "words" },
  { name: "notify_email", input: "choice" },
  { name: "notify_emails", input: "lines" },
];

/** Returns what the form sets: a field that is empty stays as each monitor has it. */
function setOf(form: Form): Record<string, unknown> {
  const set: Record<string, unknown> = {};
  for (const { name, input } of FIELDS) {
    const text = form.text(name).trim();
    if (text === "") continue;
    if (input === "choice") set[name] = text === "yes";
    else if (input === "lines") set[name] = text.split(/[\r\n]+/).map((one) => one.trim());
    else if (input === "words") set[name] = text.split(/[\s,]+/);
    else set[name] = /^\d{1,9}$/.test(text) ? Number(text) : text;
  }
  return set;
}

function send(request: FastifyRequest, reply: FastifyReply, body: Html): Promise<FastifyReply> {
  const page = {
    title: "Change many monitors",
    session: memberOf(request),
    section: "monitors",
    isForm: true,
  } as const;
  return sendPage(request, reply, { ...page, body });
}

/** The form that changes many monitors. */
interface BulkForm {
  readonly ids: readonly number[];
  readonly formToken: string;
  readonly problem: string | null;
  /** What was typed, by the name of the field. */
  readonly typed: ReadonlyMap<string, string>;
}

/** Renders the form: a field that stays empty changes nothing. */
function renderBulk({ ids, formToken, problem, typed }: BulkForm): Html {
  return html`
    <h1>Change many monitors</h1>
    <p>${counted(ids.length, "monitor")}. What you leave empty stays as each of them has it.</p>
    ${problem !== null && html`<p class="note bad" role="alert">${problem}</p>`}
    <form class="stack" method="post" action="/app/monitors/bulk">
      <input type="hidden" name="_csrf" value="${formToken}">
      <input type="hidden" name="ids" value="${ids.join(",")}">
      ${FIELDS.map((field) => renderField(field, typed.get(field.name) ?? ""))}
      <div class="row"><button class="primary">Show what changes</button> <a href="/app/monitors">Cancel</a></div>
    </form>`;
}

function renderField(field: Field, value: string): Html {
  const { name, label = labelOf(name) } = field;
  return html`
    <div class="field">
      <label for="f-${name}">${label}</label>
      ${renderControl(field, value)}
    </div>`;
}

function renderControl({ name, input }: Field, value: string): Html {
  if (input === "choice")
    return html`
      <select id="f-${name}" name="${name}">
        <option value="">as it is</option>
        <option value="yes"${value === "yes" && html` selected`}>yes</option>
        <option value="no"${value === "no" && html` selected`}>no</option>
      </select>`;
  if (input === "lines")
    return html`
      <textarea id="f-${name}" name="${name}" rows="2" maxlength="10000" placeholder="as it is">
        ${value}</textarea>`;
  return html`<input id="f-${name}" name="${name}" value="${value}" maxlength="2000" autocomplete="off" placeholder="as it is">`;
}

/** Monitors whose changes are listed one by one. */
const MOST_LISTED = 200;

/** Renders what a change would do to each monitor, before it is done. */
function renderBulkPlan({
  ids,
  formToken,
  typed,
  monitors,
}: Omit<BulkForm, "problem"> & { readonly monitors: ManyChanged["monitors"] }): Html {
  const changed = monitors.filter((one) => one.changed.length > 0);
  const change = counted(changed.length, "monitor changes", "monitors change");
  const rest = counted(monitors.length - changed.length, "stays as it is", "stay as they are");
  const fields = [["ids", ids.join(",")] as const, ...typed];
  return html`
    <h1>This changes</h1>
    <p><b>${change}</b>, ${rest}</p>
    <ul>${changed.slice(0, MOST_LISTED).map(renderChanged)}</ul>
    ${changed.length > MOST_LISTED && html`<p class="faint">More monitors that change: ${changed.length - MOST_LISTED}</p>`}
    <form class="row" method="post" action="/app/monitors/bulk">
      <input type="hidden" name="_csrf" value="${formToken}">
      ${fields.map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)}
      ${changed.length > 0 && html`<button class="primary" name="do" value="apply">Change them</button>`}
      <a href="/app/monitors">Cancel</a>
    </form>`;
}

function renderChanged({ name, changed }: ManyChanged["monitors"][number]): Html {
  const lines = changed.map(({ field, before, after }) => `${labelOf(field)}: ${show(before)} → ${show(after)}`);
  return html`<li><b>${name}</b><ul>${lines.map((line) => html`<li>${line}</li>`)}</ul></li>`;
}

function show(value: unknown): string {
  if (value === null || (Array.isArray(value) && value.length === 0)) return "nothing";
  if (Array.isArray(value)) return value.map((one) => (typeof one === "string" ? one : JSON.stringify(one))).join(", ");
  if (typeof value === "boolean") return value ? "yes" : "no";
  return typeof value === "string" ? value : JSON.stringify(value);
}
