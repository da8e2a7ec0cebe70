import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { readForm } from "#control-plane/surfaces/dashboard/door/form.ts";
import { renderForm, renderHidden, renderInput, renderNote } from "#control-plane/surfaces/dashboard/frame/fields.ts";
import { sendPage } from "#control-plane/surfaces/dashboard/frame/page.ts";
import { clientOf, refuse } from "#control-plane/surfaces/dashboard/door/attempt.ts";
import { describeLimit } from "#control-plane/surfaces/dashboard/members/page.ts";
import { admit, ZONE_FIELD, type SignInDeps } from "#control-plane/surfaces/dashboard/sign-in/routes.ts";
import { INVITE, START } from "#control-plane/surfaces/dashboard/strings/people.ts";
import { takeVisit } from "#control-plane/http/visits.ts";
import { spellMailAddress } from "#control-plane/core/mail-address.ts";
import { compileTemplate } from "#control-plane/core/pages/templates.ts";
import { isFor } from "#control-plane/people/users/links/invite.ts";
import { passwordProblem } from "#control-plane/people/users/passwords.ts";
import type { Session } from "#control-plane/people/users/sessions.ts";
import type { Invite } from "#control-plane/people/users/users.ts";

const URL_OF_INVITE = "/invite/:token";

interface Shown {
  readonly session: Session | null;
  readonly email?: string;
  readonly problems?: {
    readonly email?: string | null;
    readonly password?: string | null;
    readonly form?: string | null;
  };
}

/** Dependencies of the page of an invite. */
interface InviteDeps extends SignInDeps {
  /** Finds the name of an account, its email address; null: it has none, or there is no such account. */
  readonly nameOf: (accountId: number) => Promise<string | null>;
}

/** Registers GET and POST /invite/<token>, where somebody joins an account. */
export function registerInvite(scope: FastifyInstance, deps: InviteDeps): void {
  const { door, users, visits } = deps;
  scope.route<{ Params: { token: string } }>({
    method: "GET",
    url: URL_OF_INVITE,
    schema: { hide: true },
    async handler(request, reply) {
      takeVisit(visits, request);
      const session = await door.identify(request);
      return sendInvite(request, reply, deps, { session });
    },
  });
  scope.route<{ Params: { token: string } }>({
    ...door.openForm(),
    url: URL_OF_INVITE,
    schema: { hide: true },
    async handler(request, reply) {
      takeVisit(visits, request);
      const { token } = request.params;
      const form = readForm(request);
      const session = await door.identify(request);
      const from = clientOf(request);
      if (session !== null) {
        door.requireFormToken(request, session);
        const joined = await users.joinAs(token, session, from);
        if (joined.kind === "orphaned") return sendExpired(request, reply, INVITE.orphaned[joined.maker]);
        if (joined.kind !== "ok") return sendInvite(request, reply, deps, { session });
        await admit(deps, request, reply, joined.token, null);
        return reply.redirect("/app/", 303);
      }
      const invite = await users.peek("invite", token);
      if (invite === null) return sendExpired(request, reply);
      const typed = (invite.isMailed ? invite.email : null) ?? form.text("email").trim();
      const email = spellMailAddress(typed);
      if (asksForAddress(invite, deps)) return mailTo(request, reply, deps, typed, email);
      const password = passwordProblem(form.text("password"));
      if (email === null || password !== null) {
        const problems = { email: email === null ? START.emailProblem : null, password };
        return sendInvite(request, reply.code(400), deps, { session, email: typed, problems });
      }
      if (!isFor(invite, email)) {
        const problems = { form: INVITE.wrongAddress };
        return sendInvite(request, reply.code(403), deps, { session, email: typed, problems });
      }
      const joined = await users.join(token, { email, password: form.text("password") }, from);
      if (joined.kind === "orphaned") return sendExpired(request, reply, INVITE.orphaned[joined.maker]);
      if (joined.kind === "expired" || joined.kind === "foreign") return sendExpired(request, reply);
      if (joined.kind !== "ok") {
        const problems = { form: refuse(reply, joined) };
        return sendInvite(request, reply, deps, { session, email: typed, problems });
      }
      await admit(deps, request, reply, joined.token, null);
      return reply.redirect("/app/", 303);
    },
  });
}

/** Reports whether an invite is for anybody who proves an address by a mail that is sent there. */
function asksForAddress({ email }: Invite, { canMail }: Pick<InviteDeps, "canMail">): boolean {
  return email === null && canMail;
}

/** Mails an invite to an address. The answer is the same for every address, known or not. */
async function mailTo(
  request: FastifyRequest<{ Params: { token: string } }>,
  reply: FastifyReply,
  deps: InviteDeps,
  typed: string,
  email: string | null,
): Promise<FastifyReply> {
  if (email === null) {
    const problems = { email: START.emailProblem };
    return sendInvite(request, reply.code(400), deps, { session: null, email: typed, problems });
  }
  const exceeded = await deps.users.mailInvite(request.params.token, email);
  if (exceeded === "expired") return sendExpired(request, reply);
  if (exceeded !== null) {
    const problems = { form: exceeded === "used_up" ? INVITE.usedUp : describeLimit(exceeded) };
    return sendInvite(request, reply.code(429), deps, { session: null, email: typed, problems });
  }
  const body = `<h1>${INVITE.sentTitle}</h1><p>${INVITE.sent}</p>`;
  return sendPage(request, reply, { title: INVITE.sentTitle, session: null, body, isNarrow: true });
}

const renderSentence: (data: { readonly text: string }) => string = compileTemplate(`<p><%= it.text %></p>`);

async function sendInvite(
  request: FastifyRequest<{ Params: { token: string } }>,
  reply: FastifyReply,
  deps: InviteDeps,
  { session, email = "", problems = {} }: Shown,
): Promise<FastifyReply> {
  const { users, nameOf } = deps;
  const { token } = request.params;
  const invite = await users.peek("invite", token);
  if (invite === null) return sendExpired(request, reply);
  const action = `/invite/${encodeURIComponent(token)}`;
  const { form = null } = problems;
  const body = [
    `<h1>${INVITE.title}</h1>`,
    renderSentence({ text: await describe(invite, nameOf) }),
    ...(form === null ? [] : [renderNote("bad", form)]),
  ];
  if (session === null && asksForAddress(invite, deps)) {
    body.push(`<p>${INVITE.mailIntro}</p>`, renderForm(action, [emailField(email, problems)], INVITE.mail));
  } else if (session === null && invite.isMailed) {
    body.push(renderSentence({ text: INVITE.mailedTo(invite.email ?? "") }));
    body.push(renderForm(action, [ZONE_FIELD, passwordField(problems)], INVITE.submit));
  } else if (session === null) {
    body.push(renderForm(action, [ZONE_FIELD, emailField(email, problems), passwordField(problems)], INVITE.submit));
  } else if (isFor(invite, session.email)) {
    body.push(renderSentence({ text: INVITE.signedIn(session.email) }));
    body.push(renderForm(action, [renderHidden("_csrf", session.formToken)], INVITE.join));
  } else {
    body.push(renderSentence({ text: INVITE.otherAddress(session.email) }));
  }
  return sendPage(request, reply, { title: INVITE.title, session, body: body.join(""), isNarrow: true });
}

/** Also asked for where an owner has made the invite for one address: who finds the link does not learn it. */
function emailField(typed: string, { email = null }: NonNullable<Shown["problems"]>): string {
  return renderInput({
    name: "email",
    label: INVITE.email,
    type: "email",
    value: typed,
    problem: email,
    autocomplete: "username",
    isRequired: true,
    hasFocus: email !== null,
    maxLength: 254,
  });
}

function passwordField({ email = null, password = null }: NonNullable<Shown["problems"]>): string {
  return renderInput({
    name: "password",
    label: INVITE.password,
    type: "password",
    hint: INVITE.passwordHint,
    problem: password,
    autocomplete: "new-password",
    isRequired: true,
    hasFocus: email === null && password !== null,
    maxLength: 1_024,
  });
}

async function describe({ accountId, role }: Invite, nameOf: InviteDeps["nameOf"]): Promise<string> {
  if (accountId === null) return INVITE.toNew;
  return INVITE.toAccount((await nameOf(accountId)) ?? INVITE.nameless(accountId), role ?? "viewer");
}

function sendExpired(
  request: FastifyRequest,
  reply: FastifyReply,
  why: string = INVITE.expired,
): Promise<FastifyReply> {
  const body = `<h1>${INVITE.expiredTitle}</h1>${renderSentence({ text: why })}`;
  return sendPage(request, reply.code(404), { title: INVITE.expiredTitle, session: null, body, isNarrow: true });
}
