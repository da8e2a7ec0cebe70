import { spawn, type ChildProcess } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { Problem } from "#shared/client/up/problem.ts";
import type { Environment } from "#shared/settings/settings-parse.ts";

const ENTRY = fileURLToPath(new URL("helper/main.ts", import.meta.url));

const ENDED = new Error("the supervisor's helper has ended");

/** What the welcome depends on. */
export interface Started {
  readonly notes: readonly string[];
  readonly degraded: readonly string[];
  readonly logs: Readonly<Record<string, string>>;
  /** Whether the text is seen, and stored nowhere. */
  readonly isTerminal: boolean;
}

/** The questions of the supervisor, each with its answer. */
export interface Questions {
  /** Checks the server of DATABASE_URL. */
  checkDatabase(given: null): Promise<{ readonly ok: true } | Problem>;
  /** Creates a database of the embedded server; null, or why the server refuses. */
  createDatabase(given: { readonly url: string; readonly name: string }): Promise<string | null>;
  /** Waits until the control plane answers. */
  awaitHealthy(given: null): Promise<null>;
  /** Waits until the service is ready; returns what is degraded. */
  awaitReady(given: null): Promise<readonly string[]>;
  /** Creates what the local agent needs to join, as variables of its environment. */
  joinToken(given: null): Promise<Readonly<Record<string, string>>>;
  /** Returns the text after a start. Creates the first key if there is none. */
  welcome(given: Started): Promise<string>;
}

/** A process that has the modules for requests and for the database, and ends when it has nothing more to do. */
export interface Helper {
  /** Rejects if the process ends before it answers. */
  ask<Q extends keyof Questions>(question: Q, given: Parameters<Questions[Q]>[0]): ReturnType<Questions[Q]>;
  /** Ends the process as soon as there is no question. A later question starts another one. */
  release(): void;
  /** Ends the process at once. */
  end(): void;
}

/** Starts a helper. */
export function openHelper(environment: Environment): Helper {
  const waiting = new Map<number, PromiseWithResolvers<unknown>>();
  let asked = 0;
  let isReleased = false;
  let child: ChildProcess | null = start();

  function start(): ChildProcess {
    const started = spawn(process.execPath, [ENTRY], {
      env: { ...environment },
      // Only the supervisor gets Ctrl-C.
      detached: true,
      stdio: ["ignore", "ignore", "inherit", "ipc"],
    });
    started.on("message", ({ id, answer }: { id: number; answer: unknown }) =>
      settle(id, (asker) => asker.resolve(answer)),
    );
    const fail = (error: Error) => {
      if (child === started) end(error);
    };
    started.on("error", fail);
    started.once("exit", () => fail(ENDED));
    return started;
  }

  function settle(id: number, how: (asker: PromiseWithResolvers<unknown>) => void): void {
    const asker = waiting.get(id);
    waiting.delete(id);
    if (asker !== undefined) how(asker);
    endIfIdle();
  }

  function endIfIdle(): void {
    if (isReleased && waiting.size === 0) end(ENDED);
  }

  function end(reason: Error): void {
    child?.kill();
    child = null;
    for (const asker of waiting.values()) asker.reject(reason);
    waiting.clear();
  }

  return {
    ask: (question, given) => {
      const id = (asked += 1);
      const asker = Promise.withResolvers<unknown>();
      waiting.set(id, asker);
      child ??= start();
      child.send({ id, question, given });
      return asker.promise as ReturnType<Questions[typeof question]>;
    },
    release() {
      isReleased = true;
      endIfIdle();
    },
    end: () => end(ENDED),
  };
}
