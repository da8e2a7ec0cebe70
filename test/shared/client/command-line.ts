import { Writable } from "node:stream";
import type { CommandContext } from "#shared/client/context.ts";
import { runCommandLine } from "#shared/client/program.ts";

/** Output and exit status of a command line. */
export interface Ran {
  readonly said: string;
  readonly complained: string;
  readonly status: number;
}

/** What a command finds at its standard input and output. */
interface GivenTerminal {
  /** All of standard input. */
  readonly stdin?: string;
  /** Columns of the terminal; null, as without: standard output is a pipe. */
  readonly columns?: number | null;
  /** Answers questions, as a terminal does; absent: standard input is none. */
  readonly ask?: (question: string) => Promise<string | null>;
}

/**
 * Runs `vantage <words>` in this process. `onSaid`: called for each text. `stdin`: all of standard input. `columns`: those of
 * the terminal; null: standard output is a pipe.
 */
export async function runVantage(
  words: readonly string[],
  environment: Readonly<Record<string, string>>,
  onSaid: (text: string) => void = () => {},
  { stdin = "", columns = null, ask }: GivenTerminal = {},
): Promise<Ran> {
  const said: string[] = [];
  const complained: string[] = [];
  let status = 0;
  const context: CommandContext = {
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
      isTerminal: ask !== undefined,
      read: () => Promise.resolve(Buffer.from(stdin)),
      ask: ask ?? (() => Promise.resolve(null)),
    },
    output: {
      isTerminal: columns !== null,
      columns,
      write: (text) => {
        said.push(text);
        onSaid(text);
      },
    },
    stdout: collect(said, onSaid),
    stderr: collect(complained, () => {}),
  };
  await runCommandLine(context, words);
  return { said: said.join("\n"), complained: complained.join("\n"), status };
}

/** Returns a stream that adds what is written to a list and tells it. */
function collect(texts: string[], onText: (text: string) => void): Writable {
  return new Writable({
    write(chunk, _encoding, done) {
      texts.push(String(chunk));
      onText(String(chunk));
      done();
    },
  });
}
