import { timingSafeEqual } from "node:crypto";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Clock } from "#shared/time/clock.ts";
import { clientOf, refuse } from "#control-plane/surfaces/dashboard/session-guard/attempt.ts";
import { readForm, requireTypable } from "#control-plane/surfaces/dashboard/session-guard/form.ts";
import {
  deviceCookie,
  sessionCookie,
  setDeviceCookie,
  setSessionCookie,
} from "#control-plane/surfaces/dashboard/session-guard/cookie.ts";
import { createOriginCheck, type OriginSettings } from "#control-plane/http/connection/own-origin.ts";
import { Refusal } from "#control-plane/http/errors.ts";
import { createAddressLimiter } from "#control-plane/http/limits/address.ts";
import { html } from "#control-plane/core/pages/html.ts";
import { isAllowed, type Permission } from "#control-plane/people/users/roles.ts";
import type { Session } from "#control-plane/people/users/sessions.ts";
import type { Users } from "#control-plane/people/users/users.ts";
import { renderForm, renderHidden, renderNote } from "#control-plane/surfaces/dashboard/layout/fields.ts";
import { renderPassword } from "#control-plane/surfaces/dashboard/layout/credentials.ts";
import { sendPage } from "#control-plane/surfaces/dashboard/layout/page.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** The signed-in member; set by the session guard of the dashboard. */
    session: Session | null;
  }
}

type AsyncHook = (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>;

/** Options of a route behind the session guard. */
interface GuardOptions {
  readonly needs: Permission;
  /**
   * Asks for a password that was given in the last 10 minutes: a page leads to the sign-in and back, a form is carried on
   * by the page that asks. Default: false.
   */
  readonly isSensitive?: boolean;
}

/** Lets members in: to pages by their session and role, to forms also by their origin and their field `_csrf`. */
export interface SessionGuard {
  /** Returns route options of a page to spread: `scope.route({ ...guard.page({ needs: "read" }), url, handler })`. */
  page(options: GuardOptions): { readonly method: "GET"; readonly onRequest: AsyncHook };
  /** Returns route options of a form. */
  form(options: GuardOptions): {
    readonly method: "POST";
    readonly onRequest: AsyncHook;
    readonly preHandler: AsyncHook;
  };
  /** Returns route options of a form for people who are not signed in, which asks for the origin alone. */
  openForm(): { readonly method: "POST"; readonly onRequest: AsyncHook };
  /** Asks a form, whose fields are still read, for the `_csrf` of its session. Throws Refusal. */
  prove(request: FastifyRequest, token: string): void;
  /** Asks a form for everybody for the `_csrf` of the session that it came with. Throws Refusal. */
  requireFormToken(request: FastifyRequest, session: Session): void;
  /** Finds the session of a request to a page for everybody; null if nobody is signed in. */
  identify(request: FastifyRequest): Promise<Session | null>;
}

/** Maximum number of views of a session in a minute: an open tab takes six. */
const VIEWS_PER_MINUTE = 300;

/** Creates the session guard of the dashboard. */
export function createSessionGuard({
  users,
  clock,
  config,
  isSecure,
}: {
  readonly users: Pick<Users, "sessions" | "devices" | "confirm">;
  readonly clock: Clock;
  readonly config: OriginSettings;
  /** Whether the service is reached under https. */
  readonly isSecure: boolean;
}): SessionGuard {
  const refuseOrigin = createOriginCheck(config);
  const views = createAddressLimiter({ clock, limit: VIEWS_PER_MINUTE, windowSeconds: 60 });

  async function identify(request: FastifyRequest): Promise<Session | null> {
    const token = sessionCookie(request);
    request.session = token === null ? null : await users.sessions.find(token);
    return request.session;
  }

  function admit({ needs }: GuardOptions, isForRecent: boolean): AsyncHook {
    return async (request, reply) => {
      const session = await identify(request);
      if (session === null) return reply.redirect(signInPath(request), 303);
      const { ok, retryAfterSeconds } = views.take(`session ${session.id}`);
      if (!ok) throw tooManyViews(retryAfterSeconds);
      const device = await users.devices.cookieOf(session);
      if (device !== null && device !== deviceCookie(request)) setDeviceCookie(reply, device, isSecure);
      requireRole(session, needs);
      if (isForRecent && !session.isRecent) return reply.redirect(signInPath(request), 303);
    };
  }

  function requireOrigin(request: FastifyRequest): void {
    const refusal = refuseOrigin(request);
    if (refusal !== undefined) throw refusal;
  }

  function requireToken(token: string, { formToken }: Session): void {
    if (isSame(token, formToken)) return;
    throw new Refusal("insufficient_scope", "This form is from another session. Load the page again.");
  }

  function requireRole({ role }: Session, needs: Permission): void {
    if (isAllowed(role, needs)) return;
    throw new Refusal("insufficient_scope", needs === "manage" ? ONLY_OWNERS : NOT_ALLOWED[role]);
  }

  /** Lets a form through whose password is recent, or is in the form and right; asks for it otherwise. */
  async function requireRecent(
    request: FastifyRequest,
    reply: FastifyReply,
    needs: Permission,
  ): Promise<FastifyReply | undefined> {
    const session = memberOf(request);
    if (session.isRecent) return;
    const form = readForm(request);
    if (!form.has(PASSWORD_FIELD)) return sendConfirm(request, reply.code(403), session, null);
    const confirmed = await users.confirm(
      session,
      sessionCookie(request) ?? "",
      form.text(PASSWORD_FIELD),
      clientOf(request),
    );
    if (confirmed.kind !== "ok") return sendConfirm(request, reply, session, refuse(reply, confirmed));
    setSessionCookie(reply, confirmed.token, isSecure);
    request.session = confirmed.session;
    // The role can have changed while the password was hashed.
    requireRole(confirmed.session, needs);
  }

  return {
    page: (options) => ({ method: "GET", onRequest: admit(options, options.isSensitive ?? false) }),
    form: (options) => ({
      method: "POST",
      onRequest: async (request, reply) => {
        const sent = await admit(options, false)(request, reply);
        if (sent === undefined) requireOrigin(request);
        return sent;
      },
      preHandler: async (request, reply) => {
        const form = readForm(request);
        requireToken(form.text("_csrf"), memberOf(request));
        requireTypable(form);
        if (options.isSensitive === true) return requireRecent(request, reply, options.needs);
      },
    }),
    openForm: () => ({ method: "POST", onRequest: async (request) => requireOrigin(request) }),
    prove: (request, token) => requireToken(token, memberOf(request)),
    requireFormToken: (request, session) => requireToken(readForm(request).text("_csrf"), session),
    identify,
  };
}

/** Returns the signed-in member of a request behind the guard. Throws if the route has no guard: a bug. */
export function memberOf(request: FastifyRequest): Session {
  if (request.session === null) throw new Error("this route has no session guard before it");
  return request.session;
}

const ONLY_OWNERS = "Only owners of the account may do this. Ask one of them.";
const NOT_ALLOWED = {
  owner: "Your role does not allow this.",
  editor: ONLY_OWNERS,
  viewer:
    "Your role, viewer, may look at everything and change nothing. Ask an owner of the account for the role editor.",
} as const;

/** Returns the sign-in that leads back: to the page itself, or for a form to the first page. */
function signInPath({ method, url }: FastifyRequest): string {
  return method === "GET" ? `/sign-in?next=${encodeURIComponent(url)}` : "/sign-in";
}

function tooManyViews(seconds: number): Refusal {
  return new Refusal("rate_limit_exceeded", {
    message: `You have opened more than ${VIEWS_PER_MINUTE} pages in a minute. Wait ${seconds} s.`,
    headers: { "retry-after": String(seconds) },
  });
}

function isSame(given: string, expected: string): boolean {
  const bytes = Buffer.from(given);
  const wanted = Buffer.from(expected);
  return bytes.length === wanted.length && timingSafeEqual(bytes, wanted);
}

/** The field with the password by which a sensitive form is confirmed, beside the fields of the form itself. */
const PASSWORD_FIELD = "_password";

/**
 * Sends the page that asks for the password and carries a form on: its fields are hidden ones, sent to the same path again.
 * The limits of a form's body are limits of the page, too. `problem`: why the password was not accepted; null if it is
 * asked for the first time.
 */
function sendConfirm(
  request: FastifyRequest,
  reply: FastifyReply,
  session: Session,
  problem: string | null,
): Promise<FastifyReply> {
  const carried = readForm(request)
    .entries()
    .filter(([name]) => name !== "_csrf" && name !== PASSWORD_FIELD);
  const parts = [
    renderHidden("_csrf", session.formToken),
    ...carried.map(([name, value]) => renderHidden(name, value)),
    renderPassword({ name: PASSWORD_FIELD, autocomplete: "current-password", hasFocus: true }),
  ];
  const body = html`
    ${CONFIRM_HEAD}
    ${problem !== null && renderNote("bad", problem)}
    ${renderForm(request.url, parts, CONFIRM_SUBMIT)}`;
  return sendPage(request, reply, { title: CONFIRM_TITLE, session, body, isNarrow: true });
}

/** Title of the pages that ask a member for the password again. */
export const CONFIRM_TITLE = "Confirm that it is you";
/** Button of their form. */
export const CONFIRM_SUBMIT = "Continue";
/** What they say first. */
export const CONFIRM_HEAD = html`<h1>${CONFIRM_TITLE}</h1><p>You are about to change something that gives access. Give your password again.</p>`;
