import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { readForm } from "#control-plane/surfaces/dashboard/session-guard/form.ts";
import {
  EMAIL_PROBLEM,
  PASSWORD_HINT,
  renderEmail,
  renderPassword,
} from "#control-plane/surfaces/dashboard/layout/credentials.ts";
import { renderForm } from "#control-plane/surfaces/dashboard/layout/fields.ts";
import { renderSelect } from "#control-plane/surfaces/dashboard/layout/choices.ts";
import { sendPage } from "#control-plane/surfaces/dashboard/layout/page.ts";
import { clientOf, refuse } from "#control-plane/surfaces/dashboard/session-guard/attempt.ts";
import { admit, ZONE_FIELD } from "#control-plane/surfaces/dashboard/sign-in/routes.ts";
import { accountName } from "#control-plane/surfaces/dashboard/session-guard/other-account.ts";
import { html } from "#control-plane/core/pages/html.ts";
import { transact } from "#control-plane/core/database/transaction.ts";
import { takeVisit } from "#control-plane/http/visits.ts";
import { spellMailAddress } from "#control-plane/core/mail-address.ts";
import type { UserAccount } from "#control-plane/people/users/members.ts";
import { passwordProblem } from "#control-plane/people/users/passwords.ts";
import type { Dashboard } from "#control-plane/surfaces/dashboard/parts.ts";

const SHOWN = { schema: { hide: true } } as const;
const URL_OF_RESET = "/reset/:token";

/** A page that asks for an address, to which a mail is sent. */
interface AskedByMail {
  readonly path: "/reset" | "/sign-up";
  readonly purpose: "reset" | "sign_up";
  readonly title: string;
  readonly intro: string;
  readonly sent: string;
}

const RESET: AskedByMail = {
  path: "/reset",
  purpose: "reset",
  title: "Forgot your password?",
  intro: "You get a mail with a link by which you choose a new one.",
  sent: "If this address can sign in here, a mail with a link is on its way. The link works once, for an hour.",
};
const SIGN_UP: AskedByMail = {
  path: "/sign-up",
  purpose: "sign_up",
  title: "Open an account",
  intro: "You get a mail with a link by which you choose a password.",
  sent: "A mail is on its way to this address. Its link works once, for 7 days.",
};

/** Registers /reset, and /sign-up where it is open; without a mail server only the page of a link that was mailed. */
export function registerByMail(scope: FastifyInstance, deps: Dashboard): void {
  if (deps.canMail) registerAsked(scope, deps, RESET);
  if (deps.canMail && deps.canSignUp) registerAsked(scope, deps, SIGN_UP);
  const { guard, users, visits } = deps;

  scope.route<{ Params: { token: string } }>({
    method: "GET",
    ...SHOWN,
    url: URL_OF_RESET,
    async handler(request, reply) {
      takeVisit(visits, request);
      const link = await users.peek("reset", request.params.token);
      if (link === null) return sendExpired(request, reply, deps);
      return sendNew(request, reply, { accounts: await users.unclaimed(link) });
    },
  });

  scope.route<{ Params: { token: string } }>({
    ...guard.openForm(),
    ...SHOWN,
    url: URL_OF_RESET,
    async handler(request, reply) {
      takeVisit(visits, request);
      const { token } = request.params;
      const form = readForm(request);
      const password = form.text("password");
      const link = await users.peek("reset", token);
      if (link === null) return sendExpired(request, reply, deps);
      const accounts = await users.unclaimed(link);
      const isMine = new Map(
        accounts.flatMap(({ accountId }) => {
          const claim = form.text(fieldOf(accountId));
          return claim === MINE || claim === NOT_MINE ? [[accountId, claim === MINE] as const] : [];
        }),
      );
      const problem = passwordProblem(password);
      if (problem !== null || isMine.size < accounts.length)
        return sendNew(request, reply.code(400), { accounts, isMine, problem });
      const used = await users.reset(token, { password, isMine }, clientOf(request));
      if (used.kind === "none") return sendNone(request, reply);
      if (used.kind === "unclaimed") {
        // The user was made a member of another account at this moment.
        return sendNew(request, reply.code(400), { accounts: await users.unclaimed(link), isMine });
      }
      if (used.kind === "expired" || used.kind === "foreign") return sendExpired(request, reply, deps);
      if (used.kind !== "ok") return sendNew(request, reply, { accounts, isMine, problem: refuse(reply, used) });
      await admit(deps, request, reply, used.token, null);
      return reply.redirect("/app/", 303);
    },
  });
}

/** Registers a page that asks for an address. Its answer is the same for every address, known or not. */
function registerAsked(scope: FastifyInstance, { guard, users, sql, visits }: Dashboard, asked: AskedByMail): void {
  scope.route({
    method: "GET",
    ...SHOWN,
    url: asked.path,
    async handler(request, reply) {
      takeVisit(visits, request);
      return sendAsked(request, reply, asked, { email: "", problem: null });
    },
  });
  scope.route({
    ...guard.openForm(),
    ...SHOWN,
    url: asked.path,
    async handler(request, reply) {
      takeVisit(visits, request);
      const typed = readForm(request).text("email").trim();
      const email = spellMailAddress(typed);
      if (email === null) return sendAsked(request, reply.code(400), asked, { email: typed, problem: EMAIL_PROBLEM });
      // The answer is the same whether or not the limits allow the mail.
      const caller = request.clientAddress;
      await transact(sql, (tx) => users.mails.request(tx, { purpose: asked.purpose, email, caller }));
      const title = "Look into your mail";
      const body = html`<h1>${title}</h1><p>${asked.sent}</p><p><a href="/sign-in">Sign in</a></p>`;
      return sendPage(request, reply, { title, session: null, body, isNarrow: true });
    },
  });
}

function sendAsked(
  request: FastifyRequest,
  reply: FastifyReply,
  { path, title, intro }: AskedByMail,
  { email, problem }: { readonly email: string; readonly problem: string | null },
): Promise<FastifyReply> {
  const field = renderEmail({ value: email, problem, hasFocus: true });
  const body = html`<h1>${title}</h1><p>${intro}</p>${renderForm(path, [field], "Send the mail")}`;
  return sendPage(request, reply, { title, session: null, body, isNarrow: true });
}

/** The message to the owner of an address that others gave for theirs. */
const CLAIM_INTRO =
  "Somebody gave this address without a proof that it is theirs. Now you have proved that it is yours. " +
  "Say which accounts are yours: the others keep their members, but lose your address.";
const MINE = "mine";
const NOT_MINE = "not_mine";

function fieldOf(accountId: number): string {
  return `account_${accountId}`;
}

interface NewView {
  /** Accounts of which the owner of the address has to say whose they are. */
  readonly accounts: readonly UserAccount[];
  /** The choices in the form before; absent: there was none. */
  readonly isMine?: ReadonlyMap<number, boolean>;
  readonly problem?: string | null;
}

function sendNew(
  request: FastifyRequest<{ Params: { token: string } }>,
  reply: FastifyReply,
  { accounts, isMine, problem = null }: NewView,
): Promise<FastifyReply> {
  const claims = accounts.map(({ accountId, email, role }) => {
    const said = isMine?.get(accountId);
    return renderSelect({
      name: fieldOf(accountId),
      label: `${accountName(accountId, email)}, with the role ${role}`,
      problem: isMine === undefined || said !== undefined ? null : "Must be Mine or Not mine.",
      options: [
        { value: "", label: "Choose one", isSelected: said === undefined },
        { value: MINE, label: "Mine", isSelected: said === true },
        { value: NOT_MINE, label: "Not mine", isSelected: said === false },
      ],
    });
  });
  const field = renderPassword({
    label: "New password",
    hint: PASSWORD_HINT,
    problem,
    autocomplete: "new-password",
    hasFocus: true,
  });
  const action = `/reset/${encodeURIComponent(request.params.token)}`;
  const title = "Choose a new password";
  const body = html`
    <h1>${title}</h1><p>${accounts.length === 0 ? "All your sessions end, and you are signed in here." : CLAIM_INTRO}</p>
    ${renderForm(action, [ZONE_FIELD, ...claims, field], "Save the password")}`;
  return sendPage(request, reply, { title, session: null, body, isNarrow: true });
}

function sendNone(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const title = "There is no account";
  const body = html`
    <h1>${title}</h1><p>None of the accounts was yours, and your address is in none of them any more.</p>
    <p><a href="/sign-in">Sign in</a></p>`;
  return sendPage(request, reply, { title, session: null, body, isNarrow: true });
}

function sendExpired(
  request: FastifyRequest,
  reply: FastifyReply,
  { canMail }: Pick<Dashboard, "canMail">,
): Promise<FastifyReply> {
  const title = "This link does not work any more";
  const body = html`
    <h1>${title}</h1><p>It works once, for an hour.</p>
    ${canMail && html`<p><a href="/reset">Ask for another one</a></p>`}`;
  return sendPage(request, reply.code(404), { title, session: null, body, isNarrow: true });
}
