import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { keyScopesOf } from "#control-plane/http/access/principal.ts";
import { memberOf } from "#control-plane/surfaces/dashboard/session-guard/session-guard.ts";
import { readForm } from "#control-plane/surfaces/dashboard/session-guard/form.ts";
import { sendConfirmation } from "#control-plane/surfaces/dashboard/layout/confirmation.ts";
import { sentence } from "#control-plane/surfaces/dashboard/layout/problems.ts";
import { sendPage } from "#control-plane/surfaces/dashboard/layout/page.ts";
import { actionOf, noOwner } from "#control-plane/surfaces/dashboard/session-guard/member-writes.ts";
import { counted } from "#control-plane/surfaces/dashboard/layout/amounts.ts";
import type { Transaction } from "#control-plane/core/database/connect.ts";
import { transact } from "#control-plane/core/database/transaction.ts";
import { Refusal } from "#control-plane/http/errors.ts";
import type { KeyEntry, Keys } from "#control-plane/accounts/keys/keys.ts";
import { createNewKey, LONGEST_KEY_NAME } from "#control-plane/accounts/keys/new-key.ts";
import { readUsage } from "#control-plane/http/limits/usage.ts";
import { memberChange } from "#control-plane/people/users/members.ts";
import {
  renderForm,
  renderHidden,
  renderInput,
  renderNote,
  renderProblem,
} from "#control-plane/surfaces/dashboard/layout/fields.ts";
import { formatLocal } from "#control-plane/surfaces/dashboard/layout/times.ts";
import { html, type Html } from "#control-plane/core/pages/html.ts";
import type { Session } from "#control-plane/people/users/sessions.ts";
import type { Dashboard } from "#control-plane/surfaces/dashboard/parts.ts";

const PATH = "/app/keys";
const SHOWN = { schema: { hide: true } } as const;
/** Keys on the page: more than any plan allows. */
const MOST_SHOWN = 1_000;

interface ById {
  Params: { id: string };
}

/** Registers /app/keys: the API keys of the account and their usage, for owners. */
export function registerKeyPages(scope: FastifyInstance, deps: Dashboard): void {
  const { guard, sql, turns, keys, users, record } = deps;
  const page = guard.page({ needs: "manage", isSensitive: true });
  const form = guard.form({ needs: "manage", isSensitive: true });

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
        const nameProblem = `Must have at most ${counted(LONGEST_KEY_NAME, "character")}.`;
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
        if (!(await users.members.lockForOwner(tx, session))) throw noOwner();
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
      const body = renderCreatedKey(made.key);
      return sendPage(request, reply.code(201), { title: "The new key", session, body, isNarrow: true });
    },
  });

  scope.route<ById>({
    ...page,
    ...SHOWN,
    url: `${PATH}/:id/revoke`,
    async handler(request, reply) {
      const { id, name, prefix } = await findKey(request, keys);
      return sendConfirmation(request, reply, {
        title: `Revoke ${name ?? prefix}?`,
        sentence: "Programs that use this key are refused from now on. It cannot be brought back.",
        action: `${PATH}/${id}/revoke`,
        submit: "Revoke",
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
      if (!isRevoked) throw new Refusal("not_found", "There is no such key.");
      return reply.redirect(`${PATH}?done=key_revoked`, 303);
    },
  });
}

/** Finds the key of the session's account whose id is in the path. Throws Refusal. */
async function findKey(request: FastifyRequest<ById>, keys: Keys): Promise<KeyEntry> {
  const { accountId } = memberOf(request);
  const id = /^[1-9]\d{0,14}$/.test(request.params.id) ? Number(request.params.id) : 0;
  const [found] = (await keys.list({ id, accountId }, 1, 0)).keys;
  if (found === undefined) throw new Refusal("not_found", "There is no such key.");
  return found;
}

async function sendKeys(
  request: FastifyRequest,
  reply: FastifyReply,
  { sql, clock, keys, plans }: Dashboard,
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
    ["Requests in this minute", counts.minute, plan.requestsPerMinute],
    ["Requests in this day (UTC)", counts.day, plan.requestsPerDay],
    ["Keys", listed.total, plan.keys],
  ] as const;
  const body = renderKeysPage({ session, keys: listed.keys, usage, allowed: keyScopesOf(plan.scopes), ...more });
  return sendPage(request, reply, { title: "API keys", session, body });
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

/** Renders the keys of the session's account, its usage, and the form for another key. */
function renderKeysPage(view: KeysView): Html {
  const { session, keys, usage, allowed, typed, nameProblem = null, scopesProblem = null, problem = null } = view;
  const form = [
    renderHidden("_csrf", session.formToken),
    renderInput({
      name: "name",
      label: "Name (optional)",
      hint: "What it is for, such as grafana.",
      value: typed?.name ?? "",
      problem: nameProblem,
      maxLength: LONGEST_KEY_NAME,
    }),
    renderScopes(allowed, typed?.scopes ?? [], scopesProblem),
  ];
  return html`
    <h1>API keys</h1>
    <div class="scroll" role="group" tabindex="0" aria-label="Usage"><table><caption class="hidden">Usage</caption><tbody>
      ${usage.map(([label, used, limit]) => html`<tr><th scope="row">${label}</th><td class="number">${used.toLocaleString("en")} of ${limit.toLocaleString("en")}</td></tr>`)}
    </tbody></table></div>
    ${problem !== null && renderNote("bad", problem)}
    ${keys.length === 0 ? html`<p>There are no keys.</p>` : renderKeys(keys, session)}
    <h2>Create a key</h2>
    ${renderForm("/app/keys", form, "Create the key")}`;
}

/** Shown in place of the name of a key that has none. */
export const UNNAMED_KEY = "without a name";
/** Shown in place of the time at which a key was last used, where there is none. */
export const UNUSED_KEY = "no use noted";

function renderKeys(keys: readonly KeyEntry[], { timezone }: Session): Html {
  return html`
    <div class="scroll" role="group" tabindex="0" aria-label="API keys"><table class="cards"><thead><tr>
      <th scope="col">Name</th><th scope="col">Begins with</th><th scope="col">Scopes</th><th scope="col">Created</th>
      <th scope="col">Last used</th><th scope="col"><span class="hidden">Action</span></th></tr></thead><tbody>
      ${keys.map(
        ({ id, name, prefix, scopes, createdAt, usedAt }) => html`
          <tr><th scope="row">${name ?? UNNAMED_KEY}</th><td><code>${prefix}...</code></td>
            <td data-label="Scopes">${scopes === null ? "all" : scopes.join(", ")}</td>
            <td class="date" data-label="Created">${formatLocal(createdAt, timezone)}</td>
            <td class="date" data-label="Last used">${usedAt === null ? UNUSED_KEY : formatLocal(usedAt, timezone)}</td>
            <td><a class="button danger" href="/app/keys/${id}/revoke" aria-label="Revoke ${name ?? prefix}">Revoke</a></td></tr>`,
      )}
    </tbody></table></div>`;
}

function renderScopes(allowed: readonly string[], chosen: readonly string[], problem: string | null): Html {
  return html`
    <fieldset class="field"${problem !== null && html` aria-describedby="p-scopes"`}><legend>Scopes</legend>
      <p class="hint">What the key may call. None chosen: all scopes of the plan, also those that it gets later.</p>
      ${renderProblem("p-scopes", problem)}
      ${allowed.map(
        (name) => html`
          <div class="choice"><input type="checkbox" id="s-${name}" name="scopes" value="${name}"${chosen.includes(name) && html` checked`}><label for="s-${name}">${name}</label></div>`,
      )}
    </fieldset>`;
}

/** Renders a new key, which is shown once. */
function renderCreatedKey(key: string): Html {
  return html`
    <h1>The new key</h1><p>It is shown only now. Keep it where secrets are kept.</p>
    <div class="field"><label for="secret">Key</label><input id="secret" class="mono" readonly value="${key}"></div>
    <p class="row"><button type="button" data-copy="secret">Copy</button> <a href="/app/keys">Back to the keys</a></p>`;
}
