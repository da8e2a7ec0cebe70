import { Type } from "typebox";
import type { FastifyRequest } from "fastify";
import { MOST_VALUE, SECRET } from "#control-plane/http/access/diff-shown.ts";
import { readBody } from "#control-plane/http/body.ts";
import { IdField } from "#control-plane/http/params.ts";
import { callerOf } from "#control-plane/http/request.ts";
import { LONGEST_PARAMETER, type Warning } from "#control-plane/http/warnings.ts";
import type { Write } from "#control-plane/http/writes.ts";
import { requireWritten } from "#control-plane/http/written.ts";
import { parseBulk } from "#control-plane/monitors/bulk/parse.ts";
import { changeOf } from "#control-plane/monitors/changed-fields.ts";
import type { Monitors } from "#control-plane/monitors/monitors.ts";

const Shown = (when: string) =>
  Type.Unknown({
    description: `Value ${when} the change; ${SECRET} in place of a secret, and the beginning of one longer than ${MOST_VALUE} characters`,
  });

/** Answer of a change of many. */
export const BULK_CHANGED = Type.Object({
  dry_run: Type.Boolean({ description: "Whether nothing was changed, because the request asked what would be" }),
  changed: Type.Integer({ description: "Number of monitors that the request changes" }),
  unchanged: Type.Integer({ description: "Number of monitors that were as the request has them" }),
  monitors: Type.Array(
    Type.Object({
      id: IdField,
      name: Type.String({ description: "Name of the monitor" }),
      changed: Type.Array(
        Type.Object({
          field: Type.String({
            description: "Field, such as retries, heartbeat.grace_seconds or request_headers.X-Api-Key",
          }),
          before: Shown("before"),
          after: Shown("after"),
        }),
        { description: "What changes; empty: nothing. notify_emails null is the address of the account" },
      ),
    }),
    { description: "The monitors in the order of ids" },
  ),
});

/** Reads a change of many; returns the write that does it. Throws Refusal. */
export function readBulk(monitors: Monitors, request: FastifyRequest): Write {
  const { accountId } = callerOf(request);
  const change = requireWritten(parseBulk(readBody(request)));
  return async (tx) => {
    const { monitors: rows, removed } = requireWritten(await monitors.changeMany(tx, accountId, change));
    const changed = rows.filter((row) => row.changed.length > 0);
    return {
      data: {
        dry_run: change.isDryRun,
        changed: changed.length,
        unchanged: rows.length - changed.length,
        monitors: rows,
      },
      changes: change.isDryRun ? [] : changed.map((row) => changeOf(row, "changed", row.changed)),
      warnings: Array.from(removed, ([field, count]) => warnOfRemovals(field, count)),
    };
  };
}

function warnOfRemovals(field: string, count: number): Warning {
  const parameter = field.slice(0, LONGEST_PARAMETER);
  const where = count === 1 ? "one monitor" : `${count} monitors`;
  const message = `"${parameter}" is removed from ${where}, which the change leads to another origin: send it with the change.`;
  return { parameter, message, did_you_mean: null };
}
