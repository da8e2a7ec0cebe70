import { quoted } from "#shared/text/quoted.ts";
import type { Outlined, OutlinedOption } from "#shared/client/completion/outline.ts";

/** Shells for which there is a script. */
export const SHELLS = ["bash", "zsh", "fish"] as const;
/** A shell for which there is a script. */
export type Shell = (typeof SHELLS)[number];

/** Name under which the command is on PATH. */
const COMMAND = "vantage";

/** Returns the script that completes the commands of an outline, for a shell. Pure. */
export function completionScript(shell: Shell, commands: readonly Outlined[]): string {
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
