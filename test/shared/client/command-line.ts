import { createProgram } from "#shared/client/program.ts";

/** Output and exit status of a command line. */
export interface Ran {
  readonly said: string;
  readonly complained: string;
  readonly status: number;
}

/** Runs `vantage <words>` in this process. A usage error has status 1, as in commander. `onSaid`: called for each text. */
export async function runVantage(
  words: readonly string[],
  environment: Readonly<Record<string, string>>,
  onSaid: (text: string) => void = () => {},
  stdin = "",
): Promise<Ran> {
  const said: string[] = [];
  const complained: string[] = [];
  let status = 0;
  const program = createProgram({
    environment: { PATH: process.env["PATH"], ...environment },
    directory: "/",
    now: () => new Date(),
    say: (text) => {
      said.push(text);
      onSaid(text);
    },
    complain: (line) => complained.push(line),
    exit: (code) => (status = code),
    input: {
      isTerminal: false,
      read: () => Promise.resolve(Buffer.from(stdin)),
      ask: () => Promise.resolve(null),
    },
    isTerminal: false,
    write: (bytes) => said.push(String(bytes)),
  });
  for (const command of [program, ...program.commands, ...program.commands.flatMap((each) => each.commands)]) {
    command.exitOverride();
  }
  await program.parseAsync(words, { from: "user" }).catch((error: unknown) => {
    status = (error as { exitCode?: number }).exitCode ?? 1;
  });
  return { said: said.join("\n"), complained: complained.join("\n"), status };
}
