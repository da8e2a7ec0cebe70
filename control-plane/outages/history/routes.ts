import { Type } from "typebox";
import type { FastifyRequest } from "fastify";
import type { Clock } from "#shared/time/clock.ts";
import { instant } from "#shared/settings/kinds.ts";
import { Nullable } from "#shared/tools/fields.ts";
import type { History } from "#control-plane/outages/history/history.ts";
import { DAY_MS, type Span } from "#control-plane/outages/history/period.ts";
import type { Point } from "#control-plane/outages/history/points.ts";
import { refuseField } from "#control-plane/http/errors.ts";
import type { ReadAction } from "#control-plane/http/operations/read-action.ts";
import { readQuery } from "#control-plane/http/params.ts";

/** Length of a range without `from`, in milliseconds: one day. */
const USUAL_MS = DAY_MS;
/** Longest range, in milliseconds: one year, also a leap year. */
const LONGEST_MS = 366 * DAY_MS;

const Instant = (description: string) =>
  Type.Optional(Type.String({ maxLength: 40, description, examples: ["2026-01-31T00:00:00Z"] }));

/** Fields of the query of `action=history`, besides action and id. */
const HISTORY_FIELDS = {
  from: Instant("history: beginning of the range, as an ISO 8601 time with a zone; default: a day before `to`"),
  to: Instant("history: end of the range; default: now. A range is at most 366 days long"),
};

const HISTORY_QUERY = Type.Object(HISTORY_FIELDS);

const Count = (description: string) => Type.Integer({ description });
const Percentile = (percent: number) =>
  Nullable(
    Type.Integer({
      description: `${percent}th percentile of the response times of successful checks in milliseconds; null if there are none`,
    }),
  );

/** Data of the answer to `action=history`. */
const HISTORY = Type.Object({
  points: Type.Array(
    Type.Object({
      at: Type.String({
        format: "date-time",
        description:
          "Beginning of the step in UTC. A step lasts 5 minutes for ranges up to 6 hours, 1 hour up to 7 days, else 1 day",
      }),
      location: Type.String({ description: "Location of the checks" }),
      up: Count("Number of successful checks, degraded ones included, without re-checks"),
      down: Count("Number of failed checks"),
      unknown: Count("Number of checks without a verdict, because the probe failed or none was available"),
      p50: Percentile(50),
      p95: Percentile(95),
      p99: Percentile(99),
    }),
    { description: "Steps with at least one check, ordered by time and location" },
  ),
});

/** Creates the read of a monitor's history: GET /api/v4/monitors?id=&action=history. */
export function historyAction(history: Pick<History, "readPoints">, clock: Clock): ReadAction {
  return {
    name: "history",
    query: HISTORY_FIELDS,
    data: HISTORY,
    run: async (request, { id }) => showHistory(await history.readPoints(id, readRange(request, clock.now()))),
  };
}

/** Reads the range of a request for history. Throws Refusal for one that is empty, too long or not a time. */
export function readRange(request: FastifyRequest, now: Date): Span {
  const query = readQuery(HISTORY_QUERY, request);
  const to = query.to === undefined ? now.getTime() : readField("to", query.to);
  const from = query.from === undefined ? to - USUAL_MS : readField("from", query.from);
  if (from >= to) throw refuseField({ field: "from", reason: "range", message: "must be before `to`" });
  if (to - from > LONGEST_MS) {
    throw refuseField({ field: "from", reason: "range", message: "must be at most 366 days before `to`" });
  }
  return { from, to };
}

function readField(field: string, text: string): number {
  const at = instant.parse(text);
  if (at !== undefined) return at.getTime();
  throw refuseField({ field, reason: "type", message: `must be ${instant.allowed}` });
}

/** Shows points as the data of the answer. */
export function showHistory(points: readonly Point[]) {
  return { points: points.map((point) => ({ ...point, at: point.at.toISOString() })) };
}
