import type { Command } from "commander";
import { field } from "#shared/client/call.ts";
import { adminAction } from "#shared/client/commands/admin-action.ts";
import type { CommandContext } from "#shared/client/context.ts";
import { cell } from "#shared/client/table.ts";

/** Adds `deploy/vantage sign-in-link`, which calls the admin API of a running control plane. */
export function addSignInLink(program: Command, context: CommandContext): void {
  const command = program
    .command("sign-in-link")
    .description(
      "print a link by which an owner signs in to the dashboard and sets a password (needs a running control plane and the operator token)",
    )
    .option("--account-id <id>", "account that the link takes over (default: the oldest one)");
  adminAction(command, context, {
    ask: ({ accountId }) => ({ path: "/sign-in-links", call: { method: "POST", json: bodyOf(accountId) } }),
    show: (data) =>
      `${cell(field(data, "url"))}\n(account ${cell(field(data, "account_id"))}; works once, for 15 minutes)`,
  });
}

function bodyOf(accountId: unknown): Record<string, unknown> {
  if (typeof accountId !== "string") return {};
  // An id that is not a number is sent unchanged: the service reports the error.
  return { account_id: /^\d+$/.test(accountId) ? Number(accountId) : accountId };
}
