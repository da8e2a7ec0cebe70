import { readFileSync } from "node:fs";
import { Command } from "commander";
import { addAccounts } from "#shared/client/commands/accounts.ts";
import { addDoctor } from "#shared/client/commands/doctor.ts";
import { addKeys } from "#shared/client/commands/keys.ts";
import { addListen } from "#shared/client/commands/listen.ts";
import { addLogin } from "#shared/client/commands/login.ts";
import { addProbes } from "#shared/client/commands/probes.ts";
import { addProcesses } from "#shared/client/commands/processes.ts";
import { addTools } from "#shared/client/commands/tools.ts";
import { addUp } from "#shared/client/commands/up.ts";
import { addVerifyAudit } from "#shared/client/commands/verify-audit.ts";
import type { CommandContext } from "#shared/client/context.ts";
import { showHiddenInLines } from "#shared/hidden-characters.ts";
import { LAUNCHER } from "#shared/launcher.ts";

/** Builds the command line with all commands. No text that they print can control the terminal. */
export function createProgram(given: CommandContext): Command {
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
    .showHelpAfterError(`(${LAUNCHER} --help lists the commands)`)
    .configureOutput({
      writeOut: (text) => context.say(text.trimEnd()),
      writeErr: (text) => context.complain(text.trimEnd()),
    });
  addUp(program, context);
  addProcesses(program, context);
  addDoctor(program, context);
  addKeys(program, context);
  addAccounts(program, context);
  addProbes(program, context);
  addLogin(program, context);
  addListen(program, context);
  addVerifyAudit(program, context);
  addTools(program, context);
  return program;
}
