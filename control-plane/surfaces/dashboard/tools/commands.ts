import { LAUNCHER } from "#shared/settings/launcher.ts";
import { quoted } from "#shared/text/quoted.ts";
import { mainParam, nameParam } from "#shared/tools/command-params.ts";
import type { Contract } from "#shared/tools/define.ts";

/** The same call for a terminal, each a line for a POSIX shell. */
interface Commands {
  readonly curl: string;
  readonly command: string;
}

/** Longest line, in characters: Linux takes 128 KiB for one argument. */
const LONGEST = 8_000;
/** Characters that a terminal may obey while a line is pasted. */
const OBEYED = /(?![\n\t])\p{Cc}/u;

/**
 * Writes a call (names and texts, as the API takes them) for a terminal; null if it is too long for a line or has control
 * characters. Pure.
 */
export function writeCommands(
  contract: Contract,
  call: Readonly<Record<string, string>>,
  baseUrl: string,
): Commands | null {
  if (Object.values(call).some((text) => OBEYED.test(text))) return null;
  const commands = { curl: writeCurl(contract, call, baseUrl), command: writeCommand(contract, call) };
  return commands.curl.length > LONGEST || commands.command.length > LONGEST ? null : commands;
}

function writeCurl({ name }: Contract, call: Readonly<Record<string, string>>, baseUrl: string): string {
  const fields = Object.entries(call).map(([field, text]) => `--data-urlencode ${quoted(`${field}=${text}`)}`);
  return ['curl -H "X-API-Key: $KEY"', ...fields, quoted(`${baseUrl}/api/v4/${name}`)].join(" ");
}

function writeCommand(contract: Contract, call: Readonly<Record<string, string>>): string {
  const { [mainParam(contract)]: main = "", share, ...others } = call;
  const options = Object.entries(others).map(([field, text]) => `${nameParam(contract, field)} ${quoted(text)}`);
  const parts = [`${LAUNCHER} ${contract.name}`, ...options, ...(share === "1" ? ["--share"] : [])].join(" ");
  // A value that begins with @ would be read as the name of a file.
  if (main.startsWith("@")) return `printf %s ${quoted(main)} | ${parts} @-`;
  return `${parts}${main.startsWith("-") ? " --" : ""} ${quoted(main)}`;
}
