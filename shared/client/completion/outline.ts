import type { Command, Option } from "commander";

/** A word that can be completed, with what it is for. */
interface Word {
  readonly text: string;
  readonly meaning: string;
}

/** An option of a command. */
export interface OutlinedOption {
  /** Its flags, such as -f and --file. */
  readonly flags: readonly string[];
  readonly meaning: string;
  /** The values that it takes; null: it takes none, [] any. */
  readonly values: readonly string[] | null;
}

/** A command with what can follow it. */
export interface Outlined {
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
export function outline(command: Command, path: readonly string[] = []): readonly Outlined[] {
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
