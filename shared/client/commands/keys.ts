import type { Command } from "commander";
import { field } from "#shared/client/call.ts";
import { adminAction, rowsOf } from "#shared/client/commands/admin-action.ts";
import type { CommandContext } from "#shared/client/context.ts";
import { cell, table } from "#shared/client/table.ts";

/** `deploy/vantage keys create|list|delete`: API keys, through the admin API of a running control plane. */
export function addKeys(program: Command, context: CommandContext): void {
  const keys = program.command("keys").description("API keys (needs a running control plane and the operator token)");
  const create = keys
    .command("create")
    .description("make a key; without --account-id an account on --plan is made for it")
    .option("--plan <plan>", "free, starter, pro, business or captain")
    .option("--account-id <id>", "the account that gets the key")
    .option("--name <name>", "what it is for")
    .option("--scopes <list>", "fewer scopes than the plan's, comma-separated");
  adminAction(create, context, {
    ask: (flags) => ({ path: "/keys", call: { method: "POST", json: newKey(flags) } }),
    show: (data) =>
      `${cell(field(data, "key"))}\n(key ${cell(field(data, "id"))}, plan ${cell(field(data, "plan"))}; shown only this once)`,
  });
  adminAction(keys.command("list").description("all keys, newest first"), context, {
    ask: () => ({ path: "/keys", call: {} }),
    show: (data) => table(rowsOf(data, "keys"), ["id", "account_id", "prefix", "plan", "name", "scopes", "created_at"]),
  });
  adminAction(keys.command("delete").argument("<id>").description("revoke a key at once"), context, {
    ask: (_flags, id) => ({ path: `/keys?id=${encodeURIComponent(id)}`, call: { method: "DELETE" } }),
    show: () => "Deleted.",
  });
}

function newKey(flags: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const { plan, accountId, name, scopes } = flags;
  return {
    ...(typeof plan === "string" ? { plan } : {}),
    // An id that is no number goes out as it is: the service says what is wrong with it.
    ...(typeof accountId === "string" ? { account_id: /^\d+$/.test(accountId) ? Number(accountId) : accountId } : {}),
    ...(typeof name === "string" ? { name } : {}),
    ...(typeof scopes === "string" ? { scopes: scopes.split(",").map((scope) => scope.trim()) } : {}),
  };
}
