import type { FastifyReply, FastifyRequest } from "fastify";
import { LAUNCHER } from "#shared/settings/launcher.ts";
import type { KeyScope, Scope } from "#shared/tools/define.ts";
import type { App } from "#control-plane/core/app.ts";
import { isDatabaseAway } from "#control-plane/core/database/database-away.ts";
import { keyInBody } from "#control-plane/http/body.ts";
import { Refusal, serviceUnavailable } from "#control-plane/http/errors.ts";
import { setRateHeaders } from "#control-plane/http/rate-headers.ts";
import type { AddressLimiter, KeyFinder, Limiter, LimitKind } from "#control-plane/http/access/ports.ts";
import { hasScope, planScopeOf, type Principal } from "#control-plane/http/access/principal.ts";
import type { LimitState } from "#control-plane/http/access/limit-state.ts";
import { dayEnd, minuteEnd, secondsUntil } from "#control-plane/http/access/windows.ts";

/** A hook of one route. Calls `done` without an argument to continue the request, with a Refusal to end it. */
export type Hook = (request: FastifyRequest, reply: FastifyReply, done: (error?: Error) => void) => void;

/** headers: X-API-Key, else Authorization: Bearer. anywhere: also `api_key` in query or body (v3, v2, v1). */
type KeyPlace = "headers" | "anywhere";

/** Options of the gate for one route: source of the key, required scope, limits the call counts against. */
interface GateOptions {
  /** Required scope; null if any valid key is accepted. */
  readonly scope: KeyScope | null;
  /** Where the key can be; default: headers. */
  readonly key?: KeyPlace;
  readonly counts?: LimitKind;
}

/** The account of a signed-in member, and its plan. */
type Member = Pick<Principal, "accountId" | "plan">;

/** Checks a request before a route that needs a key: key, minute limit, day limit, scope, in this order. */
export interface Gate {
  /** Returns route options to spread: `server.route({ ...gate.keyed({ scope: "check" }), method, url, handler })`. */
  keyed(options: GateOptions): { readonly onRequest: Hook; readonly preHandler?: Hook };
  /** Runs the same checks for a route whose scope or limits depend on the request; rejects with the Refusal. */
  admit(request: FastifyRequest, reply: FastifyReply, options: Omit<GateOptions, "key">): Promise<Principal>;
  /**
   * Runs the checks after the key for a call of a signed-in member, who has none: the limits of the account, then the
   * scope of its plan. Rejects with the Refusal.
   */
  admitMember(reply: FastifyReply, member: Member, scope: Scope): Promise<void>;
  /**
   * Returns the caller of a route that answers without a key too; null without a valid key. It checks no scope and
   * counts nothing, so the route limits its requests itself. Rejects if the database is away.
   */
  identify(request: FastifyRequest, key?: KeyPlace): Promise<Principal | null>;
}

/**
 * Creates the gate. It uses callbacks: with a cached key and a batched count there is nothing to await. `failures`
 * limits requests with a missing or wrong key, per client address.
 */
export function createGate({
  clock,
  keys,
  limits,
  failures,
}: Pick<App, "clock"> & {
  readonly keys: KeyFinder;
  readonly limits: Limiter;
  readonly failures: AddressLimiter;
}): Gate {
  function pass(
    request: FastifyRequest,
    reply: FastifyReply,
    presented: string | null,
    { scope, counts = "minute-and-day" }: GateOptions,
    done: (error?: Error) => void,
  ): void {
    if (presented === null) return done(refuseKey(request, "auth_required"));
    keys.find(presented, (lookupError, principal) => {
      if (lookupError !== null) return done(away(lookupError));
      if (principal === null) return done(refuseKey(request, "invalid_api_key"));
      count(reply, principal, counts, (refused, state) => {
        if (refused !== null) return done(refused);
        if (scope !== null && !hasScope(principal.scopes, scope)) return done(outOfScope(scope, principal));
        request.principal = principal;
        request.counted = state;
        done();
      });
    });
  }

  /** Counts a request, and sets the headers of its limits. */
  function count(
    reply: FastifyReply,
    { accountId, plan }: Member,
    counts: LimitKind,
    done: (refused: Error | null, state: LimitState | null) => void,
  ): void {
    limits.take(accountId, plan, counts, (countError, state) => {
      if (countError !== null || state === null) return done(away(countError), null);
      const nowMs = clock.now().getTime();
      setRateHeaders(reply, plan, state, nowMs);
      done(state.denied === null ? null : overLimit(state, nowMs), state);
    });
  }

  function refuseKey(request: FastifyRequest, code: "auth_required" | "invalid_api_key"): Refusal {
    const { ok, retryAfterSeconds } = failures.take(request.clientAddress);
    if (!ok) {
      return new Refusal("rate_limit_exceeded", {
        message: `Too many requests without a valid API key from your address. Wait ${retryAfterSeconds} s.`,
        headers: { "retry-after": String(retryAfterSeconds) },
      });
    }
    const message = code === "auth_required" ? missingKey(request) : WRONG_KEY;
    // RFC 9110, section 15.5.2: a 401 must name an authentication scheme.
    return new Refusal(code, { message, headers: { "www-authenticate": "Bearer" } });
  }

  return {
    keyed(options) {
      if (options.key !== "anywhere") {
        return { onRequest: (request, reply, done) => pass(request, reply, keyInHeaders(request), options, done) };
      }
      return {
        // If the key cannot be in the body, it is checked before the body is read.
        onRequest: (request, reply, done) => {
          const presented = keyInHeaders(request) ?? keyInQuery(request);
          if (presented === null && mayHaveBody(request)) done();
          else pass(request, reply, presented, options, done);
        },
        preHandler: (request, reply, done) => {
          if (request.principal === null) pass(request, reply, keyInBody(request), options, done);
          else done();
        },
      };
    },
    admit(request, reply, options) {
      return new Promise((resolve, reject) => {
        pass(request, reply, keyInHeaders(request), options, (error) => {
          if (error !== undefined) reject(error);
          else if (request.principal !== null) resolve(request.principal);
        });
      });
    },
    admitMember(reply, member, scope) {
      return new Promise((resolve, reject) => {
        count(reply, member, "minute-and-day", (refused) => {
          if (refused !== null) reject(refused);
          else if (member.plan.scopes.includes(scope)) resolve();
          else reject(new Refusal("insufficient_scope", notInPlan(member, scope)));
        });
      });
    },
    identify(request, key = "headers") {
      const presented = keyInHeaders(request) ?? (key === "anywhere" ? keyInQuery(request) : null);
      if (presented === null) return Promise.resolve(null);
      return new Promise((resolve, reject) => {
        keys.find(presented, (error, principal) => {
          if (error === null) resolve(principal);
          else reject(away(error));
        });
      });
    },
  };
}

/** Returns the token of `Authorization: Bearer <token>` (scheme case-insensitive), null if there is none. */
export function bearerToken(request: FastifyRequest): string | null {
  return /^bearer +(\S+)$/i.exec(request.headers.authorization ?? "")?.[1] ?? null;
}

/** Returns the key from X-API-Key, else from `Authorization: Bearer`; null if neither has one. */
export function keyInHeaders(request: FastifyRequest): string | null {
  const given = request.headers["x-api-key"];
  // Node joins two fields of the same name: the result is an invalid key, not a missing one.
  return typeof given === "string" && given !== "" ? given : bearerToken(request);
}

function keyInQuery(request: FastifyRequest): string | null {
  const given = (request.query as Record<string, unknown>)["api_key"];
  return typeof given === "string" && given !== "" ? given : null;
}

const KEYED_BODY = /^application\/(?:json|x-www-form-urlencoded) *(?:;|$)/i;

function mayHaveBody(request: FastifyRequest): boolean {
  return request.method !== "GET" && KEYED_BODY.test(request.headers["content-type"] ?? "");
}

const WHERE = "in the X-API-Key header or as Authorization: Bearer <key>";
const WRONG_KEY =
  "This API key is not valid: it is mistyped or revoked. Keys start with vtg_ and have 40 characters. " +
  `Send the key ${WHERE}. If a request has both, X-API-Key is used.`;

function missingKey(request: FastifyRequest): string {
  const parameter = request.apiVersion === "v4" || request.apiVersion === null ? "" : ", or in the api_key parameter";
  return `Send your API key ${WHERE}${parameter}. If you have no key, ask the operator, who creates one with: ${LAUNCHER} keys create`;
}

function overLimit(state: LimitState, nowMs: number): Refusal {
  const byDay = state.denied === "day";
  const wait = secondsUntil(byDay ? dayEnd(state.day) : minuteEnd(state.minute), nowMs);
  const limit = byDay ? `${state.dayLimit} requests a day` : `${state.minuteLimit} requests a minute`;
  const until = byDay ? "until 00:00 UTC" : `${wait} s`;
  return new Refusal(byDay ? "daily_limit_exceeded" : "rate_limit_exceeded", {
    message: `Your plan allows ${limit} for all keys of the account together. Wait ${until} or move to a larger plan.`,
    headers: { "retry-after": String(wait) },
  });
}

/** Creates the 403 for a key without a scope; exported for routes whose scope depends on the request. */
export function outOfScope(scope: KeyScope, principal: Principal): Refusal {
  const has = principal.scopes.length === 0 ? "none" : principal.scopes.join(", ");
  const ofPlan = planScopeOf(scope);
  const needed = ofPlan === scope ? scope : `${ofPlan} or ${scope}`;
  const advice = principal.plan.scopes.includes(ofPlan)
    ? `Use a key with the scope ${needed}.`
    : notInPlan(principal, ofPlan);
  return new Refusal(
    "insufficient_scope",
    `This request needs the scope ${needed}. Scopes of your key: ${has}. ${advice}`,
  );
}

function notInPlan({ plan }: Pick<Principal, "plan">, scope: Scope): string {
  return `The ${plan.name} plan does not include ${scope}.`;
}

function away(error: Error | null): Error {
  return error === null || isDatabaseAway(error) ? serviceUnavailable() : error;
}
