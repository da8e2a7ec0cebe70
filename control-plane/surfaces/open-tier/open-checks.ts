import type { FastifyReply, FastifyRequest } from "fastify";
import { Counter, type Registry } from "prom-client";
import type { LimitState } from "#control-plane/http/access/limit-state.ts";
import { dayEnd, minuteEnd, secondsUntil } from "#control-plane/http/access/windows.ts";
import type { CheckAnswer } from "#control-plane/checks/answer.ts";
import { asSubmitted } from "#control-plane/checks/as-submitted.ts";
import { normaliseTarget } from "#control-plane/checks/cache.ts";
import type { CheckContext } from "#control-plane/checks/context.ts";
import { runCheck } from "#control-plane/checks/run-check.ts";
import { Refusal } from "#control-plane/http/errors.ts";
import { setRateHeaders } from "#control-plane/http/rate-headers.ts";
import type { AnonymousAllowance, AnonymousLimits } from "#control-plane/http/limits/anonymous.ts";
import {
  createAnswerCache,
  type AnswerCache,
  type CachedAnswer,
} from "#control-plane/surfaces/open-tier/answer-cache.ts";
import type { OpenTool } from "#control-plane/surfaces/open-tier/offered-tools.ts";
import { refuseUnanswered } from "#control-plane/checks/tool-requests/refuse-unanswered.ts";

type Params = Readonly<Record<string, unknown>>;

/** Checks without a key, for the open tier and the first page. Equal calls within a minute share one check. */
export interface OpenChecks {
  readonly allowance: AnonymousAllowance;
  /** Answers of the last minute. */
  readonly answers: AnswerCache;
  /** Counts one call of the client and sets the headers of its limits; returns the refusal of a call above them. */
  take(request: FastifyRequest, reply: FastifyReply): Refusal | null;
  /** Returns the answer of a tool, from the cache or by a check. */
  ask(tool: OpenTool, params: Params): Promise<CachedAnswer>;
  /** Returns the counter of answers from the cache. */
  hitsOf(tool: OpenTool): Pick<Counter.Internal, "inc">;
}

/** Creates the checks without a key. */
export function createOpenChecks({
  checks,
  limits,
  allowance,
  registry,
}: {
  readonly checks: CheckContext;
  readonly limits: AnonymousLimits;
  readonly allowance: AnonymousAllowance;
  readonly registry: Registry;
}): OpenChecks {
  const answers = createAnswerCache(checks.clock);
  const served = new Counter({
    name: "vantage_open_requests_total",
    help: "Answers of the open tier by tool and cache result (hit, miss)",
    labelNames: ["tool", "cache"],
    registers: [registry],
  });
  return {
    allowance,
    answers,
    take(request, reply) {
      const nowMs = checks.clock.now().getTime();
      const state = limits.take(request.clientAddress);
      setRateHeaders(reply, allowance, state, nowMs);
      return state.denied === null ? null : overLimit(state, nowMs);
    },
    async ask(tool, params) {
      const key = keyOf(tool, params);
      const isHit = answers.peek(key) !== undefined;
      const kept = await answers.get(key, () =>
        runCheck(checks, {
          contract: tool.contract,
          params,
          accountId: null,
          locations: null,
          maxLocations: 1,
        }),
      );
      served.inc({ tool: tool.name, cache: isHit ? "hit" : "miss" });
      return kept;
    },
    hitsOf: (tool) => served.labels({ tool: tool.name, cache: "hit" }),
  };
}

/** Returns the data of an answer as the caller wrote the target. Throws Refusal if there is none; its field is q. */
export function dataOf({ answer }: CachedAnswer, tool: OpenTool, params: Params): unknown {
  const answered = refuseUnanswered(withFieldQ(answer, tool));
  if (answered.kind !== "single" || answered.outcome.status !== "ok") throw new Error("one location was asked");
  return asSubmitted(tool.contract, params, answered.outcome.data);
}

/** Renames the field of a target problem to q. */
function withFieldQ(answer: CheckAnswer, { q }: OpenTool): CheckAnswer {
  if (answer.kind !== "problem" || answer.problem.field !== q) return answer;
  return { kind: "problem", problem: { ...answer.problem, field: "q" } };
}

/** Returns one key for all spellings of a call. */
function keyOf({ name, contract, q }: OpenTool, params: Params): string {
  const same = { ...params, [q]: normaliseTarget(contract, params[q]) };
  return `${name} ${JSON.stringify(Object.entries(same).toSorted(([a], [b]) => (a < b ? -1 : 1)))}`;
}

function overLimit(state: LimitState, nowMs: number): Refusal {
  const byDay = state.denied === "day";
  const wait = secondsUntil(byDay ? dayEnd(state.day) : minuteEnd(state.minute), nowMs);
  const limit = byDay ? `${state.dayLimit} requests a day` : `${state.minuteLimit} requests a minute`;
  return new Refusal(byDay ? "daily_limit_exceeded" : "rate_limit_exceeded", {
    message: `The open tier allows ${limit} from one address. Wait ${byDay ? "until 00:00 UTC" : `${wait} s`}, or use an API key.`,
    headers: { "retry-after": String(wait) },
  });
}
