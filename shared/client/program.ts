import { readFileSync } from "node:fs";
import { Command, CommanderError } from "commander";
import { addAccounts } from "#shared/client/commands/accounts.ts";
import { addApi } from "#shared/client/commands/api.ts";
import { addCompletion } from "#shared/client/commands/completion.ts";
import { addApply } from "#shared/client/commands/apply.ts";
import { addDoctor } from "#shared/client/commands/doctor.ts";
import { addHeartbeat } from "#shared/client/commands/heartbeat.ts";
import { addExporter } from "#shared/client/commands/exporter.ts";
import { addExport } from "#shared/client/commands/export.ts";
import { addImport } from "#shared/client/commands/import.ts";
import { addKeys } from "#shared/client/commands/keys.ts";
import { addListen } from "#shared/client/commands/listen.ts";
import { addLogin } from "#shared/client/commands/login.ts";
import { addNouns } from "#shared/client/commands/nouns.ts";
import { addProbes } from "#shared/client/commands/probes.ts";
import { addProcesses } from "#shared/client/commands/processes.ts";
import { addSignInLink } from "#shared/client/commands/sign-in-link.ts";
import { addTools } from "#shared/client/commands/tools.ts";
import { addUp } from "#shared/client/commands/up.ts";
import { addVerifyAudit } from "#shared/client/commands/verify-audit.ts";
import type { CommandContext } from "#shared/client/context.ts";
import { USAGE } from "#shared/client/exit-codes.ts";
import { readTerminal } from "#shared/client/terminal.ts";
import { showHiddenInLines } from "#shared/text/hidden-characters.ts";
import { LAUNCHER } from "#shared/settings/launcher.ts";

/** Runs the command line `words`, without the program's name. A usage error has status 2. */
export async function runCommandLine(context: CommandContext, words: readonly string[]): Promise<void> {
  try {
    await createProgram(context).parseAsync(words, { from: "user" });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    context.exit(error.exitCode);
  }
}

/** Builds the command line with all commands. No text that they print can control the terminal. */
function createProgram(given: CommandContext): Command {
  const context: CommandContext = {
    ...given,
    say: (text) => given.say(showHiddenInLines(text)),
    complain: (line) => given.complain(showHiddenInLines(line)),
  };
  const manifest = readFileSync(new URL("../../package.json", import.meta.url), "utf8");
  const { version } = JSON.parse(manifest) as { version: string };
  const program = new Command(LAUNCHER)
    .description("Website diagnostics and monitoring from many vantage points")
    .version(version)
    .helpCommand(true)
    .enablePositionalOptions()
    .showHelpAfterError(`(${LAUNCHER} --help lists the commands)`)
    // Commands inherit it. After --help and --version, the status is 0.
    .exitOverride(({ exitCode, code, message }) => {
      throw new CommanderError(exitCode === 0 ? 0 : USAGE, code, message);
    })
    .configureOutput({
      getOutHelpWidth: () => readTerminal(context).width,
      writeOut: (text) => context.say(text.trimEnd()),
      writeErr: (text) => context.complain(text.trimEnd()),
      // One line, with what was probably meant.
      outputError: (text, write) => write(text.trimEnd().replaceAll("\n", " ")),
    });
  addUp(program, context);
  addProcesses(program, context);
  addExporter(program, context);
  addDoctor(program, context);
  addKeys(program, context);
  addAccounts(program, context);
  addProbes(program, context);
  addSignInLink(program, context);
  addLogin(program, context);
  addApi(program, context);
  addNouns(program, context);
  addHeartbeat(program, context);
  addExport(program, context);
  addApply(program, context);
  addImport(program, context);
  addListen(program, context);
  addVerifyAudit(program, context);
  addCompletion(program, context);
  addTools(program, context);
  return program;
}
