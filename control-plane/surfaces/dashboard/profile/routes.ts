import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { sessionCookie, setSessionCookie } from "#control-plane/surfaces/dashboard/door/cookie.ts";
import { memberOf } from "#control-plane/surfaces/dashboard/door/door.ts";
import { idIn, readForm } from "#control-plane/surfaces/dashboard/door/form.ts";
import { sendPage } from "#control-plane/surfaces/dashboard/frame/page.ts";
import { renderProfile, type ProfileProblems } from "#control-plane/surfaces/dashboard/profile/page.ts";
import { clientOf, refuse } from "#control-plane/surfaces/dashboard/door/attempt.ts";
import { nextPath, type SignInDeps } from "#control-plane/surfaces/dashboard/sign-in/routes.ts";
import { PROFILE } from "#control-plane/surfaces/dashboard/strings/people.ts";
import { transact } from "#control-plane/core/database/transaction.ts";
import { Refusal } from "#control-plane/http/errors.ts";
import { openTimeZone } from "#control-plane/core/time-zone.ts";
import { passwordProblem } from "#control-plane/people/users/passwords.ts";

const PATH = "/app/profile";
const NO_MEMBER = "You are not a member of this account.";
const SHOWN = { schema: { hide: true } } as const;

/** Registers /app/profile: time zone, password, sessions and accounts of the signed-in user. */
export function registerProfile(scope: FastifyInstance, deps: SignInDeps): void {
  const { door, users, sql, isSecure } = deps;
  const page = door.page({ needs: "read" });
  const form = door.form({ needs: "read" });

  scope.route({ ...page, ...SHOWN, url: PATH, handler: (request, reply) => sendProfile(request, reply, deps, {}) });

  scope.route({
    ...form,
    ...SHOWN,
    url: `${PATH}/time-zone`,
    async handler(request, reply) {
      const timezone = readForm(request).text("timezone").trim();
      if (openTimeZone(timezone) === null) return sendProfile(request, reply.code(400), deps, { timezone });
      await users.setTimezone(memberOf(request), timezone, clientOf(request));
      return reply.redirect(`${PATH}?done=timezone`, 303);
    },
  });

  scope.route({
    ...form,
    ...SHOWN,
    url: `${PATH}/password`,
    async handler(request, reply) {
      const given = readForm(request);
      const next = given.text("next");
      const problem = passwordProblem(next);
      if (problem !== null) return sendProfile(request, reply.code(400), deps, { next: problem });
      const changed = await users.changePassword(
        memberOf(request),
        { current: given.text("current"), next },
        clientOf(request),
      );
      if (changed.kind === "ok") {
        setSessionCookie(reply, changed.token, isSecure);
        return reply.redirect(`${PATH}?done=password`, 303);
      }
      const sentence = refuse(reply, changed);
      return sendProfile(request, reply, deps, { current: changed.kind === "wrong" ? PROFILE.wrong : sentence });
    },
  });

  // Ends the session with the field `id`; without one all others.
  scope.route({
    ...form,
    ...SHOWN,
    url: `${PATH}/sessions`,
    async handler(request, reply) {
      const session = memberOf(request);
      const given = readForm(request);
      if (!given.has("id")) {
        await users.endSessions(session, { exceptId: session.id }, clientOf(request));
        return reply.redirect(`${PATH}?done=sessions_ended`, 303);
      }
      const id = idIn(given, "id");
      // One that has ended in the meantime needs no end.
      if (id !== null) await users.endSessions(session, { id }, clientOf(request));
      return reply.redirect(`${PATH}?done=session_ended`, 303);
    },
  });

  scope.route({
    ...form,
    ...SHOWN,
    url: `${PATH}/account`,
    async handler(request, reply) {
      const session = memberOf(request);
      const given = readForm(request);
      const accountId = idIn(given, "account_id");
      const old = sessionCookie(request);
      const accounts = await users.members.accountsOf(sql, session.userId);
      if (old === null || accountId === null || !accounts.some((one) => one.accountId === accountId))
        throw new Refusal("not_found", NO_MEMBER);
      const token = await transact(sql, (tx) => users.sessions.switch(tx, session, old, accountId, clientOf(request)));
      if (token === null) throw new Refusal("not_found", NO_MEMBER);
      setSessionCookie(reply, token, isSecure);
      return reply.redirect(nextPath(given.text("next")), 303);
    },
  });
}

async function sendProfile(
  request: FastifyRequest,
  reply: FastifyReply,
  { users, sql }: SignInDeps,
  problems: ProfileProblems,
): Promise<FastifyReply> {
  const session = memberOf(request);
  const [sessions, accounts] = await Promise.all([
    users.sessions.list(sql, session.userId),
    users.members.accountsOf(sql, session.userId),
  ]);
  const body = renderProfile({ session, sessions, accounts }, problems);
  return sendPage(request, reply, { title: PROFILE.title, session, body });
}
