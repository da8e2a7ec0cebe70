import type { FastifyReply, FastifyRequest } from "fastify";
import type { Sql } from "#control-plane/core/database/connect.ts";
import { memberOf } from "#control-plane/surfaces/dashboard/session-guard/session-guard.ts";
import { sendPage } from "#control-plane/surfaces/dashboard/layout/page.ts";
import { renderHidden } from "#control-plane/surfaces/dashboard/layout/fields.ts";
import { html } from "#control-plane/core/pages/html.ts";
import type { Users } from "#control-plane/people/users/users.ts";

/** Maximum number of accounts that are asked, the oldest first. */
const MOST_ASKED = 50;

/** Names an account by its address; one that has none by its number. */
export function accountName(id: number, email: string | null): string {
  return email ?? `Account ${id}`;
}

/**
 * Sends a page that offers the switch to another account of the session's user, where what the path names is there; null:
 * it is in none of them. Accounts of others are not asked, so that nobody learns what they have.
 */
export async function offerSwitch(
  request: FastifyRequest,
  reply: FastifyReply,
  { sql, users }: { readonly sql: Sql; readonly users: Pick<Users, "members"> },
  has: (accountId: number) => Promise<boolean>,
): Promise<FastifyReply | null> {
  if (request.method !== "GET") return null;
  const session = memberOf(request);
  const accounts = await users.members.accountsOf(sql, session.userId);
  for (const { accountId: id, email } of accounts.slice(0, MOST_ASKED)) {
    // oxlint-disable-next-line no-await-in-loop -- few people have many accounts
    if (id === session.accountId || !(await has(id))) continue;
    const title = "This is in another account of yours";
    const body = html`
      <h1>${title}</h1><p>What this link leads to belongs to the account <strong>${accountName(id, email)}</strong>.</p>
      <form method="post" action="/app/profile/account">
        ${renderHidden("_csrf", session.formToken)}${renderHidden("account_id", String(id))}${renderHidden("next", request.url)}
        <button class="primary">Switch to it and continue</button>
      </form>`;
    return sendPage(request, reply, { title, session, body });
  }
  return null;
}
