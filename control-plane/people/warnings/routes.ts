import type { FastifyInstance } from "fastify";
import { Type } from "typebox";
import type { Hook } from "#control-plane/http/gate.ts";
import { operation } from "#control-plane/http/operations/operation.ts";
import { answer } from "#control-plane/http/request.ts";
import { MOST_IDS } from "#control-plane/people/warnings/causes.ts";
import { WARNING_CODES, type WarningCode } from "#control-plane/people/warnings/codes.ts";
import type { Warnings } from "#control-plane/people/warnings/warnings.ts";

const DESCRIPTION: Readonly<Record<WarningCode, string>> = {
  no_agents: "no probe agent is connected to any replica",
  location_unserved: "no agent is connected at a location of monitors",
  agents_failing: "agents cannot run checks, because their own network or host fails",
  agents_too_old: "agents run a version that this one does not support",
  too_few_locations: "monitors have several locations, and fewer than two with recent results",
  checks_late: "checks begin more than 30 s later than planned",
  mail_not_configured: "monitors ask for mail, and there is no mail server",
  mail_failing: "mails have failed for a minute or more",
  history_late: "uptime and response times are not computed for the latest hours",
  partitions_missing: "checks are stored outside of the partition of their day",
  backup_old: "the last backup by schedule failed, or none is younger than two periods",
};

const ROW = Type.Object({
  code: Type.Enum([...WARNING_CODES], {
    description: WARNING_CODES.map((code) => `${code}: ${DESCRIPTION[code]}`).join(". "),
  }),
  message: Type.String({ description: "What is wrong, what it means, and what to do" }),
  since: Type.String({ format: "date-time", description: "When the cause was first found" }),
  monitor_ids: Type.Array(Type.Integer(), {
    maxItems: MOST_IDS,
    description: `Monitors that it affects, of all accounts: the ${MOST_IDS} smallest ids at most`,
  }),
  monitor_count: Type.Integer({ description: "Number of monitors that it affects" }),
});

/** Registers GET /api/admin/warnings: what is wrong with the service now. */
export function registerAdminWarnings(server: FastifyInstance, admin: Hook, warnings: Pick<Warnings, "list">): void {
  server.route({
    method: "GET",
    url: "/api/admin/warnings",
    onRequest: admin,
    schema: operation({
      id: "admin_list_warnings",
      tag: "Admin",
      summary: "List what is wrong with the service itself, the oldest first",
      description:
        "One row for each cause. What follows from another cause has no row: if no agent is connected, there is one " +
        "row, not one for each location or monitor. A row appears when its cause has lasted for a while, which is " +
        "30 s for agents and locations, and it disappears when the cause has ended. Each is also a line in the log of " +
        "one replica when it begins (level warn) and ends (level info), and counted by the metric vantage_warning.",
      security: "operator",
      data: Type.Array(ROW),
    }),
    handler: async (request) => {
      const rows = await warnings.list();
      return answer(
        request,
        rows.map(({ code, message, since, monitorIds, monitorCount }) => {
          return { code, message, since: since.toISOString(), monitor_ids: monitorIds, monitor_count: monitorCount };
        }),
      );
    },
  });
}
