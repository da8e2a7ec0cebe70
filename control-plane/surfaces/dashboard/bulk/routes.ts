import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { memberOf, type Door } from "#control-plane/surfaces/dashboard/door/door.ts";
import { readForm, toId, type Form } from "#control-plane/surfaces/dashboard/door/form.ts";
import type { MemberWrites } from "#control-plane/surfaces/dashboard/door/member-writes.ts";
import { sendPage } from "#control-plane/surfaces/dashboard/frame/page.ts";
import { readListQuery } from "#control-plane/surfaces/dashboard/monitors/list-query.ts";
import type { Overviews } from "#control-plane/surfaces/dashboard/monitors/overviews.ts";
import { selectRows } from "#control-plane/surfaces/dashboard/monitors/select-rows.ts";
import { BULK } from "#control-plane/surfaces/dashboard/strings/monitors.ts";
import { Refusal } from "#control-plane/http/errors.ts";
import { requireWritten } from "#control-plane/http/written.ts";
import { MOST_IDS } from "#control-plane/monitors/bulk/fields.ts";
import { parseBulk } from "#control-plane/monitors/bulk/parse.ts";
import type { Monitors } from "#control-plane/monitors/monitors.ts";
import { changeOf } from "#control-plane/monitors/changed-fields.ts";
import { FIELD_WORDS } from "#control-plane/surfaces/dashboard/strings/monitor-form.ts";
import type { ManyChanged } from "#control-plane/monitors/bulk/bulk.ts";
import { compileTemplate } from "#control-plane/core/pages/templates.ts";

/** Dependencies of the change of many. */
interface BulkDeps {
  readonly door: Door;
  readonly monitors: Monitors;
  readonly overviews: Overviews;
  readonly writes: MemberWrites;
}

/** Registers the page that changes all monitors of a filter in the same way: one form, what it changes, then the change. */
export function registerBulk(scope: FastifyInstance, { door, monitors, overviews, writes }: BulkDeps): void {
  scope.route({
    ...door.page({ needs: "write" }),
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
    ...door.form({ needs: "write" }),
    url: "/app/monitors/bulk",
    schema: { hide: true },
    async handler(request, reply) {
      const { accountId, formToken } = memberOf(request);
      const form = readForm(request);
      const ids = form
        .text("ids")
        .split(",")
        .flatMap((id) => toId(id) ?? []);
      const typed = new Map(BULK_FIELDS.map((name) => [name, form.text(name)]));
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

/** The fields of the form. */
const BULK_FIELDS = [
  "interval_minutes",
  "locations",
  "tags_add",
  "tags_remove",
  "notify_email",
  "notify_emails",
  "is_active",
  "timeout_seconds",
  "degraded_ms",
] as const;

/** Returns what the form sets: a field that is empty stays as each monitor has it. */
function setOf(form: Form): Record<string, unknown> {
  const set: Record<string, unknown> = {};
  for (const name of BULK_FIELDS) {
    const text = form.text(name).trim();
    if (text === "") continue;
    if (name === "notify_email" || name === "is_active") set[name] = text === "yes";
    else if (name === "locations" || name === "notify_emails")
      set[name] = text.split(/[\r\n]+/).map((one) => one.trim());
    else if (name === "tags_add" || name === "tags_remove") set[name] = text.split(/[\s,]+/);
    else set[name] = /^\d{1,9}$/.test(text) ? Number(text) : text;
  }
  return set;
}

function send(request: FastifyRequest, reply: FastifyReply, body: string): Promise<FastifyReply> {
  const session = memberOf(request);
  return sendPage(request, reply, { title: BULK.title, session, section: "monitors", body, isForm: true });
}

/** The form that changes many monitors. */
interface BulkForm {
  readonly ids: readonly number[];
  readonly formToken: string;
  readonly problem: string | null;
  /** What was typed, by the name of the field. */
  readonly typed: ReadonlyMap<string, string>;
}

/** Monitors whose changes are listed one by one. */
const MOST_LISTED = 200;

const render: (form: {
  readonly monitors: string;
  readonly ids: string;
  readonly formToken: string;
  readonly problem: string | null;
  readonly fields: readonly Field[];
}) => string = compileTemplate(`
<h1>${BULK.title}</h1><p><%= it.monitors %> ${BULK.hint}</p>
<% if (it.problem !== null) { %><p class="note bad" role="alert"><%= it.problem %></p><% } %>
<form class="stack" method="post" action="/app/monitors/bulk"><input type="hidden" name="_csrf" value="<%= it.formToken %>">
<input type="hidden" name="ids" value="<%= it.ids %>">
<% for (const field of it.fields) { %><div class="field"><label for="f-<%= field.name %>"><%= field.label %></label>
<% if (field.isChoice) { %><select id="f-<%= field.name %>" name="<%= field.name %>"><option value="">${BULK.keep}</option><option value="yes"<% if (field.value === "yes") { %> selected<% } %>>${BULK.yes}</option><option value="no"<% if (field.value === "no") { %> selected<% } %>>${BULK.no}</option></select>
<% } else if (field.isLong) { %><textarea id="f-<%= field.name %>" name="<%= field.name %>" rows="2" maxlength="10000" placeholder="${BULK.keep}">
<%= field.value %></textarea>
<% } else { %><input id="f-<%= field.name %>" name="<%= field.name %>" value="<%= field.value %>" maxlength="2000" autocomplete="off" placeholder="${BULK.keep}"><% } %></div><% } %>
<div class="row"><button class="primary">${BULK.show}</button> <a href="/app/monitors">${BULK.cancel}</a></div></form>
`);

interface Field {
  readonly name: string;
  readonly label: string;
  readonly value: string;
  readonly isChoice: boolean;
  readonly isLong: boolean;
}

/** Renders the form: a field that stays empty changes nothing. */
function renderBulk({ ids, formToken, problem, typed }: BulkForm): string {
  const labelled = (name: string, label: string, how: "text" | "choice" | "long" = "text"): Field => {
    return { name, label, value: typed.get(name) ?? "", isChoice: how === "choice", isLong: how === "long" };
  };
  const word = (name: string): string => FIELD_WORDS[name]?.label ?? name;
  return render({
    monitors: BULK.monitors(ids.length),
    ids: ids.join(","),
    formToken,
    problem,
    fields: [
      labelled("is_active", BULK.active, "choice"),
      labelled("interval_minutes", word("interval_minutes")),
      labelled("locations", word("locations"), "long"),
      labelled("timeout_seconds", word("timeout_seconds")),
      labelled("degraded_ms", word("degraded_ms")),
      labelled("tags_add", BULK.tagsAdd),
      labelled("tags_remove", BULK.tagsRemove),
      labelled("notify_email", word("notify_email"), "choice"),
      labelled("notify_emails", word("notify_emails"), "long"),
    ],
  });
}

const renderPlan: (plan: {
  readonly change: string;
  readonly rest: string;
  readonly isChange: boolean;
  readonly rows: readonly { readonly name: string; readonly lines: readonly string[] }[];
  readonly more: number;
  readonly formToken: string;
  readonly fields: readonly { readonly name: string; readonly value: string }[];
}) => string = compileTemplate(`
<h1>${BULK.planTitle}</h1><p><b><%= it.change %></b>, <%= it.rest %></p>
<ul><% for (const row of it.rows) { %><li><b><%= row.name %></b><ul><% for (const line of row.lines) { %><li><%= line %></li><% } %></ul></li><% } %></ul>
<% if (it.more > 0) { %><p class="faint">${BULK.more} <%= it.more %></p><% } %>
<form class="row" method="post" action="/app/monitors/bulk"><input type="hidden" name="_csrf" value="<%= it.formToken %>">
<% for (const field of it.fields) { %><input type="hidden" name="<%= field.name %>" value="<%= field.value %>"><% } %>
<% if (it.isChange) { %><button class="primary" name="do" value="apply">${BULK.apply}</button><% } %> <a href="/app/monitors">${BULK.cancel}</a></form>
`);

/** Renders what a change would do to each monitor, before it is done. */
function renderBulkPlan({
  ids,
  formToken,
  typed,
  monitors,
}: Omit<BulkForm, "problem"> & { readonly monitors: ManyChanged["monitors"] }): string {
  const changed = monitors.filter((one) => one.changed.length > 0);
  return renderPlan({
    change: BULK.changed(changed.length),
    rest: BULK.unchanged(monitors.length - changed.length),
    isChange: changed.length > 0,
    rows: changed.slice(0, MOST_LISTED).map(({ name, changed: fields }) => ({
      name,
      lines: fields.map(
        ({ field, before, after }) => `${FIELD_WORDS[field]?.label ?? field}: ${show(before)} → ${show(after)}`,
      ),
    })),
    more: Math.max(0, changed.length - MOST_LISTED),
    formToken,
    fields: [{ name: "ids", value: ids.join(",") }, ...Array.from(typed, ([name, value]) => ({ name, value }))],
  });
}

function show(value: unknown): string {
  if (value === null || (Array.isArray(value) && value.length === 0)) return BULK.nothing;
  if (Array.isArray(value)) return value.map((one) => (typeof one === "string" ? one : JSON.stringify(one))).join(", ");
  if (typeof value === "boolean") return value ? BULK.yes : BULK.no;
  return typeof value === "string" ? value : JSON.stringify(value);
}
