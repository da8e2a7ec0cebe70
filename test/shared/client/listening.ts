import { runVantage, type Ran } from "#test/shared/client/command-line.ts";

/** A `listen` that runs in this process. */
interface Listening {
  readonly url: string;
  readonly ended: Promise<Ran>;
}

/** Starts `listen <words>` at a free port. It ends after the number of deliveries in `--count`. */
export async function startListen(words: readonly string[]): Promise<Listening> {
  const start = Promise.withResolvers<string>();
  const ended = runVantage(["listen", "--port", "0", ...words], {}, (text) => {
    const url = /^Listening on (\S+) /.exec(text)?.[1];
    if (url !== undefined) start.resolve(url);
  });
  void ended.then(({ complained }) => start.reject(new Error(`it did not listen: ${complained}`)));
  return { url: await start.promise, ended };
}
