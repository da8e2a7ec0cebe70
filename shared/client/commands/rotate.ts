import type { Command } from "commander";
import { addRotateMasterKey } from "#shared/client/commands/backup.ts";
import type { CommandContext } from "#shared/client/context.ts";

/** Adds `deploy/vantage rotate master-key`. */
export function addRotate(program: Command, context: CommandContext): void {
  const rotate = program.command("rotate").description("replace a secret of the installation");
  addRotateMasterKey(rotate, context);
}
