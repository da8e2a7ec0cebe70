import type { FastifyInstance } from "fastify";
import type { ShownChange } from "#control-plane/accounts/changes/serialize.ts";
import { memberOf } from "#control-plane/surfaces/dashboard/session-guard/session-guard.ts";
import { sendPage } from "#control-plane/surfaces/dashboard/layout/page.ts";
import { formatLocal } from "#control-plane/surfaces/dashboard/layout/times.ts";
import { html, type Html } from "#control-plane/core/pages/html.ts";
import type { Session } from "#control-plane/people/users/sessions.ts";
import type { Dashboard } from "#control-plane/surfaces/dashboard/parts.ts";

const ROWS = 50;
const ALL = { subject: null, actor: null, from: null, to: null };
const MOST_PAGES = 100_000;

/** Registers /app/changes: who changed what of the account. */
export function registerChangesPage(scope: FastifyInstance, { guard, sql, changes }: Dashboard): void {
  scope.route({
    ...guard.page({ needs: "read" }),
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
      const body = html`
        <h1>Log of changes</h1><p class="faint">Who changed what of this account, newest first. A change is kept for a year.</p>
        ${rows.length === 0 ? html`<p>Nothing has changed yet.</p>` : html`<ul class="rows changes">${rows.map((row) => renderChange(row, session))}</ul>`}
        ${renderPages(page, total)}`;
      return sendPage(request, reply, { title: "Log of changes", session, body });
    },
  });
}

/** Renders the way to the pages of the log before and after one; null if it has one page. */
function renderPages(page: number, total: number): Html | null {
  const isLast = page * ROWS >= total;
  if (page === 1 && isLast) return null;
  return html`
    <nav class="row" aria-label="Pages of the log">
      ${page > 1 && html`<a class="button" rel="prev" href="/app/changes?page=${page - 1}">Newer</a>`}
      ${!isLast && html`<a class="button" rel="next" href="/app/changes?page=${page + 1}">Older</a>`}
    </nav>`;
}

/** What the subjects of changes are called. */
const SUBJECTS = {
  account: "account",
  audit_secret: "audit secret",
  incident: "incident",
  invite: "invite",
  key: "API key",
  maintenance: "maintenance",
  member: "member",
  monitor: "monitor",
  session: "session",
  status_page: "status page",
  webhook: "webhook",
} as const;

function renderChange(
  { at, actor, address, subject: { kind, id, name }, action, changed }: ShownChange,
  { timezone }: Pick<Session, "timezone">,
): Html {
  const subject = `${SUBJECTS[kind]} ${name ?? id ?? ""}`.trimEnd();
  return html`
    <li><time datetime="${at}">${formatLocal(new Date(at), timezone)}</time>
      <div class="what"><strong>${subject} ${action}</strong>${changed.map((field) => html`<p>${describe(field)}</p>`)}</div>
      <div class="when">${nameOf(actor)}${address !== null && html`<p class="faint">From ${address}</p>`}</div></li>`;
}

/** Writes a field with its values before and after; a secret has none. */
function describe({ field, before, after }: ShownChange["changed"][number]): string {
  if (before === after) return field;
  const write = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value));
  return `${field}: ${write(before)} → ${write(after)}`;
}

function nameOf({ kind, id, name }: ShownChange["actor"]): string {
  if (kind === "operator") return "the operator";
  if (kind === "system") return "the service";
  const named = name ?? String(id);
  return kind === "key" ? `key ${named}` : named;
}
