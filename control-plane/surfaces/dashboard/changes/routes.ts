import type { FastifyInstance } from "fastify";
import type { Changes } from "#control-plane/accounts/changes/changes.ts";
import type { ShownChange } from "#control-plane/accounts/changes/view.ts";
import { memberOf, type Door } from "#control-plane/surfaces/dashboard/door/door.ts";
import { sendPage } from "#control-plane/surfaces/dashboard/frame/page.ts";
import { formatLocal } from "#control-plane/surfaces/dashboard/frame/times.ts";
import { CHANGES } from "#control-plane/surfaces/dashboard/strings/people.ts";
import type { Sql } from "#control-plane/core/database/connect.ts";
import { compileTemplate } from "#control-plane/core/pages/templates.ts";

const ROWS = 50;
const ALL = { subject: null, actor: null, from: null, to: null };
const MOST_PAGES = 100_000;

/** Dependencies of the log's page. */
interface ChangesPageDeps {
  readonly door: Door;
  readonly sql: Sql;
  readonly changes: Changes;
}

/** Registers /app/changes: who changed what of the account. */
export function registerChangesPage(scope: FastifyInstance, { door, sql, changes }: ChangesPageDeps): void {
  scope.route({
    ...door.page({ needs: "read" }),
    url: "/app/changes",
    schema: { hide: true },
    async handler(request, reply) {
      const session = memberOf(request);
      const { page: given } = request.query as { readonly page?: unknown };
      const page = typeof given === "string" && /^[1-9]\d{0,4}$/.test(given) ? Math.min(Number(given), MOST_PAGES) : 1;
      const { rows, total } = await changes.list(sql, session.accountId, ALL, {
        limit: ROWS,
        offset: (page - 1) * ROWS,
      });
      const body = render({
        rows: rows.map((row) => toRow(row, session.timezone)),
        newer: page > 1 ? page - 1 : null,
        older: page * ROWS < total ? page + 1 : null,
      });
      return sendPage(request, reply, { title: CHANGES.title, session, body });
    },
  });
}

interface Row {
  readonly at: string;
  readonly when: string;
  readonly who: string;
  readonly what: string;
  readonly fields: readonly string[];
  readonly from: string;
}

const render: (data: {
  readonly rows: readonly Row[];
  readonly newer: number | null;
  readonly older: number | null;
}) => string = compileTemplate(`
<h1>${CHANGES.title}</h1><p class="faint">${CHANGES.intro}</p>
<% if (it.rows.length === 0) { %><p>${CHANGES.none}</p><% } else { %>
<ul class="rows changes">
<% for (const row of it.rows) { %><li><time datetime="<%= row.at %>"><%= row.when %></time><div class="what"><strong><%= row.what %></strong><% for (const field of row.fields) { %><p><%= field %></p><% } %></div>
<div class="when"><%= row.who %><% if (row.from !== "") { %><p class="faint">${CHANGES.from} <%= row.from %></p><% } %></div></li><% } %>
</ul><% } %>
<% if (it.newer !== null || it.older !== null) { %><nav class="row" aria-label="${CHANGES.pages}">
<% if (it.newer !== null) { %><a class="button" rel="prev" href="/app/changes?page=<%= it.newer %>">${CHANGES.newer}</a><% } %>
<% if (it.older !== null) { %><a class="button" rel="next" href="/app/changes?page=<%= it.older %>">${CHANGES.older}</a><% } %></nav><% } %>
`);

function toRow(
  { at, actor, address, subject: { kind, id, name }, action, changed }: ShownChange,
  timezone: string,
): Row {
  const subject = `${CHANGES.resources[kind]} ${name ?? id ?? ""}`.trimEnd();
  return {
    at,
    when: formatLocal(new Date(at), timezone),
    who: nameOf(actor),
    what: `${subject} ${action}`,
    fields: changed.map(describe),
    from: address ?? "",
  };
}

/** Writes a field with its values before and after; a secret has none. */
function describe({ field, before, after }: ShownChange["changed"][number]): string {
  if (before === after) return field;
  const write = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value));
  return `${field}: ${write(before)} → ${write(after)}`;
}

function nameOf({ kind, id, name }: ShownChange["actor"]): string {
  if (kind === "operator" || kind === "system") return CHANGES[kind];
  const named = name ?? String(id);
  return kind === "key" ? CHANGES.key(named) : named;
}
