import { createInterface } from "node:readline";
import { Writable } from "node:stream";
import { isatty, type ReadStream } from "node:tty";

/** Standard input of a command. */
export interface Input {
  readonly isTerminal: boolean;
  /** Reads everything up to its end. */
  read(): Promise<Buffer>;
  /** Asks on the terminal, on standard error. Resolves with the line that is typed; null after Ctrl-C or Ctrl-D. */
  ask(question: string, options?: AskOptions): Promise<string | null>;
}

/** Options of a question. */
interface AskOptions {
  /** What is typed is not shown. */
  readonly isSecret?: boolean;
}

/** Creates the input from the streams of the process. `openStdin` is called only to read: a command that does not leaves it as it is. */
export function createInput(openStdin: () => ReadStream, stderr: Writable): Input {
  return {
    isTerminal: isatty(0),
    async read() {
      const chunks: Buffer[] = [];
      for await (const chunk of openStdin() as AsyncIterable<Buffer>) chunks.push(chunk);
      return Buffer.concat(chunks);
    },
    ask(question, { isSecret = false } = {}) {
      let isShown = true;
      const output = new Writable({
        write(chunk, _encoding, done) {
          if (isShown) stderr.write(chunk);
          done();
        },
      });
      // A terminal in this mode shows nothing itself: readline shows what is typed.
      const lines = createInterface({ input: openStdin(), output, terminal: true, historySize: 0 });
      return new Promise((resolve) => {
        let answer: string | null = null;
        lines.once("SIGINT", () => lines.close());
        lines.once("close", () => {
          if (isSecret || answer === null) stderr.write("\n");
          resolve(answer);
        });
        lines.question(question, (typed) => {
          answer = typed.trim();
          lines.close();
        });
        isShown = !isSecret;
      });
    },
  };
}
