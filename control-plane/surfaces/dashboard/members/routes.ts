import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { memberOf } from "#control-plane/surfaces/dashboard/session-guard/session-guard.ts";
import { readForm } from "#control-plane/surfaces/dashboard/session-guard/form.ts";
import { sendConfirmation } from "#control-plane/surfaces/dashboard/layout/confirmation.ts";
import { sendPage } from "#control-plane/surfaces/dashboard/layout/page.ts";
import {
  endBelongings,
  hasAny,
  readBelongings,
  renderBelongings,
} from "#control-plane/surfaces/dashboard/members/belongings.ts";
import {
  renderCreatedInvite,
  renderMembersPage,
  type MembersView,
} from "#control-plane/surfaces/dashboard/members/page.ts";
import { actionOf, noOwner } from "#control-plane/surfaces/dashboard/session-guard/member-writes.ts";
import type { Transaction } from "#control-plane/core/database/connect.ts";
import { transact } from "#control-plane/core/database/transaction.ts";
import { Refusal } from "#control-plane/http/errors.ts";
import { spellMailAddress } from "#control-plane/core/mail-address.ts";
import { memberChange, type ListedMember, type MemberChange } from "#control-plane/people/users/members.ts";
import { ROLES, rolesAbove, type Role } from "#control-plane/people/users/roles.ts";
import type { Dashboard } from "#control-plane/surfaces/dashboard/parts.ts";

const PATH = "/app/members";
const SHOWN = { schema: { hide: true } } as const;
const MOST_INVITES = 100;

interface ById {
  Params: { id: string };
}

/** Registers /app/members: members, their roles, and invites, for owners. */
export function registerMembers(scope: FastifyInstance, deps: Dashboard): void {
  const { guard, users, sql, turns, record, baseUrl, canMail } = deps;
  const page = guard.page({ needs: "manage", isSensitive: true });
  const form = guard.form({ needs: "manage", isSensitive: true });

  scope.route({ ...page, ...SHOWN, url: PATH, handler: (request, reply) => sendMembers(request, reply, deps, {}) });

  scope.route<ById>({
    ...form,
    ...SHOWN,
    url: `${PATH}/:id/role`,
    async handler(request, reply) {
      const session = memberOf(request);
      const member = await findMember(request, deps);
      const given = readForm(request);
      const role = roleOf(given.text("role"));
      if (role === null) throw new Refusal("missing_parameter", `role must be one of ${ROLES.join(", ")}.`);
      const { accountId } = session;
      const isOwn = member.userId === session.userId;
      const isLower = rolesAbove(role).includes(member.role);
      if (isLower && !given.has("confirmed")) {
        const belongings = await readBelongings(deps, accountId, member, role);
        if (isOwn || hasAny(belongings)) {
          return sendConfirmation(request, reply, {
            title: isOwn ? "Give up your role as owner?" : `Lower the role of ${member.email}?`,
            sentence: isOwn
              ? "You sign in again. Only another owner can give the role back to you."
              : `${member.email} becomes ${role}, and signs in again.`,
            action: `${PATH}/${member.userId}/role`,
            submit: "Change",
            back: PATH,
            fields: { role, confirmed: "1" },
            parts: renderBelongings(belongings, member, session, false),
          });
        }
      }
      const also = isLower ? endBelongings(deps, accountId, member, given, false) : undefined;
      const changed = await users.members.setRole(actionOf(request), member.userId, role, also);
      return answerChange(request, reply, deps, changed, isOwn ? "/sign-in" : `${PATH}?done=role`);
    },
  });

  scope.route<ById>({
    ...page,
    ...SHOWN,
    url: `${PATH}/:id/remove`,
    async handler(request, reply) {
      const session = memberOf(request);
      const member = await findMember(request, deps);
      const { userId, email } = member;
      const isOwn = userId === session.userId;
      const belongings = await readBelongings(deps, session.accountId, member, null);
      return sendConfirmation(request, reply, {
        title: isOwn ? "Leave this account?" : `Remove ${email}?`,
        sentence: isOwn
          ? "You can no longer sign in to it. Only another owner can invite you again."
          : `${email} can no longer sign in to this account. All sessions there end.`,
        action: `${PATH}/${userId}/remove`,
        submit: isOwn ? "Leave" : "Remove",
        back: PATH,
        parts: renderBelongings(belongings, member, session, true),
      });
    },
  });

  scope.route<ById>({
    ...form,
    ...SHOWN,
    url: `${PATH}/:id/remove`,
    async handler(request, reply) {
      const session = memberOf(request);
      const member = await findMember(request, deps);
      const { userId } = member;
      const isOwn = userId === session.userId;
      const also = endBelongings(deps, session.accountId, member, readForm(request), true);
      const changed = await users.members.remove(actionOf(request), userId, also);
      return answerChange(request, reply, deps, changed, isOwn ? "/sign-in" : `${PATH}?done=member_removed`);
    },
  });

  scope.route({
    ...form,
    ...SHOWN,
    url: `${PATH}/invites`,
    async handler(request, reply) {
      const session = memberOf(request);
      const given = readForm(request);
      const typed = { email: given.text("email").trim(), role: given.text("role") };
      const email = typed.email === "" ? null : spellMailAddress(typed.email);
      if (typed.email !== "" && email === null) {
        return sendMembers(request, reply.code(400), deps, {
          typed,
          emailProblem: "Must be an email address such as ops@example.com, or empty.",
        });
      }
      const role = roleOf(typed.role);
      if (role === null) throw new Refusal("missing_parameter", `role must be one of ${ROLES.join(", ")}.`);
      const { accountId } = session;
      const mailedTo = canMail ? email : null;
      const create = async (tx: Transaction) => {
        if (!(await users.members.lockForOwner(tx, session))) throw noOwner();
        if ((await users.countInvites(tx, accountId)) >= MOST_INVITES) return "too_many" as const;
        const created = await users.invite(tx, { accountId, email, role, madeBy: session.userId });
        const change = { resource: "invite", id: created.id, name: email, action: "created" } as const;
        await record(tx, memberChange(actionOf(request), [change]));
        const mail = { purpose: "invite", email: mailedTo ?? "", link: created, accountId } as const;
        const exceeded = mailedTo === null ? null : await users.mails.request(tx, mail);
        if (exceeded === "invites") throw tooManyMailed();
        return { ...created, limit: exceeded };
      };
      const made = await turns.run(accountId, () => transact(sql, create));
      if (made === "too_many")
        return sendMembers(request, reply.code(409), deps, {
          typed,
          problem: "There are 100 open invites. Revoke one first.",
        });
      const { token, expiresAt, limit } = made;
      const created = { url: `${baseUrl}/invite/${token}`, expiresAt, mailedTo, limit };
      const body = renderCreatedInvite(created, session);
      return sendPage(request, reply.code(201), { title: "The invite", session, body, isNarrow: true });
    },
  });

  scope.route<ById>({
    ...form,
    ...SHOWN,
    url: `${PATH}/invites/:id/revoke`,
    async handler(request, reply) {
      const { accountId } = memberOf(request);
      const id = Number(request.params.id);
      if (!Number.isSafeInteger(id)) throw new Refusal("not_found", "There is no such invite.");
      await transact(sql, async (tx) => {
        // One that is used or over in the meantime does not work any more either.
        if (!(await users.revokeInvite(tx, accountId, id))) return;
        await record(tx, memberChange(actionOf(request), [{ resource: "invite", id, name: null, action: "deleted" }]));
      });
      return reply.redirect(`${PATH}?done=invite_revoked`, 303);
    },
  });
}

function tooManyMailed(): Refusal {
  const message =
    "This account has mailed 50 invites in the last hour. Wait an hour, or create invites without an address.";
  return new Refusal("rate_limit_exceeded", { message, headers: { "retry-after": "3600" } });
}

function roleOf(text: string): Role | null {
  return ROLES.find((role) => role === text) ?? null;
}

/** Finds the member of the session's account whose id is in the path. Throws Refusal. */
async function findMember(request: FastifyRequest<ById>, { users, sql }: Dashboard): Promise<ListedMember> {
  const members = await users.members.list(sql, memberOf(request).accountId);
  const found = members.find(({ userId }) => String(userId) === request.params.id);
  if (found === undefined) throw new Refusal("not_found", "There is no such member.");
  return found;
}

function answerChange(
  request: FastifyRequest,
  reply: FastifyReply,
  deps: Dashboard,
  changed: MemberChange,
  path: string,
): Promise<FastifyReply> | FastifyReply {
  if (changed === "gone") throw new Refusal("not_found", "There is no such member.");
  if (changed === "not_allowed") throw noOwner();
  if (changed === "last_owner")
    return sendMembers(request, reply.code(409), deps, {
      problem: "An account needs an owner. Make another member one first.",
    });
  deps.keys.lookup.forgetAccount(memberOf(request).accountId);
  return reply.redirect(path, 303);
}

async function sendMembers(
  request: FastifyRequest,
  reply: FastifyReply,
  { users, sql, canMail }: Dashboard,
  more: Partial<MembersView>,
): Promise<FastifyReply> {
  const session = memberOf(request);
  const [members, invites] = await Promise.all([
    users.members.list(sql, session.accountId),
    users.invites(sql, session.accountId),
  ]);
  const body = renderMembersPage({ session, members, invites, canMail, ...more });
  return sendPage(request, reply, { title: "Members", session, body });
}
