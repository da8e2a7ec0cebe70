import { existsSync, readFileSync } from "node:fs";
import { Command, CommanderError } from "commander";
import type { Contract } from "#shared/tools/define.ts";
import type { CommandContext } from "#shared/client/context.ts";
import { USAGE } from "#shared/client/exit-codes.ts";
import { readTerminal } from "#shared/client/terminal.ts";
import { showHiddenInLines } from "#shared/text/hidden-characters.ts";
import { LAUNCHER } from "#shared/settings/launcher.ts";

/** Names of the commands of nouns. */
const NOUN_NAMES = ["monitors", "incidents", "maintenance", "status", "webhooks", "events", "measurements", "batch"];

/** Adds commands to the program. */
type Add = (program: Command, context: CommandContext) => void;

/** Commands of one module, and their names. */
interface CommandModule {
  readonly names: readonly string[];
  readonly load: () => Promise<Add>;
}

/** The commands of all tools, each with the name of its tool. */
const TOOLS: CommandModule = {
  names: [],
  load: async () => {
    const [{ addTool }, { CONTRACTS }] = await Promise.all([
      import("#shared/client/commands/tools.ts"),
      import("#shared/tools/index.ts"),
    ]);
    return (program, context) => {
      for (const contract of CONTRACTS) addTool(program, context, contract);
    };
  },
};

/** Returns the command of one tool, whose contract is in the folder of its name. */
function toolModule(folder: URL): CommandModule {
  return {
    names: [],
    load: async () => {
      const [{ addTool }, contracts] = await Promise.all([
        import("#shared/client/commands/tools.ts"),
        import(folder.href) as Promise<Readonly<Record<string, unknown>>>,
      ]);
      const contract = Object.values(contracts).find((value) => isContract(value));
      if (contract === undefined) throw new Error(`${folder.pathname} has no contract`);
      return (program, context) => addTool(program, context, contract);
    },
  };
}

function isContract(value: unknown): value is Contract {
  return typeof value === "object" && value !== null && "params" in value && "summary" in value && "scope" in value;
}

/**
 * All commands in the order of the help. Their modules are loaded when they are used: all of them take four times as long
 * to load as Node takes to start.
 */
export const COMMANDS: readonly CommandModule[] = [
  { names: ["up"], load: async () => (await import("#shared/client/commands/up.ts")).addUp },
  {
    names: ["control-plane", "agent", "migrate"],
    load: async () => (await import("#shared/client/commands/processes.ts")).addProcesses,
  },
  { names: ["backup", "restore"], load: async () => (await import("#shared/client/commands/backup.ts")).addBackup },
  { names: ["rotate"], load: async () => (await import("#shared/client/commands/rotate.ts")).addRotate },
  { names: ["exporter"], load: async () => (await import("#shared/client/commands/exporter.ts")).addExporter },
  { names: ["doctor"], load: async () => (await import("#shared/client/commands/doctor.ts")).addDoctor },
  { names: ["keys"], load: async () => (await import("#shared/client/commands/keys.ts")).addKeys },
  { names: ["accounts"], load: async () => (await import("#shared/client/commands/accounts.ts")).addAccounts },
  { names: ["probes"], load: async () => (await import("#shared/client/commands/probes.ts")).addProbes },
  {
    names: ["sign-in-link"],
    load: async () => (await import("#shared/client/commands/sign-in-link.ts")).addSignInLink,
  },
  {
    names: ["login", "logout", "whoami"],
    load: async () => (await import("#shared/client/commands/login.ts")).addLogin,
  },
  { names: ["api"], load: async () => (await import("#shared/client/commands/api.ts")).addApi },
  { names: NOUN_NAMES, load: async () => (await import("#shared/client/commands/nouns.ts")).addNouns },
  { names: ["heartbeat"], load: async () => (await import("#shared/client/commands/heartbeat.ts")).addHeartbeat },
  { names: ["export"], load: async () => (await import("#shared/client/commands/export.ts")).addExport },
  { names: ["apply"], load: async () => (await import("#shared/client/commands/apply.ts")).addApply },
  { names: ["import"], load: async () => (await import("#shared/client/commands/import.ts")).addImport },
  { names: ["listen"], load: async () => (await import("#shared/client/commands/listen.ts")).addListen },
  {
    names: ["verify-audit"],
    load: async () => (await import("#shared/client/commands/verify-audit.ts")).addVerifyAudit,
  },
  // Its script has all the others.
  { names: [], load: async () => (await import("#shared/client/commands/completion.ts")).addCompletion },
  TOOLS,
];

/** Returns the modules that a command line needs: that of its command, or all for help, completion and a wrong name. */
function modulesFor([word = ""]: readonly string[]): readonly CommandModule[] {
  if (word === "--version" || word === "-V") return [];
  const named = COMMANDS.filter(({ names }) => names.includes(word));
  if (named.length > 0) return named;
  // Every tool has a folder of its name.
  const folder = new URL(`../tools/${word}/contract.ts`, import.meta.url);
  return /^[a-z-]{1,40}$/.test(word) && existsSync(folder) ? [toolModule(folder)] : COMMANDS;
}

/** Runs the command line `words`, without the program's name. A usage error has status 2. */
export async function runCommandLine(context: CommandContext, words: readonly string[]): Promise<void> {
  try {
    const adding = await Promise.all(modulesFor(words).map(({ load }) => load()));
    await createProgram(context, adding).parseAsync(words, { from: "user" });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    context.exit(error.exitCode);
  }
}

/** Builds the command line. No text that its commands print can control the terminal. */
function createProgram(given: CommandContext, adding: readonly Add[]): Command {
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
  for (const add of adding) add(program, context);
  return program;
}
