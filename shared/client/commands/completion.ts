import { Argument, type Command, type Option } from "commander";
import type { CommandContext } from "#shared/client/context.ts";
import { quoted } from "#shared/text/quoted.ts";

/** Adds `deploy/vantage completion SHELL`, which prints a script made from all commands and their options. */
export function addCompletion(program: Command, context: CommandContext): void {
  program
    .command("completion")
    .addArgument(new Argument("<shell>", "shell for which the script is").choices(SHELLS))
    .description("print a script that completes commands and options of `vantage` on PATH")
    .action((shell: Shell) => context.say(completionScript(shell, outline(program))));
}

/** A word that can be completed, with what it is for. */
interface Word {
  readonly text: string;
  readonly meaning: string;
}

/** An option of a command. */
interface OutlinedOption {
  /** Its flags, such as -f and --file. */
  readonly flags: readonly string[];
  readonly meaning: string;
  /** The values that it takes; null if it takes none, [] any. */
  readonly values: readonly string[] | null;
}

/** A command with what can follow it. */
interface Outlined {
  /** Names from the program to the command, "" for the program itself. */
  readonly path: readonly string[];
  readonly commands: readonly Word[];
  readonly options: readonly OutlinedOption[];
  /** Values that its first argument takes. */
  readonly values: readonly string[];
}

/** Longest description of a word, characters: it has a part of one line. */
const LONGEST_MEANING = 60;

/** Lists a program and all commands below it, with their visible options. */
function outline(command: Command, path: readonly string[] = []): readonly Outlined[] {
  const help = command.createHelp();
  const commands = help.visibleCommands(command);
  const here: Outlined = {
    path,
    commands: commands.map((each) => ({ text: each.name(), meaning: shorten(help.subcommandDescription(each)) })),
    options: help.visibleOptions(command).map(outlineOption),
    values: command.registeredArguments[0]?.argChoices ?? [],
  };
  // The command `help` takes the names of the others.
  const below = command.commands.flatMap((each) => outline(each, [...path, each.name()]));
  return [here, ...below];
}

function outlineOption(option: Option): OutlinedOption {
  const flags = [option.short, option.long].filter((flag) => flag !== undefined && flag !== null);
  const takesValue = option.required || option.optional;
  return { flags, meaning: shorten(option.description), values: takesValue ? (option.argChoices ?? []) : null };
}

/** Returns the first clause of a description, without characters that a shell reads. */
function shorten(text: string): string {
  const clause = text.split(/[;:(]| \(|\. /, 1)[0] ?? "";
  const plain = clause.replaceAll(/[^\w .,/+-]/g, "").trim();
  return plain.length <= LONGEST_MEANING ? plain : `${plain.slice(0, LONGEST_MEANING - 3).trimEnd()}...`;
}

/** Shells for which there is a script. */
export const SHELLS = ["bash", "zsh", "fish"] as const;
/** A shell for which there is a script. */
type Shell = (typeof SHELLS)[number];

/** Name under which the command is on PATH. */
const COMMAND = "vantage";

/** Returns the script that completes the commands of an outline, for a shell. Pure. */
function completionScript(shell: Shell, commands: readonly Outlined[]): string {
  const lines = { bash, zsh, fish }[shell](commands);
  return lines.join("\n");
}

/** Returns a command's path as scripts compare it: each name with a space before it. */
function key({ path }: Outlined): string {
  return path.map((name) => ` ${name}`).join("");
}

/** Returns patterns of `case` for the paths of all commands but the program's own. */
function knownPaths(commands: readonly Outlined[]): string {
  return commands
    .filter(({ path }) => path.length > 0)
    .map((command) => `'${key(command)}'`)
    .join("|");
}

function wordsOf({ commands, options, values }: Outlined): string {
  return [...commands.map(({ text }) => text), ...values, ...options.flatMap(({ flags }) => flags)].join(" ");
}

/** Returns branches of `case` on the word before: values of options, nothing where any value is allowed. */
function valueBranches(
  { options }: Outlined,
  { some, any }: { readonly some: (values: string) => string; readonly any: string },
): readonly string[] {
  return options
    .filter(({ values }) => values !== null)
    .map(
      ({ flags, values }) => `        ${flags.join("|")}) ${values?.length ? some(values.join(" ")) : any}; return ;;`,
    );
}

function bash(commands: readonly Outlined[]): readonly string[] {
  const branch = (command: Outlined) => [
    `    '${key(command)}')`,
    '      case "$before" in',
    ...valueBranches(command, {
      some: (values) => `COMPREPLY=($(compgen -W '${values}' -- "$current"))`,
      any: "COMPREPLY=()",
    }),
    "      esac",
    `      words='${wordsOf(command)}' ;;`,
  ];
  return [
    `# Completion of ${COMMAND} for bash. Without a match bash completes names of files.`,
    `_${COMMAND}() {`,
    '  local current="${COMP_WORDS[COMP_CWORD]}" before="${COMP_WORDS[COMP_CWORD-1]}" path="" words="" at',
    "  for ((at = 1; at < COMP_CWORD; at++)); do",
    '    case "$path ${COMP_WORDS[at]}" in',
    `      ${knownPaths(commands)}) path="$path \${COMP_WORDS[at]}" ;;`,
    "      *' --') COMPREPLY=(); return ;;",
    "    esac",
    "  done",
    '  case "$path" in',
    ...commands.flatMap(branch),
    "  esac",
    '  COMPREPLY=($(compgen -W "$words" -- "$current"))',
    "}",
    `complete -o default -F _${COMMAND} ${COMMAND}`,
  ];
}

function zsh(commands: readonly Outlined[]): readonly string[] {
  const described = ({ commands: below, values, options }: Outlined) => [
    ...below.map(({ text, meaning }) => `'${text}:${meaning}'`),
    ...values.map((value) => `'${value}'`),
    ...options.flatMap(({ flags, meaning }) => flags.map((flag) => `'${flag}:${meaning}'`)),
  ];
  const branch = (command: Outlined) => [
    `    '${key(command)}')`,
    '      case "$words[CURRENT-1]" in',
    ...valueBranches(command, { some: (values) => `compadd -- ${values}`, any: "_files" }),
    "      esac",
    `      choices=(${described(command).join(" ")}) ;;`,
  ];
  return [
    `#compdef ${COMMAND}`,
    `# Completion of ${COMMAND} for zsh.`,
    `_${COMMAND}() {`,
    '  local at="" below=""',
    "  local -a choices",
    "  for ((at = 2; at < CURRENT; at++)); do",
    '    case "$below $words[at]" in',
    `      ${knownPaths(commands)}) below="$below $words[at]" ;;`,
    "      *' --') _files; return ;;",
    "    esac",
    "  done",
    '  case "$below" in',
    ...commands.flatMap(branch),
    "  esac",
    `  _describe -t commands '${COMMAND}' choices || _files`,
    "}",
    `if [ "$funcstack[1]" = "_${COMMAND}" ]; then _${COMMAND} "$@"; else compdef _${COMMAND} ${COMMAND}; fi`,
  ];
}

function fish(commands: readonly Outlined[]): readonly string[] {
  const optionLine = (command: Outlined, { flags, values, meaning }: OutlinedOption) => {
    const names = flags.map((flag) => (flag.startsWith("--") ? `-l ${flag.slice(2)}` : `-s ${flag.slice(1)}`));
    const value = values === null ? [] : values.length > 0 ? ["-x", `-a '${values.join(" ")}'`] : ["-r"];
    return [...start(command), ...names, ...value, `-d '${meaning}'`].join(" ");
  };
  const start = (command: Outlined) => ["complete", `-c ${COMMAND}`, `-n "__${COMMAND}_at ${quoted(key(command))}"`];
  const lines = (command: Outlined) => [
    ...command.commands.map(({ text, meaning }) =>
      [...start(command), "-f", `-a ${text}`, `-d '${meaning}'`].join(" "),
    ),
    ...(command.values.length > 0 ? [[...start(command), "-f", `-a '${command.values.join(" ")}'`].join(" ")] : []),
    ...command.options.map((option) => optionLine(command, option)),
  ];
  const known = commands.filter(({ path }) => path.length > 0).map((command) => quoted(key(command)));
  return [
    `# Completion of ${COMMAND} for fish.`,
    `function __${COMMAND}_at`,
    "  set -l words (commandline -opc)",
    '  set -l below ""',
    "  for word in $words[2..-1]",
    '    contains -- "$below $word" ' + known.join(" ") + '; and set below "$below $word"',
    "  end",
    '  test "$below" = "$argv[1]"',
    "end",
    ...commands.flatMap(lines),
  ];
}
