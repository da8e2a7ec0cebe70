import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { renderBulk, renderBulkPlan } from "#control-plane/surfaces/dashboard/bulk/page.ts";
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
