import type { FastifyReply, FastifyRequest } from "fastify";
import type { Sql } from "#control-plane/core/database/connect.ts";
import { memberOf } from "#control-plane/surfaces/dashboard/door/door.ts";
import { sendPage } from "#control-plane/surfaces/dashboard/frame/page.ts";
import { OTHER_ACCOUNT, PROFILE } from "#control-plane/surfaces/dashboard/strings/people.ts";
import { compileTemplate } from "#control-plane/core/pages/templates.ts";
import type { Users } from "#control-plane/people/users/users.ts";

/** Where the accounts of the session's user are read. */
export interface OtherAccountDeps {
  readonly sql: Sql;
  readonly users: Pick<Users, "members">;
}

/** Maximum number of accounts that are asked, the oldest first. */
const MOST_ASKED = 50;

const renderOffer: (data: {
  readonly csrf: string;
  readonly id: number;
  readonly name: string;
  readonly next: string;
}) => string = compileTemplate(`
<h1>${OTHER_ACCOUNT.title}</h1><p>${OTHER_ACCOUNT.intro} <strong><%= it.name %></strong>.</p>
<form method="post" action="/app/profile/account"><input type="hidden" name="_csrf" value="<%= it.csrf %>"><input type="hidden" name="account_id" value="<%= it.id %>">
<input type="hidden" name="next" value="<%= it.next %>"><button class="primary">${OTHER_ACCOUNT.switchTo}</button></form>
`);

/**
 * Sends a page that offers the switch to another account of the session's user, where what the path names is there; null:
 * it is in none of them. Accounts of others are not asked, so that nobody learns what they have.
 */
export async function offerSwitch(
  request: FastifyRequest,
  reply: FastifyReply,
  { sql, users }: OtherAccountDeps,
  has: (accountId: number) => Promise<boolean>,
): Promise<FastifyReply | null> {
  if (request.method !== "GET") return null;
  const session = memberOf(request);
  const accounts = await users.members.accountsOf(sql, session.userId);
  for (const { accountId: id, email } of accounts.slice(0, MOST_ASKED)) {
    // oxlint-disable-next-line no-await-in-loop -- few people have many accounts
    if (id === session.accountId || !(await has(id))) continue;
    const body = renderOffer({ csrf: session.formToken, id, name: PROFILE.account(id, email), next: request.url });
    return sendPage(request, reply, { title: OTHER_ACCOUNT.title, session, body });
  }
  return null;
}
