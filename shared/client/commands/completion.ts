import { Argument, type Command } from "commander";
import { outline } from "#shared/client/completion/outline.ts";
import { completionScript, SHELLS, type Shell } from "#shared/client/completion/scripts.ts";
import type { CommandContext } from "#shared/client/context.ts";

/** Adds `deploy/vantage completion SHELL`, which prints a script made from all commands and their options. */
export function addCompletion(program: Command, context: CommandContext): void {
  program
    .command("completion")
    .addArgument(new Argument("<shell>", "shell for which the script is").choices(SHELLS))
    .description("print a script that completes commands and options of `vantage` on PATH")
    .action((shell: Shell) => context.say(completionScript(shell, outline(program))));
}
