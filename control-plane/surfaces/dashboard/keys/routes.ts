import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Clock } from "#shared/time/clock.ts";
import type { RecordChanges } from "#control-plane/http/access/changes.ts";
import { keyScopesOf } from "#control-plane/http/access/principal.ts";
import { memberOf, type Door } from "#control-plane/surfaces/dashboard/door/door.ts";
import { readForm } from "#control-plane/surfaces/dashboard/door/form.ts";
import { sendConfirmation } from "#control-plane/surfaces/dashboard/frame/confirmation.ts";
import { sentence } from "#control-plane/surfaces/dashboard/frame/problems.ts";
import { sendPage } from "#control-plane/surfaces/dashboard/frame/page.ts";
import { renderCreatedKey, renderKeysPage, type KeysView } from "#control-plane/surfaces/dashboard/keys/page.ts";
import { actionOf } from "#control-plane/surfaces/dashboard/members/routes.ts";
import { KEYS, MEMBERS } from "#control-plane/surfaces/dashboard/strings/people.ts";
import type { Sql, Transaction } from "#control-plane/core/database/connect.ts";
import type { Turns } from "#control-plane/core/database/turns.ts";
import { transact } from "#control-plane/core/database/transaction.ts";
import { Refusal } from "#control-plane/http/errors.ts";
import type { KeyEntry, Keys } from "#control-plane/accounts/keys/keys.ts";
import { createNewKey, LONGEST_KEY_NAME } from "#control-plane/accounts/keys/new-key.ts";
import { readUsage } from "#control-plane/http/limits/usage.ts";
import type { Plans } from "#control-plane/core/plans/plans.ts";
import { memberChange } from "#control-plane/people/users/members.ts";
import type { Users } from "#control-plane/people/users/users.ts";

const PATH = "/app/keys";
const SHOWN = { schema: { hide: true } } as const;
/** Keys on the page: more than any plan allows. */
const MOST_SHOWN = 1_000;

/** Dependencies of the pages of keys. */
interface KeyPagesDeps {
  readonly door: Door;
  readonly sql: Sql;
  readonly turns: Turns;
  readonly clock: Clock;
  readonly keys: Keys;
  readonly plans: Plans;
  readonly users: Pick<Users, "members">;
  /** Logs changes. */
  readonly record: RecordChanges;
}

interface ById {
  Params: { id: string };
}

/** Registers /app/keys: the API keys of the account and their usage, for owners. */
export function registerKeyPages(scope: FastifyInstance, deps: KeyPagesDeps): void {
  const { door, sql, turns, keys, users, record } = deps;
  const page = door.page({ needs: "manage", isSensitive: true });
  const form = door.form({ needs: "manage", isSensitive: true });

  scope.route({ ...page, ...SHOWN, url: PATH, handler: (request, reply) => sendKeys(request, reply, deps, {}) });

  scope.route({
    ...form,
    ...SHOWN,
    url: PATH,
    async handler(request, reply) {
      const session = memberOf(request);
      const given = readForm(request);
      const typed = { name: given.text("name").trim(), scopes: given.list("scopes") };
      if (Array.from(typed.name).length > LONGEST_KEY_NAME) {
        const nameProblem = KEYS.nameProblem(LONGEST_KEY_NAME);
        return sendKeys(request, reply.code(400), deps, { typed, nameProblem });
      }
      const wanted = {
        account: { id: session.accountId, plan: session.plan },
        name: typed.name === "" ? null : typed.name,
        scopes: typed.scopes.length === 0 ? null : typed.scopes,
        madeBy: session.userId,
      };
      const create = async (tx: Transaction) => {
        // Who is removed at this moment would leave a key behind that no form of the removal has listed.
        if (!(await users.members.lockForOwner(tx, session)))
          throw new Refusal("insufficient_scope", MEMBERS.notAllowed);
        const created = await createNewKey(deps, tx, wanted);
        if (created.kind === "ok") {
          const change = {
            resource: "key",
            id: created.id,
            name: wanted.name ?? created.prefix,
            action: "created",
          } as const;
          await record(tx, memberChange(actionOf(request), [change]));
        }
        return created;
      };
      const made = await turns.run(session.accountId, () => transact(sql, create));
      if (made.kind === "full") return sendKeys(request, reply.code(409), deps, { typed, problem: made.message });
      if (made.kind === "invalid") {
        const problem =
          made.field === "name" ? { nameProblem: made.message } : { scopesProblem: sentence(made.message) };
        return sendKeys(request, reply.code(400), deps, { typed, ...problem });
      }
      const body = renderCreatedKey({ key: made.key });
      return sendPage(request, reply.code(201), { title: KEYS.createdTitle, session, body, isNarrow: true });
    },
  });

  scope.route<ById>({
    ...page,
    ...SHOWN,
    url: `${PATH}/:id/revoke`,
    async handler(request, reply) {
      const { id, name, prefix } = await findKey(request, keys);
      return sendConfirmation(request, reply, {
        title: KEYS.revokeTitle(name ?? prefix),
        sentence: KEYS.revokeSentence,
        action: `${PATH}/${id}/revoke`,
        submit: KEYS.revoke,
        back: PATH,
      });
    },
  });

  scope.route<ById>({
    ...form,
    ...SHOWN,
    url: `${PATH}/:id/revoke`,
    async handler(request, reply) {
      const { id, name, prefix } = await findKey(request, keys);
      const change = { resource: "key", id, name: name ?? prefix, action: "deleted" } as const;
      const isRevoked = await keys.revoke(id, (tx) => record(tx, memberChange(actionOf(request), [change])));
      if (!isRevoked) throw new Refusal("not_found", KEYS.gone);
      return reply.redirect(`${PATH}?done=key_revoked`, 303);
    },
  });
}

/** Finds the key of the session's account whose id is in the path. Throws Refusal. */
async function findKey(request: FastifyRequest<ById>, keys: Keys): Promise<KeyEntry> {
  const { accountId } = memberOf(request);
  const id = /^[1-9]\d{0,14}$/.test(request.params.id) ? Number(request.params.id) : 0;
  const [found] = (await keys.list({ id, accountId }, 1, 0)).keys;
  if (found === undefined) throw new Refusal("not_found", KEYS.gone);
  return found;
}

async function sendKeys(
  request: FastifyRequest,
  reply: FastifyReply,
  { sql, clock, keys, plans }: KeyPagesDeps,
  more: Partial<KeysView>,
): Promise<FastifyReply> {
  const session = memberOf(request);
  const { accountId } = session;
  const plan = plans[session.plan];
  const [listed, counts] = await Promise.all([
    keys.list({ accountId }, MOST_SHOWN, 0),
    readUsage(sql, accountId, clock.now()),
  ]);
  const usage = [
    [KEYS.minute, counts.minute, plan.requestsPerMinute],
    [KEYS.day, counts.day, plan.requestsPerDay],
    [KEYS.count, listed.total, plan.keys],
  ] as const;
  const body = renderKeysPage({ session, keys: listed.keys, usage, allowed: keyScopesOf(plan.scopes), ...more });
  return sendPage(request, reply, { title: KEYS.title, session, body });
}
