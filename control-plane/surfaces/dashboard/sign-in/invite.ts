import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { readForm } from "#control-plane/surfaces/dashboard/session-guard/form.ts";
import { EMAIL_PROBLEM, renderEmail, renderPassword } from "#control-plane/surfaces/dashboard/layout/credentials.ts";
import { renderForm, renderHidden, renderNote } from "#control-plane/surfaces/dashboard/layout/fields.ts";
import { sendPage } from "#control-plane/surfaces/dashboard/layout/page.ts";
import { clientOf, refuse } from "#control-plane/surfaces/dashboard/session-guard/attempt.ts";
import { describeLimit } from "#control-plane/surfaces/dashboard/members/page.ts";
import { admit, ZONE_FIELD } from "#control-plane/surfaces/dashboard/sign-in/routes.ts";
import { takeVisit } from "#control-plane/http/visits.ts";
import { spellMailAddress } from "#control-plane/core/mail-address.ts";
import { html, type Html } from "#control-plane/core/pages/html.ts";
import { isFor } from "#control-plane/people/users/links/invite.ts";
import { passwordProblem } from "#control-plane/people/users/passwords.ts";
import type { Session } from "#control-plane/people/users/sessions.ts";
import type { Invite } from "#control-plane/people/users/users.ts";
import type { Dashboard } from "#control-plane/surfaces/dashboard/parts.ts";

const URL_OF_INVITE = "/invite/:token";

/** Why an invite does not work any more. */
const EXPIRED =
  "It works once, for a limited time, and while its maker is an owner of the account. Ask for another one.";
const ORPHANED = {
  lowered: "Who made this invite is no owner of the account any more. Ask for another one.",
  unknown: "Nobody knows any more who made this invite. Ask for another one.",
} as const;

interface Shown {
  readonly session: Session | null;
  readonly email?: string;
  readonly problems?: {
    readonly email?: string | null;
    readonly password?: string | null;
    readonly form?: string | null;
  };
}

/** Registers GET and POST /invite/<token>, where somebody joins an account. */
export function registerInvite(scope: FastifyInstance, deps: Dashboard): void {
  const { guard, users, visits } = deps;
  scope.route<{ Params: { token: string } }>({
    method: "GET",
    url: URL_OF_INVITE,
    schema: { hide: true },
    async handler(request, reply) {
      takeVisit(visits, request);
      const session = await guard.identify(request);
      return sendInvite(request, reply, deps, { session });
    },
  });
  scope.route<{ Params: { token: string } }>({
    ...guard.openForm(),
    url: URL_OF_INVITE,
    schema: { hide: true },
    async handler(request, reply) {
      takeVisit(visits, request);
      const { token } = request.params;
      const form = readForm(request);
      const session = await guard.identify(request);
      const from = clientOf(request);
      if (session !== null) {
        guard.requireFormToken(request, session);
        const joined = await users.joinAs(token, session, from);
        if (joined.kind === "orphaned") return sendExpired(request, reply, ORPHANED[joined.maker]);
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
        const problems = { email: email === null ? EMAIL_PROBLEM : null, password };
        return sendInvite(request, reply.code(400), deps, { session, email: typed, problems });
      }
      if (!isFor(invite, email)) {
        const problems = { form: "This invite is for another address." };
        return sendInvite(request, reply.code(403), deps, { session, email: typed, problems });
      }
      const joined = await users.join(token, { email, password: form.text("password") }, from);
      if (joined.kind === "orphaned") return sendExpired(request, reply, ORPHANED[joined.maker]);
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
function asksForAddress({ email }: Invite, { canMail }: Pick<Dashboard, "canMail">): boolean {
  return email === null && canMail;
}

/** Mails an invite to an address. The answer is the same for every address, known or not. */
async function mailTo(
  request: FastifyRequest<{ Params: { token: string } }>,
  reply: FastifyReply,
  deps: Dashboard,
  typed: string,
  email: string | null,
): Promise<FastifyReply> {
  if (email === null) {
    const problems = { email: EMAIL_PROBLEM };
    return sendInvite(request, reply.code(400), deps, { session: null, email: typed, problems });
  }
  const exceeded = await deps.users.mailInvite(request.params.token, email);
  if (exceeded === "expired") return sendExpired(request, reply);
  if (exceeded !== null) {
    const problems = {
      form:
        exceeded === "used_up"
          ? "No mail was sent: this invite was mailed 3 times already. Ask for another one."
          : describeLimit(exceeded),
    };
    return sendInvite(request, reply.code(429), deps, { session: null, email: typed, problems });
  }
  const title = "Look into your mail";
  const body = html`<h1>${title}</h1><p>A mail is on its way to this address. Its link works once.</p>`;
  return sendPage(request, reply, { title, session: null, body, isNarrow: true });
}

async function sendInvite(
  request: FastifyRequest<{ Params: { token: string } }>,
  reply: FastifyReply,
  deps: Dashboard,
  shown: Shown,
): Promise<FastifyReply> {
  const { users, nameOf } = deps;
  const { token } = request.params;
  const invite = await users.peek("invite", token);
  if (invite === null) return sendExpired(request, reply);
  const { session, problems: { form = null } = {} } = shown;
  const title = "You are invited";
  const body = html`
    <h1>${title}</h1><p>${await describe(invite, nameOf)}</p>
    ${form !== null && renderNote("bad", form)}
    ${renderJoin(invite, `/invite/${encodeURIComponent(token)}`, shown, asksForAddress(invite, deps))}`;
  return sendPage(request, reply, { title, session, body, isNarrow: true });
}

/** Renders the form that somebody joins by. */
function renderJoin(
  invite: Invite,
  action: string,
  { session, email = "", problems = {} }: Shown,
  isForAddress: boolean,
): Html {
  if (session !== null && isFor(invite, session.email)) {
    const token = renderHidden("_csrf", session.formToken);
    return html`<p>You are signed in as ${session.email}.</p>${renderForm(action, [token], "Join")}`;
  }
  if (session !== null)
    return html`<p>This invite is for another address than ${session.email}. Sign out to use it.</p>`;
  if (isForAddress) {
    return html`
      <p>Give your address. You get a mail with a link by which you join.</p>
      ${renderForm(action, [emailField(email, problems)], "Send the mail")}`;
  }
  if (invite.isMailed) {
    return html`
      <p>You join as ${invite.email}.</p>
      ${renderForm(action, [ZONE_FIELD, passwordField(problems)], "Join")}`;
  }
  return renderForm(action, [ZONE_FIELD, emailField(email, problems), passwordField(problems)], "Join");
}

/** Also asked for where an owner has made the invite for one address: who finds the link does not learn it. */
function emailField(value: string, { email = null }: NonNullable<Shown["problems"]>): Html {
  return renderEmail({ value, problem: email, hasFocus: email !== null });
}

function passwordField({ email = null, password = null }: NonNullable<Shown["problems"]>): Html {
  return renderPassword({
    hint: "If you have signed in here before, your password. Otherwise choose one of at least 10 characters.",
    problem: password,
    autocomplete: "new-password",
    hasFocus: email === null && password !== null,
  });
}

async function describe({ accountId, role }: Invite, nameOf: Dashboard["nameOf"]): Promise<string> {
  if (accountId === null) return "You are invited to open an account of your own.";
  const name = (await nameOf(accountId)) ?? `number ${accountId}`;
  return `You are invited to the account ${name} with the role ${role ?? "viewer"}.`;
}

function sendExpired(request: FastifyRequest, reply: FastifyReply, why: string = EXPIRED): Promise<FastifyReply> {
  const title = "This invite does not work any more";
  const body = html`<h1>${title}</h1><p>${why}</p>`;
  return sendPage(request, reply.code(404), { title, session: null, body, isNarrow: true });
}
