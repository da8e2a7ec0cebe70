import { Argument, type Command } from "commander";
import { field } from "#shared/client/call.ts";
import { adminAction, rowsOf } from "#shared/client/commands/admin-action.ts";
import { addRotateMasterKey } from "#shared/client/commands/backup.ts";
import type { CommandContext } from "#shared/client/context.ts";
import { cell, table } from "#shared/client/table.ts";

const COLUMNS = ["id", "last_seen_at", "certificate_expires_at"];

/** Adds `deploy/vantage rotate master-key` and `probe-ca`, of which the second calls the admin API of a running service. */
export function addRotate(program: Command, context: CommandContext): void {
  const rotate = program.command("rotate").description("replace a secret of the installation");
  addRotateMasterKey(rotate, context);
  const authority = rotate
    .command("probe-ca")
    .addArgument(new Argument("[action]", "what to do; status if it is missing").choices(["status", "begin", "finish"]))
    .description("replace the certificate authority of agents (needs a running control plane and the operator token)")
    .option("--force", "finish: revoke agents that have not renewed their certificate, which have to join again");
  adminAction(authority, context, {
    ask: ({ force }, action) => ({
      path: "/probe-ca",
      call:
        action === "begin" || action === "finish"
          ? { method: "POST", json: { action, ...(force === true ? { force } : {}) } }
          : {},
    }),
    show: describe,
  });
}

function describe(data: unknown): string {
  const line = (name: string, what: string) => {
    const one = field(data, name);
    return `${what}: ${cell(field(one, "fingerprint"))}, made ${cell(field(one, "created_at"))}`;
  };
  const lines = [line("ca", "Authority of agents")];
  if (field(data, "next") !== null) {
    lines.push(line("next", "The next one"), `Agents that have not renewed: ${cell(field(data, "agent_count"))}`);
    const agents = rowsOf(data, "agents");
    if (agents.length > 0) lines.push(table(agents, COLUMNS));
  }
  return lines.join("\n");
}
