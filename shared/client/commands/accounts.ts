import type { Command } from "commander";
import { field } from "#shared/client/call.ts";
import { adminAction, rowsOf } from "#shared/client/commands/admin-action.ts";
import type { CommandContext } from "#shared/client/context.ts";
import { cell, table } from "#shared/client/table.ts";

/** Adds `deploy/vantage accounts create|list|audit-secret`, which call the admin API of a running control plane. */
export function addAccounts(program: Command, context: CommandContext): void {
  const accounts = program
    .command("accounts")
    .description("manage accounts (needs a running control plane and the operator token)");
  const create = accounts
    .command("create")
    .description("create an account")
    .requiredOption("--email <address>", "mail address of the account")
    .option("--plan <plan>", "free, starter, pro, business or captain", "free");
  adminAction(create, context, {
    ask: ({ email, plan }) => ({ path: "/accounts", call: { method: "POST", json: { email, plan } } }),
    show: (data) => `Account ${cell(field(data, "id"))} on plan ${cell(field(data, "plan"))}.`,
  });
  adminAction(accounts.command("list").description("list accounts, newest first"), context, {
    ask: () => ({ path: "/accounts", call: {} }),
    show: (data) => table(rowsOf(data, "accounts"), ["id", "email", "plan", "created_at"]),
  });
  const secret = accounts
    .command("audit-secret")
    .argument("<id>", "id of the account")
    .description(
      "show the secret that signs the account's audit exports, once; if it was shown before, make a new one",
    );
  adminAction(secret, context, {
    // An id that is not a number is sent unchanged: the service reports the error.
    ask: (_flags, id) => ({
      path: "/audit-secret",
      call: { method: "POST", json: { account_id: /^\d+$/.test(id) ? Number(id) : id } },
    }),
    show: (data) => `${cell(field(data, "secret"))}\n(audit secret ${cell(field(data, "kid"))}; not shown again)`,
  });
}
