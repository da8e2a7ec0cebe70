import type { Command } from "commander";
import { field } from "#shared/client/call.ts";
import { adminAction, rowsOf } from "#shared/client/commands/admin-action.ts";
import type { CommandContext } from "#shared/client/context.ts";
import { cell, table } from "#shared/client/table.ts";

/** Adds `deploy/vantage keys create|list|delete`, which call the admin API of a running control plane. */
export function addKeys(program: Command, context: CommandContext): void {
  const keys = program
    .command("keys")
    .description("manage API keys (needs a running control plane and the operator token)");
  const create = keys
    .command("create")
    .description("create a key; without --account-id, also create an account on --plan")
    .option("--plan <plan>", "free, starter, pro, business or captain")
    .option("--account-id <id>", "account that owns the key")
    .option("--name <name>", "purpose of the key")
    .option("--scopes <list>", "scopes of the key, comma-separated (default: all scopes of the plan)");
  adminAction(create, context, {
    ask: (flags) => ({ path: "/keys", call: { method: "POST", json: newKey(flags) } }),
    show: (data) =>
      `${cell(field(data, "key"))}\n(key ${cell(field(data, "id"))}, plan ${cell(field(data, "plan"))}; not shown again)`,
  });
  adminAction(keys.command("list").description("list keys, newest first"), context, {
    ask: () => ({ path: "/keys", call: {} }),
    show: (data) => table(rowsOf(data, "keys"), ["id", "account_id", "prefix", "plan", "name", "scopes", "created_at"]),
  });
  adminAction(keys.command("delete").argument("<id>").description("revoke a key immediately"), context, {
    ask: (_flags, id) => ({ path: `/keys?id=${encodeURIComponent(id)}`, call: { method: "DELETE" } }),
    show: () => "Deleted.",
  });
}

function newKey(flags: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const { plan, accountId, name, scopes } = flags;
  return {
    ...(typeof plan === "string" ? { plan } : {}),
    // An id that is not a number is sent unchanged: the service reports the error.
    ...(typeof accountId === "string" ? { account_id: /^\d+$/.test(accountId) ? Number(accountId) : accountId } : {}),
    ...(typeof name === "string" ? { name } : {}),
    ...(typeof scopes === "string" ? { scopes: scopes.split(",").map((scope) => scope.trim()) } : {}),
  };
}
