import type { Command } from "commander";
import { ADMIN_ROWS, askAdmin } from "#shared/client/admin.ts";
import { field, type Call } from "#shared/client/call.ts";
import type { CommandContext } from "#shared/client/context.ts";
import { addSettingFlags, withFlags } from "#shared/client/flags.ts";

/** Flags as commander passes them. */
export type Flags = Readonly<Record<string, string | boolean | undefined>>;

/** One operator command: the request it sends, and the text it prints for the response. */
interface AdminAction {
  ask(flags: Flags, argument: string): { readonly path: string; readonly call: Call };
  show(data: unknown, flags: Flags): string;
}

/** Adds to an operator command the flags for address and token, --json, and the action. */
export function adminAction(command: Command, context: CommandContext, action: AdminAction): void {
  command.option("--json", "print the response as JSON");
  addSettingFlags(command, ADMIN_ROWS).action(async (...words: unknown[]) => {
    // commander passes the arguments, then the flags, then the command itself.
    const flags = words.at(-2) as Flags;
    const argument = typeof words[0] === "string" ? words[0] : "";
    const { path, call } = action.ask(flags, argument);
    const answer = await askAdmin(withFlags(context.environment, ADMIN_ROWS, flags), context.directory, path, call);
    if (answer.ok) {
      context.say(flags["json"] === true ? JSON.stringify(answer.data, null, 2) : action.show(answer.data, flags));
    } else {
      context.complain(`vantage: ${answer.line}`);
      context.exit(answer.exit);
    }
  });
}

/** Returns the rows of a list response: `data` itself if it is an array, else `data[name]`. */
export function rowsOf(data: unknown, name: string): readonly unknown[] {
  if (Array.isArray(data)) return data;
  const inner = field(data, name);
  return Array.isArray(inner) ? inner : [];
}
