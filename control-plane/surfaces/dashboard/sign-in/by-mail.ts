import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { readForm } from "#control-plane/surfaces/dashboard/door/form.ts";
import { renderForm, renderInput } from "#control-plane/surfaces/dashboard/frame/fields.ts";
import { renderSelect } from "#control-plane/surfaces/dashboard/frame/choices.ts";
import { sendPage } from "#control-plane/surfaces/dashboard/frame/page.ts";
import { clientOf, refuse } from "#control-plane/surfaces/dashboard/door/attempt.ts";
import { admit, ZONE_FIELD, type SignInDeps } from "#control-plane/surfaces/dashboard/sign-in/routes.ts";
import { BY_MAIL, PROFILE, START } from "#control-plane/surfaces/dashboard/strings/people.ts";
import { transact } from "#control-plane/core/database/transaction.ts";
import { takeVisit } from "#control-plane/http/visits.ts";
import { spellMailAddress } from "#control-plane/core/mail-address.ts";
import type { UserAccount } from "#control-plane/people/users/members.ts";
import { passwordProblem } from "#control-plane/people/users/passwords.ts";

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
  title: BY_MAIL.resetTitle,
  intro: BY_MAIL.resetIntro,
  sent: BY_MAIL.resetSent,
};
const SIGN_UP: AskedByMail = {
  path: "/sign-up",
  purpose: "sign_up",
  title: BY_MAIL.signUpTitle,
  intro: BY_MAIL.signUpIntro,
  sent: BY_MAIL.signUpSent,
};

/** Registers /reset, and /sign-up where it is open; without a mail server only the page of a link that was mailed. */
export function registerByMail(scope: FastifyInstance, deps: SignInDeps): void {
  if (deps.canMail) registerAsked(scope, deps, RESET);
  if (deps.canMail && deps.canSignUp) registerAsked(scope, deps, SIGN_UP);
  const { door, users, visits } = deps;

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
    ...door.openForm(),
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
function registerAsked(scope: FastifyInstance, { door, users, sql, visits }: SignInDeps, asked: AskedByMail): void {
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
    ...door.openForm(),
    ...SHOWN,
    url: asked.path,
    async handler(request, reply) {
      takeVisit(visits, request);
      const typed = readForm(request).text("email").trim();
      const email = spellMailAddress(typed);
      if (email === null)
        return sendAsked(request, reply.code(400), asked, { email: typed, problem: START.emailProblem });
      // The answer is the same whether or not the limits allow the mail.
      const caller = request.clientAddress;
      await transact(sql, (tx) => users.mails.request(tx, { purpose: asked.purpose, email, caller }));
      const body = `<h1>${BY_MAIL.sentTitle}</h1><p>${asked.sent}</p><p><a href="/sign-in">${BY_MAIL.signIn}</a></p>`;
      return sendPage(request, reply, { title: BY_MAIL.sentTitle, session: null, body, isNarrow: true });
    },
  });
}

function sendAsked(
  request: FastifyRequest,
  reply: FastifyReply,
  { path, title, intro }: AskedByMail,
  { email, problem }: { readonly email: string; readonly problem: string | null },
): Promise<FastifyReply> {
  const field = renderInput({
    name: "email",
    label: BY_MAIL.email,
    type: "email",
    value: email,
    problem,
    autocomplete: "username",
    isRequired: true,
    hasFocus: true,
    maxLength: 254,
  });
  const body = `<h1>${title}</h1><p>${intro}</p>${renderForm(path, [field], BY_MAIL.send)}`;
  return sendPage(request, reply, { title, session: null, body, isNarrow: true });
}

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
      label: BY_MAIL.claim(PROFILE.account(accountId, email), role),
      problem: isMine === undefined || said !== undefined ? null : BY_MAIL.claimProblem,
      options: [
        { value: "", label: BY_MAIL.choose, isSelected: said === undefined },
        { value: MINE, label: BY_MAIL.mine, isSelected: said === true },
        { value: NOT_MINE, label: BY_MAIL.notMine, isSelected: said === false },
      ],
    });
  });
  const field = renderInput({
    name: "password",
    label: BY_MAIL.password,
    type: "password",
    hint: START.passwordHint,
    problem,
    autocomplete: "new-password",
    isRequired: true,
    hasFocus: true,
    maxLength: 1_024,
  });
  const form = renderForm(
    `/reset/${encodeURIComponent(request.params.token)}`,
    [ZONE_FIELD, ...claims, field],
    BY_MAIL.save,
  );
  const intro = accounts.length === 0 ? BY_MAIL.newIntro : BY_MAIL.claimIntro;
  const body = `<h1>${BY_MAIL.newTitle}</h1><p>${intro}</p>${form}`;
  return sendPage(request, reply, { title: BY_MAIL.newTitle, session: null, body, isNarrow: true });
}

function sendNone(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const body = `<h1>${BY_MAIL.noneTitle}</h1><p>${BY_MAIL.none}</p><p><a href="/sign-in">${BY_MAIL.signIn}</a></p>`;
  return sendPage(request, reply, { title: BY_MAIL.noneTitle, session: null, body, isNarrow: true });
}

function sendExpired(
  request: FastifyRequest,
  reply: FastifyReply,
  { canMail }: Pick<SignInDeps, "canMail">,
): Promise<FastifyReply> {
  const again = canMail ? `<p><a href="/reset">${BY_MAIL.again}</a></p>` : "";
  const body = `<h1>${BY_MAIL.expiredTitle}</h1><p>${BY_MAIL.expired}</p>${again}`;
  return sendPage(request, reply.code(404), { title: BY_MAIL.expiredTitle, session: null, body, isNarrow: true });
}
