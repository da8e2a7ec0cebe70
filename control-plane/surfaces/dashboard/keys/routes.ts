import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Clock } from "#shared/time/clock.ts";
import type { RecordChanges } from "#control-plane/http/access/changes.ts";
import { keyScopesOf } from "#control-plane/http/access/principal.ts";
import { memberOf, type Door } from "#control-plane/surfaces/dashboard/door/door.ts";
import { readForm } from "#control-plane/surfaces/dashboard/door/form.ts";
import { sendConfirmation } from "#control-plane/surfaces/dashboard/frame/confirmation.ts";
import { sentence } from "#control-plane/surfaces/dashboard/frame/problems.ts";
import { sendPage } from "#control-plane/surfaces/dashboard/frame/page.ts";
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
import { renderForm, renderHidden, renderInput, renderNote } from "#control-plane/surfaces/dashboard/frame/fields.ts";
import { formatLocal } from "#control-plane/surfaces/dashboard/frame/times.ts";
import { compileTemplate } from "#control-plane/core/pages/templates.ts";
import type { Session } from "#control-plane/people/users/sessions.ts";

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

/** What the page shows, with what was typed into its form and what is wrong with it. */
interface KeysView {
  readonly session: Session;
  readonly keys: readonly KeyEntry[];
  /** What is used and allowed, by label. */
  readonly usage: readonly (readonly [label: string, used: number, limit: number])[];
  /** Scopes that the plan allows. */
  readonly allowed: readonly string[];
  readonly typed?: { readonly name: string; readonly scopes: readonly string[] };
  readonly nameProblem?: string | null;
  readonly scopesProblem?: string | null;
  readonly problem?: string | null;
}

const renderUsage: (data: { readonly rows: readonly (readonly [string, string])[] }) => string = compileTemplate(`
<h1>${KEYS.title}</h1>
<div class="scroll" role="group" tabindex="0" aria-label="${KEYS.usage}"><table><caption class="hidden">${KEYS.usage}</caption><tbody>
<% for (const row of it.rows) { %><tr><th scope="row"><%= row[0] %></th><td class="number"><%= row[1] %></td></tr><% } %>
</tbody></table></div>
`);

interface Row {
  readonly id: number;
  readonly name: string;
  readonly prefix: string;
  readonly scopes: string;
  readonly created: string;
  readonly used: string;
  readonly label: string;
}

const renderKeys: (data: { readonly rows: readonly Row[] }) => string = compileTemplate(`
<% if (it.rows.length === 0) { %><p>${KEYS.none}</p><% } else { %>
<div class="scroll" role="group" tabindex="0" aria-label="${KEYS.title}"><table class="cards"><thead><tr><th scope="col">${KEYS.name}</th><th scope="col">${KEYS.start}</th><th scope="col">${KEYS.scopes}</th><th scope="col">${KEYS.created}</th><th scope="col">${KEYS.used}</th><th scope="col"><span class="hidden">${KEYS.action}</span></th></tr></thead><tbody>
<% for (const row of it.rows) { %><tr><th scope="row"><%= row.name %></th><td><code><%= row.prefix %></code></td><td data-label="${KEYS.scopes}"><%= row.scopes %></td><td class="date" data-label="${KEYS.created}"><%= row.created %></td><td class="date" data-label="${KEYS.used}"><%= row.used %></td>
<td><a class="button danger" href="/app/keys/<%= row.id %>/revoke" aria-label="<%= row.label %>">${KEYS.revoke}</a></td></tr><% } %>
</tbody></table></div><% } %>
`);

const renderScopes: (data: {
  readonly scopes: readonly { readonly name: string; readonly isChosen: boolean }[];
  readonly problem: string | null;
}) => string = compileTemplate(`
<fieldset class="field"<% if (it.problem !== null) { %> aria-describedby="p-scopes"<% } %>><legend>${KEYS.scopes}</legend><p class="hint">${KEYS.scopesHint}</p>
<% if (it.problem !== null) { %><p class="problem" id="p-scopes"><%= it.problem %></p><% } %>
<% for (const scope of it.scopes) { %><div class="choice"><input type="checkbox" id="s-<%= scope.name %>" name="scopes" value="<%= scope.name %>"<% if (scope.isChosen) { %> checked<% } %>><label for="s-<%= scope.name %>"><%= scope.name %></label></div><% } %>
</fieldset>
`);

/** Renders the keys of the session's account, its usage, and the form for another key. */
function renderKeysPage(view: KeysView): string {
  const { session, keys, usage, allowed, typed, nameProblem = null, scopesProblem = null, problem = null } = view;
  const form = [
    renderHidden("_csrf", session.formToken),
    renderInput({
      name: "name",
      label: KEYS.nameLabel,
      hint: KEYS.nameHint,
      value: typed?.name ?? "",
      problem: nameProblem,
      maxLength: LONGEST_KEY_NAME,
    }),
    renderScopes({
      scopes: allowed.map((name) => ({ name, isChosen: typed?.scopes.includes(name) === true })),
      problem: scopesProblem,
    }),
  ];
  return [
    renderUsage({ rows: usage.map(([label, used, limit]) => [label, KEYS.of(used, limit)] as const) }),
    ...(problem === null ? [] : [renderNote("bad", problem)]),
    renderKeys({ rows: keys.map((key) => toRow(key, session)) }),
    `<h2>${KEYS.createTitle}</h2>`,
    renderForm("/app/keys", form, KEYS.create),
  ].join("");
}

function toRow({ id, name, prefix, scopes, createdAt, usedAt }: KeyEntry, { timezone }: Session): Row {
  return {
    id,
    name: name ?? KEYS.unnamed,
    prefix: `${prefix}...`,
    scopes: scopes === null ? KEYS.allScopes : scopes.join(", "),
    created: formatLocal(createdAt, timezone),
    used: usedAt === null ? KEYS.unused : formatLocal(usedAt, timezone),
    label: KEYS.revokeOf(name ?? prefix),
  };
}

/** Renders a new key, which is shown once. */
const renderCreatedKey: (data: { readonly key: string }) => string = compileTemplate(`
<h1>${KEYS.createdTitle}</h1><p>${KEYS.shownOnce}</p>
<div class="field"><label for="secret">${KEYS.key}</label><input id="secret" class="mono" readonly value="<%= it.key %>"></div>
<p class="row"><button type="button" data-copy="secret">${KEYS.copy}</button> <a href="/app/keys">${KEYS.back}</a></p>
`);
